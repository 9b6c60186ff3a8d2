import { assert } from "@effect/vitest"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as Id from "@satrail/core/base/Id"
import {
  type Description,
  type Holding,
  LightningReceiver,
  type Settled
} from "@satrail/core/nodes/LightningReceiver"
import { Clock, Context, Effect, Exit, Fiber, Redacted, Result, Stream } from "effect"
import * as Contract from "../Contract.ts"
import { eventually, Patience } from "../Eventually.ts"

/**
 * The contract's peer: a wallet on the same network with money and a route to the receiver's node. It must not
 * be that node. The author of a backend passes one to the suite with the backend's layer.
 */
export class Peer extends Context.Service<
  Peer,
  {
    /**
     * Pays an invoice in full. `amount` is required if the invoice has no amount, and may exceed the invoice's
     * amount. Succeeds once the invoice is paid, and fails if it cannot be paid.
     */
    readonly pay: (paymentRequest: string, amount?: Msat.Msat) => Effect.Effect<void, unknown>
  }
>()("@satrail/contracts/nodes/LightningReceiver/Peer") {}

const text = (text: string): Description => ({ _tag: "Text", text })

/** Returns a new invoice request. */
const ask = Effect.fnUntraced(function* (sats: number, description = text("coffee")) {
  return { id: yield* Id.make, amount: Msat.fromSats(sats), description, expirySeconds: 1800 }
})

const issue = Effect.fnUntraced(function* (sats: number) {
  return yield* (yield* LightningReceiver).createInvoice(yield* ask(sats))
})

const decode = (paymentRequest: string) => Result.getOrThrow(Bolt11.decode(paymentRequest))

const pay = Effect.fnUntraced(function* (paymentRequest: string, amount?: Msat.Msat) {
  yield* (yield* Peer).pay(paymentRequest, amount)
})

const lookup = Effect.fnUntraced(function* (paymentHash: PaymentHash.PaymentHash) {
  return yield* (yield* LightningReceiver).lookupInvoice(paymentHash)
})

/** Polls an invoice until it is settled. */
const settled = Effect.fnUntraced(function* (paymentHash: PaymentHash.PaymentHash) {
  const state = yield* eventually(lookup(paymentHash), ({ _tag }) => _tag === "settled")
  return state._tag === "settled" ? state : assert.fail(state._tag)
})

/**
 * Subscribes from `after` until this invoice is reported. Returns all reported settlements. The last is this
 * invoice's.
 */
const toldUntil = Effect.fnUntraced(function* (after: string | null, paymentHash: PaymentHash.PaymentHash) {
  const { settlements } = yield* LightningReceiver
  const { tries, spacedMillis } = yield* Patience
  return yield* settlements(after).pipe(
    Stream.takeUntil((one) => one.paymentHash === paymentHash),
    Stream.runCollect,
    Effect.timeout(tries * spacedMillis)
  )
})

const last = (told: ReadonlyArray<Settled>): Settled =>
  told.at(-1) ?? assert.fail("no settlement was reported")
const hashes = (told: ReadonlyArray<Settled>) => told.map(({ paymentHash }) => paymentHash)

/** Returns the settlement of a paid invoice as reported by the stream. */
const paid = Effect.fnUntraced(function* (sats: number) {
  const { paymentHash, paymentRequest } = yield* issue(sats)
  yield* pay(paymentRequest)
  return last(yield* toldUntil(null, paymentHash))
})

const holdsNone = Contract.lacks("the node has no hold invoices")

/** A hold invoice whose payment the node holds. */
const held = Effect.fnUntraced(function* (holding: Holding, sats: number) {
  const asked = yield* ask(sats)
  const { paymentHash, paymentRequest } = yield* holding.createInvoice(asked)
  const payment = yield* Effect.forkChild(pay(paymentRequest))
  yield* eventually(lookup(paymentHash), ({ _tag }) => _tag === "accepted")
  return { hold: { id: asked.id, paymentHash }, payment }
})

