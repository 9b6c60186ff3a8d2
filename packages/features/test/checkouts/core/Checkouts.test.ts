import { assert, describe } from "@effect/vitest"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Deferred, Effect, Exit, Fiber, Option } from "effect"
import { TestClock } from "effect/testing"
import type { Company } from "@satrail/core/accounts/Company"
import { Journal } from "@satrail/core/ledger/Journal"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import * as Checkout from "../../../src/checkouts/core/Checkout.ts"
import { type Ask, Checkouts } from "../../../src/checkouts/core/Checkouts.ts"
import { PaymentDetails } from "@satrail/core/reports/PaymentDetails"
import { DepositsOf } from "@satrail/core/receiving/DepositsOf"
import { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import type { Settlements } from "@satrail/core/receiving/Settlements"
import { Records } from "@satrail/core/service/Records"
import { create, get } from "./CheckoutCalls.ts"
import {
  asked,
  company,
  companyWith,
  confirm,
  follow,
  has,
  mine,
  poll,
  type Ports,
  type Process,
  replace,
  said,
  scenario,
  step
} from "../../../../core/test/World.ts"

// Checkouts whose process dies between two commits.

const cancel = ({ companyId, id }: { readonly companyId: Company["id"]; readonly id: string }) =>
  Effect.flatMap(Checkouts, (checkouts) => checkouts.cancel(companyId, id))
/** Runs the workers for two minutes. */
const later = Effect.gen(function* () {
  const { step } = yield* Checkouts
  for (let i = 0; i < 4; i++) {
    yield* TestClock.adjust("30 seconds")
    yield* step
  }
})
const pay = (paymentRequest: string, sats?: number) =>
  Effect.flatMap(Sandbox, (sandbox) =>
    sandbox.pay({ paymentRequest, ...(sats !== undefined && { amount: Msat.fromSats(sats) }) })
  )
const openInvoices = Effect.gen(function* () {
  return yield* (yield* Records).openInvoices(null, 10)
})
const invoiceStatus = ({
  companyId,
  invoiceId
}: {
  readonly companyId: Company["id"]
  readonly invoiceId: string
}) =>
  Effect.flatMap(Records, (records) =>
    Effect.map(records.invoice(companyId, invoiceId), (found) => Option.getOrThrow(found).status)
  )

/** A process that dies once, before it commits a Change with this tag for the `nth` time. */
const dying = (tag: string, nth = 1) => {
  let left = nth
  return {
    change: replace(Journal, (journal) => ({
      commit: (change) =>
        change._tag === tag && --left === 0 ? Effect.die("the process has died") : journal.commit(change)
    }))
  }
}

scenario("checkout: an expired checkout cannot be canceled", function* () {
  const row = yield* create(yield* company())
  yield* TestClock.adjust("2 hours")
  const refused = yield* Effect.flip(cancel(row))
  assert.strictEqual(refused._tag, "CheckoutNotOpen")
  assert.strictEqual((yield* get(row)).status, "expired")
})

scenario(
  "checkout: a checkout's payments have its description and order id, and can be listed by checkout",
  function* () {
    const {
      id: checkoutId,
      companyId,
      paymentRequest
    } = yield* create(yield* company(), { orderId: "order 7" })
    yield* pay(paymentRequest)
    yield* poll
    const details = yield* PaymentDetails
    const payments = yield* details.paymentsOf(companyId, { kind: "checkouts", id: checkoutId })
    assert.deepStrictEqual(
      payments.map(({ description, orderId, checkoutId }) => [description, orderId, checkoutId]),
      [["tea", "order 7", checkoutId]]
    )
    assert.deepStrictEqual(yield* details.payments(companyId, payments), payments)
  }
)

scenario(
  "checkout: the remaining amount is rounded up to whole satoshis, so that paying it completes the checkout",
  function* () {
    const tea = { amount: Msat.make(1_000_500n), tipPercent: null }
    assert.strictEqual(Checkout.rest(tea, Msat.make(0n)), Msat.make(1_001_000n))
    assert.strictEqual(Checkout.rest(tea, Msat.make(1_000_000n)), Msat.make(1000n))
    assert.strictEqual(Checkout.rest(tea, tea.amount), Msat.make(0n))
    yield* Effect.void
  }
)

const told = Effect.gen(function* () {
  const events = yield* (yield* Records).events(0n, 100)
  return events.map(({ type }) => type).filter((type) => type.startsWith("checkout."))
})

for (const way of ["paymentRequest", "address"] as const) {
  scenario(`checkout: another company's payment completes a checkout immediately: ${way}`, function* () {
    const payer = yield* companyWith(5000)
    const row = yield* create(yield* company())
    yield* confirm(payer, row[way], way === "address" ? 1000 : undefined)
    yield* step
    assert.strictEqual(yield* (yield* Checkouts).step, 1)
    assert.deepStrictEqual(yield* told, ["checkout.paid"])
  })
}

/** The expired checkout of a company whose seller allows new quotes. */
const expired = Effect.fnUntraced(function* (fields: Partial<Ask> = {}) {
  const row = yield* create(yield* company(), { options: ["new_quote"], ...fields })
  yield* TestClock.adjust("1 hour")
  return row
})

scenario("checkout: a new quote has the same price, another invoice and a new deadline", function* () {
  const { renew, step } = yield* Checkouts
  const before = yield* expired({ asked: yield* asked("12.5", "eur") })
  // A new quote is refused until the expiry is recorded, because the expiry job would expire the new quote too.
  assert.strictEqual((yield* Effect.flip(renew(before.publicId)))._tag, "CheckoutNotOpen")
  yield* step
  yield* renew(before.publicId)
  const again = yield* get(before)
  const same = ({ amount, fiatAmount, fiatCurrency, address, createdAtMillis }: Checkout.Checkout) => [
    amount,
    fiatAmount,
    fiatCurrency,
    address,
    createdAtMillis
  ]
  assert.deepStrictEqual([again.status, ...same(again)], ["open", ...same(before)])
  assert.notStrictEqual(again.invoiceId, before.invoiceId)
  assert.strictEqual(again.expiresAtMillis, before.expiresAtMillis + 3_600_000)
  assert.strictEqual((yield* Effect.flip(renew(before.publicId)))._tag, "CheckoutNotOpen")
  yield* pay(again.paymentRequest)
  yield* poll
  yield* later
  const paid = yield* get(before)
  assert.deepStrictEqual([paid.status, Checkout.isLate(paid)], ["paid", false])
  assert.deepStrictEqual(yield* told, ["checkout.expired", "checkout.paid"])
})

scenario("checkout: a new quote expires too, and payments to the earlier address still count", function* () {
  const { renew, step } = yield* Checkouts
  const row = yield* expired()
  yield* step
  yield* renew(row.publicId)
  yield* TestClock.adjust("1 hour")
  yield* step
  assert.strictEqual((yield* get(row)).status, "expired")
  yield* (yield* Sandbox).send({ address: row.address, amount: Msat.fromSats(1000) })
  yield* follow
  assert.isFalse(Checkout.isRenewable(yield* get(row), 0), "while a payment is pending")
  yield* mine(6)
  yield* follow
  yield* later
  assert.deepStrictEqual([(yield* get(row)).status, Checkout.isLate(yield* get(row))], ["paid", true])
})

scenario(
  "checkout: a new quote is refused after a partial payment, after a month, or if the seller does not allow new quotes",
  function* () {
    const { renew, step } = yield* Checkouts
    const refused = (publicId: string) =>
      Effect.match(renew(publicId), { onSuccess: () => "renewed", onFailure: ({ _tag }) => _tag })
    const without = yield* expired({ options: [] })
    const partly = yield* expired({ expirySeconds: 7200 })
    yield* (yield* Sandbox).send({ address: partly.address, amount: Msat.fromSats(700) })
    yield* mine(6)
    yield* follow
    yield* TestClock.adjust("2 hours")
    yield* step
    const open = yield* expired()
    yield* step
    assert.deepStrictEqual(
      [yield* refused(without.publicId), yield* refused(partly.publicId)],
      ["CheckoutNotOpen", "CheckoutNotOpen"]
    )
    yield* TestClock.adjust("30 days")
    assert.strictEqual(yield* refused(open.publicId), "CheckoutNotOpen")
  }
)

scenario(
  "checkout: a payment that stays pending for hours before it is replaced does not use up the payer's changes",
  function* () {
    const { renew, step } = yield* Checkouts
    const sandbox = yield* Sandbox
    const row = yield* create(yield* company(), { options: ["new_quote"] })
    const txId = yield* sandbox.send({ address: row.address, amount: Msat.fromSats(1000) })
    yield* follow
    for (let seconds = 0; seconds < 7200; seconds += 10) {
      yield* TestClock.adjust("10 seconds")
      yield* step
    }
    assert.strictEqual((yield* get(row)).revision, 1)
    yield* sandbox.doubleSpend(txId)
    yield* follow
    yield* later
    assert.strictEqual((yield* get(row)).status, "expired")
    yield* renew(row.publicId)
    assert.strictEqual((yield* get(row)).status, "open")
  }
)

scenario(
  "checkout: a Lightning payment made in time is not late, even if it is credited after the deadline",
  function* () {
    const { step } = yield* Checkouts
    const row = yield* create(yield* company())
    yield* pay(row.paymentRequest)
    yield* TestClock.adjust("1 hour")
    yield* step
    yield* poll
    yield* later
    const paid = yield* get(row)
    assert.deepStrictEqual([paid.status, Checkout.isLate(paid)], ["paid", false])
    assert.deepStrictEqual(yield* told, ["checkout.paid"])
  }
)

scenario("checkout: no expiry is recorded while the node reports a payment in flight", function* () {
  const { step } = yield* Checkouts
  const sandbox = yield* Sandbox
  for (const [outcome, expected] of [
    ["settle", ["checkout.paid"]],
    ["fail", ["checkout.paid", "checkout.expired"]],
    [undefined, ["checkout.paid", "checkout.expired", "checkout.expired"]]
  ] as const) {
    const before = yield* told
    const { paymentRequest } = yield* create(yield* company())
    const { paymentHash } = yield* Effect.fromResult(Bolt11.decode(paymentRequest))
    yield* sandbox.pay({ paymentRequest, hold: true })
    yield* TestClock.adjust("1 hour")
    yield* step
    assert.deepStrictEqual(yield* told, before)
    // The node may never say how it ended.
    yield* outcome === undefined ? TestClock.adjust("25 hours") : sandbox.release({ paymentHash, outcome })
    yield* poll
    yield* later
    assert.deepStrictEqual(yield* told, [...expected])
  }
})

scenario(
  "checkout: a payment from another company that began in time is not late, even if the node was away",
  { logsErrors: true },
  function* () {
    const checkouts = yield* Checkouts
    const sandbox = yield* Sandbox
    const payer = yield* companyWith(5000)
    const row = yield* create(yield* company())
    yield* confirm(payer, row.paymentRequest)
    yield* sandbox.pause("node")
    yield* step
    assert.strictEqual(yield* invoiceStatus(row), "claimed")
    yield* TestClock.adjust("1 hour")
    yield* sandbox.resume("node")
    yield* checkouts.step
    assert.deepStrictEqual(yield* told, [])
    yield* step
    yield* later
    assert.deepStrictEqual([(yield* get(row)).status, Checkout.isLate(yield* get(row))], ["paid", false])
  }
)

scenario(
  "checkout: a payment that is credited while its expiry is checked is not late",
  () => {
    const world: { before: Effect.Effect<void> } = { before: Effect.void }
    const change = replace(ReceivingReads, (reads) => ({
      invoice: (...of) =>
        Effect.andThen(
          Effect.suspend(() => world.before),
          reads.invoice(...of)
        )
    }))
    return { change, world }
  },
  function* ({ world }) {
    const { step } = yield* Checkouts
    const row = yield* create(yield* company())
    yield* pay(row.paymentRequest)
    yield* TestClock.adjust("1 hour")
    const credited = yield* Effect.context<Settlements>()
    world.before = Effect.suspend(() => {
      world.before = Effect.void
      return Effect.ignore(Effect.provide(poll, credited))
    })
    yield* step
    yield* later
    assert.deepStrictEqual(yield* told, ["checkout.paid"])
  }
)

for (const isRecorded of [false, true]) {
  const when = isRecorded ? "after" : "before"
  scenario(
    `checkout: an on-chain payment first seen after the deadline is late, even ${when} the expiry is recorded`,
    function* () {
      const { step } = yield* Checkouts
      const sandbox = yield* Sandbox
      const row = yield* create(yield* company(), { asked: yield* asked(2000) })
      yield* sandbox.send({ address: row.address, amount: Msat.fromSats(800) })
      yield* follow
      yield* TestClock.adjust("1 hour")
      if (isRecorded) yield* step
      yield* sandbox.send({ address: row.address, amount: Msat.fromSats(1200) })
      yield* follow
      assert.strictEqual((yield* get(row)).status, "expired")
      yield* mine(6)
      yield* follow
      for (const worked of [Effect.void, later]) {
        yield* worked
        const paid = yield* get(row)
        assert.deepStrictEqual([paid.status, Checkout.isLate(paid)], ["paid", true])
      }
      assert.deepStrictEqual(
        yield* told,
        isRecorded ? ["checkout.expired", "checkout.paid"] : ["checkout.paid"]
      )
    }
  )
}

for (const isRecorded of [false, true]) {
  const when = isRecorded ? "after" : "before"
  scenario(
    `checkout: an on-chain payment in a block before the deadline is not late, even if it is first seen ${when} the expiry is recorded`,
    function* () {
      const { step } = yield* Checkouts
      const sandbox = yield* Sandbox
      const row = yield* create(yield* company())
      yield* sandbox.send({ address: row.address, amount: Msat.fromSats(1000) })
      yield* TestClock.adjust("30 minutes")
      yield* mine(1)
      yield* TestClock.adjust("30 minutes")
      if (isRecorded) yield* step
      yield* follow
      assert.strictEqual((yield* get(row)).status, isRecorded ? "expired" : "open")
      yield* mine(6)
      yield* follow
      for (const worked of [Effect.void, later]) {
        yield* worked
        const paid = yield* get(row)
        assert.deepStrictEqual([paid.status, Checkout.isLate(paid)], ["paid", false])
      }
      assert.deepStrictEqual(
        yield* told,
        isRecorded ? ["checkout.expired", "checkout.paid"] : ["checkout.paid"]
      )
    }
  )
}

/** A chain source that does not report payments that are gone, as after its restart. They can be looked up. */
const forgetful = replace(ChainSource, (chain) => ({
  activity: (...of) =>
    Effect.map(chain.activity(...of), (activity) => ({
      ...activity,
      outputs: activity.outputs.filter(({ placement }) => placement._tag !== "gone")
    }))
}))

for (const [what, sats, isLate] of [
  ["a replacement of the same amount is not late if the replaced payment was seen in time", 1000, false],
  ["a replacement of another amount after the deadline is late", 1001, true]
] as const)
  for (const isReported of [true, false])
    scenario(
      `checkout: ${what}${isReported ? "" : ", although the chain source no longer reports the replaced one"}`,
      { change: isReported ? (ports) => ports : forgetful },
      function* () {
        const sandbox = yield* Sandbox
        const row = yield* create(yield* company())
        const pay = (sats: number) => sandbox.send({ address: row.address, amount: Msat.fromSats(sats) })
        let txId = yield* pay(1000)
        yield* follow
        yield* TestClock.adjust("1 hour")
        for (const amount of [1000, sats]) {
          yield* sandbox.doubleSpend(txId)
          txId = yield* pay(amount)
          yield* follow
        }
        yield* mine(6)
        yield* follow
        yield* later
        const paid = yield* get(row)
        assert.deepStrictEqual(
          [paid.status, paid.received, Checkout.isLate(paid)],
          ["paid", Msat.fromSats(sats), isLate]
        )
      }
    )

scenario("checkout: a replacement makes one later payment in time, not two", function* () {
  const sandbox = yield* Sandbox
  const row = yield* create(yield* company(), { asked: yield* asked(2000) })
  const send = sandbox.send({ address: row.address, amount: Msat.fromSats(1000) })
  const txId = yield* send
  yield* follow
  yield* TestClock.adjust("1 hour")
  yield* sandbox.doubleSpend(txId)
  for (let n = 0; n < 2; n++) {
    yield* send
    yield* follow
  }
  assert.strictEqual((yield* get(row)).status, "expired")
})

for (const [when, tag, nth] of [
  ["before it drops a replaced payment", "DepositDropped", 1],
  ["between dropping a replaced payment and recording the replacement", "DepositSeen", 3]
] as const)
  for (const isReplacedAgain of [false, true])
    scenario(
      `checkout: if the process dies ${when}${isReplacedAgain ? " and the replacement is replaced too" : ""}, never both are pending, and only one later payment is in time`,
      () => dying(tag, nth),
      function* () {
        const sandbox = yield* Sandbox
        const companyId = yield* company()
        const rows = [
          yield* create(companyId, { asked: yield* asked(1000) }),
          yield* create(companyId, { asked: yield* asked(2000) })
        ]
        const send = Effect.forEach(rows, ({ address }) =>
          sandbox.send({ address, amount: Msat.fromSats(1000) })
        )
        const replaced = yield* send
        yield* follow
        yield* TestClock.adjust("1 hour")
        yield* Effect.forEach(replaced, sandbox.doubleSpend)
        let replacements = yield* send
        assert.isTrue(Exit.hasDies(yield* Effect.exit(follow)))
        const waiting = Effect.map((yield* Records).depositsInNoBlock(null, 10), (all) =>
          all.map(({ chainTxId }) => chainTxId)
        )
        assert.sameMembers(yield* waiting, tag === "DepositSeen" ? replaced.slice(1) : replaced)
        if (isReplacedAgain) {
          yield* Effect.forEach(replacements, sandbox.doubleSpend)
          replacements = yield* send
        }
        yield* follow
        assert.sameMembers(yield* waiting, replacements)
        yield* send
        yield* follow
        const found = Effect.forEach(rows, get)
        assert.deepStrictEqual(
          (yield* found).map(({ status }) => status),
          ["open", "expired"]
        )
        yield* mine(6)
        yield* follow
        yield* later
        assert.deepStrictEqual(
          (yield* found).map((row) => [row.received, row.status, Checkout.isLate(row)]),
          [
            [Msat.fromSats(2000), "paid", false],
            [Msat.fromSats(2000), "paid", true]
          ]
        )
      }
    )

scenario(
  "checkout: a replaced payment no longer counts as pending, nor does one that was spent elsewhere",
  function* () {
    const sandbox = yield* Sandbox
    const row = yield* create(yield* company(), { asked: yield* asked(100_000) })
    const pending = Effect.andThen(
      follow,
      Effect.map(get(row), (found) => Msat.toSats(found.pending))
    )
    const first = yield* sandbox.send({ address: row.address, amount: Msat.fromSats(60_000) })
    assert.strictEqual(yield* pending, 60_000n)
    yield* sandbox.doubleSpend(first)
    const second = yield* sandbox.send({ address: row.address, amount: Msat.fromSats(30_000) })
    assert.strictEqual(yield* pending, 30_000n)
    yield* sandbox.doubleSpend(second)
    assert.strictEqual(yield* pending, 0n)
  }
)

let lookups = 0
scenario(
  "checkout: however many outputs pay a checkout, transactions are not looked up for each of them",
  () => ({
    change: replace(ChainSource, (chain) => ({
      transaction: (txId) =>
        Effect.andThen(
          Effect.sync(() => lookups++),
          chain.transaction(txId)
        ),
      timeSecondsAt: (height) =>
        Effect.andThen(
          Effect.sync(() => lookups++),
          chain.timeSecondsAt(height)
        )
    }))
  }),
  function* () {
    const sandbox = yield* Sandbox
    const { address, companyId, id } = yield* create(yield* company(), { asked: yield* asked(60_000) })
    const send = sandbox.sendMany(
      Array.from({ length: 20 }, () => ({ address, amount: Msat.fromSats(1000) }))
    )
    const counted = Effect.suspend(() => {
      lookups = 0
      return Effect.map(follow, () => lookups)
    })
    yield* send
    assert.isBelow(yield* counted, 5)
    yield* send
    assert.isBelow(yield* counted, 5)
    yield* send
    yield* mine(1)
    assert.isBelow(yield* counted, 10)
    assert.lengthOf(yield* (yield* DepositsOf)(companyId, id, 100), 60)
    yield* mine(6)
    yield* follow
  }
)

scenario(
  "checkout: an on-chain payment first seen in time is not late, even if more arrives after the deadline",
  function* () {
    const sandbox = yield* Sandbox
    const row = yield* create(yield* company())
    yield* sandbox.send({ address: row.address, amount: Msat.fromSats(1000) })
    yield* follow
    yield* TestClock.adjust("1 hour")
    yield* sandbox.send({ address: row.address, amount: Msat.fromSats(700) })
    yield* follow
    assert.strictEqual((yield* get(row)).status, "open")
    yield* mine(6)
    yield* follow
    yield* later
    const paid = yield* get(row)
    assert.deepStrictEqual(
      [paid.status, paid.received, Checkout.isLate(paid)],
      ["paid", Msat.fromSats(1700), false]
    )
  }
)

scenario("checkout: a checkout whose node cannot be reached is not recorded as expired", function* () {
  const { step } = yield* Checkouts
  const sandbox = yield* Sandbox
  const row = yield* create(yield* company())
  yield* pay(row.paymentRequest)
  yield* sandbox.pause("node")
  yield* TestClock.adjust("1 hour")
  yield* step
  assert.deepStrictEqual(yield* told, [])
  yield* sandbox.resume("node")
  yield* later
  assert.deepStrictEqual(yield* told, ["checkout.paid"])
})

scenario(
  "checkout: a tip is added to the amount, but paying the price alone still completes the checkout",
  function* () {
    const { answer, step } = yield* Checkouts
    const payee = yield* company()
    const row = yield* create(payee, { options: ["tip", "email"] })
    yield* answer(row.publicId, { tipPercent: 10, email: "ann@example.com" })
    yield* answer(row.publicId, { tipPercent: 10, email: null })
    const tipped = yield* get(row)
    const amounts = [tipped.amount, Checkout.total(tipped), Checkout.rest(tipped, tipped.received)]
    assert.deepStrictEqual(amounts, [Msat.fromSats(1000), Msat.fromSats(1100), Msat.fromSats(1100)])
    assert.deepStrictEqual([tipped.payerEmail, yield* invoiceStatus(row)], ["ann@example.com", "canceled"])
    const open = yield* openInvoices
    assert.deepStrictEqual(
      open.map(({ id, amount }) => [id, amount]),
      [[tipped.invoiceId, Msat.fromSats(1100)]]
    )
    yield* (yield* Sandbox).send({ address: row.address, amount: Msat.fromSats(1000) })
    yield* mine(6)
    yield* follow
    yield* step
    assert.strictEqual((yield* get(row)).status, "paid")
    assert.strictEqual(
      (yield* Effect.flip(answer(row.publicId, { tipPercent: 0, email: null })))._tag,
      "CheckoutNotOpen"
    )
  }
)

scenario(
  "checkout: a payer who changes the tip again and again gets a limited number of invoices",
  function* () {
    const { answer } = yield* Checkouts
    const row = yield* create(yield* company(), { options: ["tip"] })
    const change = (n: number) =>
      Effect.match(answer(row.publicId, { tipPercent: n % 2 === 0 ? 5 : 10, email: null }), {
        onSuccess: () => "answered",
        onFailure: ({ _tag }) => _tag
      })
    const answers = yield* Effect.forEach(Array.from({ length: Checkout.maxChanges + 1 }), (_, n) =>
      change(n)
    )
    assert.deepStrictEqual(
      [answers.indexOf("CheckoutNotOpen"), answers.at(-1)],
      [Checkout.maxChanges, "CheckoutNotOpen"]
    )
    assert.lengthOf(yield* openInvoices, 1)
  }
)

/** Delays a payer's change after the second invoice was recorded, the first for a payer's change. */
const waiting = () => {
  const [begun, may] = [Deferred.makeUnsafe<void>(), Deferred.makeUnsafe<void>()]
  const pause = Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(may))
  let issued = 0
  const change = replace(Journal, (journal) => ({
    commit: (change) =>
      Effect.tap(journal.commit(change), () =>
        change._tag === "InvoiceCreated" && ++issued === 2 ? pause : Effect.void
      )
  }))
  return {
    change,
    begun: Deferred.await(begun),
    release: Deferred.succeed(may, undefined),
    issued: () => issued
  }
}
const answer = ({ publicId }: Checkout.Checkout, tipPercent: number) =>
  Effect.flatMap(Checkouts, (checkouts) => checkouts.answer(publicId, { tipPercent, email: null }))
