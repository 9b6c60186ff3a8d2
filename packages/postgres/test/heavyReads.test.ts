import { assert, it } from "@effect/vitest"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { compiler } from "../src/client/PgClient.ts"
import { connection } from "../src/client/PgConnection.ts"
import * as Statements from "@satrail/features/statements/postgres/Reads"
import * as Bookings from "../src/reads/Bookings.ts"
import * as Search from "../src/reads/Search.ts"
import * as Steps from "../src/reads/Steps.ts"
import * as Reads from "../src/statements/Reads.ts"

const companyOf = (n: number) => CompanyId.make(`00000000-0000-7000-8000-00000000000${n}`)
const period = { fromMillis: 0, untilMillis: 1 }

/** A client that answers no heavy read until `end`, and lists the companies whose reads have begun. */
const make = Effect.gen(function* () {
  const end = yield* Deferred.make<void>()
  const begun: Array<unknown> = []
  const client = Layer.effect(
    SqlClient.SqlClient,
    SqlClient.make({
      driver: "test",
      acquirer: Effect.succeed(
        connection(({ text, values }) => {
          const answer = { command: "", rowCount: 0, oid: 0, fields: [], rows: [] }
          if (!text.includes("satrail.")) return Effect.succeed(answer)
          begun.push(values?.[0])
          return Effect.as(Deferred.await(end), answer)
        })
      ),
      compiler,
      spanAttributes: []
    })
  ).pipe(Layer.provide(Reactivity.layer))
  return { end, begun, client }
})

const readers = Effect.gen(function* () {
  const { end, begun, client } = yield* make
  const reads = yield* Effect.all({
    statements: Statements.make,
    bookedSums: Bookings.reads.bookedSums,
    found: Search.found,
    turnedSince: Steps.turnedSince
  }).pipe(Effect.provide(client))
  const sought = {
    text: "a",
    ids: null,
    hash: null,
    preimageHash: null,
    address: null,
    recipient: null,
    lightningAddress: null,
    hexes: null,
    fiat: null,
    amounts: null
  }
  const recounts = (n: number): ReadonlyArray<Effect.Effect<unknown, unknown>> => [
    reads.statements.monthSums(companyOf(n), period),
    reads.bookedSums(companyOf(n), period)
  ]
  const others = (n: number): ReadonlyArray<Effect.Effect<unknown, unknown>> => [
    reads.found(companyOf(n), sought),
    reads.turnedSince(companyOf(n), [0, 1])
  ]
  const ask = (asked: ReadonlyArray<Effect.Effect<unknown, unknown>>) =>
    Effect.forkChild(Effect.forEach(asked, (read) => Effect.exit(read), { concurrency: "unbounded" })).pipe(
      Effect.tap(() => Effect.repeat(Effect.yieldNow, { times: 100 }))
    )
  return { end: Deferred.succeed(end, undefined), begun, recounts, others, ask }
})

it.effect(
  "heavy reads: one company runs one at a time, and all of them together leave connections to other requests",
  () =>
    Effect.gen(function* () {
      for (const which of ["others", "recounts"] as const) {
        const { end, begun, ask, ...reads } = yield* readers
        const asked = [1, 2, 3, 4].flatMap(reads[which])
        const running = yield* ask(asked)
        const most = which === "others" ? Reads.heavy.most : Reads.heavy.recounts
        assert.deepStrictEqual(begun, [1, 2, 3].slice(0, most).map(companyOf))
        yield* end
        yield* Fiber.join(running)
        assert.strictEqual(begun.length, asked.length)
      }
    }).pipe(Effect.scoped)
)

it.effect(
  "heavy reads: a company's search does not wait for its statements and exports, or for those of other companies",
  () =>
    Effect.gen(function* () {
      const { end, begun, recounts, others, ask } = yield* readers
      const exports = yield* ask([1, 2, 3].flatMap(recounts))
      const searches = yield* ask([1, 3].flatMap(others))
      assert.deepStrictEqual(begun, [1, 2, 1].map(companyOf))
      yield* end
      yield* Fiber.joinAll([exports, searches])
      assert.strictEqual(begun.length, 10)
    }).pipe(Effect.scoped)
)
