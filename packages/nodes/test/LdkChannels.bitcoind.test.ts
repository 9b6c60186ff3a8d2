import { assert, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { eventually } from "@satrail/contracts/Eventually"
import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Chain } from "@satrail/regtest/Chain"
import * as LdkNetwork from "@satrail/regtest/LdkNetwork"
import * as Lnd from "@satrail/regtest/Lnd"
import { Network } from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Process from "@satrail/regtest/Process"
import * as Real from "@satrail/regtest/Real"
import { Effect, Exit, Layer, Result, Schema, Stream } from "effect"
import { HttpClientRequest } from "effect/http"
import { copyFileSync, globSync } from "node:fs"
import path from "node:path"
import * as LndBooks from "../src/LndBooks.ts"
import * as LndRest from "../src/LndRest.ts"
import { adapter } from "./LdkReturns.ts"

// Payments that get stuck in dora's channels, or are in flight when one of her channels is force-closed. The
// channels are with bob, who forwards the payments to carol.

const layer = Layer.provideMerge(adapter, LdkNetwork.layer)

/** Large enough for half of it to cover the chain fees of claiming it in time. */
const sats = 100_000
const amount = Msat.fromSats(sats)

const to = Effect.fnUntraced(function* (node: Lnd.Lnd, amount: Msat.Msat, behaviour: "settle" | "hold") {
  const invoice = Result.getOrThrow(Bolt11.decode(yield* Peer.invoice(node, { amount, behaviour })))
  return { invoice, amount, feeLimit: Msat.fromSats(1_000) }
})
type Asked = Effect.Success<ReturnType<typeof to>>

const tagOf = ({ invoice }: Asked) =>
  Effect.flatMap(LightningSender, ({ lookupPayment }) =>
    Effect.map(lookupPayment(invoice.paymentHash), ({ _tag }) => _tag)
  )

/** Waits until dora's channels are usable and she knows a route to carol. */
const usable = Effect.gen(function* () {
  const { dora } = yield* LdkNetwork.LdkNetwork
  const { carol } = yield* Network
  const { owned } = yield* LightningBooks
  const { quote } = yield* LightningSender
  yield* eventually(Effect.exit(owned), Exit.isSuccess)
  const channels = Effect.map(dora.ask("channels", {}, LdkNetwork.Channels), ({ channels }) => channels)
  yield* Process.until(
    "dora can use her channels",
    Effect.map(channels, (all) => (all.length > 0 && all.every(({ usable }) => usable) ? true : undefined))
  )
  const asked = yield* to(carol, amount, "settle")
  yield* Process.until(
    "dora knows the route",
    Effect.map(quote(asked), (quoted) => (quoted === undefined ? undefined : true))
  )
})

/** Makes a payment that carol holds. */
const held = Effect.gen(function* () {
  const { carol } = yield* Network
  const { pay } = yield* LightningSender
  yield* usable
  const asked = yield* to(carol, amount, "hold")
  yield* pay(asked)
  yield* Peer.arrived(carol, asked.invoice.paymentHash)
  assert.strictEqual(yield* tagOf(asked), "pending")
  return asked
})

/** Asserts that the payment is pending, and that calling `pay` again does not make it final. */
const staysPending = Effect.fnUntraced(function* (asked: Asked) {
  assert.strictEqual(yield* tagOf(asked), "pending")
  assert.notInclude(["settled", "failed"], (yield* (yield* LightningSender).pay(asked))._tag)
})

const ends = Effect.fnUntraced(function* ({ invoice }: Asked) {
  const { lookupPayment } = yield* LightningSender
  return yield* eventually(
    lookupPayment(invoice.paymentHash),
    ({ _tag }) => _tag === "settled" || _tag === "failed"
  )
})

/** Mines blocks until the condition holds. dora sees each batch of `atOnce` blocks before the next batch is mined. */
const mineUntil = Effect.fnUntraced(function* <E, R>(
  what: string,
  is: Effect.Effect<boolean, E, R>,
  atOnce = 1
) {
  const { dora } = yield* LdkNetwork.LdkNetwork
  for (let blocks = 0; blocks < 60; blocks++) {
    if (yield* is) return
    yield* LdkNetwork.mine(atOnce, [dora])
    yield* Effect.sleep("250 millis")
  }
  assert.fail(`${what}: not after ${60 * atOnce} blocks`)
})

const Balances = Schema.Struct({
  TotalOnchainBalanceSats: Schema.Int,
  TotalLightningBalanceSats: Schema.Int,
  PendingBalancesFromChannelClosures: Schema.NullOr(
    Schema.Array(Schema.Struct({ ConfirmationHeight: Schema.optional(Schema.Int) }))
  )
})