/** Guarantees that no money is lost or credited twice. */
export const money = {
  "the same id returns the same invoice": Effect.gen(function* () {
    const { createInvoice } = yield* LightningReceiver
    const asked = yield* ask(21)
    const first = yield* createInvoice(asked)
    assert.deepStrictEqual(yield* createInvoice(asked), first)
    const { paymentHash } = yield* issue(21)
    assert.notStrictEqual(paymentHash, first.paymentHash)
  }),
  "eight concurrent requests with one id create one invoice": Effect.gen(function* () {
    const { createInvoice } = yield* LightningReceiver
    const asked = yield* ask(21)
    const issued = yield* Effect.forEach(Array.from({ length: 8 }), () => createInvoice(asked), {
      concurrency: "unbounded"
    })
    assert.strictEqual(new Set(issued.map(({ paymentHash }) => paymentHash)).size, 1)
  }),
  "an unpaid invoice is open, and one that was never issued is unknown": Effect.gen(function* () {
    const { paymentHash } = yield* issue(21)
    assert.deepStrictEqual(yield* lookup(paymentHash), { _tag: "open" })
    assert.deepStrictEqual(yield* lookup(PaymentHash.make("0f".repeat(32))), { _tag: "unknown" })
  }),
  "a paid invoice is settled, with the received amount and a valid preimage": Effect.gen(function* () {
    const { paymentHash, paymentRequest } = yield* issue(1000)
    yield* pay(paymentRequest)
    const { received, preimage } = yield* settled(paymentHash)
    assert.strictEqual(received, Msat.fromSats(1000))
    assert.isTrue(Preimage.proves(preimage, paymentHash))
  }),
  "C33: an overpayment is received in full": Effect.gen(function* () {
    const { paymentHash, paymentRequest } = yield* issue(1000)
    yield* pay(paymentRequest, Msat.fromSats(1010))
    assert.strictEqual((yield* settled(paymentHash)).received, Msat.fromSats(1010))
    assert.strictEqual(last(yield* toldUntil(null, paymentHash)).received, Msat.fromSats(1010))
  }),
  "C33: the payer sets the amount of an invoice that has none, and that amount is received in full":
    Effect.gen(function* () {
      const { createInvoice } = yield* LightningReceiver
      const asked = { ...(yield* ask(0)), amount: null }
      const first = yield* createInvoice(asked)
      assert.deepStrictEqual(yield* createInvoice(asked), first)
      assert.isUndefined(decode(first.paymentRequest).amount)
      const second = yield* createInvoice({ ...(yield* ask(0)), amount: null })
      for (const [{ paymentHash, paymentRequest }, sats] of [
        [first, 1],
        [second, 54_321]
      ] as const) {
        yield* pay(paymentRequest, Msat.fromSats(sats))
        assert.strictEqual((yield* settled(paymentHash)).received, Msat.fromSats(sats))
      }
      return assert.strictEqual(
        last(yield* toldUntil(null, second.paymentHash)).received,
        Msat.fromSats(54_321)
      )
    }),
  "an invoice can be paid only once": Effect.gen(function* () {
    const { paymentHash, paymentRequest } = yield* issue(1000)
    yield* pay(paymentRequest)
    assert.isTrue(Exit.isFailure(yield* Effect.exit(pay(paymentRequest, Msat.fromSats(1500)))))
    assert.strictEqual((yield* settled(paymentHash)).received, Msat.fromSats(1000))
  }),
  "C60: a settlement that no subscriber received is reported to the next one, with everything needed to credit the payment":
    Effect.gen(function* () {
      const before = yield* Clock.currentTimeMillis
      const { paymentHash, paymentRequest } = yield* issue(1000)
      yield* pay(paymentRequest)
      const { received, preimage, settledAtMillis } = last(yield* toldUntil(null, paymentHash))
      assert.strictEqual(received, Msat.fromSats(1000))
      assert.isTrue(Preimage.proves(preimage, paymentHash))
      // Nodes report whole seconds by their own clocks.
      assert.isAtLeast(settledAtMillis, before - 60_000)
      assert.isAtMost(settledAtMillis, (yield* Clock.currentTimeMillis) + 60_000)
    }),
  "C60: a subscription resumes right after a cursor, without gaps or repetitions": Effect.gen(function* () {
    const first = yield* paid(1)
    const [second, third] = [yield* paid(2), yield* paid(3)]
    assert.deepStrictEqual(hashes(yield* toldUntil(first.cursor, third.paymentHash)), [
      second.paymentHash,
      third.paymentHash
    ])
    assert.deepStrictEqual(hashes(yield* toldUntil(second.cursor, third.paymentHash)), [third.paymentHash])
  }),
  "each settlement has its own cursor and is reported once": Effect.gen(function* () {
    const first = yield* paid(1)
    for (const sats of [2, 3, 4]) yield* paid(sats)
    const end = yield* paid(5)
    const told = yield* toldUntil(null, end.paymentHash)
    assert.strictEqual(new Set(hashes(told)).size, told.length)
    assert.strictEqual(new Set(told.map(({ cursor }) => cursor)).size, told.length)
    assert.include(hashes(told), first.paymentHash)
  }),
  "C15: a canceled invoice can no longer be paid; canceling it again returns the same result": Effect.gen(
    function* () {
      const { cancelInvoice, lacks } = yield* LightningReceiver
      const { paymentHash, paymentRequest } = yield* issue(1000)
      if (lacks?.has("cancel") === true) {
        // In that case `cancelInvoice` must not report success, because the invoice is unchanged and can still be
        // paid.
        assert.strictEqual((yield* Effect.flip(cancelInvoice(paymentHash)))._tag, "NodeUnavailable")
        assert.deepStrictEqual(yield* lookup(paymentHash), { _tag: "open" })
        yield* pay(paymentRequest)
        assert.strictEqual((yield* settled(paymentHash)).received, Msat.fromSats(1000))
        return yield* Contract.lacks("the node cannot cancel invoices, which the adapter reports")
      }
      for (const _ of [1, 2]) {
        const answer = yield* cancelInvoice(paymentHash)
        assert.strictEqual(answer._tag, "canceled")
        if (answer._tag === "canceled")
          assert.isTrue(Preimage.proves(Redacted.value(answer.preimage), paymentHash))
      }
      assert.deepStrictEqual(yield* lookup(paymentHash), { _tag: "canceled" })
      assert.isTrue(Exit.isFailure(yield* Effect.exit(pay(paymentRequest))))
      return assert.deepStrictEqual(yield* lookup(paymentHash), { _tag: "canceled" })
    }
  ),
  "C15: a settled invoice cannot be canceled": Effect.gen(function* () {
    const { cancelInvoice } = yield* LightningReceiver
    const { paymentHash, paymentRequest } = yield* issue(1000)
    yield* pay(paymentRequest)
    yield* settled(paymentHash)
    assert.deepStrictEqual(yield* cancelInvoice(paymentHash), { _tag: "settled" })
    assert.strictEqual((yield* settled(paymentHash)).received, Msat.fromSats(1000))
  }),
  "a hold invoice receives nothing until it is settled, and then receives the full held amount": Effect.gen(
    function* () {
      const { holding } = yield* LightningReceiver
      if (holding === undefined) return yield* holdsNone
      const { hold, payment } = yield* held(holding, 1000)
      const state = yield* lookup(hold.paymentHash)
      assert.strictEqual(state._tag === "accepted" ? state.held?.received : undefined, Msat.fromSats(1000))
      // There must be enough blocks left to decide, and to return the payment before its HTLCs time out on-chain.
      assert.isAbove(state._tag === "accepted" ? (state.held?.blocksLeft ?? 0) : 0, 40)
      for (const _ of [1, 2]) assert.strictEqual(yield* holding.settle(hold, null), "settled")
      yield* Fiber.join(payment)
      const { received, preimage } = yield* settled(hold.paymentHash)
      assert.strictEqual(received, Msat.fromSats(1000))
      assert.isTrue(Preimage.proves(preimage, hold.paymentHash))
      assert.strictEqual(last(yield* toldUntil(null, hold.paymentHash)).received, Msat.fromSats(1000))
      assert.strictEqual(yield* holding.cancel(hold), "settled")
    }
  ),
  "canceling a held payment returns the money, and the payment can then never settle": Effect.gen(
    function* () {
      const { holding } = yield* LightningReceiver
      if (holding === undefined) return yield* holdsNone
      const { hold, payment } = yield* held(holding, 1000)
      for (const _ of [1, 2]) assert.strictEqual(yield* holding.cancel(hold), "canceled")
      assert.deepStrictEqual(yield* lookup(hold.paymentHash), { _tag: "canceled" })
      assert.isTrue(Exit.isFailure(yield* Fiber.await(payment)))
      assert.strictEqual(yield* holding.settle(hold, null), "canceled")
    }
  ),
  "an unpaid hold invoice cannot be settled, and a canceled one cannot be paid; the same id returns the same invoice":
    Effect.gen(function* () {
      const { holding, createInvoice } = yield* LightningReceiver
      if (holding === undefined) return yield* holdsNone
      const asked = yield* ask(1000)
      const first = yield* holding.createInvoice(asked)
      assert.deepStrictEqual(yield* holding.createInvoice(asked), first)
      assert.notStrictEqual((yield* createInvoice(asked)).paymentHash, first.paymentHash)
      const hold = { ...asked, ...first }
      assert.strictEqual(yield* holding.settle(hold, null), "open")
      assert.deepStrictEqual(yield* lookup(hold.paymentHash), { _tag: "open" })
      assert.strictEqual(yield* holding.cancel(hold), "canceled")
      assert.isTrue(Exit.isFailure(yield* Effect.exit(pay(first.paymentRequest))))
    }),
  "a hold invoice with a given hash is created once and settles with the hash's preimage": Effect.gen(
    function* () {
      const { holding } = yield* LightningReceiver
      if (holding === undefined) return yield* holdsNone
      const preimage = Preimage.make((yield* Id.make).replaceAll("-", "").repeat(2))
      const paymentHash = Preimage.hashOf(preimage)
      const { hold, payment } = yield* held(
        { ...holding, createInvoice: (ask) => holding.createInvoice({ ...ask, paymentHash }) },
        1000
      )
      assert.strictEqual(hold.paymentHash, paymentHash)
      const another = yield* Effect.flip(holding.createInvoice({ ...(yield* ask(1)), paymentHash }))
      assert.strictEqual(another._tag, "PaymentHashTaken")
      // Without the preimage, the payment is neither settled nor returned.
      assert.isTrue(Exit.isFailure(yield* Effect.exit(holding.settle(hold, null))))
      assert.strictEqual((yield* lookup(paymentHash))._tag, "accepted")
      assert.strictEqual(yield* holding.settle(hold, preimage), "settled")
      yield* Fiber.join(payment)
      assert.deepStrictEqual(yield* lookup(paymentHash), {
        _tag: "settled",
        received: Msat.fromSats(1000),
        preimage
      })
      assert.strictEqual(last(yield* toldUntil(null, paymentHash)).preimage, preimage)
    }
  ),
  "C15: an invoice that is canceled and paid concurrently has exactly one outcome": Effect.gen(function* () {
    const { cancelInvoice, lacks } = yield* LightningReceiver
    const { paymentHash, paymentRequest } = yield* issue(1000)
    const [canceling, payment] = yield* Effect.all(
      [Effect.result(cancelInvoice(paymentHash)), Effect.exit(pay(paymentRequest))],
      {
        concurrency: "unbounded"
      }
    )
    // Only a node that cannot cancel invoices may return neither `canceled` nor `settled`.
    const answer =
      Result.isSuccess(canceling) || lacks?.has("cancel") !== true
        ? Result.getOrThrow(canceling)
        : { _tag: "settled" }
    if (answer._tag === "canceled") assert.isTrue(Exit.isFailure(payment))
    else yield* settled(paymentHash)
  })
} satisfies Contract.Promises<LightningReceiver | Peer>

