import { call } from "../api.ts"
import { Bars, type Hour, Line } from "../charts.tsx"
import { Frozen } from "../frozen.tsx"
import { Facts, Link, Loaded, Page, Sats, Status, Table, useLoaded, When } from "../parts.tsx"
import type { Transaction } from "../wire.ts"

const hourMillis = 3_600_000
const hours = 24
/** As many as one page of the list has; of a busier day, the newest of them. */
const most = 1000

const load = async () => {
  const since = new Date(Date.now() - hours * hourMillis).toISOString()
  const [balance, day, pending] = await Promise.all([
    call("GET /v1/transactions/balance"),
    call("GET /v1/transactions", { query: { from: since, limit: most } }),
    call("GET /v1/transactions", { query: { status: "pending", limit: most } })
  ])
  return { balance: balance.data, day: day.data, pending: pending.data, nowMillis: Date.now() }
}

/** What a transaction did to the balance: what came in less its fee, or what went out with it. */
const effect = ({ type, amount_sats, fee_sats }: Transaction) => (type === "deposit" ? amount_sats - fee_sats : -(amount_sats + fee_sats))

const byHour = (day: ReadonlyArray<Transaction>, nowMillis: number): ReadonlyArray<Hour> =>
  Array.from({ length: hours }, (_, index) => {
    const from = nowMillis - (hours - index) * hourMillis
    const settled = day.filter(({ status, created_at }) => {
      const at = Date.parse(created_at)
      return status === "settled" && at >= from && at < from + hourMillis
    })
    const sum = (type: Transaction["type"]) => settled.reduce((all, one) => (one.type === type ? all + Math.abs(effect(one)) : all), 0)
    return {
      label: new Date(from).toLocaleTimeString("en", { hour: "2-digit", minute: "2-digit" }),
      came: sum("deposit"),
      went: sum("withdrawal")
    }
  })

/** Backwards from what there is now. */
const balances = (now: number, day: ReadonlyArray<Hour>): ReadonlyArray<number> => {
  const points = [now]
  for (const { came, went } of day.toReversed()) points.unshift((points[0] ?? now) - came + went)
  return points
}

export const Overview = () => {
  const loaded = useLoaded(load)
  return (
    <Page title="Overview">
      <Frozen />
      <Loaded of={loaded}>
        {({ balance, day, pending, nowMillis }) => {
          const drawn = byHour(day, nowMillis)
          const oldest = pending.at(-1)
          return (
            <>
              <div class="cards">
                <section class="card" aria-label="Balance">
                  <h2>Available</h2>
                  <p class="large" data-testid="available">
                    <Sats amount={balance.balance} />
                  </p>
                  <Line points={balances(balance.balance, drawn)} />
                  <Facts
                    of={[
                      ["Held for withdrawals", <Sats amount={balance.held_sats} />],
                      ["Waiting for confirmations", <Sats amount={balance.pending_deposits_sats} />]
                    ]}
                  />
                </section>
                <section class="card" aria-label="Last 24 hours">
                  <h2>Last 24 hours</h2>
                  <Bars hours={drawn} />
                  <Facts
                    of={[
                      ["In", <Sats amount={drawn.reduce((sum, { came }) => sum + came, 0)} />],
                      ["Out", <Sats amount={drawn.reduce((sum, { went }) => sum + went, 0)} />],
                      [
                        "Pending",
                        oldest === undefined ? (
                          "nothing"
                        ) : (
                          <>
                            {pending.length}, the oldest since <When at={oldest.created_at} />
                          </>
                        )
                      ]
                    ]}
                  />
                </section>
              </div>
              <h2>Newest</h2>
              <Table
                caption="Newest transactions"
                none="Nothing has moved in the last 24 hours. Create an invoice to begin."
                rows={day.slice(0, 8)}
                columns={[
                  { title: "When", cell: ({ created_at }) => <When at={created_at} /> },
                  { title: "What", cell: ({ type, id }) => <Link path={`${type}/${id}`}>{type}</Link> },
                  { title: "Amount", cell: ({ amount_sats }) => <Sats amount={amount_sats} />, isNumber: true },
                  { title: "Status", cell: ({ status }) => <Status of={status} /> }
                ]}
              />
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}
