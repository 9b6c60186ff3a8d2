import { afterAll, assert, describe, it } from "@effect/vitest"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { Effect, Option, Redacted } from "effect"
import * as CellRegistry from "../src/CellRegistry.ts"

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
        const all = yield* Effect.all([registry, registry, registry, registry])
        const letters = ["a", "b", "c", "d"]
        // The table does not exist yet either.
        const holders = yield* Effect.forEach(all, ({ claim }, i) => claim("tea", letters[i] ?? ""), { concurrency: "unbounded" })
        const [first = ""] = holders
        assert.deepStrictEqual(
          holders,
          holders.map(() => first)
        )
        const again = yield* Effect.forEach(all, ({ claim, holder }, i) => Effect.all([claim("tea", letters[i] ?? ""), holder("tea")]))
        assert.deepStrictEqual(
          again,
          letters.map(() => [first, Option.some(first)])
        )
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
