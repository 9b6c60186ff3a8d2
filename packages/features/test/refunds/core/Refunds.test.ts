import { assert, describe } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Effect, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import type { Company } from "@satrail/core/accounts/Company"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Journal } from "@satrail/core/ledger/Journal"
import { Approvals } from "../../../src/approvals/core/Approvals.ts"
import * as Checkout from "../../../src/checkouts/core/Checkout.ts"
import { Checkouts } from "../../../src/checkouts/core/Checkouts.ts"
import { Backlog } from "@satrail/core/reports/reconciliation/Backlog"
import { PaymentDetails } from "@satrail/core/reports/PaymentDetails"
import { Transactions } from "@satrail/core/reports/Transactions"
import { Records } from "@satrail/core/service/Records"
import { type Ask, type Made, type Of, Refunds } from "../../../src/refunds/core/Refunds.ts"
import { Vouchers } from "../../../src/vouchers/core/Vouchers.ts"
import {
  accounts,
  asked,
  company,
  companyWith,
  follow,
  got,
  has,
  invoice,
  made,
  mine,
  onChainAddress,
  outside,
  outputsOf,
  poll,
  replace,
  said,
  scenario,
  steps
} from "../../../../core/test/World.ts"

const refund = Effect.fnUntraced(function* (
  company: Company,
  of: Of,
  more: Partial<Ask> & { readonly sats?: number } = {}
) {
  const { sats, ...rest } = more
  const ask = {
    asked: sats === undefined ? undefined : yield* asked(sats),
    destination: undefined,
    description: "",
    expirySeconds: 3600,
    metadata: {}
  }
  return yield* (yield* Refunds).create({ company, ...of, ...ask, ...rest })
})

/** Creates a company that received this much over Lightning, and returns both the company and the deposit. */
const paid = Effect.fnUntraced(function* (sats: number, to?: Company) {
  const payee = to ?? (yield* company())
  const { id, paymentRequest } = yield* invoice(payee, sats)
  yield* (yield* Sandbox).pay({ paymentRequest })
  yield* poll
  const [deposit] = (yield* (yield* Transactions).list(payee.id, { limit: 1 })).rows
  return { payee, invoiceId: id, depositId: deposit?.id ?? assert.fail("no deposit") }
})

/** Creates a company with a pending on-chain payment of this much, and returns both the company and the deposit. */
const paidOnChain = Effect.fnUntraced(function* (sats: number) {
  const payee = yield* company()
  const { address } = yield* onChainAddress(payee)
  yield* (yield* Sandbox).send({ address, amount: Msat.fromSats(sats) })
  yield* follow
  const [deposit] = (yield* (yield* Transactions).list(payee.id, { limit: 1 })).rows
  return { payee, depositId: deposit?.id ?? assert.fail("no deposit") }
})

const claim = Effect.fnUntraced(function* ({ url }: Made, sats: number) {
  const k1 = new URL(Redacted.value(url ?? assert.fail("no link"))).searchParams.get("k1") ?? ""
  const { destination, paymentHash } = yield* outside({ sats })
  yield* (yield* Vouchers).claim({ k1, pr: destination, caller: "wallet" })
  return paymentHash
})
/** Pays a checkout on-chain. */
const sent = Effect.fnUntraced(function* ({ address }: Checkout.Checkout, sats: number) {
  yield* (yield* Sandbox).send({ address, amount: Msat.fromSats(sats) })
  yield* follow
  yield* mine(6)
  yield* follow
})
/** Creates a checkout that received this much, and returns it with its company and the deposit. */
const paidInPart = Effect.fnUntraced(function* (sats: number) {
  const payee = yield* company()
  const words = {
    description: "",
    orderId: null,
    metadata: {},
    returnUrl: null,
    cancelUrl: null,
    embedOrigin: null,
    color: null,
    options: [],
    contact: null
  }
  const settings = { expirySeconds: 3600, tolerancePercent: 0, locale: "en" } as const
  const checkout = yield* made(
    (yield* Checkouts).create({ companyId: payee.id, asked: yield* asked(1000), ...words, ...settings })
  )
  yield* sent(checkout, sats)
  const [deposit] = (yield* (yield* Transactions).list(payee.id, { limit: 1 })).rows
  return { payee, checkout, depositId: deposit?.id ?? assert.fail("no deposit") }
})
/** The same, after the checkout was canceled. */
const canceledInPart = Effect.fnUntraced(function* (sats: number) {
  const one = yield* paidInPart(sats)
  yield* (yield* Checkouts).cancel(one.payee.id, one.checkout.id)
  return one
})
const onCheckout = { seal: (url: Redacted.Redacted) => `sealed ${Redacted.value(url).length}` }

