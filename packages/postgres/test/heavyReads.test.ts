import { assert, it } from "@effect/vitest"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { compiler } from "../src/client/PgClient.ts"
import { connection } from "../src/client/PgConnection.ts"
import * as Statements from "../src/features/statements/Reads.ts"
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

it.effect("heavy reads: one company runs one at a time, and all of them together leave connections to other requests", () =>
  Effect.gen(function* () {
    const { end, begun, client } = yield* make
    const reads = yield* Effect.all({
      statements: Statements.make,
      bookedSums: Bookings.reads.bookedSums,
      found: Search.found,
      turnedSince: Steps.turnedSince
    }).pipe(Effect.provide(client))
    const all = (n: number): ReadonlyArray<Effect.Effect<unknown, unknown>> => {
      const company = companyOf(n)
      return [
        reads.statements.monthSums(company, period),
        reads.bookedSums(company, period),
        reads.found(company, { text: "a", ids: null, hash: null, address: null, recipient: null, lightningAddress: null, amounts: null }),
        reads.turnedSince(company, [0, 1])
      ]
    }
    const asked = [1, 2, 3, 4].flatMap(all)
    const running = yield* Effect.forkChild(Effect.forEach(asked, (read) => Effect.exit(read), { concurrency: "unbounded" }))
    for (let turn = 0; turn < 100; turn++) yield* Effect.yieldNow
    assert.deepStrictEqual(begun, [1, 2, 3].map(companyOf))
    assert.strictEqual(begun.length, Reads.heavy.most)
    yield* Deferred.succeed(end, undefined)
    yield* Fiber.join(running)
    assert.strictEqual(begun.length, asked.length)
  }).pipe(Effect.scoped)
)
