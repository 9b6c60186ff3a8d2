import { assert, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { LightningBooks, type Own } from "@satrail/core/nodes/LightningBooks"
import * as Btcd from "@satrail/regtest/Btcd"
import * as Network from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Process from "@satrail/regtest/Process"
import * as Real from "@satrail/regtest/Real"
import { Effect, Layer } from "effect"
import * as LndBooks from "../src/LndBooks.ts"

const network = Layer.provideMerge(Layer.effect(Network.Network, Network.make), Btcd.layer)

Real.suite("an lnd node's own income", ["btcd", "lnd"], () => {
  it.live("lnd: the node's funds grow by the fees of the listed forwards, to the millisatoshi", () =>
    Effect.gen(function* () {
      const { alice, bob, carol } = yield* Network.Network
      const context = yield* Layer.build(
        LndBooks.layer({
          url: bob.url,
          certificateFile: bob.certificateFile,
          macaroon: yield* bob.bake(LndBooks.calls.map(({ uri }) => uri)),
          identity: { nodeId: bob.nodeId, network: "regtest" }
        })
      )
      const { owned, own } = yield* Effect.provide(LightningBooks, context)
      if (own === undefined) return assert.fail("lnd lists the fees that it earned")
      const before = yield* owned
      let { cursor } = yield* own(null)
      const listed: Array<Own> = []
      for (const amount of [12_345_678n, 1_000_001n]) {
        const invoice = yield* Peer.invoice(carol, { amount: Msat.make(amount), behaviour: "settle" })
        yield* Process.until("alice can pay", Effect.as(Peer.pay(alice, invoice), true), 60)
      }
      yield* Process.until(
        "both forwards are listed",
        Effect.map(own(cursor), (page) => {
          listed.push(...page.lines)
          cursor = page.cursor
          return listed.length === 2 || undefined
        })
      )
      yield* Process.until(
        "both are counted as owned",
        Effect.map(owned, ({ within }) => within === 0n || undefined)
      )
      const earned = listed.reduce((sum, { amount }) => sum + amount, 0n)
      assert.isTrue(earned > 0n)
      assert.strictEqual((yield* owned).amount - before.amount, earned)
    }).pipe(Effect.scoped, Effect.provide(network))
  )
})
