import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { Sandbox } from "@satrail/sandbox/Sandbox"
import { Effect, Exit, Option } from "effect"
import { TestClock } from "effect/testing"
import type { Company } from "@satrail/core/accounts/Company"
import type * as Checkout from "../../../src/checkouts/core/Checkout.ts"
import { type Ask, Checkouts } from "../../../src/checkouts/core/Checkouts.ts"
import { Journal } from "@satrail/core/ledger/Journal"
import { LightningReceiver, NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { Cancellations } from "@satrail/core/receiving/Cancellations"
import { Invoices } from "@satrail/core/receiving/Invoices"
import { Records } from "@satrail/core/service/Records"
import { create as createWith, get } from "./CheckoutCalls.ts"
import {
  asked,
  company,
  companyWith,
  confirm,
  follow,
  has,
  mine,
  now,
  poll,
  type Ports,
  type Process,
  replace,
  scenario,
  step,
  steps
} from "../../../../core/test/World.ts"

// A payer must not be able to pay a checkout twice: the only invoice that the node accepts payments for asks for what
// was neither credited nor is pending.

const create = Effect.fnUntraced(function* (company: Company, fields: Partial<Ask> = {}) {
  return yield* createWith(company, { asked: yield* asked(10_000), options: ["tip"], ...fields })
})
const send = ({ address }: Checkout.Checkout, sats: number) =>
  Effect.andThen(
    Effect.flatMap(Sandbox, (sandbox) => sandbox.send({ address, amount: Msat.fromSats(sats) })),
    (txId) => Effect.as(follow, txId)
  )
const confirmAll = Effect.andThen(mine(6), follow)
const pay = ({ paymentRequest }: Checkout.Checkout) =>
  Effect.andThen(
    Effect.flatMap(Sandbox, (sandbox) => sandbox.pay({ paymentRequest })),
    poll
  )
/** Runs the due jobs of checkouts and canceled invoices, now and every 20 seconds for some minutes. */
const work = Effect.gen(function* () {
  const [checkouts, cancellations] = [yield* Checkouts, yield* Cancellations]
  for (let i = 0; i < 10; i++) {
    yield* checkouts.step
    yield* cancellations.step
    yield* TestClock.adjust("20 seconds")
  }
})

/** Returns the amounts, in satoshis, of the checkout's invoices that the node accepts payments for. Null: any amount. */
const payable = Effect.fnUntraced(function* (row: Checkout.Checkout) {
  const { lookupInvoice } = yield* LightningReceiver
  const { rows } = yield* (yield* Invoices).list(row.companyId, { limit: 100, before: null })
  const open = yield* Effect.filter(
    rows.filter(({ checkoutId }) => checkoutId === row.id),
    ({ paymentHash }) => Effect.map(lookupInvoice(paymentHash), ({ _tag }) => _tag === "open")
  )
  return open.map(({ amount }) => (amount === null ? null : Number(Msat.toSats(amount))))
})

/** Spends the coins of the checkout's newest payment in another transaction. */
const replaced = Effect.fnUntraced(function* ({ depositIds }: Checkout.Shown) {
  const deposit = yield* (yield* Records).depositById(depositIds?.[0] ?? "")
  yield* (yield* Sandbox).doubleSpend(Option.getOrThrow(deposit).chainTxId ?? assert.fail())
})

interface Case {
  readonly fields?: Partial<Ask>
  readonly steps: ReadonlyArray<(row: Checkout.Shown) => Effect.Effect<unknown, unknown, Ports | Process>>
  /** The payable invoices after each step. */
  readonly leaves: ReadonlyArray<ReadonlyArray<number | null>>
}

const cases: Readonly<Record<string, Case>> = {
  "an on-chain payment is seen": { steps: [(row) => send(row, 10_000), () => confirmAll], leaves: [[], []] },
  "an on-chain payment is first seen in a block": {
    steps: [
      (row) =>
        Effect.andThen(
          Effect.flatMap(Sandbox, (sandbox) =>
            sandbox.send({ address: row.address, amount: Msat.fromSats(10_000) })
          ),
          confirmAll
        )
    ],
    leaves: [[]]
  },
  "more than the amount is seen": { steps: [(row) => send(row, 15_000)], leaves: [[]] },
  "the least that the seller accepts is seen": {
    fields: { tolerancePercent: 3 },
    steps: [(row) => send(row, 9000), (row) => send(row, 700)],
    leaves: [[1000], []]
  },
  "the payer chooses the amount": {
    fields: { asked: null, options: [] },
    steps: [(row) => send(row, 7000)],
    leaves: [[]]
  },
  "two on-chain payments are seen": {
    steps: [(row) => send(row, 4000), (row) => send(row, 6000)],
    leaves: [[6000], []]
  },
  "a part is pending, and the rest is paid by Lightning": {
    steps: [(row) => send(row, 4000), pay, () => confirmAll],
    leaves: [[6000], [], []]
  },
  "a part is credited, and the rest is seen": {
    steps: [(row) => Effect.andThen(send(row, 4000), confirmAll), (row) => send(row, 6000)],
    leaves: [[6000], []]
  },
  "the payer added a tip": {
    steps: [
      (row) =>
        Effect.flatMap(Checkouts, (checkouts) =>
          checkouts.answer(row.publicId, { tipPercent: 10, email: null })
        ),
      (row) => send(row, 5000),
      (row) => send(row, 5000)
    ],
    leaves: [[11_000], [6000], []]
  },
  "the payment is replaced by a smaller one, and then by one that pays another address": {
    steps: [
      (row) => send(row, 10_000),
      (row) => Effect.andThen(replaced(row), send(row, 3000)),
      (row) => Effect.andThen(replaced(row), follow),
      pay
    ],
    leaves: [[], [7000], [10_000], []]
  },
  "it is paid by Lightning": { steps: [pay], leaves: [[]] },
  "it is canceled": {
    steps: [(row) => Effect.flatMap(Checkouts, (checkouts) => checkouts.cancel(row.companyId, row.id))],
    leaves: [[]]
  },
  "it expires": { steps: [() => TestClock.adjust("1 hour")], leaves: [[]] }
}

for (const [title, { fields, steps, leaves }] of Object.entries(cases))
  scenario(`checkout invoices: the node accepts only payments for the rest: ${title}`, function* () {
    const row = yield* create(yield* company(), fields)
    const found: Array<ReadonlyArray<number | null>> = []
    for (const step of steps) {
      yield* step(yield* get(row))
      yield* work
      found.push(yield* payable(row))
    }
    assert.deepStrictEqual(found, leaves)
    yield* confirmAll
    yield* work
  })

/** A process that dies once, right after it commits the first Change with this tag. */
const dying = (tag: string) => {
  let left = 1
  return {
    change: replace(Journal, (journal) => ({
      commit: (change) =>
        Effect.tap(journal.commit(change), () =>
          change._tag === tag && left-- > 0 ? Effect.die("the process has died") : Effect.void
        )
    }))
  }
}

for (const tag of ["DepositSeen", "InvoiceCanceled", "InvoiceClosed", "CheckoutCounted"])
  scenario(
    `checkout invoices: a process that dies after ${tag} leaves a job that closes the invoice at the node`,
    () => ({ ...dying(tag), ...(tag !== "DepositSeen" && { logsErrors: true as const }) }),
    function* () {
      const row = yield* create(yield* company())
      assert.strictEqual(Exit.isFailure(yield* Effect.exit(send(row, 10_000))), tag === "DepositSeen")
      yield* work
      assert.deepStrictEqual(yield* payable(row), [])
      yield* confirmAll
      yield* work
      assert.deepStrictEqual(
        [(yield* get(row)).status, (yield* get(row)).received],
        ["paid", Msat.fromSats(10_000)]
      )
    }
  )

scenario(
  "checkout invoices: if the node is away when the payment is seen, the invoice is closed within a minute of its return",
  () => {
    const world = { isAway: true }
    const away = Effect.fail(new NodeUnavailable({ operation: "cancelInvoice", cause: new Error("away") }))
    const change = replace(LightningReceiver, (receiver) => ({
      cancelInvoice: (hash) => Effect.suspend(() => (world.isAway ? away : receiver.cancelInvoice(hash)))
    }))
    return { change, world }
  },
  function* ({ world }) {
    const row = yield* create(yield* company())
    yield* send(row, 10_000)
    yield* work
    assert.deepStrictEqual(yield* payable(row), [10_000])
    world.isAway = false
    yield* TestClock.adjust("1 minute")
    yield* (yield* Cancellations).step
    assert.deepStrictEqual(yield* payable(row), [])
    yield* confirmAll
    yield* work
  }
)

scenario(
  "checkout invoices: a payment that the node holds when the checkout is covered is credited, not lost",
  function* () {
    const [payee, sandbox] = [yield* company(), yield* Sandbox]
    const row = yield* create(payee)
    const { paymentHash } = yield* (yield* Records)
      .openInvoices(null, 1)
      .pipe(Effect.map(([invoice]) => invoice ?? assert.fail()))
    yield* sandbox.pay({ paymentRequest: row.paymentRequest, hold: true })
    yield* send(row, 10_000)
    yield* work
    yield* sandbox.release({ paymentHash, outcome: "settle" })
    yield* work
    yield* confirmAll
    yield* work
    assert.deepStrictEqual(
      [(yield* get(row)).status, yield* has(payee)],
      ["paid", { posted: 20_000, held: 0 }]
    )
  }
)

scenario(
  "checkout invoices: an internal payment that fails after the checkout is covered leaves no payable invoice",
  () => {
    const world: { cancels: "fails" | "is too late" | "works" } = { cancels: "fails" }
    const away = Effect.fail(new NodeUnavailable({ operation: "cancelInvoice", cause: new Error("away") }))
    const change = replace(LightningReceiver, (receiver) => ({
      cancelInvoice: (hash) =>
        Effect.suspend(() => {
          if (world.cancels === "fails") return away
          return world.cancels === "works"
            ? receiver.cancelInvoice(hash)
            : Effect.succeed({ _tag: "accepted" as const })
        })
    }))
    return { change, world, logsErrors: true as const }
  },
  function* ({ world }) {
    const payee = yield* company()
    const row = yield* create(payee)
    const withdrawal = yield* confirm(yield* companyWith(50_000), row.paymentRequest)
    const invoice = Effect.flatMap(Records, (records) => records.invoice(row.companyId, row.invoiceId))
    const status = Effect.map(invoice, (found) => Option.getOrThrow(found).status)
    yield* step
    yield* send(row, 10_000)
    yield* (yield* Checkouts).step
    assert.strictEqual(yield* status, "claimed")
    world.cancels = "is too late"
    yield* steps(8)
    assert.deepStrictEqual([(yield* now(withdrawal)).status, yield* status], ["failed", "pending"])
    world.cancels = "works"
    yield* work
    assert.deepStrictEqual([yield* status, yield* payable(row)], ["canceled", []])
    yield* confirmAll
    yield* work
    assert.deepStrictEqual(yield* has(payee), { posted: 10_000, held: 0 })
  }
)