/** dora's funds according to her own records: in channels, being swept from closed channels, and on-chain. */
const wealth = Effect.gen(function* () {
  const { dora } = yield* LdkNetwork.LdkNetwork
  const all = yield* dora.ask("balances", {}, Balances)
  return {
    onChain: all.TotalOnchainBalanceSats,
    all: all.TotalOnchainBalanceSats + all.TotalLightningBalanceSats
  }
})

/**
 * Returns the same funds once nothing is being swept, because funds that are being swept are counted twice. LDK
 * lists a sweep for weeks. A confirmed sweep has the height of its block.
 */
const restingWealth = Effect.gen(function* () {
  const { dora } = yield* LdkNetwork.LdkNetwork
  const swept = Effect.map(dora.ask("balances", {}, Balances), (all) =>
    (all.PendingBalancesFromChannelClosures ?? []).every((one) => one.ConfirmationHeight !== undefined)
  )
  yield* mineUntil("nothing is being swept", swept)
  return yield* wealth
})

const Listed = Schema.Struct({
  channels: Schema.Array(Schema.Struct({ remote_pubkey: Schema.String, channel_point: Schema.String }))
})

/** Closes the channel without the peer, using the last state that both have signed. */
const forceClose = {
  dora: Effect.gen(function* () {
    const { dora } = yield* LdkNetwork.LdkNetwork
    const [one] = (yield* dora.ask("channels", {}, LdkNetwork.Channels)).channels
    yield* dora.ask("closeChannel", { channel: one?.channel, node: one?.node, force: true }, Schema.Unknown)
  }),
  bob: Effect.gen(function* () {
    const { dora } = yield* LdkNetwork.LdkNetwork
    const { bob } = yield* Network
    const { channels } = yield* Lnd.ask(bob, LndRest.get("/v1/channels"), Listed)
    const one =
      channels.find((channel) => channel.remote_pubkey === dora.nodeId) ??
      assert.fail("bob has no channel with dora")
    const request = HttpClientRequest.delete(`/v1/channels/${one.channel_point.replace(":", "/")}`, {
      urlParams: { force: "true" }
    })
    yield* Stream.runHead(bob.rest.listen("close", request, Schema.Unknown))
  })
}

const funded = Effect.fnUntraced(function* (node: Lnd.Lnd) {
  const { address } = yield* Lnd.ask(
    node,
    LndRest.get("/v1/newaddress"),
    Schema.Struct({ address: Schema.String })
  )
  yield* (yield* Chain).send(address, 1_000_000n)
  yield* LdkNetwork.mine(1, [(yield* LdkNetwork.LdkNetwork).dora])
})

/** Maximum chain fees for closing and sweeping. */
const maxChainFeesSats = 50_000

