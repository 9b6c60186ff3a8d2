import { assert, describe, it } from "@effect/vitest"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as WalletConnect from "@satrail/bitcoin/WalletConnect"
import * as Id from "@satrail/core/base/Id"
import * as Cursor from "@satrail/core/ledger/Cursor"
import { Journal } from "@satrail/core/ledger/Journal"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import * as Memory from "@satrail/memory/Memory"
import * as Nwc from "@satrail/nodes/Nwc"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Context, Effect, Layer, Redacted, References, Result } from "effect"
import * as NwcWalletOver from "../../nodes/test/NwcWalletOver.ts"
import * as LocalRelay from "../../web/test/LocalRelay.ts"
import * as Check from "../src/check/Check.ts"
import * as Checks from "../src/check/Checks.ts"
import * as Environment from "../src/Environment.ts"

const secret = Redacted.value(NwcWalletOver.connection.secretKey)

const envOf = (port: number) => ({
  LIGHTNING: "nwc",
  NWC_URL: Redacted.value(WalletConnect.format({ ...NwcWalletOver.connection, relays: [`ws://127.0.0.1:${port}`] })),
  NWC_INVOICE_SECRET: "i".repeat(32),
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

const messageOf = (error: object) => String("message" in error && error.message)

const story = <A, E, R>(steps: (relay: LocalRelay.LocalRelay) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const relay = yield* LocalRelay.make
    yield* Effect.provide(NwcWalletOver.wallet(relay), Sandbox.layer({ seed: "wallet", network: "regtest" }))
    return yield* steps(relay)
  }).pipe(Effect.scoped, Effect.provide(Layer.fresh(Memory.layer)), Effect.provideService(References.MinimumLogLevel, "None"))

describe("LIGHTNING=nwc", () => {
  it("backend: a missing or wrong setting of a wallet's is named, and no secret is shown", () => {
    const problemsOf = (env: Record<string, string>) => {
      const read = Environment.read(env)
      return Result.isFailure(read) ? read.failure.problems : []
    }
    const missing = problemsOf({ LIGHTNING: "nwc" })
    for (const name of ["NWC_URL", "NWC_INVOICE_SECRET"])
      assert.isTrue(
        missing.some((problem) => problem.startsWith(`${name} is needed with LIGHTNING=nwc`)),
        name
      )
    const plain = problemsOf({ ...envOf(1), NWC_URL: envOf(1).NWC_URL.replace("127.0.0.1", "relay.example") })
    assert.include(plain.join("\n"), "NWC_URL must be nostr+walletconnect://")
    assert.include(plain.join("\n"), "without TLS only on the loopback")
    assert.notInclude(plain.join("\n"), secret)
    assert.notInclude(JSON.stringify(nodeOf(envOf(1)).node), secret)
  })

  it.live("backend: a wallet takes payments and pays, and is the one that it was at the first start", () =>
    story(({ port }) =>
      Effect.gen(function* () {
        const ports = yield* start(envOf(port))
        const { nodeId, network } = Context.get(ports, LightningReceiver)
        assert.deepStrictEqual([nodeId, network], [Nwc.idOf(NwcWalletOver.connection), "regtest"])
        const hash = PaymentHash.make("00".repeat(32))
        assert.deepStrictEqual(yield* Context.get(ports, LightningSender).lookupPayment(hash), { _tag: "notFound" })
        yield* start(envOf(port))
        assert.include(
          messageOf(yield* Effect.flip(start({ ...envOf(port), SATRAIL_NETWORK: "signet" }))),
          "is on regtest, and SATRAIL_NETWORK is signet"
        )
      })
    )
  )

  it.live("backend: a database that was begun with another connection is served with this one only where it is said to continue it", () =>
    story(({ port }) =>
      Effect.gen(function* () {
        const first = `02${"22".repeat(32)}`
        const value = JSON.stringify({ nodeId: first, network: "regtest" })
        yield* (yield* Journal).commit(Cursor.moved({ source: "nwc", value }, Id.nil, 0))
        const other = messageOf(yield* Effect.flip(start(envOf(port))))
        assert.match(other, /^The database was begun with the node 022222.* Set NWC_URL \(or NWC_CONTINUES/)
        const ports = yield* start({ ...envOf(port), NWC_CONTINUES: first })
        assert.strictEqual(Context.get(ports, LightningReceiver).nodeId, first)
      })
    )
  )

  it.live("backend: a start without the wallet's relay ends with the remedy, and without the secret", () =>
    story(() =>
      Effect.gen(function* () {
        const away = messageOf(yield* Effect.flip(start(envOf(1))))
        assert.match(away, /^the wallet at 127\.0\.0\.1:1 does not answer: .* Start the wallet, or set NWC_URL/)
        assert.notInclude(away, secret)
      })
    )
  )

  it.live("check: a wallet is checked, and what its word is worth is said", () =>
    story(({ port }) =>
      Effect.gen(function* () {
        const found = yield* Checks.all(Result.getOrThrow(Environment.read(envOf(port))))
        const lines = found.filter(({ subject }) => subject.toLowerCase().includes("wallet")).map(Check.text)
        assert.isTrue(
          lines.some((line) => line.startsWith("✓") && line.includes("on regtest")),
          lines.join("\n")
        )
        for (const said of ["no reconciliation with a wallet", "what the wallet says is all there is"])
          assert.isTrue(
            lines.some((line) => line.includes(said)),
            said
          )
      })
    )
  )
})