/** Other guarantees. */
export const other = {
  "an invoice has the requested fields and this node's signature": Effect.gen(function* () {
    const { createInvoice, network, nodeId } = yield* LightningReceiver
    const asked = yield* ask(123_456, text("Two coffees ☕"))
    const { paymentHash, paymentRequest } = yield* createInvoice(asked)
    const invoice = decode(paymentRequest)
    assert.deepInclude(invoice, {
      paymentHash,
      network,
      amount: asked.amount,
      description: "Two coffees ☕",
      expirySeconds: 1800
    })
    const nowSeconds = (yield* Clock.currentTimeMillis) / 1000
    assert.closeTo(invoice.timestampSeconds, nowSeconds, 60)
    assert.strictEqual(invoice.payee, nodeId)
  }),
  "an invoice contains the given description hash unchanged (LUD-06)": Effect.gen(function* () {
    const { createInvoice } = yield* LightningReceiver
    const sha256 = "5f".repeat(32)
    const { paymentRequest } = yield* createInvoice(yield* ask(21, { _tag: "Hash", sha256 }))
    const invoice = decode(paymentRequest)
    assert.strictEqual(invoice.descriptionHash, sha256)
    assert.isUndefined(invoice.description)
  }),
  "C28: amounts are exact to the millisatoshi": Effect.gen(function* () {
    const { createInvoice, lacks } = yield* LightningReceiver
    const exact = createInvoice({ ...(yield* ask(0)), amount: Msat.make(1_000_001n) })
    // A node limited to whole satoshis does not issue an invoice for another amount.
    if (lacks?.has("millisatoshis") === true) {
      assert.strictEqual((yield* Effect.flip(exact))._tag, "NodeUnavailable")
      return yield* Contract.lacks("the node supports whole satoshis only, and the adapter refuses fractions")
    }
    const { paymentHash, paymentRequest } = yield* exact
    assert.strictEqual(decode(paymentRequest).amount, 1_000_001n)
    yield* pay(paymentRequest)
    return assert.strictEqual((yield* settled(paymentHash)).received, 1_000_001n)
  }),
  "a subscriber receives a settlement as it happens": Effect.gen(function* () {
    const marker = yield* paid(1)
    const { paymentHash, paymentRequest } = yield* issue(2)
    const listening = yield* Effect.forkChild(toldUntil(marker.cursor, paymentHash), {
      startImmediately: true
    })
    yield* pay(paymentRequest)
    assert.deepStrictEqual(hashes(yield* Fiber.join(listening)), [paymentHash])
  })
} satisfies Contract.Promises<LightningReceiver | Peer>

/**
 * The guarantees that every LightningReceiver must provide. Each entry is one guarantee; a number such as C15
 * names the incident that it prevents.
 */
export const promises = { ...money, ...other }

/** Runs the contract against a layer and its peer. Nothing else may pay the node while the contract runs. */
export const suite = Contract.suite<LightningReceiver | Peer, typeof money, typeof other>(
  "LightningReceiver",
  { money, other }
)
