import { assert, describe, it } from "@effect/vitest"
import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as LightningAddressText from "@satrail/bitcoin/LightningAddressText"
import * as Lnurl from "@satrail/bitcoin/Lnurl"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Resolver } from "@satrail/core/nodes/Resolver"
import * as Destination from "@satrail/core/sending/Destination"
import { Effect, Fiber, Result, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Lightning from "../src/Lightning.ts"
import * as Sandbox from "../src/Sandbox.ts"
import type { Ports } from "./Story.ts"

const sandbox = <A, E>(effect: Effect.Effect<A, E, Ports | Sandbox.Neighbour>) =>
  Effect.provide(effect, Sandbox.layer({ seed: "sandbox", network: "regtest" }), { local: true })

const sats = Msat.fromSats
const decode = (text: string) => Result.getOrThrow(Bolt11.decode(text))

const issue = Effect.fnUntraced(function* (id: string, amount = 1000, expirySeconds = 3600) {
  return yield* (yield* LightningReceiver).createInvoice({
    id,
    amount: sats(amount),
    description: { _tag: "Text", text: "" },
    expirySeconds
  })
})

const outside = Effect.fnUntraced(function* (ask: Omit<Sandbox.DestinationAsk, "type"> = {}) {
  const { destination } = yield* (yield* Sandbox.Sandbox).destination({ type: "lightning_invoice", ...ask })
  return decode(destination)
})

const pay = Effect.fnUntraced(function* (invoice: Bolt11.Bolt11, amount: Msat.Msat, feeLimit = sats(50_000)) {
  return yield* (yield* LightningSender).pay({ invoice, amount, feeLimit })
})

const lookup = Effect.fnUntraced(function* ({
  paymentHash
}: {
  readonly paymentHash: PaymentHash.PaymentHash
}) {
  return yield* (yield* LightningSender).lookupPayment(paymentHash)
})

const control = <A, E>(use: (sandbox: Sandbox.Sandbox["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(Sandbox.Sandbox, use)

const reason = <A, E extends { readonly reason: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason)

describe("sandbox: room", () => {
  it.effect("sandbox: at the event limit, external activity stops and our node continues", () =>
    Effect.gen(function* () {
      const sandbox = yield* Sandbox.Sandbox
      yield* sandbox.mine(3)
      assert.strictEqual((yield* Effect.flip(sandbox.mine(1))).reason, "full")
      assert.strictEqual(
        (yield* Effect.flip(sandbox.destination({ type: "lightning_invoice" }))).reason,
        "full"
      )
      const { createInvoice } = yield* LightningReceiver
      const ask = {
        id: "a",
        amount: Msat.fromSats(10),
        description: { _tag: "Text", text: "" },
        expirySeconds: 600
      } as const
      assert.match((yield* createInvoice(ask)).paymentRequest, /^lnbcrt/)
    }).pipe(Effect.provide(Sandbox.layer({ seed: "full", network: "regtest", maxEvents: 3 })))
  )
})

describe("payments out", () => {
  it.effect("sandbox: most payees can be paid 5 000 000 sats repeatedly", () =>
    sandbox(
      Effect.gen(function* () {
        for (const _ of Array.from({ length: 20 })) {
          const payment = yield* pay(yield* outside({ amount: sats(5_000_000) }), sats(5_000_000))
          assert.strictEqual(payment._tag, "settled")
        }
      })
    )
  )

  it.effect("sandbox: the payee behind a small channel can be paid only small amounts", () =>
    sandbox(
      Effect.gen(function* () {
        const small = yield* outside({ payee: "elm", amount: sats(20_000) })
        assert.strictEqual((yield* pay(small, sats(20_000)))._tag, "settled")
        const { quote } = yield* LightningSender
        const invoice = yield* outside({ payee: "elm", amount: sats(150_000) })
        // The payment looks possible but isn't, because the channel's balance is on the wrong side.
        const offer = yield* quote({ invoice, amount: sats(150_000), feeLimit: sats(50_000) })
        assert.isTrue(offer !== undefined && offer.probability > 0 && offer.probability < 0.26)
        assert.deepStrictEqual(yield* pay(invoice, sats(150_000)), { _tag: "failed", reason: "no_route" })
        const large = yield* outside({ payee: "elm", amount: sats(250_000) })
        assert.isUndefined(yield* quote({ invoice: large, amount: sats(250_000), feeLimit: sats(50_000) }))
        assert.deepStrictEqual(yield* pay(large, sats(250_000)), { _tag: "failed", reason: "no_route" })
      })
    )
  )

  it.effect("sandbox: a failed payment can be retried and leaves every channel unchanged", () =>
    sandbox(
      Effect.gen(function* () {
        const before = yield* control(({ localBalance }) => localBalance)
        const invoice = yield* outside({ amount: sats(10_000) })
        assert.deepStrictEqual(yield* pay(invoice, sats(10_000), Msat.zero), {
          _tag: "failed",
          reason: "no_route"
        })
        assert.strictEqual(yield* control(({ localBalance }) => localBalance), before)
        const payment = yield* pay(invoice, sats(10_000))
        if (payment._tag !== "settled") return assert.fail(payment._tag)
        assert.isTrue(Preimage.proves(payment.preimage, invoice.paymentHash))
        assert.strictEqual(
          yield* control(({ localBalance }) => localBalance),
          before - sats(10_000) - payment.fee
        )
      })
    )
  )

  it.effect("sandbox: a payment's unknown outcome becomes known at the third lookup", () =>
    sandbox(
      Effect.gen(function* () {
        for (const [behaviour, outcome] of [
          ["unknown_then_settle", "settled"],
          ["unknown_then_fail", "failed"]
        ] as const) {
          const invoice = yield* outside({ behaviour, amount: sats(500) })
          assert.strictEqual((yield* pay(invoice, sats(500)))._tag, "unknown")
          assert.strictEqual((yield* pay(invoice, sats(500)))._tag, "unknown")
          const words = yield* Effect.forEach([1, 2, 3, 4], () =>
            Effect.map(lookup(invoice), ({ _tag }) => _tag)
          )
          assert.deepStrictEqual(words, ["unknown", "unknown", outcome, outcome])
          const paid = (yield* control(({ payments }) => payments)).filter(
            ({ paymentHash }) => paymentHash === invoice.paymentHash
          )
          assert.strictEqual(
            paid.reduce((times, one) => times + one.times, 0),
            outcome === "settled" ? 1 : 0
          )
        }
      })
    )
  )

  it.effect(
    "sandbox: a payment fails if the invoice is our own, unknown or expired, or if the amount is wrong",
    () =>
      sandbox(
        Effect.gen(function* () {
          const own = decode((yield* issue("own")).paymentRequest)
          assert.deepStrictEqual(yield* pay(own, sats(1000)), { _tag: "failed", reason: "error" })
          const invoice = yield* outside({ amount: sats(1000) })
          const details = { _tag: "failed", reason: "incorrect_payment_details" } as const
          assert.deepStrictEqual(
            yield* pay({ ...invoice, paymentHash: PaymentHash.make("0f".repeat(32)) }, sats(1000)),
            details
          )
          assert.deepStrictEqual(yield* pay(invoice, Msat.make(sats(1000) - 1n)), details)
          assert.deepStrictEqual(yield* pay(invoice, sats(2001)), details)
          const other = yield* outside({ amount: sats(1000) })
          assert.notStrictEqual(other.payee, invoice.payee)
          assert.deepStrictEqual(yield* pay({ ...invoice, payee: other.payee }, sats(1000)), details)
          assert.deepStrictEqual(yield* pay({ ...invoice, payee: `02${"11".repeat(32)}` }, sats(1000)), {
            _tag: "failed",
            reason: "no_route"
          })
          yield* TestClock.adjust("2 hours")
          assert.deepStrictEqual(yield* pay(invoice, sats(1000)), details)
        })
      )
  )

  it.effect("sandbox: no payment exceeds the sender's balance", () =>
    sandbox(
      Effect.gen(function* () {
        const amount = Msat.make((yield* control(({ localBalance }) => localBalance)) + 1n)
        assert.deepStrictEqual(yield* pay(yield* outside(), amount, amount), {
          _tag: "failed",
          reason: "insufficient_balance"
        })
      })
    )
  )

  it.effect.prop(
    "sandbox: no payment creates or loses a millisatoshi in a channel, and no fee exceeds its limit",
    [
      Schema.Array(
        Schema.Struct({
          amount: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 400_000_000 })),
          feeLimit: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_000_000 })),
          behaviour: Schema.Literals(["settle", "fail", "hold"]),
          payee: Schema.Literals(["alder", "birch", "cedar", "dogwood", "elm", "fern"])
        })
      ).check(Schema.isMaxLength(8))
    ],
    ([asks]) =>
      sandbox(
        Effect.gen(function* () {
          for (const { amount, feeLimit, behaviour, payee } of asks) {
            const payment = yield* pay(yield* outside({ behaviour, payee }), sats(amount), sats(feeLimit))
            if (payment._tag === "settled") assert.isTrue(payment.fee <= sats(feeLimit))
            const { lightning } = yield* control(({ state }) => state)
            assert.isTrue(Lightning.isWhole(lightning))
          }
        })
      ),
    { arbitrary: { runs: 25 } }
  )
})