const renew = ({ publicId }: Checkout.Checkout) =>
  Effect.flatMap(Checkouts, (checkouts) => checkouts.renew(publicId))
const openIds = Effect.map(openInvoices, (open) => open.map(({ id }) => id))

const alone = waiting()
scenario(
  "checkout: while one change of a payer is in progress, another one issues no invoice",
  alone,
  function* () {
    const row = yield* create(yield* company(), { options: ["tip"] })
    const first = yield* Effect.forkChild(answer(row, 5))
    yield* alone.begun
    assert.strictEqual(yield* said(answer(row, 10)), "CheckoutNotOpen")
    yield* alone.release
    yield* Fiber.join(first)
    assert.strictEqual(alone.issued(), 2)
    const { tipPercent, invoiceId } = yield* get(row)
    assert.deepStrictEqual([tipPercent, yield* openIds], [5, [invoiceId]])
    yield* answer(row, 10)
  }
)

const outpaced = { answer: waiting(), renew: waiting() }
scenario(
  "checkout: an answer that another process outpaces leaves no open invoice",
  outpaced.answer,
  function* () {
    const row = yield* create(yield* company(), { options: ["tip"] })
    const change = yield* Effect.forkChild(said(answer(row, 5)))
    yield* outpaced.answer.begun
    yield* (yield* Journal).commit(
      Checkout.answered(row, { tipPercent: null, payerEmail: null }, yield* Clock.currentTimeMillis)
    )
    yield* outpaced.answer.release
    assert.strictEqual(yield* Fiber.join(change), "CheckoutNotOpen")
    assert.deepStrictEqual(yield* openIds, [row.invoiceId])
  }
)

