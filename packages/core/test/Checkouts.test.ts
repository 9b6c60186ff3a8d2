import { assert, describe } from "@effect/vitest"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import * as Msat from "@satrail/bitcoin/Msat"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import type { Company } from "../src/accounts/Company.ts"
import { Journal } from "../src/ledger/Journal.ts"
import * as Checkout from "../src/features/checkouts/Checkout.ts"
import { Checkouts } from "../src/features/checkouts/Checkouts.ts"
import { Records } from "../src/service/Records.ts"
import { asked, company, companyWith, confirm, follow, has, made, mine, poll, replace, scenario, step } from "./World.ts"

// What becomes of a checkout whose process dies between two commits.

const create = Effect.fnUntraced(function* ({ id: companyId }: Company) {
  return yield* made(
    (yield* Checkouts).create({
      companyId,
      asked: yield* asked(1000),
      description: "tea",
      orderId: null,
      metadata: {},
      expirySeconds: 3600,
      tolerancePercent: 0,
      returnUrl: null,
      cancelUrl: null,
      locale: "en",
      embedOrigin: null,
      color: null
    })
  )
})
const get = ({ companyId, id }: { readonly companyId: Company["id"]; readonly id: string }) =>
  Effect.flatMap(Checkouts, (checkouts) => checkouts.get(companyId, id))
const cancel = ({ companyId, id }: { readonly companyId: Company["id"]; readonly id: string }) =>
  Effect.flatMap(Checkouts, (checkouts) => checkouts.cancel(companyId, id))
/** What its workers do within two minutes. */
const later = Effect.gen(function* () {
  const { step } = yield* Checkouts
  for (let i = 0; i < 4; i++) {
    yield* TestClock.adjust("30 seconds")
    yield* step
  }
})
const pay = (paymentRequest: string) => Effect.flatMap(Sandbox, (sandbox) => sandbox.pay({ paymentRequest }))
const openInvoices = Effect.gen(function* () {
  return yield* (yield* Records).openInvoices(null, 10)
})
const invoiceStatus = ({ companyId, invoiceId }: { readonly companyId: Company["id"]; readonly invoiceId: string }) =>
  Effect.flatMap(Records, (records) => Effect.map(records.invoice(companyId, invoiceId), (found) => Option.getOrThrow(found).status))

/** A process that dies before it commits a Change of this kind, so often. */
const dying = (tag: string) => {
  let left = 1
  return {
    change: replace(Journal, (journal) =>
      Journal.of({ commit: (change) => (change._tag === tag && left-- > 0 ? Effect.die("the process is gone") : journal.commit(change)) })
    )
  }
}

scenario("checkout: an expired one cannot be canceled", function* () {
  const row = yield* create(yield* company())
  yield* TestClock.adjust("2 hours")
  const refused = yield* Effect.flip(cancel(row))
  assert.strictEqual(refused._tag, "CheckoutNotOpen")
  assert.strictEqual((yield* get(row)).status, "expired")
})

scenario("checkout: the rest is rounded up to whole satoshis, so that who pays it has paid", function* () {
  const amount = Msat.make(1_000_500n)
  assert.strictEqual(Checkout.rest({ amount }, Msat.make(0n)), Msat.make(1_001_000n))
  assert.strictEqual(Checkout.rest({ amount }, Msat.make(1_000_000n)), Msat.make(1000n))
  assert.strictEqual(Checkout.rest({ amount }, amount), Msat.make(0n))
  yield* Effect.void
})

const told = Effect.gen(function* () {
  const events = yield* (yield* Records).events(0n, 100)
  return events.map(({ type }) => type).filter((type) => type.startsWith("checkout."))
})

for (const way of ["paymentRequest", "address"] as const) {
  scenario(`checkout: one that another company pays is paid at once: ${way}`, function* () {
    const payer = yield* companyWith(5000)
    const row = yield* create(yield* company())
    yield* confirm(payer, row[way], way === "address" ? 1000 : undefined)
    yield* step
    assert.strictEqual(yield* (yield* Checkouts).step, 1)
    assert.deepStrictEqual(yield* told, ["checkout.paid"])
  })
}

/** Notes the kinds of job that each Change to a deposit begins. */
const noting = () => {
  const noted: Array<readonly [tag: string, ...kinds: ReadonlyArray<string>]> = []
  const change = replace(Journal, (journal) =>
    Journal.of({
      commit: (change) => {
        const kinds = (change.jobs ?? []).flatMap((job) => ("kind" in job ? [job.kind] : []))
        if (change._tag.startsWith("Deposit")) noted.push([change._tag, ...kinds])
        return journal.commit(change)
      }
    })
  )
  return { noted, change }
}

scenario("checkout: an on-chain payment has a job when it is seen, and when it is credited", noting, function* ({ noted }) {
  const row = yield* create(yield* company())
  yield* (yield* Sandbox).send({ address: row.address, amount: Msat.fromSats(1000) })
  yield* follow
  yield* mine(6)
  yield* follow
  assert.deepStrictEqual(noted, [["DepositSeen", "checkout_payment"], ["DepositPlaced"], ["DepositConfirmed", "checkout_payment"]])
  yield* later
  assert.deepStrictEqual(yield* told, ["checkout.paid"])
})

describe("a checkout whose process dies", () => {
  scenario(
    "checkout: canceled by a process that dies once its invoice is, it is canceled by another one",
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
    "checkout: canceled by a process that dies, and paid before another one goes on, it is paid",
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
    "checkout: underpaid, and its process dies with another invoice made: what is paid to either is the checkout's, once",
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
      const lost = open.find(({ id }) => id !== shown.invoiceId) ?? assert.fail("there is one that the checkout does not show")
      yield* pay(lost.paymentRequest)
      yield* poll
      yield* later
      const paid = yield* get(row)
      assert.deepStrictEqual([paid.status, paid.received], ["paid", Msat.fromSats(1000)])
      assert.deepStrictEqual(yield* has(payee), { posted: 1000, held: 0 })
      // And it takes no third payment.
      assert.strictEqual(yield* invoiceStatus(paid), "canceled")
    }
  )
})
