import { assert, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { eventually } from "@satrail/contracts/Eventually"
import { LightningBooks, type Own } from "@satrail/core/nodes/LightningBooks"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import * as LdkNetwork from "@satrail/regtest/LdkNetwork"
import { Network } from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Process from "@satrail/regtest/Process"
import * as Real from "@satrail/regtest/Real"
import { Effect, Layer, Redacted, Result, Schema } from "effect"
import * as Ldk from "../src/Ldk.ts"
import { adapter, resting, returns, usable } from "./LdkReturns.ts"
import * as Marks from "./Marks.ts"

// dora's income from forwarding: erin, whose only channel is with dora, pays carol.

const layer = Layer.provideMerge(adapter, LdkNetwork.layer)

/**
 * Starts a node whose only channel is with dora. Returns the node's sender, and an effect that reconnects the
 * node to dora immediately. Without the effect, reconnecting takes up to a minute.
 */
const payer = Effect.gen(function* () {
  const { dora } = yield* LdkNetwork.LdkNetwork
  const erin = yield* LdkNetwork.started("erin")
  yield* LdkNetwork.open(erin, dora)
  const context = yield* Layer.build(
    Ldk.layer({
      socket: erin.socket,
      identity: { nodeId: erin.nodeId, network: "regtest" },
      marks: Marks.inMemory(),
      invoiceSecret: Redacted.make("of the tests")
    })
  )
  const connects = erin.ask("connect", { node: dora.nodeId, address: dora.p2p }, Schema.Unknown)
  return { sender: yield* Effect.provide(LightningSender, context), connects }
})

Real.suite("an LDK node's own income", ["bitcoind", "lnd", "ldk"], () => {
  it.layer(layer, { excludeTestServices: true })((it) => {
    it.effect(
      "ldk: each forwarded payment is listed once with its fee, even if the process is killed while recording it",
      () =>
        Effect.gen(function* () {
          const { dora } = yield* LdkNetwork.LdkNetwork
          const { carol } = yield* Network
          const { connects, sender } = yield* payer
          const { pay, quote, lookupPayment } = sender
          yield* usable
          const { own } = yield* LightningBooks
          if (own === undefined) return assert.fail("ldk lists the fees that it earned")
          const before = yield* resting
          let { cursor } = yield* own(null)
          for (const step of [undefined, "forwarded", "ended"]) {
            if (step !== undefined) yield* returns({ LDK_DIE_AT: step }, "SIGTERM")
            const amount = Msat.fromSats(10_000)
            const invoice = Result.getOrThrow(
              Bolt11.decode(yield* Peer.invoice(carol, { amount, behaviour: "settle" }))
            )
            const asked = { invoice, amount, feeLimit: Msat.fromSats(1_000) }
            yield* Process.until(
              "erin finds a route",
              Effect.andThen(
                connects,
                Effect.map(quote(asked), (fee) => fee !== undefined || undefined)
              )
            )
            yield* pay(asked)
            if (step !== undefined) {
              yield* Effect.flip(dora.died)
              yield* returns()
              yield* connects
            }
            yield* eventually(lookupPayment(invoice.paymentHash), ({ _tag }) => _tag === "settled")
            const lines: Array<Own> = []
            yield* Process.until(
              "it is listed",
              Effect.map(own(cursor), (page) => {
                lines.push(...page.lines)
                cursor = page.cursor
                return lines.length > 0 || undefined
              })
            )
            assert.deepStrictEqual(lines, [{ kind: "forward", amount: Msat.fromSats(1) }])
          }
          assert.strictEqual((yield* resting) - before, Msat.fromSats(3))
          assert.deepStrictEqual((yield* own(cursor)).lines, [])
        })
    )
  })
})
