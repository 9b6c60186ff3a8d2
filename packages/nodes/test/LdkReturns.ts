import { assert } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { eventually } from "@satrail/contracts/Eventually"
import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import * as LdkNetwork from "@satrail/regtest/LdkNetwork"
import { Network } from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Process from "@satrail/regtest/Process"
import { Effect, Exit, Layer, Redacted, Result } from "effect"
import * as Ldk from "../src/Ldk.ts"
import * as Marks from "./Marks.ts"

// dora's node, whose process can be stopped and restarted.

export const marks = Marks.inMemory()

export const adapter = Layer.unwrap(
  Effect.map(LdkNetwork.LdkNetwork, ({ dora }) =>
    Ldk.layer({
      socket: dora.socket,
      identity: { nodeId: dora.nodeId, network: "regtest" },
      marks,
      invoiceSecret: Redacted.make("of the tests")
    })
  )
)
export const amount = Msat.fromSats(10_000)

export const outgoing = Effect.fnUntraced(function* (behaviour: "settle" | "fail" | "hold") {
  const { carol } = yield* Network
  const invoice = Result.getOrThrow(Bolt11.decode(yield* Peer.invoice(carol, { amount, behaviour })))
  return { invoice, amount, feeLimit: Msat.fromSats(1_000) }
})

/** Restarts dora's process, and waits until her channel is usable again. */
export const returns = Effect.fnUntraced(function* (
  env: Readonly<Record<string, string>> = {},
  signal: "SIGTERM" | "SIGKILL" = "SIGKILL"
) {
  const { dora } = yield* LdkNetwork.LdkNetwork
  yield* dora.stop(signal)
  yield* dora.start(env)
  yield* usable
})

const channelOf = Effect.gen(function* () {
  const { dora } = yield* LdkNetwork.LdkNetwork
  return (yield* dora.ask("channels", {}, LdkNetwork.Channels)).channels.at(-1)
})

/**
 * Waits until the adapter has started the node, the node's channel is usable again, and the node knows a route
 * to carol.
 */
export const usable = Effect.gen(function* () {
  const { owned } = yield* LightningBooks
  yield* eventually(Effect.exit(owned), Exit.isSuccess)
  const channel = Effect.map(channelOf, (channel) => (channel?.usable === true ? true : undefined))
  yield* Process.until("dora has her channel back", channel, 60)
  yield* Process.until(
    "dora knows the route",
    Effect.map(routed, (is) => (is ? true : undefined)),
    60
  )
})

/** Returns whether dora knows a route to carol. After a kill she must find one again. */
const routed = Effect.gen(function* () {
  const { quote } = yield* LightningSender
  return (yield* quote(yield* outgoing("settle"))) !== undefined
})

/**
 * Asserts that a payment call on a node that dies has no final result. It reports a pending payment if the
 * network needs longer than the node waits for it, and an unknown one otherwise.
 */
export const undecided = ({ _tag }: { readonly _tag: string }): void =>
  assert.include(["pending", "unknown"], _tag)

/** Waits until nothing is in flight, and returns dora's funds. */
export const resting = Effect.gen(function* () {
  const { owned } = yield* LightningBooks
  return (yield* eventually(Effect.orDie(owned), ({ within }) => within === 0n)).amount
})
