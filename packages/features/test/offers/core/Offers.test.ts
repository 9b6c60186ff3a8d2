import { assert, describe } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { LightningBooks } from "@satrail/core/nodes/LightningBooks"
import type { NotSent } from "@satrail/core/nodes/LightningSender"
import { OfferSender, type OfferAsk, type OfferPayment } from "@satrail/core/nodes/OfferSender"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Context, Effect, HashMap, Option, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Journal } from "@satrail/core/ledger/Journal"
import * as Claims from "@satrail/core/sending/Claims"
import { PaymentWorker } from "@satrail/core/sending/PaymentWorker"
import { Records } from "@satrail/core/service/Records"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Withdrawals } from "@satrail/core/sending/Withdrawals"
import { pause, resume } from "../../../../core/test/Payments.ts"
import {
  asked,
  companyWith,
  confirm,
  has,
  invoice,
  now,
  outside,
  poll,
  type Ports,
  replace,
  scenario,
  standing,
  start,
  step,
  steps
} from "../../../../core/test/World.ts"

/** Returns an offer issued outside this service. */
const offer = (ask: Parameters<typeof outside>[0] = {}) =>
  Effect.map(outside({ type: "bolt12_offer", ...ask }), ({ destination }) => destination)

/** Amounts in sats that an offer's issuer received, one for each payment. */
const got = Effect.fnUntraced(function* (text: string) {
  const sandbox = yield* Sandbox
  const { lightning } = yield* sandbox.state
  const hashes = HashMap.toValues(lightning.tried).flatMap((one) =>
    one.offer === text ? [one.paymentHash] : []
  )
  return (yield* sandbox.payments).flatMap(({ paymentHash, times, received }) =>
    hashes.includes(paymentHash) ? Array.from({ length: times }, () => Number(received) / 1000 / times) : []
  )
})

/** Settles or fails the payments that issuers hold. */
const release = Effect.fnUntraced(function* (outcome: "settle" | "fail") {
  const sandbox = yield* Sandbox
  const { lightning } = yield* sandbox.state
  for (const { paymentHash } of HashMap.values(lightning.held))
    yield* sandbox.release({ paymentHash, outcome })
})

/** Changes how the node pays offers. */
const paying = (change: (offers: OfferSender["Service"]) => Partial<OfferSender["Service"]>) =>
  replace(OfferSender, (offers) => ({ ...change(offers) }))