scenario(
  "checkout: a new quote that another process outpaces leaves no open invoice",
  outpaced.renew,
  function* () {
    const { id, companyId } = yield* expired()
    yield* (yield* Checkouts).step
    const [row, before] = [yield* get({ id, companyId }), yield* openIds]
    const change = yield* Effect.forkChild(said(renew(row)))
    yield* outpaced.renew.begun
    const atMillis = yield* Clock.currentTimeMillis
    yield* (yield* Journal).commit(
      Checkout.renewed(row, { ...row, expiresAtMillis: atMillis + 3_600_000 }, atMillis)
    )
    yield* outpaced.renew.release
    assert.strictEqual(yield* Fiber.join(change), "CheckoutNotOpen")
    assert.deepStrictEqual(yield* openIds, before)
  }
)

const leaving = waiting()
scenario(
  "checkout: a payer who disconnects during a change leaves only the invoice that the checkout shows",
  leaving,
  function* () {
    const row = yield* create(yield* company(), { options: ["tip"] })
    const change = yield* Effect.forkChild(answer(row, 5))
    yield* leaving.begun
    const leaves = yield* Effect.forkChild(Fiber.interrupt(change), { startImmediately: true })
    yield* leaving.release
    yield* Fiber.join(leaves)
    assert.deepStrictEqual(yield* openIds, [(yield* get(row)).invoiceId])
  }
)

