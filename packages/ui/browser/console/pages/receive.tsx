import { useSignal } from "@preact/signals"
import { Amount, amountOf } from "../amount.tsx"
import { call, here } from "../api.ts"
import { Act, Choice, Copy, Facts, Field, Form, Link, Loaded, Page, Sats, Status, Table, useLoaded, When } from "../parts.tsx"
import { Qr } from "../../../src/checkout/Qr.ts"
import { isLightningPretended, PayIt } from "../sandbox.tsx"
import { go } from "../route.ts"
import { createOffer, OfferOf, Offers } from "./offers.tsx"
import { pretended } from "../session.ts"

export const isChainPretended = () => pretended.value.includes("the chain")

export const NewInvoice = () => {
  const kind = useSignal("invoice")
  const act = async (text: (name: string) => string) => {
    const description = text("description")
    if (kind.value === "offer") return go(`offer/${await createOffer(description, text("address"))}`)
    const amount = amountOf(text("amount"))
    const asked = { amount, ...(amount !== null && { currency: text("currency") }), ...(description !== "" && { description }) }
    if (kind.value === "invoice") {
      const { data } = await call("POST /v1/bitcoin/deposit/lightning-invoice", { body: asked })
      return go(`invoice/${data.id}`)
    }
    const { data } = await call("POST /v1/checkouts", { body: asked })
    go(`checkout/${data.id}`)
  }
  return (
    <Page title="New invoice">
      <Form button="Create" act={act}>
        <Choice
          label="What"
          name="kind"
          value={kind.value}
          onInput={(value) => void (kind.value = value)}
          options={[
            ["invoice", "A Lightning invoice"],
            ["checkout", "A checkout: a page on which a customer pays"],
            ["offer", "An offer: a code that is paid again and again"]
          ]}
        />
        {kind.value === "offer" ? <OfferOf /> : <Amount hint="Leave it empty for any amount" />}
        <Field label="Description" name="description" maxLength={200} hint="The payer reads it" />
      </Form>
      <Invoices />
      <Offers />
    </Page>
  )
}

const Invoices = () => {
  const loaded = useLoaded(() => call("GET /v1/bitcoin/deposit/lightning-invoice", { query: { limit: 10 } }))
  return (
    <section>
      <h2>Newest invoices</h2>
      <Loaded of={loaded}>
        {({ data }) => (
          <Table
            caption="Newest invoices"
            none="There is no invoice yet."
            rows={data}
            columns={[
              { title: "When", cell: ({ created_at }) => <When at={created_at} /> },
              { title: "What", cell: ({ id, memo }) => <Link path={`invoice/${id}`}>{memo || "invoice"}</Link> },
              { title: "Amount", cell: ({ amount_sats }) => <Sats amount={amount_sats} />, isNumber: true },
              { title: "Status", cell: ({ status }) => <Status of={status} /> }
            ]}
          />
        )}
      </Loaded>
    </section>
  )
}

export const Invoice = ({ id }: { readonly id: string }) => {
  const at = "/v1/bitcoin/deposit/lightning-invoice/{invoiceID}"
  const loaded = useLoaded(() => call(`GET ${at}`, { params: { invoiceID: id } }), id)
  return (
    <Page title="Invoice">
      <Loaded of={loaded}>
        {({ data }) => (
          <>
            <p role="status">
              <Status of={data.status} />{" "}
              {data.status === "settled" && (
                <>
                  The payment has arrived: <Sats amount={data.received_sats} />
                </>
              )}
            </p>
            {data.status === "open" && (
              <div class="pay">
                <Qr text={data.payment_request.toUpperCase()} label="The invoice as a QR code" />
                <div>
                  <code class="long">{data.payment_request}</code>
                  <Copy text={data.payment_request} label="Copy" />
                  {isLightningPretended() && <PayIt request={data.payment_request} isFree={data.amount_sats === null} />}
                  <Act label="Cancel it" act={() => call(`POST ${at}/cancel`, { params: { invoiceID: id } }).then(loaded.again)} />
                </div>
              </div>
            )}
            <Facts
              of={[
                ["Amount", <Sats amount={data.amount_sats} />],
                ["Description", data.memo],
                ["Created", <When at={data.created_at} />],
                ["Expires", <When at={data.expires_at} />],
                ...(data.deposit_id === null
                  ? []
                  : [["Deposit", <Link path={`deposit/${data.deposit_id}`}>{data.deposit_id}</Link>] as const]),
                ...Object.entries(data.metadata).map(([key, value]) => [`metadata: ${key}`, value] as const)
              ]}
            />
          </>
        )}
      </Loaded>
    </Page>
  )
}

export const Checkout = ({ id }: { readonly id: string }) => {
  const loaded = useLoaded(() => call("GET /v1/checkouts/{id}", { params: { id } }), id)
  return (
    <Page title="Checkout">
      <Loaded of={loaded}>
        {({ data }) => (
          <>
            <p role="status">
              <Status of={data.status} />
            </p>
            <p>
              <a class="button" href={here(data.url).href} target="_blank" rel="noopener noreferrer">
                Open the page on which it is paid
              </a>
            </p>
            {data.status === "open" && isLightningPretended() && (
              <PayIt request={data.payment_request} isFree={data.amount_sats === null} />
            )}
            <Facts
              of={[
                ["Amount", <Sats amount={data.amount_sats} />],
                ["Received", <Sats amount={data.received_sats} />],
                ["Description", data.description],
                ["Order", data.order_id ?? "none"],
                ["Invoice", <Link path={`invoice/${data.invoice_id}`}>{data.invoice_id}</Link>],
                ["Address", <code>{data.address}</code>],
                ["Expires", <When at={data.expires_at} />]
              ]}
            />
          </>
        )}
      </Loaded>
    </Page>
  )
}
