import { useSignal } from "@preact/signals"
import { amountOf } from "../amount.tsx"
import { call } from "../api.ts"
import { events, isConnected } from "../live.ts"
import { Act, Copy, Facts, Field, Form, Link, Loaded, Page, Sats, Status, Table, useLoaded, When } from "../parts.tsx"
import { Qr } from "../../../src/checkout/Qr.ts"
import { session, signOut } from "../session.ts"
import { limitWords, remainingWords } from "./limits.tsx"

export const Addresses = () => {
  const loaded = useLoaded(() =>
    Promise.all([
      call("GET /v1/bitcoin/deposit/lightning-address", { query: { limit: 100 } }),
      call("GET /v1/bitcoin/deposit/on-chain", { query: { limit: 100 } }),
      call("GET /v1/domains", { query: {} })
    ])
  )
  const create = async (text: (name: string) => string) => {
    const [handle, domain] = [text("handle"), text("domain")]
    await call("POST /v1/bitcoin/deposit/lightning-address", {
      body: { ...(handle !== "" && { handle }), ...(domain !== "" && { domain }) }
    })
    loaded.again()
  }
  const claim = async (text: (name: string) => string) => {
    await call("POST /v1/domains", { body: { domain: text("domain") } })
    loaded.again()
  }
  return (
    <Page title="Addresses and domains">
      <Act label="New bitcoin address" act={() => call("POST /v1/bitcoin/deposit/on-chain", { body: {} }).then(loaded.again)} />
      <Loaded of={loaded}>
        {([lightning, chain, domains]) => (
          <>
            <h2>Lightning addresses</h2>
            <Table
              caption="Lightning addresses"
              none="There is none yet."
              rows={lightning.data}
              columns={[
                { title: "Address", cell: ({ address }) => <code>{address}</code> },
                { title: "Last used", cell: ({ last_used_at }) => <When at={last_used_at} /> }
              ]}
            />
            <h2>Bitcoin addresses</h2>
            <Table
              caption="Bitcoin addresses"
              none="There is none yet."
              rows={chain.data}
              columns={[
                { title: "Address", cell: ({ address }) => <code>{address}</code> },
                { title: "Created", cell: ({ created_at }) => <When at={created_at} /> }
              ]}
            />
            <h2>Domains</h2>
            <Table
              caption="Domains"
              none="There is none yet."
              rows={domains.data}
              columns={[
                { title: "Domain", cell: ({ domain }) => domain },
                { title: "Verified", cell: ({ verified_at }) => <When at={verified_at} /> },
                { title: "TXT record", cell: ({ txt_name, txt_value }) => <code>{`${txt_name} ${txt_value}`}</code> }
              ]}
            />
          </>
        )}
      </Loaded>
      <h2>New Lightning address</h2>
      <Form button="Create the address" act={create}>
        <Field label="Handle" name="handle" hint="Empty for a random one" />
        <Field label="Domain" name="domain" hint="Empty for the service's own" />
      </Form>
      <h2>Claim a domain</h2>
      <Form button="Claim the domain" act={claim}>
        <Field label="Domain" name="domain" required hint="Its TXT record names this company" />
      </Form>
    </Page>
  )
}