scenario(
  "checkout: a payer's answer is refused if it is invalid or if the seller did not ask the question",
  function* () {
    const { answer } = yield* Checkouts
    const refused = (row: Checkout.Shown, tipPercent: number, email: string | null) =>
      Effect.map(Effect.flip(answer(row.publicId, { tipPercent, email })), (error) =>
        error._tag === "Invalid" ? error.path : error._tag
      )
    const payee = yield* company()
    const [plain, tip, email] = [
      yield* create(payee),
      yield* create(payee, { options: ["tip"] }),
      yield* create(payee, { options: ["email"] })
    ]
    assert.deepStrictEqual(
      [
        yield* refused(plain, 0, null),
        yield* refused(tip, 7, null),
        yield* refused(tip, -1, null),
        yield* refused(tip, 5, "ann@example.com"),
        yield* refused(email, 5, null),
        yield* refused(email, 0, "javascript:alert(1)"),
        yield* refused(email, 0, "ann@example.com\r\nbcc: bob@example.com")
      ],
      ["CheckoutNotOpen", "tip", "tip", "email", "tip", "email", "email"]
    )
  }
)

/** Records the kinds of jobs that each Change to a deposit starts. */
const noting = () => {
  const noted: Array<readonly [tag: string, ...kinds: ReadonlyArray<string>]> = []
  const change = replace(Journal, (journal) => ({
    commit: (change) => {
      const kinds = (change.jobs ?? []).flatMap((job) => ("kind" in job ? [job.kind] : []))
      if (change._tag.startsWith("Deposit")) noted.push([change._tag, ...kinds])
      return journal.commit(change)
    }
  }))
  return { noted, change }
}

