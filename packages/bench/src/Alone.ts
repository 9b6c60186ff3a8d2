import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import * as Decimal from "@satrail/core/base/Decimal"
import { Tail } from "@satrail/core/events/Tail"
import { Invoices } from "@satrail/core/receiving/Invoices"
import { PayRequests } from "@satrail/core/receiving/PayRequests"
import { Withdrawals } from "@satrail/core/sending/Withdrawals"
import * as Policy from "@satrail/core/service/Policy"
import * as PgliteClient from "@satrail/postgres/client/PgliteClient"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import * as Satrail from "@satrail/service/core/Satrail"
import * as Storage from "@satrail/service/postgres/Storage"
import { Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import * as Fill from "./Fill.ts"

// Counts the statements of payments that come one at a time, as most users' payments do: nothing is grouped. The whole
// core runs on the embedded database, whose single connection counts what it executes. Time is simulated, so the
// counts are the same in each run.

/** The goals. */
export const most = { confirm: 4, createInvoice: 2.5, lnurlInvoice: 3 }

const perSecond = 20
const payments = 20

/** The steps in which simulated time passes. */
const stepMillis = 5

const settings: Policy.Settings = {
  ...Policy.defaults,
  network: "regtest",
  domain: Fill.destination.domain
}

const service = Satrail.layerWorkers.pipe(
  Layer.provideMerge(Satrail.layer(settings)),
  Layer.provideMerge(FixedRates.layer()),
  Layer.provideMerge(Sandbox.layer({ seed: "21", network: "regtest" })),
  Layer.provideMerge(Storage.layerClient()),
  Layer.provideMerge(PgliteClient.layer())
)

/** Lets what is ready run, without letting time pass. The database answers within such turns. */
const turn = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))
const turns = Effect.repeat(turn, { times: 9 })

const pass = (millis: number) =>
  Effect.repeat(Effect.andThen(TestClock.adjust(stepMillis), turns), { times: millis / stepMillis - 1 })

const executed = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql.unsafe<{ readonly sum: number }>(
    "select sum(generic_plans + custom_plans)::int4 as sum from pg_prepared_statements"
  ).unprepared
  return row?.sum ?? NaN
})

/** Returns how many statements a payment of each kind needs, from the request until nothing is left to do. */
export const statements = Effect.gen(function* () {
  const keys = yield* Fill.companies
  const [apiKeys, withdrawals] = [yield* ApiKeys, yield* Withdrawals]
  const [invoices, payRequests] = [yield* Invoices, yield* PayRequests]
  // Something follows the events of all companies, as the sender of webhooks does.
  const more = yield* (yield* Tail).listen(null)
  yield* Effect.forkChild(Effect.forever(more))
  const holder = apiKeys.check(keys[Fill.busy - 1] ?? "")
  const asked = { amount: Result.getOrThrow(Decimal.parse("1")), currency: "sats" as const }
  const { handle: user, domain: host } = Fill.destination
  const acts = {
    confirm: Effect.flatMap(holder, ({ apiKey, plan, companyLimits, fees, feesRevision }) =>
      withdrawals.confirm({
        company: { id: apiKey.companyId, plan, limits: companyLimits, fees, feesRevision },
        apiKey,
        asked,
        destination: `${user}@${host}`,
        metadata: {}
      })
    ),
    createInvoice: Effect.flatMap(holder, ({ apiKey }) =>
      invoices.create({
        companyId: apiKey.companyId,
        ...asked,
        description: "tea",
        expirySeconds: 3600,
        metadata: {}
      })
    ),
    lnurlInvoice: payRequests.invoice(
      { host, domain: null, user },
      { amount: "100000", comment: null, payerData: null, nostr: null, caller: "192.0.2.1" }
    )
  }
  const measured = Effect.fnUntraced(function* (act: Effect.Effect<unknown, unknown>) {
    const before = yield* executed
    for (let payment = 0; payment < payments; payment++) {
      yield* Effect.forkChild(act, { startImmediately: true })
      yield* pass(1000 / perSecond)
    }
    yield* pass(500)
    return (yield* executed) - before
  })
  // Statements are prepared, and caches filled, by the first payments.
  for (const act of Object.values(acts)) yield* act
  yield* TestClock.adjust(10_000)
  yield* pass(1000)
  const idle = yield* measured(Effect.void)
  const each = (act: Effect.Effect<unknown, unknown>) =>
    Effect.map(measured(act), (all) => (all - idle) / payments)
  return {
    confirm: yield* each(acts.confirm),
    createInvoice: yield* each(acts.createInvoice),
    lnurlInvoice: yield* each(acts.lnurlInvoice)
  }
}).pipe(Effect.provide(service), Effect.provide(TestClock.layer()), Effect.scoped)
