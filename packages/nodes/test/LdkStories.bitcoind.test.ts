import { assert, it } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { eventually } from "@satrail/contracts/Eventually"
import * as Id from "@satrail/core/base/Id"
import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import * as LdkNetwork from "@satrail/regtest/LdkNetwork"
import { Network } from "@satrail/regtest/Network"
import * as Peer from "@satrail/regtest/Peer"
import * as Real from "@satrail/regtest/Real"
import * as Wire from "@satrail/regtest/Wire"
import { Context, Effect, Exit, Fiber, Layer, Redacted, Result, Schema } from "effect"
import { cpSync, rmSync } from "node:fs"
import * as Ldk from "../src/Ldk.ts"
import { adapter, amount, marks, outgoing, resting, returns, undecided, usable } from "./LdkReturns.ts"

// Payments while dora's process is killed at a chosen step or restarts with an old state. The other party is
// carol, who is reached through bob.

const layer = Layer.provideMerge(adapter, LdkNetwork.layer)

const incoming = Effect.fnUntraced(function* (sats: number) {
  const { createInvoice } = yield* LightningReceiver
  const ask = {
    id: yield* Id.make,
    amount: Msat.fromSats(sats),
    description: { _tag: "Text", text: "coffee" },
    expirySeconds: 1800
  } as const
  return { ask, ...(yield* createInvoice(ask)) }
})

/** Waits long enough for LDK to write its channel manager. */
const rest = Effect.sleep("1 second")

const ends = Effect.fnUntraced(function* ({ invoice }: { readonly invoice: Bolt11.Bolt11 }) {
  const { lookupPayment } = yield* LightningSender
  return yield* eventually(
    lookupPayment(invoice.paymentHash),
    ({ _tag }) => _tag === "settled" || _tag === "failed" || _tag === "notFound"
  )
})

