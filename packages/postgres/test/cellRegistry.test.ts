import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Contract from "@satrail/contracts/CellRegistry"
import * as PostgresServer from "@satrail/testing/PostgresServer"
import { Effect, Exit, Layer, Option, Redacted } from "effect"
import * as CellRegistry from "../src/CellRegistry.ts"
import * as PgClient from "../src/PgClient.ts"

const installation = PostgresServer.find()
if ("missing" in installation && process.env["REQUIRE_REAL_POSTGRES"] === "1")
  throw new Error(`no PostgreSQL here: ${installation.missing}`)
const server = "missing" in installation ? undefined : await PostgresServer.start(installation)
afterAll(() => server?.end())

const registry = Effect.suspend(() => CellRegistry.make(Redacted.make(server?.url ?? "")))

if (server !== undefined) Contract.suite("postgres", Layer.effect(Contract.CellRegistry, registry))

describe.skipIf(server === undefined)("the registry of cells (skipped where there is no PostgreSQL)", () => {
  it.live("cell registry: a handle is the first cell's that claims it, for ever, also where all of them begin at the same moment", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const letters = [..."abcdefghijkmnop"]
        const { sql } = yield* PgClient.lazily({ url: Redacted.make(server?.url ?? ""), maxConnections: 1 })
        // In one of three such beginnings two got in each other's way, before the second waited for the first.
        const begin = Effect.gen(function* () {
          const all = yield* Effect.forEach(letters, () => registry)
          const refused = yield* Effect.forEach(all, ({ claim }, i) => claim(["tea", `of ${i}`], letters[i] ?? "", null), {
            concurrency: "unbounded"
          })
          const winner = letters.filter((_, i) => refused[i]?.length === 0)
          assert.lengthOf(winner, 1, "one is given it")
          for (const [i, { claim, holder }] of all.entries()) {
            assert.deepStrictEqual(yield* claim(["tea"], letters[i] ?? "", null), letters[i] === winner[0] ? [] : ["tea"])
            assert.deepStrictEqual([yield* holder("tea"), yield* holder(`of ${i}`)], [Option.some(winner[0]), Option.some(letters[i])])
          }
        })
        for (let beginning = 1; beginning <= 10; beginning++) {
          yield* sql.unsafe("drop schema if exists satrail_cells cascade").unprepared
          yield* Effect.scoped(begin)
        }
      })
    )
  )

  it.live("cell registry: of very many who ask about handles at once some are turned away, and a new handle is claimed meanwhile", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { claim, holder } = yield* registry
        yield* claim(["milk"], "a", null)
        const many = Array.from({ length: 500 }, (_, i) => Effect.exit(holder(`nobody's ${i}`)))
        const [answers, claimed] = yield* Effect.all([Effect.all(many, { concurrency: "unbounded" }), claim(["bread"], "a", null)], {
          concurrency: 2
        })
        assert.deepStrictEqual(claimed, [])
        assert.strictEqual(answers.filter(Exit.isSuccess).length, 100)
      })
    )
  )

  it.live("cell registry: away it is an outage, and back it answers", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { claim, holder } = yield* registry
        yield* Effect.promise(async () => server?.stop("immediate"))
        assert.strictEqual((yield* Effect.flip(claim(["coffee"], "a", null)))._tag, "StoreUnavailable")
        assert.strictEqual((yield* Effect.flip(holder("coffee")))._tag, "StoreUnavailable")
        yield* Effect.promise(async () => server?.restart())
        assert.deepStrictEqual(yield* Effect.eventually(claim(["coffee"], "a", null)), [])
      })
    )
  )
})