/** Lets concurrent refunds read before any of them commits. */
const atOnce = {
  change: replace(Journal, (journal) => ({
    commit: (change) =>
      change._tag === "RefundCreated"
        ? Effect.andThen(Effect.yieldNow, journal.commit(change))
        : journal.commit(change)
  }))
}
const look = Effect.flatMap(Refunds, ({ step }) => step)
const now = ({ refund: { companyId, id } }: Made) =>
  Effect.flatMap(Refunds, (refunds) => refunds.get(companyId, id))
const standing = (one: Made) => Effect.map(now(one), ({ status }) => status)
const cancel = ({ refund: { companyId, id } }: Made) =>
  Effect.flatMap(Refunds, (refunds) => refunds.cancel(companyId, id))
const refunded = Effect.fnUntraced(function* (payee: Company, depositId: string) {
  return Number(Option.getOrThrow(yield* (yield* Records).deposit(payee.id, depositId)).refunded) / 1000
})

const nowOf = Effect.fnUntraced(function* (payee: Company, id: string | null) {
  return Option.getOrThrow(yield* (yield* Records).withdrawal(payee.id, id ?? assert.fail("no withdrawal")))
})

describe("Refunds by link", () => {
  for (const [how, pay] of [
    ["Lightning", paid],
    [
      "on-chain",
      Effect.fnUntraced(function* (sats: number) {
        const one = yield* paidOnChain(sats)
        yield* mine(6)
        yield* follow
        return one
      })
    ]
  ] as const)
    scenario(`refund: it does not change when a ${how} deposit was credited`, function* () {
      const { payee, depositId } = yield* pay(50_000)
      const creditedAt = yield* Clock.currentTimeMillis
      const settled = Effect.gen(function* () {
        const { timeline } = yield* (yield* Backlog).deposit(depositId)
        return timeline.flatMap(({ what, atMillis }) => (what === "settled" ? [atMillis] : []))
      })
      assert.deepStrictEqual(yield* settled, [creditedAt])
      yield* TestClock.adjust("3 days")
      yield* refund(payee, { depositId }, { sats: 1000 })
      assert.deepStrictEqual(yield* settled, [creditedAt])
    })
  scenario("refund: a whole deposit can be refunded with a link, which the payer claims", function* () {
    const { payee, depositId } = yield* paid(1000)
    yield* paid(500, payee)
    const one = yield* made(refund(payee, { depositId }))
    assert.deepStrictEqual(
      [one.refund.amount, one.refund.status, one.refund.depositId],
      [Msat.fromSats(1000), "open", depositId]
    )
    assert.strictEqual(yield* refunded(payee, depositId), 1000)
    const paymentHash = yield* claim(one, 1000)
    yield* look
    assert.strictEqual(yield* standing(one), "pending")
    yield* steps(2)
    yield* look
    assert.deepStrictEqual(yield* got(paymentHash), { times: 1, sats: 1000 })
    const { status, withdrawalId } = yield* now(one)
    assert.strictEqual(status, "completed")
    const withdrawal = Option.getOrThrow(yield* (yield* Records).withdrawal(payee.id, withdrawalId ?? ""))
    assert.deepStrictEqual([withdrawal.refundId, withdrawal.status], [one.refund.id, "settled"])
    assert.strictEqual(yield* refunded(payee, depositId), 1000)
    assert.strictEqual(yield* said(refund(payee, { depositId }, { sats: 1 })), "RefundTooLarge")
  })

  scenario("refund: the amount of an expired or canceled refund can be refunded again", function* () {
    const { payee, depositId } = yield* paid(1000)
    yield* paid(500, payee)
    const first = yield* made(refund(payee, { depositId }, { sats: 900, expirySeconds: 60 }))
    assert.strictEqual(yield* said(refund(payee, { depositId }, { sats: 101 })), "RefundTooLarge")
    yield* TestClock.adjust(61_000)
    yield* (yield* Vouchers).step
    yield* look
    assert.strictEqual(yield* standing(first), "expired")
    assert.strictEqual(yield* refunded(payee, depositId), 0)
    const second = yield* made(refund(payee, { depositId }))
    assert.strictEqual((yield* cancel(second)).status, "canceled")
    assert.strictEqual((yield* cancel(second)).status, "canceled")
    assert.strictEqual(yield* refunded(payee, depositId), 0)
    assert.deepStrictEqual(yield* has(payee), { posted: 1500, held: 0 })
    assert.strictEqual(yield* look, 0)
  })

  scenario("refund: canceling a refund's voucher cancels the refund", function* () {
    const { payee, depositId } = yield* paid(1000)
    yield* paid(500, payee)
    const one = yield* made(refund(payee, { depositId }))
    yield* (yield* Vouchers).cancel(payee.id, one.refund.voucherId ?? "")
    yield* look
    assert.strictEqual(yield* standing(one), "canceled")
    assert.strictEqual(yield* refunded(payee, depositId), 0)
  })

  scenario(
    "refund: a claimed refund cannot be canceled, and the refund's job tracks the payment",
    function* () {
      const { payee, depositId } = yield* paid(1000)
      yield* paid(500, payee)
      const one = yield* made(refund(payee, { depositId }))
      yield* claim(one, 1000)
      assert.strictEqual(yield* said(cancel(one)), "RefundNotOpen")
      assert.strictEqual(yield* standing(one), "open")
      yield* look
      assert.strictEqual(yield* standing(one), "pending")
      yield* steps(2)
      yield* look
    }
  )
})

