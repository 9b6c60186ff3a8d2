import { afterAll, assert, describe, it } from "@effect/vitest"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { Effect, Option, Redacted } from "effect"
import * as CellRegistry from "../src/CellRegistry.ts"
import * as PgClient from "../src/PgClient.ts"

const installation = PostgresServer.find()
if ("missing" in installation && process.env["REQUIRE_REAL_POSTGRES"] === "1")
  throw new Error(`no PostgreSQL here: ${installation.missing}`)
const server = "missing" in installation ? undefined : await PostgresServer.start(installation)
afterAll(() => server?.end())

const registry = Effect.suspend(() => CellRegistry.make(Redacted.make(server?.url ?? "")))

describe.skipIf(server === undefined)("the registry of cells (skipped where there is no PostgreSQL)", () => {
  it.live("cell registry: a handle is the first cell's that claims it, for ever, also where all of them begin at the same moment", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const letters = [..."abcdefghijkmnop"]
        const { sql } = yield* PgClient.lazily({ url: Redacted.make(server?.url ?? ""), maxConnections: 1 })
        // In one of three such beginnings two got in each other's way, before the second waited for the first.
        for (let beginning = 1; beginning <= 10; beginning++) {
          yield* sql.unsafe("drop schema if exists satrail_cells cascade").unprepared
          const all = yield* Effect.forEach(letters, () => registry)
          const holders = yield* Effect.forEach(all, ({ claim }, i) => claim("tea", letters[i] ?? ""), { concurrency: "unbounded" })
          assert.strictEqual(new Set(holders).size, 1, "one is told to all")
          const again = yield* Effect.forEach(all, ({ claim, holder }, i) => Effect.all([claim("tea", letters[i] ?? ""), holder("tea")]))
          for (const [claimed, held] of again) assert.deepStrictEqual([claimed, held], [holders[0], Option.fromUndefinedOr(holders[0])])
        }
      })
    )
  )

  it.live("cell registry: what nobody has is found as soon as somebody has it", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const [one, other] = [yield* registry, yield* registry]
        assert.deepStrictEqual(yield* other.holder("cake"), Option.none())
        assert.strictEqual(yield* one.claim("cake", "a"), "a")
        assert.deepStrictEqual(yield* other.holder("cake"), Option.some("a"))
      })
    )
  )

  it.live("cell registry: away it is an outage, and back it answers", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { claim, holder } = yield* registry
        yield* Effect.promise(async () => server?.stop("immediate"))
        assert.strictEqual((yield* Effect.flip(claim("coffee", "a")))._tag, "StoreUnavailable")
        assert.strictEqual((yield* Effect.flip(holder("coffee")))._tag, "StoreUnavailable")
        yield* Effect.promise(async () => server?.restart())
        assert.strictEqual(yield* Effect.eventually(claim("coffee", "a")), "a")
      })
    )
  )
})