scenario(
  "checkout: an on-chain payment creates a job when it is seen and when it is credited",
  noting,
  function* ({ noted }) {
    const row = yield* create(yield* company())
    yield* (yield* Sandbox).send({ address: row.address, amount: Msat.fromSats(1000) })
    yield* follow
    yield* mine(6)
    yield* follow
    assert.deepStrictEqual(noted, [
      ["DepositSeen", "checkout_payment"],
      ["DepositPlaced"],
      ["DepositConfirmed", "checkout_payment"]
    ])
    yield* later
    assert.deepStrictEqual(yield* told, ["checkout.paid"])
  }
)

scenario(
  "checkout: after a reorganization undoes a partial payment, its page asks for all of the rest",
  function* () {
    const sandbox = yield* Sandbox
    const row = yield* create(yield* company())
    const txId = yield* sandbox.send({ address: row.address, amount: Msat.fromSats(700) })
    yield* mine(3)
    yield* follow
    yield* later
    yield* sandbox.reorg(3)
    yield* sandbox.doubleSpend(txId)
    yield* mine(1)
    yield* follow
    yield* later
    const undone = yield* get(row)
    assert.deepStrictEqual([undone.status, undone.received, undone.isAsking], ["open", Msat.zero, true])
    yield* pay(undone.paymentRequest)
    yield* poll
    yield* later
    const paid = yield* get(row)
    assert.deepStrictEqual([paid.status, paid.received], ["paid", Msat.fromSats(1000)])
  }
)