describe("Refunds to a destination", () => {
  scenario(
    "refund: the withdrawal has the description of the refund, and the refunded deposit has the description of its invoice",
    function* () {
      const { payee, depositId, invoiceId } = yield* paid(1000)
      const { destination } = yield* outside({ sats: 400 })
      const { refund: of } = yield* made(
        refund(payee, { depositId }, { destination, description: "returned cups" })
      )
      yield* steps(1)
      const payments = yield* (yield* PaymentDetails).payments(payee.id, [
        { type: "deposit", id: depositId },
        { type: "withdrawal", id: of.withdrawalId ?? assert.fail("no withdrawal") }
      ])
      assert.deepStrictEqual(
        payments.map(({ description, invoiceId, refundId }) => [description, invoiceId, refundId]),
        [
          ["tea", invoiceId, null],
          ["returned cups", null, of.id]
        ]
      )
    }
  )

  scenario(
    "refund: an invoice's deposit can be refunded to a destination, and the refund completes when its payment settles",
    function* () {
      const { payee, invoiceId, depositId } = yield* paid(1000)
      yield* paid(500, payee)
      const { destination, paymentHash } = yield* outside({ sats: 400 })
      const one = yield* made(refund(payee, { invoiceId }, { destination }))
      assert.deepStrictEqual(
        [one.refund.status, one.refund.amount, one.url],
        ["pending", Msat.fromSats(400), null]
      )
      yield* steps(1)
      yield* look
      assert.strictEqual(yield* standing(one), "completed")
      assert.deepStrictEqual(yield* got(paymentHash), { times: 1, sats: 400 })
      assert.strictEqual(yield* refunded(payee, depositId), 400)
    }
  )

  scenario(
    "refund: if a refund's payment fails, the funds are released, and that part of the deposit can be refunded again",
    function* () {
      const { payee, depositId } = yield* paid(1000)
      yield* paid(500, payee)
      const { destination } = yield* outside({ sats: 400, behaviour: "no_route" })
      const one = yield* made(refund(payee, { depositId }, { destination }))
      assert.strictEqual(yield* refunded(payee, depositId), 400)
      yield* steps(2)
      yield* look
      assert.strictEqual(yield* standing(one), "failed")
      assert.strictEqual(yield* refunded(payee, depositId), 0)
      assert.deepStrictEqual(yield* has(payee), { posted: 1500, held: 0 })
    }
  )
})

