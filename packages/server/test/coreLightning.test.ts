import { assert, describe, it } from "@effect/vitest"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Id from "@satrail/core/base/Id"
import * as Cursor from "@satrail/core/ledger/Cursor"
import { Journal } from "@satrail/core/ledger/Journal"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import * as Memory from "@satrail/memory/Memory"
import { Context, Effect, Layer, References, Result } from "effect"
import * as LightningDaemon from "../../nodes/test/LightningDaemon.ts"
import * as Check from "../src/check/Check.ts"
import * as Checks from "../src/check/Checks.ts"
import * as Environment from "../src/Environment.ts"

const daemon = Effect.acquireRelease(Effect.promise(LightningDaemon.make), ({ end }) => Effect.sync(end))

const envOf = (url: string) => ({
  LIGHTNING: "core-lightning",
  CORE_LIGHTNING_URL: url,
  CORE_LIGHTNING_RECEIVER_RUNE: LightningDaemon.rune,
  CORE_LIGHTNING_SENDER_RUNE: LightningDaemon.rune,
  CORE_LIGHTNING_INVOICE_SECRET: "i".repeat(32),
  SATRAIL_OPERATOR_TOKEN: "an-operator-s-token-of-32-characters"
})

const nodeOf = (env: Record<string, string>) => {
  const { node, network } = Result.getOrThrow(Environment.read(env))
  return { node: node ?? assert.fail("no node was chosen"), network }
}

const start = (env: Record<string, string>) => {
  const { node, network } = nodeOf(env)
  return Layer.build(Layer.fresh(node.layer(network)))
}

const silent = Effect.provideService(References.MinimumLogLevel, "None")

const over = <A, E, R>(story: Effect.Effect<A, E, R>) => Effect.scoped(story).pipe(Effect.provide(Layer.fresh(Memory.layer)), silent)

describe("LIGHTNING=core-lightning", () => {
  it("backend: a missing setting of Core Lightning's is named, and no secret is shown", () => {
    const read = Environment.read({ LIGHTNING: "core-lightning" })
    const problems = Result.isFailure(read) ? read.failure.problems : []
    for (const name of [
      "CORE_LIGHTNING_URL",
      "CORE_LIGHTNING_RECEIVER_RUNE",
      "CORE_LIGHTNING_SENDER_RUNE",
      "CORE_LIGHTNING_INVOICE_SECRET"
    ]) {
      assert.isTrue(
        problems.some((problem) => problem.startsWith(`${name} is needed with LIGHTNING=core-lightning`)),
        name
      )
    }
    assert.notInclude(JSON.stringify(nodeOf(envOf("https://node.example")).node), LightningDaemon.rune)
  })

  it.live("backend: Core Lightning takes payments and pays, and is the node that it was at the first start", () =>
    over(
      Effect.gen(function* () {
        const { url } = yield* daemon
        const ports = yield* start(envOf(url))
        const { nodeId, network } = Context.get(ports, LightningReceiver)
        assert.strictEqual(network, "regtest")
        assert.match(nodeId, /^0[23][0-9a-f]{64}$/)
        assert.deepStrictEqual(yield* Context.get(ports, LightningSender).lookupPayment(PaymentHash.make("00".repeat(32))), {
          _tag: "notFound"
        })
        yield* start(envOf(url))
        const wrong = yield* Effect.flip(start({ ...envOf(url), SATRAIL_NETWORK: "signet" }))
        assert.include(String("message" in wrong && wrong.message), "is on regtest, and SATRAIL_NETWORK is signet")
      })
    )
  )

  it.live("backend: a database that was begun with another node is not served with this one", () =>
    over(
      Effect.gen(function* () {
        const { url } = yield* daemon
        const value = JSON.stringify({ nodeId: `02${"22".repeat(32)}`, network: "regtest" })
        yield* (yield* Journal).commit(Cursor.moved({ source: "core-lightning", value }, Id.nil, 0))
        const other = yield* Effect.flip(start(envOf(url)))
        assert.match(String("message" in other && other.message), /^The database was begun with the node 022222.* Set CORE_LIGHTNING_URL/)
      })
    )
  )

  it.live("backend: a start without Core Lightning ends with the remedy", () =>
    over(
      Effect.gen(function* () {
        const { url, cut } = yield* daemon
        cut()
        const away = yield* Effect.flip(start(envOf(url)))
        assert.match(
          String("message" in away && away.message),
          /^Core Lightning does not answer at http:.* Start it with its clnrest plugin/
        )
      })
    )
  )

  it.live("check: Core Lightning is checked with each rune, and what was never tried with it is reported", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { url } = yield* daemon
        const lines = (env: Record<string, string>) =>
          Effect.map(Checks.all(Result.getOrThrow(Environment.read(env))), (found) =>
            found.filter(({ subject }) => subject === "Core Lightning").map(Check.text)
          )
        const good = yield* lines(envOf(url))
        assert.strictEqual(good.filter((line) => line.startsWith("✓")).length, 2, good.join("\n"))
        for (const said of ["untested with a real node", "no reconciliation", "Lightning addresses"]) {
          assert.isTrue(
            good.some((line) => line.includes(said)),
            said
          )
        }
        const bad = yield* lines({ ...envOf(url), CORE_LIGHTNING_SENDER_RUNE: "another-rune-than-it-knows" })
        assert.isTrue(
          bad.some((line) => line.startsWith("✗") && line.includes("CORE_LIGHTNING_SENDER_RUNE")),
          bad.join("\n")
        )
        assert.notInclude(bad.join("\n"), "another-rune-than-it-knows")
      })
    )
  )
})