export const Vouchers = () => {
  const loaded = useLoaded(() =>
    Promise.all([call("GET /v1/vouchers", { query: { limit: 100 } }), call("GET /v1/refunds", { query: { limit: 100 } })])
  )
  const made = useSignal<string | null>(null)
  const once = useSignal(crypto.randomUUID())
  const create = async (text: (name: string) => string) => {
    const body = { amount: amountOf(text("amount")) ?? 0, currency: "sats", description: text("description") || null }
    made.value = (await call("POST /v1/vouchers", { body, once: once.value })).data.lnurl
    once.value = crypto.randomUUID()
    loaded.again()
  }
  const refund = async (text: (name: string) => string) => {
    const amount = amountOf(text("amount"))
    const body = { deposit_id: text("deposit"), ...(amount !== null && { amount, currency: "sats" }) }
    made.value = (await call("POST /v1/refunds", { body, once: once.value })).data.lnurl
    once.value = crypto.randomUUID()
    loaded.again()
  }
  return (
    <Page title="Vouchers and refunds">
      {made.value !== null && (
        <section class="card" role="status">
          <h2>The new link</h2>
          <p>Whoever has this link has the money. It is shown now, and never again.</p>
          <Qr text={made.value.toUpperCase()} label="The voucher as a QR code" />
          <code class="long">{made.value}</code>
          <Copy text={made.value} label="Copy" />
        </section>
      )}
      <Loaded of={loaded}>
        {([vouchers, refunds]) => (
          <>
            <h2>Vouchers</h2>
            <Table
              caption="Vouchers"
              none="There is none yet."
              rows={vouchers.data}
              columns={[
                { title: "Created", cell: ({ created_at }) => <When at={created_at} /> },
                { title: "Description", cell: ({ description }) => description },
                { title: "Amount", cell: ({ amount_sats }) => <Sats amount={amount_sats} />, isNumber: true },
                { title: "Status", cell: ({ status }) => <Status of={status} /> },
                {
                  title: "Withdrawal",
                  cell: ({ id, status, withdrawal_id }) =>
                    withdrawal_id !== null ? (
                      <Link path={`withdrawal/${withdrawal_id}`}>see it</Link>
                    ) : status === "open" ? (
                      <Act label="Cancel" act={() => call("POST /v1/vouchers/{id}/cancel", { params: { id } }).then(loaded.again)} />
                    ) : null
                }
              ]}
            />
            <h2>Refunds</h2>
            <Table
              caption="Refunds"
              none="There is none yet."
              rows={refunds.data}
              columns={[
                { title: "Created", cell: ({ created_at }) => <When at={created_at} /> },
                { title: "Deposit", cell: ({ deposit_id }) => <Link path={`deposit/${deposit_id}`}>{deposit_id}</Link> },
                { title: "Amount", cell: ({ amount_sats }) => <Sats amount={amount_sats} />, isNumber: true },
                { title: "Status", cell: ({ status }) => <Status of={status} /> }
              ]}
            />
          </>
        )}
      </Loaded>
      <h2>New voucher</h2>
      <Form button="Create the voucher" act={create}>
        <Field label="Amount in sats" name="amount" required inputMode="numeric" pattern="[0-9]+" />
        <Field label="Description" name="description" maxLength={200} />
      </Form>
      <h2>Refund a deposit</h2>
      <Form button="Refund it" act={refund}>
        <Field label="Deposit" name="deposit" required hint="The id of the deposit" />
        <Field label="Amount in sats" name="amount" inputMode="numeric" pattern="[0-9]+" hint="Empty for all that is left of it" />
      </Form>
    </Page>
  )
}

export const Settings = () => {
  const loaded = useLoaded(() => call("GET /v1/account"))
  const now = session.value
  return (
    <Page title="Account and key">
      <Loaded of={loaded}>
        {({ data }) => (
          <Facts
            of={[
              ["Company", data.name],
              ["Id", <code>{data.id}</code>],
              ["Plan", data.plan],
              ["Network", data.network],
              ["Frozen", data.frozen ? "yes: ask the operator" : "no"],
              ["Limits of the company", limitWords(data.limits)],
              ["Left of them now", remainingWords(data.remaining)],
              ["Limits of the key", limitWords(data.api_key.limits)],
              ["Left of those now", remainingWords(data.api_key.remaining)]
            ]}
          />
        )}
      </Loaded>
      {now && (
        <>
          <h2>The key of this session</h2>
          <Facts
            of={[
              ["Name", now.name],
              ["Id", <code>{now.id}</code>],
              ["Scopes", now.scopes.join(", ")],
              ["Signed in until", <When at={now.expires_at} />]
            ]}
          />
        </>
      )}
      <Act label="Sign out" act={signOut} />
    </Page>
  )
}

export const Events = () => {
  const loaded = useLoaded(() => call("GET /v1/events", { query: { limit: 50 } }))
  const live = events.value
  return (
    <Page title="Events">
      <p role="status">{isConnected.value ? "Live: what happens appears here." : "Connecting …"}</p>
      <Loaded of={loaded}>
        {({ data }) => (
          <Table
            caption="Events, the newest of this visit first"
            none="Nothing has happened yet."
            rows={live.length > 0 ? live : data}
            columns={[
              { title: "When", cell: ({ timestamp }) => <When at={timestamp} /> },
              { title: "What", cell: ({ type }) => <code>{type}</code> },
              {
                title: "Data",
                cell: ({ data }) => (
                  <details>
                    <summary>show</summary>
                    <pre>{JSON.stringify(data, null, 2)}</pre>
                  </details>
                )
              }
            ]}
          />
        )}
      </Loaded>
    </Page>
  )
}