Real.suite("ldk channels", ["bitcoind", "lnd", "ldk"], () => {
  it.layer(layer, { excludeTestServices: true })((it) => {
    for (const outcome of ["settle", "fail"] as const) {
      it.effect(
        `C1: ldk: a payment through an unresponsive peer stays pending until the peer responds (outcome: ${outcome})`,
        () =>
          Effect.gen(function* () {
            const { bob, carol } = yield* Network
            const { owned } = yield* LightningBooks
            const before = (yield* eventually(Effect.orDie(owned), ({ within }) => within === 0n)).amount
            const asked = yield* held
            yield* Effect.acquireUseRelease(
              bob.pause,
              () =>
                Effect.andThen(Peer.release(carol, asked.invoice.paymentHash, outcome), staysPending(asked)),
              () => Effect.orDie(bob.resume)
            )
            const payment = yield* ends(asked)
            assert.strictEqual(payment._tag, outcome === "settle" ? "settled" : "failed")
            assert.strictEqual(
              yield* Peer.received(carol, asked.invoice.paymentHash),
              outcome === "settle" ? amount : Msat.zero
            )
            const after = yield* eventually(Effect.orDie(owned), ({ within }) => within === 0n)
            assert.strictEqual(before - after.amount, payment._tag === "settled" ? amount + payment.fee : 0n)
          })
      )
    }
    for (const [closer, outcome] of [
      ["dora", "settle"],
      ["dora", "fail"],
      ["bob", "settle"],
      ["bob", "fail"]
    ] as const) {
      it.effect(
        `C1: ldk: a payment in a channel that ${closer} force-closes stays pending until the chain resolves it (outcome: ${outcome})`,
        () =>
          Effect.gen(function* () {
            const { dora } = yield* LdkNetwork.LdkNetwork
            const { bob, carol } = yield* Network
            const { owned } = yield* LightningBooks
            const { channels } = yield* dora.ask("channels", {}, LdkNetwork.Channels)
            if (channels.length === 0) yield* LdkNetwork.open(dora, bob)
            yield* usable
            // bob pays for his on-chain claims with coins from his wallet.
            if (closer === "bob") yield* funded(bob)
            const before = yield* restingWealth
            const asked = yield* held
            yield* forceClose[closer]
            yield* LdkNetwork.mine(1, [dora])
            yield* staysPending(asked)
            // Both sides must report the force close. dora's node is LDK, bob's is lnd.
            const forced = Effect.map(
              Effect.all([(yield* LightningBooks).capacity, LndBooks.capacity(bob.rest)]),
              (both) => both.map(({ channels }) => channels?.forceClosing)
            )
            yield* mineUntil(
              "both are force-closing it",
              // bob may report earlier force closes too, because lnd counts a closed channel until the last of
              // lnd's own sweeps has enough confirmations.
              Effect.map(forced, ([doras, bobs = 0]) => doras === 1 && bobs >= 1)
            )
            // The funds are still ours while they move on-chain, and reconciliation must count them.
            assert.isAtLeast((yield* wealth).all, before.all - sats - maxChainFeesSats)
            const closing = yield* eventually(Effect.orDie(owned), ({ within }) => within >= amount)
            assert.isAtLeast(Number(closing.amount) / 1000, before.all - maxChainFeesSats)
            yield* Peer.release(carol, asked.invoice.paymentHash, outcome)
            if (outcome === "fail") yield* staysPending(asked)
            // This can take a few hundred blocks. After the payment's HTLC expires, the node's fee rises with
            // each block of delay.
            yield* mineUntil(
              "the payment ends",
              Effect.map(tagOf(asked), (tag) => tag !== "pending"),
              outcome === "fail" ? 10 : 1
            )
            const payment = yield* ends(asked)
            assert.strictEqual(payment._tag, outcome === "settle" ? "settled" : "failed")
            if (payment._tag === "failed") assert.strictEqual(payment.reason, "channel_closed")
            assert.strictEqual(
              yield* Peer.received(carol, asked.invoice.paymentHash),
              outcome === "settle" ? amount : Msat.zero
            )
            const paidSats =
              payment._tag === "settled" ? Number(Msat.toSats(Msat.make(amount + payment.fee))) : 0
            // The peer can delay some of the funds. In the end dora has all of them, minus chain fees.
            const after = yield* restingWealth
            yield* mineUntil(
              "dora is no longer force-closing it",
              Effect.map(forced, ([doras]) => doras === 0)
            )
            assert.isAtMost(after.all, before.all - paidSats)
            assert.isAtLeast(after.all, before.all - paidSats - maxChainFeesSats)
          })
      )
    }
    it.effect(
      "C1: ldk: a node killed between writing a channel and writing the channel manager closes the channel, and the payment in flight is sent once and has one outcome",
      () =>
        Effect.gen(function* () {
          const { dora } = yield* LdkNetwork.LdkNetwork
          const { bob, carol } = yield* Network
          const { channels } = yield* dora.ask("channels", {}, LdkNetwork.Channels)
          if (channels.length === 0) yield* LdkNetwork.open(dora, bob)
          yield* usable
          const before = yield* restingWealth
          // LDK writes a channel before the channel manager. Restoring the previous manager puts the disk into
          // the state between the two writes.
          const [manager = assert.fail("LDK has no manager")] = globSync(
            path.join(dora.store, "ldk/**/manager")
          )
          copyFileSync(manager, `${dora.store}.manager`)
          const asked = yield* held
          yield* dora.stop("SIGKILL")
          copyFileSync(`${dora.store}.manager`, manager)
          yield* dora.start()
          const { owned } = yield* LightningBooks
          yield* eventually(Effect.exit(owned), Exit.isSuccess)
          yield* staysPending(asked)
          yield* LdkNetwork.mine(1, [dora])
          assert.deepStrictEqual((yield* dora.ask("channels", {}, LdkNetwork.Channels)).channels, [])
          yield* Peer.release(carol, asked.invoice.paymentHash, "settle")
          yield* mineUntil(
            "the payment ends",
            Effect.map(tagOf(asked), (tag) => tag !== "pending")
          )
          const payment = yield* ends(asked)
          if (payment._tag !== "settled") return assert.fail(payment._tag)
          assert.strictEqual(yield* Peer.received(carol, asked.invoice.paymentHash), amount)
          const paidSats = Number(Msat.toSats(Msat.make(amount + payment.fee)))
          assert.isAtLeast((yield* restingWealth).all, before.all - paidSats - maxChainFeesSats)
        })
    )
  })
})
