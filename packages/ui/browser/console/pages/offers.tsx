import { call } from "../api.ts"
import { Choice, Copy, Facts, Link, Loaded, Page, Table, useLoaded, When } from "../parts.tsx"
import { Qr } from "../../../src/checkout/Qr.ts"
import { isLightningPretended, PayIt } from "../sandbox.tsx"

/** How many Lightning addresses there are to choose from: the newest. */
const addresses = 100

/** Whose an offer is to be: the company's, or one of its Lightning addresses'. */
export const OfferOf = () => {
  const loaded = useLoaded(() => call("GET /v1/bitcoin/deposit/lightning-address", { query: { limit: addresses } }))
  const there = (loaded.value?.data ?? []).filter(({ deleted_at }) => deleted_at === null)
  return (
    <>
      <p class="soft">
        A code that is paid any number of times, with any amount, and does not end. It cannot be called back. Wallets that know BOLT 12 pay
        it.
      </p>
      <Choice
        label="For"
        name="address"
        options={[["", "The company itself"], ...there.map(({ id, address }) => [id, address] as const)]}
      />
    </>
  )
}

/** Gives out an offer, and answers its id. Where the node issues none the service says so. */
export const createOffer = async (description: string, address: string): Promise<string> => {
  const body = { ...(description !== "" && { description }), ...(address !== "" && { lightning_address_id: address }) }
  return (await call("POST /v1/bitcoin/deposit/offer", { body })).data.id
}

export const Offers = () => {
  const loaded = useLoaded(() => call("GET /v1/bitcoin/deposit/offer", { query: { limit: 10 } }))
  return (
    <section>
      <h2>Newest offers</h2>
      <Loaded of={loaded}>
        {({ data }) => (
          <Table
            caption="Newest offers"
            none="There is no offer yet."
            rows={data}
            columns={[
              { title: "When", cell: ({ created_at }) => <When at={created_at} /> },
              { title: "What", cell: ({ id, memo }) => <Link path={`offer/${id}`}>{memo || "offer"}</Link> },
              { title: "For", cell: ({ lightning_address }) => lightning_address ?? "the company" }
            ]}
          />
        )}
      </Loaded>
    </section>
  )
}

export const Offer = ({ id }: { readonly id: string }) => {
  const loaded = useLoaded(() => call("GET /v1/bitcoin/deposit/offer/{id}", { params: { id } }), id)
  return (
    <Page title="Offer">
      <Loaded of={loaded}>
        {({ data }) => (
          <>
            <div class="pay">
              <Qr text={data.offer.toUpperCase()} label="The offer as a QR code" />
              <div>
                <code class="long">{data.offer}</code>
                <Copy text={data.offer} label="Copy" />
                {isLightningPretended() && <PayIt request={data.offer} isFree />}
              </div>
            </div>
            <Facts
              of={[
                ["For", data.lightning_address ?? "the company"],
                ["Description", data.memo],
                ["Created", <When at={data.created_at} />],
                ...Object.entries(data.metadata).map(([key, value]) => [`metadata: ${key}`, value] as const)
              ]}
            />
            {data.dns_record !== null && (
              <section>
                <h2>Record for the DNS</h2>
                <p>With this line in your domain's zone, signed with DNSSEC, wallets find the offer by the address.</p>
                <code class="long">{data.dns_record}</code>
                <Copy text={data.dns_record} label="Copy the record" />
              </section>
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}