describe("Payments by offer", () => {
  scenario(
    "offers: paying an offer credits its issuer, and stores the payment hash that the node reports and that the preimage proves",
    function* () {
      const payer = yield* companyWith(5000)
      const text = yield* offer()
      const row = yield* confirm(payer, text, 1000)
      assert.deepStrictEqual(
        [row.recipientType, row.recipient, row.rail],
        ["bolt12_offer", text, "lightning"]
      )
      yield* step
      const settled = yield* now(row)
      assert.deepStrictEqual(
        [settled.status, settled.paymentHash, settled.paymentRequest],
        ["settled", null, text]
      )
      const hash = Withdrawal.hashOf(settled) ?? assert.fail("no hash")
      assert.isTrue(settled.preimage !== null && Preimage.proves(settled.preimage, hash))
      assert.deepStrictEqual(yield* got(text), [1000])
      assert.deepStrictEqual(yield* has(payer), { posted: 5000 - 1012, held: 0 })
      assert.strictEqual(yield* step, 0)
    }
  )

  scenario("offers: several withdrawals can pay the same offer", function* () {
    const payer = yield* companyWith(5000)
    const text = yield* offer({ sats: 1000 })
    for (const sats of [undefined, 1000, 1500]) yield* confirm(payer, text, sats)
    yield* steps(2)
    assert.deepStrictEqual((yield* got(text)).toSorted(), [1000, 1000, 1500])
  })

  const listening = () => {
    const calls: Array<string> = []
    const note = (call: string) => Effect.sync(() => calls.push(call))
    const change = (ports: Context.Context<Ports>) =>
      ports.pipe(
        replace(Journal, (journal) => ({
          commit: (change) => Effect.andThen(note(change._tag), journal.commit(change))
        })),
        paying(({ payOffer, lookupOffer }) => ({
          payOffer: (ask) => Effect.andThen(note(`pay ${ask.attempt}`), payOffer(ask)),
          lookupOffer: (attempt) => Effect.andThen(note(`look ${attempt}`), lookupOffer(attempt))
        }))
      )
    return { calls, change }
  }

  scenario(
    "C9 C22: offers: the attempt is stored once, before the node is called",
    listening,
    function* ({ calls }) {
      const payer = yield* companyWith(5000)
      const { id } = yield* confirm(payer, yield* offer(), 1000)
      calls.length = 0
      yield* steps(3)
      assert.deepStrictEqual(calls, ["WithdrawalDispatched", `pay ${id}`, "WithdrawalSettled"])
    }
  )

  scenario(
    "C4: offers: a payment waits while the node is down, and is sent once when the node recovers",
    function* () {
      const payer = yield* companyWith(5000)
      const text = yield* offer()
      const row = yield* confirm(payer, text, 1000)
      yield* pause("node")
      yield* steps(10, 3600)
      assert.strictEqual(yield* standing(row), "pending")
      yield* resume("node")
      yield* steps(3)
      assert.strictEqual(yield* standing(row), "settled")
      assert.deepStrictEqual(yield* got(text), [1000])
    }
  )

  scenario(
    "C21: offers: the full amount is released if the issuer refuses or cannot be reached, or if there is no route",
    function* () {
      const payer = yield* companyWith(5000)
      for (const [behaviour, failure] of [
        ["fail", "incorrect_payment_details"],
        ["unreachable", "timeout"],
        ["no_route", "no_route"],
        ["unknown_then_fail", "timeout"]
      ] as const) {
        const row = yield* confirm(payer, yield* offer({ behaviour }), 1000)
        yield* steps(6)
        assert.strictEqual(yield* standing(row), `failed: ${failure}`, behaviour)
        assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
      }
    }
  )

  const asks = () => {
    const made: Array<OfferAsk> = []
    return {
      made,
      change: paying(({ payOffer }) => ({
        payOffer: (ask) =>
          Effect.andThen(
            Effect.sync(() => made.push(ask)),
            payOffer(ask)
          )
      }))
    }
  }

  scenario(
    "C25: offers: the node is called with the amount and with the fee limit",
    asks,
    function* ({ made }) {
      const payer = yield* companyWith(5000)
      const row = yield* confirm(payer, yield* offer({ sats: 500 }), 1000)
      yield* step
      assert.deepStrictEqual(
        made.map(({ amount, feeLimit }) => [amount, feeLimit]),
        [[Msat.fromSats(1000), row.networkAllowance]]
      )
    }
  )

  const doubtful = () => ({
    isPending: true as const,
    logsErrors: true as const,
    change: paying(({ payOffer, lookupOffer }) => {
      const forged = <A extends { readonly _tag: string }>(said: A) =>
        said._tag === "settled" ? { ...said, preimage: Preimage.make("00".repeat(32)) } : said
      return {
        payOffer: (ask) => Effect.map(payOffer(ask), forged),
        lookupOffer: (attempt) => Effect.map(lookupOffer(attempt), forged)
      }
    })
  })

  scenario(
    "C54: offers: a payment reported as settled stays pending if its preimage does not match the reported hash",
    doubtful,
    function* () {
      const payer = yield* companyWith(5000)
      const row = yield* confirm(payer, yield* offer(), 1000)
      yield* steps(4)
      assert.strictEqual(yield* standing(row), "pending")
      assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 1012 })
    }
  )

  const forgetful = () => {
    const calls: Array<string> = []
    return {
      calls,
      change: paying(({ payOffer, lookupOffer }) => ({
        graceMillis: 60_000,
        // The first call returns no result, and may still arrive until the grace period ends.
        payOffer: (ask) =>
          calls.push(ask.attempt) === 1 ? Effect.succeed({ _tag: "unknown" as const }) : payOffer(ask),
        lookupOffer
      }))
    }
  }

  scenario(
    "C8: offers: an attempt that the node does not find does not count as failed; after the grace period, it is repeated under the same id",
    forgetful,
    function* ({ calls }) {
      const payer = yield* companyWith(5000)
      const text = yield* offer()
      const row = yield* confirm(payer, text, 1000)
      yield* steps(3)
      assert.deepStrictEqual([calls, yield* standing(row)], [[row.id], "pending"])
      yield* TestClock.adjust("2 minutes")
      yield* steps(3)
      assert.deepStrictEqual([calls, yield* standing(row)], [[row.id, row.id], "settled"])
      assert.deepStrictEqual(yield* got(text), [1000])
    }
  )

  scenario(
    "offers: a claim on a withdrawal is twice as long as the longest call to the node, by invoice or by offer",
    forgetful,
    function* () {
      assert.strictEqual((yield* Claims.make).leaseMillis, 120_000)
    }
  )

  const known = () => {
    const said: { preimage: Preimage.Preimage | undefined } = { preimage: undefined }
    const reported = <A extends OfferPayment | { readonly _tag: "notFound" } | NotSent>(answer: A) =>
      answer._tag === "settled" && said.preimage !== undefined
        ? { ...answer, preimage: said.preimage, paymentHash: Preimage.hashOf(said.preimage) }
        : answer
    return {
      said,
      change: paying(({ payOffer }) => ({ payOffer: (ask) => Effect.map(payOffer(ask), reported) }))
    }
  }

  scenario(
    "offers: if the issuers of two offers return the hash of our own invoice, that invoice and its payment do not change",
    known,
    function* ({ said }) {
      const [payer, payee] = [yield* companyWith(5000), yield* companyWith(100)]
      const ours = yield* invoice(payee, 300)
      yield* (yield* Sandbox).pay({ paymentRequest: ours.paymentRequest })
      yield* poll
      const { preimage } = Option.getOrThrow(yield* (yield* Records).invoice(payee.id, ours.id))
      said.preimage = preimage ?? assert.fail("the invoice is not paid")
      const rows = [yield* confirm(payer, yield* offer(), 1000), yield* confirm(payer, yield* offer(), 500)]
      yield* steps(2)
      for (const row of rows) {
        assert.strictEqual(yield* standing(row), "settled")
        assert.strictEqual(Withdrawal.hashOf(yield* now(row)), ours.paymentHash)
      }
      assert.deepStrictEqual(yield* has(payee), { posted: 400, held: 0 })
      assert.strictEqual((yield* has(payer)).held, 0)
      assert.isTrue(Option.isNone(yield* (yield* Records).withdrawalByHash(ours.paymentHash)))
    }
  )
})