Real.suite("ldk, when its process is killed", ["bitcoind", "lnd", "ldk"], () => {
  it.layer(layer, { excludeTestServices: true })((it) => {
    for (const [step, isSent] of [
      ["intent", false],
      ["sent", true],
      ["succeeded", true]
    ] as const) {
      it.effect(
        `C3: ldk: if the process is killed at "${step}", a payment is paid once or was never sent`,
        () =>
          Effect.gen(function* () {
            const { dora } = yield* LdkNetwork.LdkNetwork
            const { carol } = yield* Network
            const { pay } = yield* LightningSender
            yield* usable
            yield* returns({ LDK_DIE_AT: step }, "SIGTERM")
            const before = yield* resting
            const asked = yield* outgoing("settle")
            undecided(yield* pay(asked))
            yield* Effect.flip(dora.died)
            assert.strictEqual(
              (yield* (yield* LightningSender).lookupPayment(asked.invoice.paymentHash))._tag,
              "unknown"
            )
            yield* returns()
            const payment = yield* ends(asked)
            assert.strictEqual(payment._tag, isSent ? "settled" : "notFound")
            assert.strictEqual(
              yield* Peer.received(carol, asked.invoice.paymentHash),
              payment._tag === "settled" ? amount : Msat.zero
            )
            assert.strictEqual(
              before - (yield* resting),
              payment._tag === "settled" ? amount + payment.fee : 0n
            )
          })
      )
    }
    for (const step of ["claim", "claimed", "received"]) {
      it.effect(
        `C60: ldk: a received payment settles for its payer and is reported once if the process is killed at "${step}"`,
        () =>
          Effect.gen(function* () {
            const { carol } = yield* Network
            const { dora } = yield* LdkNetwork.LdkNetwork
            const { lookupInvoice } = yield* LightningReceiver
            yield* returns({ LDK_DIE_AT: step }, "SIGTERM")
            const before = yield* resting
            const { taken } = yield* LightningBooks
            const place = (yield* taken(null)).cursor
            const { paymentHash, paymentRequest } = yield* incoming(7_000)
            const payer = yield* Effect.forkChild(Peer.pay(carol, paymentRequest))
            yield* Effect.flip(dora.died)
            yield* returns()
            yield* Fiber.join(payer)
            const state = yield* eventually(lookupInvoice(paymentHash), ({ _tag }) => _tag === "settled")
            assert.strictEqual(state._tag === "settled" ? state.received : 0n, Msat.fromSats(7_000))
            assert.deepStrictEqual((yield* taken(place)).lines, [
              { paymentHash, received: Msat.fromSats(7_000) }
            ])
            assert.strictEqual((yield* resting) - before, Msat.fromSats(7_000))
          })
      )
    }
    it.effect(
      "C1: ldk: a payment held by its payee stays pending when the process is killed, and then settles or fails as the payee decides",
      () =>
        Effect.gen(function* () {
          const { carol } = yield* Network
          const { pay, lookupPayment } = yield* LightningSender
          for (const outcome of ["settle", "fail"] as const) {
            const before = yield* resting
            const asked = yield* outgoing("hold")
            yield* pay(asked)
            yield* Peer.arrived(carol, asked.invoice.paymentHash)
            yield* rest
            yield* returns()
            assert.deepStrictEqual<unknown>(yield* lookupPayment(asked.invoice.paymentHash), {
              _tag: "pending"
            })
            assert.notInclude(["failed", "settled"], (yield* pay(asked))._tag)
            yield* Peer.release(carol, asked.invoice.paymentHash, outcome)
            const payment = yield* ends(asked)
            assert.strictEqual(payment._tag, outcome === "settle" ? "settled" : "failed")
            assert.strictEqual(
              before - (yield* resting),
              payment._tag === "settled" ? amount + payment.fee : 0n
            )
          }
        })
    )
    it.effect(
      "ldk: a payment that is held when the process is killed can still be settled or canceled after the restart",
      () =>
        Effect.gen(function* () {
          const { carol } = yield* Network
          const { holding, lookupInvoice } = yield* LightningReceiver
          if (holding === undefined) return assert.fail("it holds")
          for (const word of ["settle", "cancel"] as const) {
            const before = yield* resting
            const ask = {
              id: yield* Id.make,
              amount,
              description: { _tag: "Text", text: "coffee" },
              expirySeconds: 1800
            } as const
            const { paymentHash, paymentRequest } = yield* holding.createInvoice(ask)
            const payer = yield* Effect.forkChild(Effect.exit(Peer.pay(carol, paymentRequest)))
            yield* eventually(lookupInvoice(paymentHash), ({ _tag }) => _tag === "accepted")
            yield* rest
            yield* returns()
            const hold = { id: ask.id, paymentHash }
            const said = word === "settle" ? yield* holding.settle(hold, null) : yield* holding.cancel(hold)
            assert.strictEqual(said, word === "settle" ? "settled" : "canceled")
            assert.strictEqual((yield* Fiber.join(payer))._tag, word === "settle" ? "Success" : "Failure")
            assert.strictEqual((yield* resting) - before, word === "settle" ? amount : 0n)
          }
        })
    )
    it.effect(
      "ldk: a payment with the hash of a hold invoice fails unsent, and is sent once the hold invoice is canceled",
      () =>
        Effect.gen(function* () {
          const { pay } = yield* LightningSender
          const { holding } = yield* LightningReceiver
          if (holding === undefined) return assert.fail("it holds")
          const asked = yield* outgoing("settle")
          const { paymentHash } = asked.invoice
          const id = yield* Id.make
          yield* holding.createInvoice({
            id,
            paymentHash,
            amount,
            description: { _tag: "Text", text: "coffee" },
            expirySeconds: 1800
          })
          assert.deepStrictEqual<unknown>(yield* pay(asked), { _tag: "failed", reason: "error" })
          yield* holding.cancel({ id, paymentHash })
          // In the first minute after a start, a failed payment is not sent again.
          yield* eventually(pay(asked), ({ _tag }) => _tag === "settled")
        })
    )
    it.effect("ldk: an expired invoice accepts no payment, even if the payer does not check the expiry", () =>
      Effect.gen(function* () {
        const { carol } = yield* Network
        const { createInvoice, lookupInvoice } = yield* LightningReceiver
        const ask = {
          id: yield* Id.make,
          amount,
          description: { _tag: "Text", text: "coffee" },
          expirySeconds: 1
        } as const
        const { paymentHash, paymentRequest } = yield* createInvoice(ask)
        yield* Effect.sleep("2 seconds")
        // For a different amount, `Peer.pay` passes the invoice's fields to lnd instead of the invoice. lnd
        // then does not check the expiry.
        const paid = yield* Effect.exit(Peer.pay(carol, paymentRequest, Msat.fromSats(10_001)))
        assert.isTrue(Exit.isFailure(paid))
        assert.notStrictEqual((yield* lookupInvoice(paymentHash))._tag, "settled")
      })
    )
    it.effect(
      "ldk: a payment whose hash an invoice of this node has fails, and the invoice can still be paid",
      () =>
        Effect.gen(function* () {
          const { carol } = yield* Network
          const { lookupInvoice } = yield* LightningReceiver
          const { pay } = yield* LightningSender
          yield* usable
          const { paymentHash, paymentRequest } = yield* incoming(7_000)
          const invoice = Result.getOrThrow(Bolt11.decode(yield* Peer.unreachable(amount, paymentHash)))
          for (const _ of [1, 2])
            assert.deepStrictEqual<unknown>(yield* pay({ invoice, amount, feeLimit: Msat.zero }), {
              _tag: "failed",
              reason: "error"
            })
          yield* Peer.pay(carol, paymentRequest)
          assert.strictEqual(
            (yield* eventually(lookupInvoice(paymentHash), ({ _tag }) => _tag === "settled"))._tag,
            "settled"
          )
        })
    )
    it.effect(
      "C2: ldk: if the response to a payment call is lost, the outcome is unknown, and calling again does not pay twice",
      () =>
        Effect.gen(function* () {
          const { dora } = yield* LdkNetwork.LdkNetwork
          const { carol } = yield* Network
          const wire = yield* Wire.make(dora.socket)
          const identity = { nodeId: dora.nodeId, network: "regtest" } as const
          const built = yield* Layer.build(
            Ldk.layer({ socket: wire.socket, identity, marks, invoiceSecret: Redacted.make("of the tests") })
          )
          const sender = Context.get(built, LightningSender)
          const asked = yield* outgoing("settle")
          yield* wire.loseAnswer('"pay"')
          assert.deepStrictEqual<unknown>(yield* sender.pay(asked), { _tag: "unknown" })
          yield* sender.pay(asked)
          assert.strictEqual((yield* ends(asked))._tag, "settled")
          assert.strictEqual(yield* Peer.received(carol, asked.invoice.paymentHash), amount)
        }).pipe(Effect.scoped)
    )
    it.effect(
      "ldk: a node does not start with a store restored from a backup, and the error explains the remedy",
      () =>
        Effect.gen(function* () {
          const { dora } = yield* LdkNetwork.LdkNetwork
          const { pay } = yield* LightningSender
          const { owned } = yield* LightningBooks
          const [backup, newest] = [`${dora.store}.backup`, `${dora.store}.newest`]
          yield* dora.stop("SIGTERM")
          cpSync(dora.store, backup, { recursive: true })
          yield* dora.start()
          yield* usable
          const asked = yield* outgoing("settle")
          yield* pay(asked)
          yield* dora.stop("SIGTERM")
          cpSync(dora.store, newest, { recursive: true })
          const replace = (store: string) => {
            rmSync(dora.store, { recursive: true })
            cpSync(store, dora.store, { recursive: true })
          }
          replace(backup)
          yield* dora.start()
          const refused = yield* Effect.flip(owned)
          assert.include(refused.reason, "older than its last known state")
          assert.match(
            refused.remedy ?? "",
            /restored from a backup[^]*Bring back the newest store[^]*LDK_ACCEPT_STORE=/
          )
          assert.strictEqual((yield* pay(yield* outgoing("settle")))._tag, "notSent")
          const { started } = yield* dora.ask("hello", {}, Schema.Struct({ started: Schema.Boolean }))
          assert.isFalse(started)
          yield* dora.stop("SIGTERM")
          replace(newest)
          yield* dora.start()
          yield* usable
          assert.strictEqual((yield* ends(asked))._tag, "settled")
        })
    )
    it.effect("ldk: two processes cannot share one store", () =>
      Effect.gen(function* () {
        const { dora } = yield* LdkNetwork.LdkNetwork
        // The running process holds the store, so a second one exits immediately.
        const second = yield* Effect.flip(dora.second)
        assert.include(second.message, "two nodes of one state lose the money of their channels")
        yield* usable
      })
    )
  })
})