describe("destinations", () => {
  it.effect("sandbox destinations: each destination has the requested kind and is new", () =>
    sandbox(
      Effect.gen(function* () {
        const { destination } = yield* Sandbox.Sandbox
        const kinds = {
          p2pkh: /^[mn]/,
          p2sh: /^2/,
          p2wpkh: /^bcrt1q.{38}$/,
          p2wsh: /^bcrt1q.{58}$/,
          p2tr: /^bcrt1p/
        } as const
        for (const kind of BitcoinAddress.Kind.literals) {
          const [one, other] = [
            yield* destination({ type: "chain_address", kind }),
            yield* destination({ type: "chain_address", kind })
          ]
          assert.match(one.destination, kinds[kind])
          assert.notStrictEqual(other.destination, one.destination)
          assert.strictEqual(Result.getOrThrow(BitcoinAddress.decode(one.destination, "regtest")).kind, kind)
        }
        for (const type of ["lightning_invoice", "lightning_address", "lnurl", "chain_address"] as const) {
          const [one, other] = [yield* destination({ type }), yield* destination({ type })]
          assert.notStrictEqual(other.destination, one.destination)
          assert.strictEqual(
            Destination.recipientType(Result.getOrThrow(Destination.parse(one.destination, "regtest"))),
            type
          )
          assert.strictEqual(one.paymentHash !== undefined, type === "lightning_invoice")
        }
      })
    )
  )

  it.effect("sandbox destinations: an address and an LNURL return invoices with the requested behavior", () =>
    sandbox(
      Effect.gen(function* () {
        const { invoice, offer } = yield* Resolver
        for (const type of ["lightning_address", "lnurl"] as const) {
          const { destination } = yield* control((one) =>
            one.destination({ type, behaviour: "fail", amount: sats(700), payee: "cedar" })
          )
          const url =
            type === "lnurl"
              ? Result.getOrThrow(Lnurl.decode(destination)).url
              : Result.getOrThrow(LightningAddressText.parse(destination)).url
          const offered = yield* offer(url)
          assert.deepInclude(offered, { min: sats(700), max: sats(700) })
          const given = decode((yield* invoice(offered, sats(700))).paymentRequest)
          assert.deepStrictEqual(yield* pay(given, sats(700)), {
            _tag: "failed",
            reason: "incorrect_payment_details"
          })
        }
      })
    )
  )

  it.effect("sandbox destinations: each behavior has a named destination from the start", () =>
    sandbox(
      Effect.gen(function* () {
        const { invoice, offer } = yield* Resolver
        for (const [name, outcome] of [
          ["settle", "settled"],
          ["hold", "pending"],
          ["unknown-then-settle", "unknown"],
          ["no-route", "failed"]
        ] as const) {
          const { paymentRequest } = yield* invoice(
            yield* offer(`https://wallet.example/.well-known/lnurlp/${name}`),
            sats(9)
          )
          const given = decode(paymentRequest)
          assert.strictEqual((yield* pay(given, sats(9)))._tag, outcome)
        }
      })
    )
  )

  it.effect("sandbox destinations: impossible requests are rejected", () =>
    sandbox(
      Effect.gen(function* () {
        const attempt = (ask: Omit<Sandbox.DestinationAsk, "type">) =>
          reason(control(({ destination }) => destination({ type: "lightning_invoice", ...ask })))
        assert.strictEqual(yield* attempt({ amount: Msat.zero }), "amount_invalid")
        assert.strictEqual(yield* attempt({ payee: "zelkova" }), "payee_unknown")
        assert.strictEqual(yield* attempt({ expirySeconds: 0 }), "out_of_range")
        assert.strictEqual(yield* attempt({ takes: { min: sats(2), max: sats(1) } }), "amount_invalid")
      })
    )
  )
})