describe("Checks of an offer", () => {
  const refusal = (destination: string, sats?: number) =>
    Effect.gen(function* () {
      const payer = yield* companyWith(5000)
      const amount = sats === undefined ? undefined : yield* asked(sats)
      const withdrawals = yield* Withdrawals
      const ask = { company: payer, asked: amount, destination }
      const told = (refused: {
        readonly _tag: string
        readonly code?: string
        readonly message?: string
      }) => [refused.code, refused.message]
      const confirmed = told(yield* Effect.flip(withdrawals.confirm({ ...ask, metadata: {} })))
      assert.deepStrictEqual(told(yield* Effect.flip(withdrawals.estimate(ask))), confirmed)
      assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
      return confirmed
    })

  scenario(
    "offers: an offer's amount is the minimum; if the offer has no amount, the payer chooses",
    function* () {
      const least = yield* offer({ sats: 1000 })
      assert.deepStrictEqual(yield* refusal(least, 999), [
        "amount_mismatch",
        "The destination specifies 1000 sats, but the request specifies 999 sats"
      ])
      assert.deepStrictEqual(yield* refusal(yield* offer()), [
        "amount_required",
        "The destination specifies no amount. Set amount and currency"
      ])
      const payer = yield* companyWith(5000)
      const estimate = (sats?: number) =>
        Effect.gen(function* () {
          const amount = sats === undefined ? undefined : yield* asked(sats)
          return yield* (yield* Withdrawals).estimate({ company: payer, asked: amount, destination: least })
        })
      assert.strictEqual((yield* estimate()).amount, Msat.fromSats(1000))
      const more = yield* estimate(1001)
      assert.deepStrictEqual([more.amount, more.recipientType], [Msat.fromSats(1001), "bolt12_offer"])
      assert.isTrue(more.successProbability > 0 && more.successProbability < 1)
    }
  )

  scenario(
    "offers: an offer that has expired or soon expires is refused; if it expires before the payment is sent, the withdrawal fails",
    function* () {
      const text = yield* offer({ expirySeconds: 120 })
      const payer = yield* companyWith(5000)
      yield* TestClock.adjust("109 seconds")
      const row = yield* confirm(payer, text, 1000)
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* refusal(text, 1000), [
        "invoice_expired",
        "This offer has expired or is about to expire. Get a new offer from the payee"
      ])
      yield* step
      assert.strictEqual(yield* standing(row), "failed: invoice_expired")
      assert.deepStrictEqual(yield* has(payer), { posted: 5000, held: 0 })
    }
  )

  scenario(
    "offers: if the node cannot pay offers, a withdrawal to an offer is refused before anything is held",
    { lacksOffers: true },
    function* () {
      const text = yield* offer({ sats: 1000 })
      assert.deepStrictEqual(yield* refusal(text), [
        "unsupported",
        "This service's node cannot pay BOLT 12 offers. Get a BOLT 11 invoice from the payee"
      ])
      const { destination } = yield* outside({ sats: 1000 })
      const row = yield* confirm(yield* companyWith(5000), `bitcoin:?lno=${text}&lightning=${destination}`)
      assert.strictEqual(row.recipientType, "lightning_invoice")
      yield* step
      assert.strictEqual(yield* standing(row), "settled")
    }
  )

  scenario(
    "C2: offers: a sent payment stays pending while a replacement node cannot report its outcome",
    { isPending: true },
    function* () {
      const payer = yield* companyWith(5000)
      const row = yield* confirm(payer, yield* offer({ behaviour: "hold" }), 1000)
      const fresh = yield* confirm(payer, yield* offer(), 500)
      yield* step
      const later = yield* confirm(payer, yield* offer(), 700)
      yield* release("settle")
      const ports = Context.omit(OfferSender)(yield* Effect.context<Ports>())
      const other = yield* Effect.updateContext(start(ports), (context: Context.Context<Scope.Scope>) =>
        Context.pick(Scope.Scope)(context)
      )
      for (let i = 0; i < 20; i++) {
        yield* Context.get(other, PaymentWorker).step
        yield* TestClock.adjust("1 hour")
      }
      assert.deepStrictEqual([yield* standing(row), yield* standing(fresh)], ["pending", "settled"])
      assert.strictEqual(yield* standing(later), "failed: invoice_not_payable")
      assert.strictEqual((yield* has(payer)).held, 1012)
      yield* steps(2)
      assert.strictEqual(yield* standing(row), "settled")
    }
  )
})

describe("An offer in the node's records", () => {
  scenario(
    "offers: a payment's entry in the node's records names the attempt that made the payment",
    function* () {
      const payer = yield* companyWith(5000)
      const books = yield* LightningBooks
      const { cursor } = yield* books.sent(null)
      const row = yield* confirm(payer, yield* offer(), 1000)
      yield* step
      const { lines } = yield* books.sent(cursor)
      assert.deepStrictEqual(
        lines.map(({ attempt, amount }) => [attempt, amount]),
        [[row.id, row.amount]]
      )
    }
  )
})