scenario(
  "checkout: a partial payment that is undone while the invoice for the rest is created does not keep the page waiting",
  () => {
    const world: { before: Effect.Effect<void> } = { before: Effect.void }
    const change = replace(LightningReceiver, (receiver) => ({
      createInvoice: (ask) =>
        Effect.andThen(
          Effect.suspend(() => world.before),
          receiver.createInvoice(ask)
        )
    }))
    return { change, world }
  },
  function* ({ world }) {
    const sandbox = yield* Sandbox
    const row = yield* create(yield* company())
    const txId = yield* sandbox.send({ address: row.address, amount: Msat.fromSats(700) })
    yield* mine(3)
    yield* follow
    const services = yield* Effect.context<Ports | Process>()
    const undo = Effect.andThen(sandbox.reorg(3), sandbox.doubleSpend(txId)).pipe(
      Effect.andThen(mine(1)),
      Effect.andThen(follow)
    )
    world.before = Effect.suspend(() => {
      world.before = Effect.void
      return Effect.orDie(Effect.provideContext(Effect.asVoid(undo), services))
    })
    yield* later
    yield* later
    const undone = yield* get(row)
    assert.deepStrictEqual([undone.status, undone.received, undone.isAsking], ["open", Msat.zero, true])
  }
)

scenario(
  "checkout: an invoice that the node settles for less than its amount credits only that, and the checkout asks for the rest",
  () => {
    // The payer can pay any amount of this invoice.
    const change = replace(LightningReceiver, (receiver) => ({
      createInvoice: (ask) => receiver.createInvoice({ ...ask, amount: null })
    }))
    return { change }
  },
  function* () {
    const payee = yield* company()
    const row = yield* create(payee)
    yield* pay(row.paymentRequest, 600)
    yield* poll
    yield* later
    const shown = yield* get(row)
    assert.deepStrictEqual([shown.status, shown.received], ["underpaid", Msat.fromSats(600)])
    assert.deepStrictEqual(yield* has(payee), { posted: 600, held: 0 })
    const [paid, asking] = yield* Effect.all(
      [row, shown].map(({ companyId, invoiceId }) =>
        Effect.flatMap(Records, (records) => records.invoice(companyId, invoiceId))
      )
    )
    const settled = Option.getOrThrow(paid ?? Option.none())
    assert.deepStrictEqual(
      [settled.status, settled.amount, settled.received],
      ["settled", Msat.fromSats(1000), Msat.fromSats(600)]
    )
    assert.strictEqual(Option.getOrThrow(asking ?? Option.none()).amount, Msat.fromSats(400))
    yield* pay(shown.paymentRequest, 400)
    yield* poll
    yield* later
    const all = yield* get(row)
    assert.deepStrictEqual([all.status, all.received], ["paid", Msat.fromSats(1000)])
    assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
  }
)

