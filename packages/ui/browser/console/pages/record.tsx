import { call } from "../api.ts"
import { Act, Facts, Link, Loaded, Page, Sats, Status, useLoaded, When } from "../parts.tsx"

const metadata = (of: Readonly<Record<string, string>>) => Object.entries(of).map(([key, value]) => [`metadata: ${key}`, value] as const)

/** What became of a record, in the events about it: the oldest first. */
const Timeline = ({ subject }: { readonly subject: string }) => {
  const loaded = useLoaded(() => call("GET /v1/events", { query: { subject, limit: 100 } }), subject)
  return (
    <section aria-label="Timeline">
      <h2>Timeline</h2>
      <Loaded of={loaded}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="soft">Nothing has happened yet.</p>
          ) : (
            <ol class="timeline">
              {data.map(({ id, type, timestamp }) => (
                <li key={id}>
                  <When at={timestamp} /> <code>{type}</code>
                </li>
              ))}
            </ol>
          )
        }
      </Loaded>
    </section>
  )
}

export const Deposit = ({ id }: { readonly id: string }) => {
  const loaded = useLoaded(() => call("GET /v1/transactions/deposits/{depositID}", { params: { depositID: id } }), id)
  return (
    <Page title="Deposit">
      <Loaded of={loaded}>
        {({ data }) => (
          <Facts
            of={[
              ["Amount", <Sats amount={data.amount_sats} />],
              ["Fee", <Sats amount={data.fee_sats} />],
              ["Status", <Status of={data.status} />],
              ["Received at", <code>{data.recipient}</code>],
              ["When", <When at={data.created_at} />],
              ["Refunded", <Sats amount={data.refunded_sats} />],
              ...(data.chain_tx_id === null ? [] : [["Transaction", <code>{data.chain_tx_id}</code>] as const]),
              ...(data.lightning_invoice_id === null
                ? []
                : [["Invoice", <Link path={`invoice/${data.lightning_invoice_id}`}>{data.lightning_invoice_id}</Link>] as const]),
              ...metadata(data.metadata)
            ]}
          />
        )}
      </Loaded>
      <Timeline subject={id} />
    </Page>
  )
}

export const Withdrawal = ({ id }: { readonly id: string }) => {
  const at = "/v1/transactions/withdrawals/{withdrawalID}"
  const params = { withdrawalID: id }
  const loaded = useLoaded(() => call(`GET ${at}`, { params }), id)
  return (
    <Page title="Withdrawal">
      <Loaded of={loaded}>
        {({ data }) => (
          <>
            {data.status === "pending_approval" && (
              <p class="acts">
                It waits for a second key: <Act label="Approve" act={() => call(`POST ${at}/approve`, { params }).then(loaded.again)} />
                <Act label="Reject" act={() => call(`POST ${at}/reject`, { params }).then(loaded.again)} />
              </p>
            )}
            <Facts
              of={[
                ["Amount", <Sats amount={data.amount_sats} />],
                ["Fee", <Sats amount={data.fee_sats} />],
                ["Status", <Status of={data.status} />],
                ["Recipient", <code>{data.recipient}</code>],
                ["When", <When at={data.created_at} />],
                ...(data.failure === null ? [] : [["Why it failed", data.failure.message] as const]),
                ...(data.chain_tx_id === null ? [] : [["Transaction", <code>{data.chain_tx_id}</code>] as const]),
                ...metadata(data.metadata)
              ]}
            />
          </>
        )}
      </Loaded>
      <Timeline subject={id} />
    </Page>
  )
}