describe("payments in", () => {
  it.effect("sandbox: the external payer receives the reason of a rejection", () =>
    sandbox(
      Effect.gen(function* () {
        const { cancelInvoice } = yield* LightningReceiver
        const attempt = (paymentRequest: string, amount?: Msat.Msat) =>
          reason(control(({ pay }) => pay({ paymentRequest, amount })))
        const one = yield* issue("one")
        assert.strictEqual(yield* attempt("lnbcrt1nonsense"), "invoice_unreadable")
        assert.strictEqual(yield* attempt(one.paymentRequest, sats(999)), "amount_too_small")
        assert.strictEqual(yield* attempt(one.paymentRequest, sats(2001)), "amount_too_large")
        const { payee: _, ...draft } = decode(one.paymentRequest)
        const anotherKey = Bolt11.signWith(new Uint8Array(32).fill(7))
        const mainnet = Result.getOrThrow(Bolt11.encode({ ...draft, network: "mainnet" }, anotherKey))
        assert.strictEqual(yield* attempt(mainnet), "wrong_network")
        const nobodys = Result.getOrThrow(Bolt11.encode(draft, anotherKey))
        assert.strictEqual(yield* attempt(nobodys), "invoice_unknown")
        yield* control(({ pay }) => pay({ paymentRequest: one.paymentRequest }))
        assert.strictEqual(yield* attempt(one.paymentRequest), "already_paid")
        const two = yield* issue("two")
        yield* cancelInvoice(two.paymentHash)
        assert.strictEqual(yield* attempt(two.paymentRequest), "invoice_canceled")
        const three = yield* outside()
        assert.strictEqual(yield* attempt(three.paymentRequest), "amount_missing")
        const holding = { paymentRequest: three.paymentRequest, amount: sats(5), hold: true }
        assert.strictEqual(yield* reason(control(({ pay }) => pay(holding))), "not_ours")
        assert.strictEqual(yield* attempt(three.paymentRequest, sats(1_000_000_000_000)), "no_route")
        const { preimage } = yield* control(({ pay }) =>
          pay({ paymentRequest: three.paymentRequest, amount: sats(5) })
        )
        assert.isTrue(preimage !== null && Preimage.proves(preimage, three.paymentHash))
        assert.strictEqual(yield* attempt(three.paymentRequest, sats(5)), "already_paid")
        const four = yield* issue("four", 1000, 60)
        yield* TestClock.adjust("1 minute")
        assert.strictEqual(yield* attempt(four.paymentRequest), "invoice_expired")
        assert.deepStrictEqual(yield* (yield* LightningReceiver).lookupInvoice(four.paymentHash), {
          _tag: "canceled"
        })
      })
    )
  )

  it.effect(
    "sandbox: a held payment is accepted and cannot be canceled; it either settles, even after its invoice expires, or is returned",
    () =>
      sandbox(
        Effect.gen(function* () {
          const { cancelInvoice, lookupInvoice } = yield* LightningReceiver
          const [late, back] = [yield* issue("late", 1000, 60), yield* issue("back")]
          const before = yield* control(({ localBalance }) => localBalance)
          for (const { paymentRequest, paymentHash } of [late, back]) {
            assert.isNull((yield* control(({ pay }) => pay({ paymentRequest, hold: true }))).preimage)
            assert.deepStrictEqual(yield* lookupInvoice(paymentHash), { _tag: "accepted" })
            assert.deepStrictEqual(yield* cancelInvoice(paymentHash), { _tag: "accepted" })
          }
          assert.strictEqual(yield* control(({ localBalance }) => localBalance), before)
          yield* TestClock.adjust("5 minutes")
          assert.deepStrictEqual(yield* lookupInvoice(late.paymentHash), { _tag: "accepted" })
          yield* control(({ release }) => release({ paymentHash: late.paymentHash, outcome: "settle" }))
          assert.strictEqual((yield* lookupInvoice(late.paymentHash))._tag, "settled")
          yield* control(({ release }) => release({ paymentHash: back.paymentHash, outcome: "fail" }))
          assert.deepStrictEqual(yield* lookupInvoice(back.paymentHash), { _tag: "open" })
          assert.strictEqual(yield* control(({ localBalance }) => localBalance), before + sats(1000))
          assert.strictEqual(
            yield* reason(
              control(({ release }) => release({ paymentHash: back.paymentHash, outcome: "fail" }))
            ),
            "not_held"
          )
          yield* control(({ pay }) => pay({ paymentRequest: back.paymentRequest }))
          assert.strictEqual((yield* lookupInvoice(back.paymentHash))._tag, "settled")
          assert.isTrue(Lightning.isWhole((yield* control(({ state }) => state)).lightning))
        })
      )
  )

  it.effect("sandbox: a lost notification is never repeated, but the next one arrives", () =>
    sandbox(
      Effect.gen(function* () {
        const { lookupInvoice, settlements } = yield* LightningReceiver
        const [lost, told] = [yield* issue("lost"), yield* issue("told")]
        yield* control(({ loseNextNotice }) => loseNextNotice)
        for (const { paymentRequest } of [lost, told]) yield* control(({ pay }) => pay({ paymentRequest }))
        const all = yield* Stream.runCollect(Stream.take(settlements(null), 1))
        assert.deepStrictEqual(
          all.map(({ paymentHash, cursor }) => [paymentHash, cursor]),
          [[told.paymentHash, "2"]]
        )
        assert.strictEqual((yield* lookupInvoice(lost.paymentHash))._tag, "settled")
      })
    )
  )

  it.effect("sandbox: a paused node does not respond, ends the stream, and receives nothing", () =>
    sandbox(
      Effect.gen(function* () {
        const receiver = yield* LightningReceiver
        const { paymentHash } = yield* issue("one")
        const invoice = yield* outside({ amount: sats(5) })
        const listening = yield* Effect.forkChild(Effect.flip(Stream.runDrain(receiver.settlements(null))), {
          startImmediately: true
        })
        yield* control(({ pause }) => pause("node"))
        assert.strictEqual((yield* Fiber.join(listening))._tag, "NodeUnavailable")
        assert.strictEqual((yield* Effect.flip(receiver.lookupInvoice(paymentHash)))._tag, "NodeUnavailable")
        assert.strictEqual((yield* Effect.flip(issue("two")))._tag, "NodeUnavailable")
        assert.strictEqual((yield* Effect.flip(receiver.cancelInvoice(paymentHash)))._tag, "NodeUnavailable")
        assert.deepStrictEqual(yield* pay(invoice, sats(5)), { _tag: "notSent" })
        yield* control(({ resume }) => resume("node"))
        assert.deepStrictEqual(yield* lookup(invoice), { _tag: "notFound" })
        assert.strictEqual((yield* receiver.lookupInvoice(paymentHash))._tag, "open")
      })
    )
  )
})

