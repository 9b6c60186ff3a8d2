import { assert, describe, it } from "@effect/vitest"
import * as Companies from "@satrail/core/accounts/Companies"
import * as Decimal from "@satrail/core/base/Decimal"
import * as Events from "@satrail/core/events/Events"
import * as Answer from "@satrail/core/ledger/Answer"
import * as Invoices from "@satrail/core/receiving/Invoices"
import * as Policy from "@satrail/core/service/Policy"
import * as Satrail from "@satrail/service/core/Satrail"
import * as HostTransaction from "@satrail/postgres/client/HostTransaction"
import * as PgClient from "@satrail/postgres/client/PgClient"
import * as Storage from "@satrail/service/postgres/Storage"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Cause, Effect, Exit, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../postgres/test/Database.ts"

/** An application with its own tables, which uses one client for its queries and for satrail. */
const host = Layer.unwrap(
  Effect.map(Database.make, (url) => {
    const database = Layer.provideMerge(Storage.layerClient(), PgClient.layer({ url }))
    const ports = Layer.mergeAll(
      database,
      Sandbox.layer({ seed: "host", network: "regtest" }),
      FixedRates.layer()
    )
    const settings = { ...Policy.defaults, network: "regtest" as const, domain: "pay.example.com" }
    return Satrail.layerWorkers.pipe(Layer.provideMerge(Satrail.layer(settings)), Layer.provideMerge(ports))
  })
)

const shop = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create schema shop`
  yield* sql`create table shop.orders (invoice text primary key, times_paid int not null default 0)`
  yield* sql`create table shop.consumer (name text primary key, cursor text not null)`
  const company = yield* Effect.flatMap(
    (yield* Companies.Companies).open({ name: "Shop", plan: "free" }),
    Answer.made
  )
  const ask = {
    companyId: company.id,
    amount: Decimal.make(21n),
    currency: "sats" as const,
    description: "tea",
    expirySeconds: 600
  }
  const invoices = yield* Invoices.Invoices
  return { sql, invoice: Effect.flatMap(invoices.create({ ...ask, metadata: {} }), Answer.made) }
})

describe.skipIf(Database.server === undefined)("a host on PostgreSQL (skipped where there is none)", () => {
  it.live(
    "host: an application that creates an invoice inside its own transaction gets a specific error, and neither the invoice nor the application's order is stored",
    () =>
      Effect.gen(function* () {
        const { sql, invoice } = yield* shop
        const exit = yield* Effect.exit(
          sql.withTransaction(
            Effect.andThen(sql`insert into shop.orders (invoice) values ('in the transaction')`, invoice)
          )
        )
        assert.instanceOf(
          Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined,
          HostTransaction.WriteInTransaction
        )
        assert.deepStrictEqual(yield* sql`select invoice from shop.orders`, [])
        assert.deepStrictEqual(yield* sql`select id from satrail.invoices`, [])
        yield* invoice
        assert.lengthOf(yield* sql`select id from satrail.invoices`, 1)
      }).pipe(Effect.provide(host), Effect.scoped)
  )

  it.live(
    "host: an application commits an order and its event cursor together, so that the order is marked as paid once even if the event is repeated after a crash",
    () =>
      Effect.gen(function* () {
        const { sql, invoice } = yield* shop
        const { id, paymentRequest } = yield* invoice
        yield* sql`insert into shop.orders (invoice) values (${id})`
        yield* (yield* Sandbox.Sandbox).pay({ paymentRequest })

        const events = yield* Events.Events
        /** Consumes events until the order's event has been processed. */
        const consume = (crashes: boolean) =>
          Effect.gen(function* () {
            const [kept] = yield* sql<{
              readonly cursor: string
            }>`select cursor from shop.consumer where name = 'orders'`
            const all = events.tail(kept === undefined ? {} : { after: kept.cursor })
            yield* Stream.runForEach(
              Stream.takeUntil(all, ({ type }) => type === "invoice.settled"),
              (event) =>
                sql.withTransaction(
                  Effect.gen(function* () {
                    if (event.type === "invoice.settled")
                      yield* sql`update shop.orders set times_paid = times_paid + 1 where invoice = ${event.record.id}`
                    if (event.type === "invoice.settled" && crashes)
                      yield* Effect.die("the application crashes before its commit")
                    yield* sql`insert into shop.consumer values ('orders', ${event.cursor}) on conflict (name) do update set cursor = excluded.cursor`
                  })
                )
            )
          })
        assert.isTrue(Exit.isFailure(yield* Effect.exit(consume(true))))
        assert.deepStrictEqual(yield* sql`select times_paid from shop.orders`, [{ times_paid: 0 }])
        yield* consume(false)
        assert.deepStrictEqual(yield* sql`select times_paid from shop.orders`, [{ times_paid: 1 }])
      }).pipe(Effect.provide(host), Effect.scoped)
  )
})