describe("Limits of refunds", () => {
  scenario(
    "refund: of 64 concurrent refunds of 100 sats each from a deposit of 1000 sats, ten are created",
    atOnce,
    function* () {
      const { payee, depositId } = yield* paid(1000)
      yield* paid(100_000, payee)
      const all = yield* Effect.forEach(
        Array.from({ length: 64 }),
        () => said(refund(payee, { depositId }, { sats: 100 })),
        {
          concurrency: "unbounded"
        }
      )
      assert.strictEqual(all.filter((word) => word === "ok").length, 10)
      assert.strictEqual(all.filter((word) => word === "RefundTooLarge").length, 54)
      assert.strictEqual(yield* refunded(payee, depositId), 1000)
    }
  )

  scenario("refund: another company's deposit and an unsettled invoice are not found", function* () {
    const { depositId } = yield* paid(1000)
    const other = yield* companyWith(5000)
    const open = yield* invoice(other, 100)
    assert.strictEqual(yield* said(refund(other, { depositId })), "NotFound")
    assert.strictEqual(yield* said(refund(other, { invoiceId: open.id })), "NotFound")
  })

  scenario(
    "C45: refund: only a confirmed deposit can be refunded; one that a reorganization removed must be confirmed again",
    function* () {
      const { payee, depositId } = yield* paidOnChain(2000)
      yield* paid(500, payee)
      assert.strictEqual(yield* said(refund(payee, { depositId })), "NotRefundable")
      yield* mine(2)
      yield* follow
      assert.strictEqual(yield* said(refund(payee, { depositId }, { sats: 400 })), "ok")
      yield* (yield* Sandbox).reorg(2)
      yield* follow
      assert.strictEqual(yield* said(refund(payee, { depositId }, { sats: 400 })), "NotRefundable")
      assert.strictEqual(yield* refunded(payee, depositId), 400)
      yield* mine(2)
      yield* follow
      assert.strictEqual(yield* said(refund(payee, { depositId }, { sats: 1601 })), "RefundTooLarge")
      assert.strictEqual(yield* said(refund(payee, { depositId }, { sats: 1600 })), "ok")
    }
  )

  scenario(
    "C45: refund: once a reorganization removed a deposit, its refund is neither claimed nor approved until it is confirmed again",
    function* () {
      const { payee, depositId } = yield* paidOnChain(2000)
      yield* paid(500, payee)
      yield* mine(2)
      yield* follow
      const link = yield* made(refund(payee, { depositId }, { sats: 400 }))
      const keyOf = (id: string) => ({ id, limits: { approvalAboveSats: 100 }, spendsAs: null })
      const { destination } = yield* outside({ sats: 500 })
      const waiting = yield* made(refund(payee, { depositId }, { destination, apiKey: keyOf("asks") }))
      const id = waiting.refund.withdrawalId ?? ""
      const approve = Effect.flatMap(Approvals, (approvals) =>
        approvals.approve({ company: payee, apiKey: keyOf("approves"), id })
      )
      yield* (yield* Sandbox).reorg(2)
      yield* follow
      assert.deepStrictEqual(
        [yield* said(claim(link, 400)), yield* said(approve)],
        ["VoucherRefused: invoice", "DestinationRefused: invoice_not_payable"]
      )
      yield* mine(2)
      yield* follow
      assert.deepStrictEqual([yield* said(claim(link, 400)), yield* said(approve)], ["ok", "ok"])
      yield* steps(2)
      yield* look
      assert.deepStrictEqual([yield* standing(link), yield* standing(waiting)], ["completed", "completed"])
    }
  )

  scenario(
    "C45: refund: once a reorganization removed a deposit, an unsent refund waits until it is confirmed again, or fails with it",
    function* () {
      const removed = Effect.gen(function* () {
        const { payee, depositId } = yield* paidOnChain(2000)
        yield* paid(3000, payee)
        yield* mine(2)
        yield* follow
        const { destination: invoice, paymentHash } = yield* outside({ sats: 400 })
        const { destination: address } = yield* outside({ type: "chain_address" })
        const refunds = [
          yield* made(refund(payee, { depositId }, { destination: invoice })),
          yield* made(refund(payee, { depositId }, { destination: address, sats: 600 }))
        ]
        const payouts = yield* Effect.forEach(refunds, ({ refund }) => nowOf(payee, refund.withdrawalId))
        yield* (yield* Sandbox).reorg(2)
        yield* follow
        yield* steps(3)
        const sent = Effect.gen(function* () {
          yield* look
          return [
            yield* Effect.forEach(refunds, standing),
            (yield* got(paymentHash)).times,
            (yield* outputsOf(payouts[1] ?? assert.fail())).length
          ]
        })
        assert.deepStrictEqual(yield* sent, [["pending", "pending"], 0, 0])
        return { payee, depositId, sent }
      })

      const confirmed = yield* removed
      yield* mine(2)
      yield* follow
      yield* steps(2)
      assert.deepStrictEqual(yield* confirmed.sent, [["completed", "pending"], 1, 1])

      const spent = yield* removed
      const { chainTxId } = Option.getOrThrow(
        yield* (yield* Records).deposit(spent.payee.id, spent.depositId)
      )
      yield* (yield* Sandbox).doubleSpend(chainTxId ?? assert.fail("no transaction"))
      yield* mine(6)
      yield* follow
      yield* steps(2)
      assert.deepStrictEqual(yield* spent.sent, [["failed", "failed"], 0, 0])
      assert.strictEqual(yield* refunded(spent.payee, spent.depositId), 0)
      assert.strictEqual((yield* has(spent.payee)).held, 0)
    }
  )

  /** A refund that was stored as sent while its node was away, after which a reorganization removed its deposit. */
  const sentWhileAway = Effect.gen(function* () {
    const sandbox = yield* Sandbox
    const { payee, depositId } = yield* paidOnChain(2000)
    yield* paid(3000, payee)
    yield* mine(2)
    yield* follow
    const { destination, paymentHash } = yield* outside({ sats: 400 })
    yield* sandbox.pause("node")
    const away = yield* made(refund(payee, { depositId }, { destination }))
    yield* steps(2)
    assert.isNotNull((yield* nowOf(payee, away.refund.withdrawalId)).dispatchedAtMillis)
    yield* sandbox.reorg(2)
    const sent = Effect.gen(function* () {
      return [yield* standing(away), (yield* got(paymentHash)).times] as const
    })
    return { sandbox, payee, depositId, away, sent }
  })

  scenario(
    "C45: refund: a refund that the node did not get before a reorganization removed its deposit also waits until it is confirmed again",
    function* () {
      const { sandbox, sent } = yield* sentWhileAway
      yield* follow
      yield* sandbox.resume("node")
      yield* steps(3)
      assert.deepStrictEqual(yield* sent, ["pending", 0])
      yield* mine(2)
      yield* follow
      yield* steps(3)
      yield* look
      assert.deepStrictEqual(yield* sent, ["completed", 1])
    }
  )

  scenario(
    "C8 C45: refund: a refund that the node did not get fails if its deposit is double-spent, but only once its invoice has expired and the node reports that it has no record",
    function* () {
      const { sandbox, payee, depositId, away, sent } = yield* sentWhileAway
      const { chainTxId } = Option.getOrThrow(yield* (yield* Records).deposit(payee.id, depositId))
      yield* sandbox.doubleSpend(chainTxId ?? assert.fail("no transaction"))
      yield* mine(6)
      yield* follow
      yield* steps(3)
      yield* look
      assert.deepStrictEqual(yield* sent, ["pending", 0])
      yield* sandbox.resume("node")
      yield* steps(3)
      assert.deepStrictEqual(yield* sent, ["pending", 0])
      yield* steps(4, 1800)
      yield* look
      assert.deepStrictEqual(yield* sent, ["failed", 0])
      assert.strictEqual((yield* has(payee)).held, 0)
      assert.strictEqual((yield* nowOf(payee, away.refund.withdrawalId)).failure, "canceled")
    }
  )

  scenario(
    "C45: refund: if a reorganization removes a refunded deposit, the operator bears the loss that the company's other funds do not cover",
    function* () {
      const { payee, depositId } = yield* paidOnChain(2000)
      yield* paid(500, payee)
      yield* mine(2)
      yield* follow
      const { destination } = yield* outside({ sats: 2000 })
      const one = yield* made(refund(payee, { depositId }, { destination }))
      yield* steps(1)
      yield* look
      assert.strictEqual(yield* standing(one), "completed")
      const { posted } = yield* has(payee)
      yield* (yield* Sandbox).reorg(2)
      yield* follow
      assert.deepStrictEqual(yield* has(payee), { posted: 0, held: 0 })
      assert.strictEqual((yield* accounts)["loss"], posted - 2000)
      yield* mine(2)
      yield* follow
      assert.deepStrictEqual(yield* has(payee), { posted, held: 0 })
      assert.isUndefined((yield* accounts)["loss"])
    }
  )

  scenario(
    "refund: the checkout page shows the refund while the payer is owed money, and shows its link until the link expires",
    function* () {
      const { payee, checkout, depositId } = yield* canceledInPart(600)
      yield* paid(500, payee)
      const told = Effect.map((yield* Refunds).ofCheckout(payee.id, checkout.id), (all) =>
        all.map(({ refund: { status, sealedLink }, expiresAtMillis }) => [
          status,
          sealedLink,
          expiresAtMillis !== null
        ])
      )
      const quiet = yield* made(refund(payee, { depositId }, { sats: 100 }))
      assert.deepStrictEqual(
        [quiet.refund.checkoutId, quiet.refund.sealedLink, yield* told],
        [null, null, []]
      )
      const first = yield* made(refund(payee, { depositId }, { sats: 100, onCheckout }))
      const link = onCheckout.seal(first.url ?? assert.fail("no link"))
      assert.deepStrictEqual(yield* told, [["open", link, true]])
      yield* claim(first, 100)
      // No worker has run since the refund was claimed.
      assert.deepStrictEqual(yield* told, [["pending", link, false]])
      yield* steps(1)
      yield* look
      assert.deepStrictEqual(yield* told, [["completed", link, false]])
      yield* made(
        refund(payee, { depositId }, { sats: 100, expirySeconds: 60, onCheckout: { seal: undefined } })
      )
      assert.deepStrictEqual((yield* told)[0], ["open", null, true])
      yield* TestClock.adjust("60 seconds")
      assert.deepStrictEqual(yield* told, [["completed", link, false]])
    }
  )

  scenario(
    "refund: the checkout page shows a refund to a destination once it is approved, because it may be rejected",
    function* () {
      const { payee, checkout, depositId } = yield* canceledInPart(600)
      yield* paid(500, payee)
      const told = Effect.map((yield* Refunds).ofCheckout(payee.id, checkout.id), (all) =>
        all.map(({ refund }) => refund.status)
      )
      const keyOf = (id: string) => ({ id, limits: { approvalAboveSats: 100 }, spendsAs: null })
      const { destination } = yield* outside({ sats: 400 })
      const { refund: of } = yield* made(
        refund(payee, { depositId }, { destination, onCheckout, apiKey: keyOf("asks") })
      )
      assert.deepStrictEqual([of.status, yield* told], ["pending", []])
      yield* (yield* Approvals).approve({
        company: payee,
        apiKey: keyOf("approves"),
        id: of.withdrawalId ?? ""
      })
      assert.deepStrictEqual(yield* told, ["pending"])
      yield* steps(1)
      yield* look
      assert.deepStrictEqual(yield* told, ["completed"])
    }
  )

  scenario(
    "refund: a checkout can be refunded by its id, unless several deposits paid the checkout",
    function* () {
      const { payee, checkout, depositId } = yield* canceledInPart(600)
      yield* paid(1000, payee)
      const of = { checkoutId: checkout.id }
      const one = yield* made(refund(payee, of, { sats: 100 }))
      assert.strictEqual(one.refund.depositId, depositId)
      yield* sent(checkout, 600)
      const error = yield* Effect.flip(refund(payee, of))
      assert.deepStrictEqual([error._tag, "path" in error && error.path], ["Invalid", "checkout_id"])
      assert.include(error.message, depositId)
      yield* made(refund(payee, { depositId }))
      const rest = yield* made(refund(payee, of))
      assert.notStrictEqual(rest.refund.depositId, depositId)
      const unpaid = yield* Effect.flip(refund(payee, { checkoutId: depositId }))
      assert.strictEqual(unpaid._tag, "NotFound")
      assert.strictEqual((yield* Effect.flip(refund(payee, { ...of, depositId })))._tag, "Invalid")
    }
  )
  scenario(
    "refund: a payment of a checkout that asks for the rest is refunded only once the checkout is canceled, so that the rest alone never pays it",
    function* () {
      const { payee, checkout, depositId } = yield* paidInPart(600)
      yield* paid(1000, payee)
      const checkouts = yield* Checkouts
      const at = Effect.map(checkouts.get(payee.id, checkout.id), (now) => ({
        ...now,
        isLate: Checkout.isLate(now)
      }))
      const error = yield* Effect.flip(refund(payee, { depositId }))
      assert.deepStrictEqual([error._tag, "status" in error && error.status], ["NotRefundable", "underpaid"])
      const { paymentRequest } = yield* at
      yield* checkouts.cancel(payee.id, checkout.id)
      yield* made(refund(payee, { depositId }))
      assert.strictEqual(
        (yield* Effect.flip((yield* Sandbox).pay({ paymentRequest })))._tag,
        "SandboxRefused"
      )
      // The address cannot be closed, but only what the seller keeps counts.
      yield* sent(checkout, 600)
      assert.strictEqual((yield* at).status, "canceled")
      yield* sent(checkout, 600)
      const { status, isLate } = yield* at
      assert.deepStrictEqual([status, isLate], ["paid", true])
    }
  )

  scenario(
    "refund: an amount whose refund was not claimed in time counts toward its canceled checkout again",
    function* () {
      const { payee, checkout, depositId } = yield* canceledInPart(600)
      yield* paid(1000, payee)
      yield* made(refund(payee, { depositId }))
      yield* sent(checkout, 600)
      const checkouts = yield* Checkouts
      const { status } = yield* checkouts.get(payee.id, checkout.id)
      yield* checkouts.step
      yield* TestClock.adjust("2 hours")
      yield* (yield* Vouchers).step
      yield* (yield* Refunds).step
      yield* checkouts.step
      const events = yield* (yield* Records).events(0n, 100)
      assert.deepStrictEqual(
        [
          status,
          (yield* checkouts.get(payee.id, checkout.id)).status,
          events.filter(({ type }) => type === "checkout.paid").length
        ],
        ["canceled", "paid", 1]
      )
    }
  )

  scenario(
    "refund: a checkout whose deadline has passed is refunded only once its expiry is recorded, because the rest may be paid",
    function* () {
      const { payee, checkout, depositId } = yield* paidInPart(600)
      yield* paid(1000, payee)
      const checkouts = yield* Checkouts
      yield* checkouts.step
      const { paymentRequest, isAsking } = yield* checkouts.get(payee.id, checkout.id)
      assert.isTrue(isAsking)
      // The node knows of this payment, but it is not credited yet.
      yield* (yield* Sandbox).pay({ paymentRequest })
      yield* TestClock.adjust("61 minutes")
      assert.strictEqual((yield* checkouts.get(payee.id, checkout.id)).status, "expired")
      assert.strictEqual((yield* Effect.flip(refund(payee, { depositId })))._tag, "NotRefundable")
      yield* checkouts.step
      const now = yield* checkouts.get(payee.id, checkout.id)
      assert.deepStrictEqual([now.status, Checkout.isLate(now)], ["paid", false])
      yield* made(refund(payee, { depositId }))
    }
  )

  scenario(
    "refund: after a checkout expired, the rest cannot be paid over Lightning, so that it never pays a refunded checkout in time",
    function* () {
      const { payee, checkout, depositId } = yield* paidInPart(600)
      yield* paid(1000, payee)
      const checkouts = yield* Checkouts
      const at = checkouts.get(payee.id, checkout.id)
      // An invoice issued in the last minute is valid for longer than the checkout.
      yield* TestClock.adjust("3590 seconds")
      yield* checkouts.step
      yield* TestClock.adjust("15 seconds")
      yield* checkouts.step
      const { status, paymentRequest } = yield* at
      assert.strictEqual(status, "expired")
      assert.notStrictEqual(paymentRequest, checkout.paymentRequest)
      yield* made(refund(payee, { depositId }))
      assert.strictEqual(
        (yield* Effect.flip((yield* Sandbox).pay({ paymentRequest })))._tag,
        "SandboxRefused"
      )
    }
  )

  scenario("refund: of a checkout with more deposits than are read, none is chosen", function* () {
    const { payee, checkout } = yield* paidInPart(600)
    yield* paid(1000, payee)
    const sandbox = yield* Sandbox
    yield* sent(checkout, 600)
    yield* TestClock.adjust("1 second")
    for (let n = 0; n < 10; n++)
      yield* sandbox.send({ address: checkout.address, amount: Msat.fromSats(600) })
    yield* follow
    // The newest 11 are ten pending deposits and one that can be refunded, and an older one can be refunded, too.
    const error = yield* Effect.flip(refund(payee, { checkoutId: checkout.id }))
    assert.deepStrictEqual([error._tag, "path" in error && error.path], ["Invalid", "checkout_id"])
  })

  scenario(
    "refund: the link is not stored, even encrypted, if the deposit did not pay a checkout",
    function* () {
      const { payee, depositId } = yield* paid(1000)
      yield* paid(500, payee)
      const { refund: kept } = yield* made(refund(payee, { depositId }, { onCheckout }))
      assert.deepStrictEqual([kept.checkoutId, kept.sealedLink], [null, null])
    }
  )
})