describe("two services' nodes", () => {
  it.effect(
    "sandbox: two services' nodes pay each other through the network, and each lists only its own payments",
    () =>
      sandbox(
        Effect.gen(function* () {
          const { localBalance } = yield* Sandbox.Sandbox
          const ours = { receiver: yield* LightningReceiver, sender: yield* LightningSender, localBalance }
          const both = [ours, yield* Sandbox.Neighbour]
          for (const [at, [payer, payee]] of [both, both.toReversed()].entries()) {
            if (payer === undefined || payee === undefined) return assert.fail("both payments are listed")
            const [before, had] = [yield* payer.localBalance, yield* payee.localBalance]
            const { paymentHash, paymentRequest } = yield* payee.receiver.createInvoice({
              id: `tea ${at}`,
              amount: sats(1000),
              description: { _tag: "Text", text: "tea" },
              expirySeconds: 60
            })
            const ask = { invoice: decode(paymentRequest), amount: sats(1000), feeLimit: sats(10) }
            const quoted = yield* payer.sender.quote(ask)
            const paid = yield* payer.sender.pay(ask)
            if (paid._tag !== "settled") return assert.fail(JSON.stringify(paid))
            assert.isTrue(Preimage.proves(paid.preimage, paymentHash))
            assert.strictEqual(paid.fee, quoted?.fee)
            assert.isTrue(paid.fee > 0n)
            assert.deepStrictEqual(yield* payer.sender.pay(ask), paid, "and once")
            assert.strictEqual(yield* payer.localBalance, before - sats(1000) - paid.fee)
            assert.strictEqual(yield* payee.localBalance, had + sats(1000))

            assert.deepStrictEqual(yield* payer.receiver.lookupInvoice(paymentHash), { _tag: "unknown" })
            assert.strictEqual(
              (yield* Effect.flip(payer.receiver.cancelInvoice(paymentHash)))._tag,
              "NodeUnavailable"
            )
            assert.deepStrictEqual(yield* payee.sender.lookupPayment(paymentHash), { _tag: "notFound" })
            const told = yield* Stream.runCollect(Stream.take(payee.receiver.settlements(null), 1))
            assert.deepStrictEqual(
              told.map((one) => [one.paymentHash, one.received]),
              [[paymentHash, sats(1000)]]
            )
            const again = yield* payee.sender.pay(ask)
            assert.deepStrictEqual(again, { _tag: "failed", reason: "error" }, "a node cannot pay itself")
          }
          assert.isTrue(Lightning.isWhole((yield* control(({ state }) => state)).lightning))
          return undefined
        })
      )
  )

  it.effect(
    "sandbox: a wrong amount, an expired or canceled invoice and an invoice with another pending payment are rejected",
    () =>
      sandbox(
        Effect.gen(function* () {
          const { receiver, localBalance } = yield* Sandbox.Neighbour
          const before = yield* localBalance
          const refused = { _tag: "failed", reason: "incorrect_payment_details" }
          const asked = {
            amount: sats(1000),
            description: { _tag: "Text", text: "tea" },
            expirySeconds: 60
          } as const
          const less = decode((yield* receiver.createInvoice({ ...asked, id: "less" })).paymentRequest)
          assert.deepStrictEqual<unknown>(yield* pay(less, sats(999)), refused)
          assert.deepStrictEqual<unknown>(yield* pay(less, sats(2001)), refused)
          const canceled = decode(
            (yield* receiver.createInvoice({ ...asked, id: "canceled" })).paymentRequest
          )
          yield* receiver.cancelInvoice(canceled.paymentHash)
          assert.deepStrictEqual<unknown>(yield* pay(canceled, sats(1000)), refused)
          const held = decode((yield* receiver.createInvoice({ ...asked, id: "held" })).paymentRequest)
          yield* control(({ pay }) => pay({ paymentRequest: held.paymentRequest, hold: true }))
          assert.deepStrictEqual<unknown>(yield* pay(held, sats(1000)), refused)
          const late = decode((yield* receiver.createInvoice({ ...asked, id: "late" })).paymentRequest)
          yield* TestClock.adjust("1 minute")
          assert.deepStrictEqual<unknown>(yield* pay(late, sats(1000)), refused)
          assert.strictEqual(yield* localBalance, before)
          assert.isTrue(Lightning.isWhole((yield* control(({ state }) => state)).lightning))
        })
      )
  )
})