describe("A checkout whose process dies", () => {
  scenario(
    "checkout: if the process dies after canceling a checkout's invoice, another process cancels the checkout",
    () => dying("CheckoutCanceled"),
    function* () {
      const row = yield* create(yield* company())
      assert.strictEqual((yield* Effect.exit(cancel(row)))._tag, "Failure")
      assert.deepStrictEqual([(yield* get(row)).status, yield* invoiceStatus(row)], ["open", "canceled"])
      yield* later
      assert.strictEqual((yield* get(row)).status, "canceled")
      assert.strictEqual((yield* cancel(row)).status, "canceled")
      const events = yield* (yield* Records).events(0n, 100)
      assert.deepStrictEqual(
        events.map(({ type }) => type).filter((type) => type.startsWith("checkout.")),
        ["checkout.canceled"]
      )
      yield* TestClock.adjust("2 hours")
      yield* later
      assert.strictEqual((yield* get(row)).status, "canceled")
      assert.strictEqual(yield* (yield* Checkouts).step, 0)
    }
  )

  scenario(
    "checkout: if the process dies while canceling a checkout that is paid before another process resumes, the checkout counts as paid",
    () => dying("CheckoutCanceled"),
    function* () {
      const row = yield* create(yield* company())
      assert.strictEqual((yield* Effect.exit(cancel(row)))._tag, "Failure")
      yield* (yield* Sandbox).send({ address: row.address, amount: Msat.fromSats(1000) })
      yield* mine(6)
      yield* follow
      yield* later
      assert.deepStrictEqual([(yield* get(row)).status, (yield* get(row)).endedAtMillis], ["paid", null])
      yield* TestClock.adjust("2 hours")
      yield* later
      assert.strictEqual(yield* (yield* Checkouts).step, 0)
    }
  )

  scenario(
    "checkout: if the process dies after creating another invoice for an underpaid checkout, a payment to either invoice is credited to the checkout once",
    () => ({ ...dying("CheckoutUnderpaid"), logsErrors: true }),
    function* () {
      const payee = yield* company()
      const row = yield* create(payee)
      yield* (yield* Sandbox).send({ address: row.address, amount: Msat.fromSats(700) })
      yield* mine(6)
      yield* follow
      yield* later
      const open = yield* openInvoices
      const shown = yield* get(row)
      assert.deepStrictEqual([shown.status, shown.received], ["underpaid", Msat.fromSats(700)])
      assert.deepStrictEqual(
        open.map(({ checkoutId, companyId, amount }) => [checkoutId, companyId, amount]),
        open.map(() => [row.id, payee.id, Msat.fromSats(300)])
      )
      const lost =
        open.find(({ id }) => id !== shown.invoiceId) ??
        assert.fail("no invoice is missing from the checkout")
      yield* pay(lost.paymentRequest)
      yield* poll
      yield* later
      const paid = yield* get(row)
      assert.deepStrictEqual([paid.status, paid.received], ["paid", Msat.fromSats(1000)])
      assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
      // The checkout's last invoice can no longer be paid.
      assert.strictEqual(yield* invoiceStatus(paid), "canceled")
    }
  )
})
