import { Effect, Schema, type Scope } from "effect"
import path from "node:path"
import * as Caller from "./Caller.ts"
import * as Fill from "./Fill.ts"
import type { Generator } from "./Generator.ts"
import * as Lnbits from "./Lnbits.ts"
import type { Postgres } from "./Postgres.ts"
import type { BenchFailed } from "./Program.ts"
import * as Report from "./Report.ts"
import * as Requests from "./Requests.ts"
import * as Runs from "./Runs.ts"
import type { Side } from "./Side.ts"
import * as Subject from "./Subject.ts"

// Other services, each as its own package installs it, asked the same as ours: by the same generator, over the same database server, in turns.

const what = { pattern: "one company", clients: 64 }
const sats = 1

const reads = "peers, balance"
const invoices = "peers, create invoice"
const payments = "peers, payment inside until settled"

/** What is measured, by its name in the tables; `--only peers` is all of it. */
export const operations = [reads, invoices, payments] as const

/** The whole service, on its simulated node; it logs no request, as its peer does not. */
const ours = Effect.fnUntraced(function* (postgres: Postgres, directory: string, profileDirectory: string | undefined) {
  const { server, keys } = yield* Subject.whole(postgres, directory, profileDirectory, { SATRAIL_REQUEST_LOG: "no" })
  const [payer, payee] = [keys[Fill.busy - 1] ?? "", keys[0] ?? ""]
  const ask = Caller.make(server.port, { authorization: `Bearer ${payee}` })
  const Invoice = Schema.Struct({ data: Schema.Struct({ payment_request: Schema.String }) })
  const Balance = Schema.Struct({ data: Schema.Struct({ balance: Schema.Finite }) })
  return {
    name: "ours",
    port: server.port,
    balance: Requests.readBalance(payer),
    createInvoice: Requests.createInvoice(payer),
    pay: (invoice) => Requests.pay(payer, invoice),
    invoice: (amount) =>
      Effect.map(ask("POST", Requests.invoices, Invoice, { amount, currency: "sats" }), ({ data }) => data.payment_request),
    received: Effect.map(ask("GET", Requests.balances, Balance), ({ data }) => data.balance)
  } satisfies Side
})

/** How long the payments of one round may take to be accepted. */
const maxPayMillis = 60_000
const invoicesAtOnce = 16
const lookMillis = 20

/**
 * So many invoices of the payee are paid by the payer, whose callers ask as fast as they are answered, until the payee's balance has them all. Payments a second, of all of that time. The invoices
 * are made before it.
 */
export const paid = Effect.fnUntraced(function* (side: Side, generator: Generator, count: number) {
  const fresh = yield* Effect.forEach(
    Array.from({ length: count }, () => sats),
    side.invoice,
    { concurrency: invoicesAtOnce }
  )
  const before = yield* side.received
  const began = performance.now()
  const load = { port: side.port, clients: what.clients, requests: fresh.map(side.pay), end: count, warmupMillis: 0, millis: maxPayMillis }
  yield* generator(`${payments}: ${side.name}`, load)
  yield* Caller.until(
    count * sats,
    Effect.map(side.received, (now) => before + count * sats - now),
    lookMillis
  )
  return { perSecond: (count * 1000) / (performance.now() - began) }
})

/** What a side pays first, while its rate is not known. */
const fewest = 100

/** Ways to measure one side, in the order of `operations`. */
const ways = (side: Side, generator: Generator, seconds: number) => {
  const http = (operation: string, request: string) =>
    generator(`${operation}: ${side.name}`, { port: side.port, clients: what.clients, ...Runs.times(seconds), requests: [request] })
  let count = fewest
  return {
    [reads]: http(reads, side.balance),
    [invoices]: http(invoices, side.createInvoice),
    // As many as the last round did in the time.
    [payments]: Effect.tap(
      Effect.suspend(() => paid(side, generator, count)),
      ({ perSecond }) =>
        Effect.sync(() => {
          count = Math.max(fewest, Math.round(perSecond * seconds))
        })
    )
  }
}

/** Rounds that are not counted: code is compiled, and how many payments a round has time for is found out. */
const warmups = 2

/** Rounds of each operation at ours and at the peer, who begin in turn. */
export const measure = (
  environment: string,
  postgres: Postgres,
  generator: Generator,
  options: { readonly directory: string; readonly profileDirectory: string | undefined; readonly seconds: number },
  asked: { readonly rounds: number; readonly wanted: (operation: string) => boolean; readonly tell: (line: string) => void }
): Effect.Effect<ReadonlyArray<Report.Row>, BenchFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const { directory, profileDirectory, seconds } = options
    const peer = yield* Lnbits.start(environment, postgres, path.join(directory, "lnbits"))
    const us = yield* ours(postgres, directory, profileDirectory)
    const [our, its] = [ways(us, generator, seconds), ways(peer, generator, seconds)]
    const rows: Array<Report.Row> = []
    for (const operation of operations.filter(asked.wanted)) {
      const found: Record<"ours" | "its", Array<{ readonly perSecond: number }>> = { ours: [], its: [] }
      const steps = [
        Effect.map(our[operation], (rate) => found.ours.push(rate)),
        Effect.map(its[operation], (rate) => found.its.push(rate))
      ]
      for (let round = 0; round < warmups + asked.rounds; round++) {
        for (const step of round % 2 === 0 ? steps : steps.toReversed()) yield* step
        asked.tell(
          `${operation}: ${found.ours.at(-1)?.perSecond.toFixed(1)} a second, ${peer.name} ${found.its.at(-1)?.perSecond.toFixed(1)}`
        )
      }
      rows.push(Report.row({ operation, ...what, limit: peer.name }, found.ours.slice(warmups), found.its.slice(warmups)))
    }
    return rows
  })
