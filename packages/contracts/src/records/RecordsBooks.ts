import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Preimage from "@satrail/bitcoin/Preimage"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import type { Change } from "@satrail/core/service/Changes"
import type { Account } from "@satrail/core/ledger/Change"
import * as Duty from "@satrail/core/ledger/Duty"
import { Journal } from "@satrail/core/ledger/Journal"
import * as RunOnce from "@satrail/core/ledger/RunOnce"
import * as Tally from "@satrail/core/ledger/Tally"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Waiting from "@satrail/core/ledger/Waiting"
import { all as features } from "@satrail/service/features/core"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Invoice from "@satrail/core/receiving/Invoice"
import { Records } from "@satrail/core/service/Records"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect, Option } from "effect"
import type * as Contract from "../Contract.ts"
import {
  arrival,
  begin,
  chainAttempt,
  claimFor,
  companyWith,
  created,
  found,
  hex,
  lightningAttempt,
  onChain,
  open,
  output,
  past,
  payment,
  unopened,
  verdict,
  withdrawal
} from "../Fixtures.ts"
import * as Holding from "../features/Holding.ts"
import { all } from "../features/index.ts"

const committed = Effect.fnUntraced(function* (...changes: ReadonlyArray<Change>) {
  for (const change of changes) assert.strictEqual(yield* verdict(change), "Applied", change._tag)
})

/** A preimage, and the payment hash that it proves. */
const secret = Effect.gen(function* () {
  const preimage = Preimage.make(yield* hex(32))
  return { preimage, paymentHash: Preimage.hashOf(preimage) }
})

/** Creates an invoice that an external payment of this many sats pays, and returns it with its preimage. */
const settled = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  sats: number,
  change: (one: Invoice.InvoiceSettled) => Change = (one) => one
) {
  const { preimage, paymentHash } = yield* secret
  const invoice = yield* created(companyId, sats, { paymentHash })
  const deposit = { ...(yield* arrival(companyId, sats)), lightningInvoiceId: invoice.id }
  yield* committed(change(Invoice.settled(invoice, deposit, preimage)))
  return { invoice, deposit }
})

/** The same payment, with values in the invoice that differ from those in the deposit. */
const saying =
  (values: Partial<Pick<Invoice.Invoice, "received" | "preimage">>) =>
  (change: Invoice.InvoiceSettled): Invoice.InvoiceSettled => {
    const [settled, ...others] = change.writes
    return { ...change, writes: [{ ...settled, set: { ...settled.set, ...values } }, ...others] }
  }

/** A dispatched Lightning withdrawal, and its preimage. */
export const dispatched = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  sats: number,
  fields: Partial<Withdrawal.Withdrawal> = {}
) {
  const one = yield* begin(companyId, sats, fields)
  const { preimage, paymentHash } = yield* secret
  yield* committed(
    Withdrawal.dispatched(
      one.withdrawal,
      { ...(yield* lightningAttempt), paymentHash },
      one.fence,
      one.withdrawal.createdAtMillis
    )
  )
  return { ...one, preimage, paymentHash }
})

/** Dispatches two payouts in one transaction. The first payout leads, and the other follows. */
export const sentTogether = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  sats: number,
  fields: Partial<Withdrawal.Withdrawal> = {}
) {
  const [leader, follower] = [
    yield* begin(companyId, sats, { ...onChain, ...fields }),
    yield* begin(companyId, sats, { ...onChain, ...fields })
  ]
  const { id, createdAtMillis } = follower.withdrawal
  const followers = [{ id, companyId, networkFee: Msat.fromSats(1), token: follower.task.token }]
  yield* committed(
    Withdrawal.dispatched(leader.withdrawal, yield* chainAttempt, leader.fence, createdAtMillis, followers)
  )
  return [leader.withdrawal, follower.withdrawal] as const
})

const settlement = (preimage: Preimage.Preimage | null, feeSats: number): Withdrawal.Settlement => ({
  preimage,
  chainTxId: null,
  networkFee: Msat.fromSats(feeSats),
  paymentIndex: null
})

/** Pays this invoice internally with a withdrawal, as one transfer between both companies. */
const transferred = Effect.fnUntraced(function* (
  payer: CompanyId.CompanyId,
  payee: CompanyId.CompanyId,
  sats: number
) {
  const { preimage, paymentHash } = yield* secret
  const invoice = yield* created(payee, sats, { paymentHash })
  const one = yield* begin(payer, sats, { serviceFee: Msat.fromSats(1) })
  yield* claimFor(one, invoice)
  const { amount, ledgerTxId } = one.withdrawal
  const deposit: Deposit.Deposit = {
    ...(yield* arrival(payee, sats)),
    amount,
    ledgerTxId,
    lightningInvoiceId: invoice.id
  }
  const to = { deposit, invoice, preimage, lightningAddressId: null }
  yield* committed(Withdrawal.transferred(one.withdrawal, to, one.fence, deposit.createdAtMillis))
})

/** Creates two companies with money in every possible state. */
const everyState = Effect.gen(function* () {
  const [companyId, otherId] = [yield* open, yield* open]
  yield* settled(companyId, 10_000)
  yield* created(companyId, 7)
  // Outgoing: requested, sent, settled below and above the fee limit, failed, and on-chain.
  const fees = { serviceFee: Msat.fromSats(2), networkAllowance: Msat.fromSats(5) }
  yield* begin(companyId, 100, fees)
  yield* dispatched(companyId, 100, fees)
  for (const feeSats of [3, 9]) {
    const { withdrawal, fence, preimage } = yield* dispatched(companyId, 100, fees)
    yield* committed(
      Withdrawal.settled(withdrawal, settlement(preimage, feeSats), fence, withdrawal.createdAtMillis + 1)
    )
  }
  const failed = yield* dispatched(companyId, 100, fees)
  yield* committed(
    Withdrawal.failed(failed.withdrawal, "no_route", failed.fence, failed.withdrawal.createdAtMillis + 1)
  )
  const payout = yield* begin(companyId, 100, { ...onChain, ...fees })
  const attempt = yield* chainAttempt
  yield* committed(
    Withdrawal.dispatched(payout.withdrawal, attempt, payout.fence, payout.withdrawal.createdAtMillis),
    Withdrawal.settled(
      payout.withdrawal,
      { ...settlement(null, 2), chainTxId: attempt.txId },
      payout.fence,
      payout.withdrawal.createdAtMillis + 1
    )
  )
  // Internal: to the other company, and from a company to itself.
  yield* transferred(companyId, otherId, 300)
  yield* transferred(companyId, companyId, 300)
  yield* Effect.forEach(all, ({ everyState = () => Effect.void }) => everyState(companyId))
  // Incoming on-chain: seen, credited, partly reversed, and returned.
  const [seen, credited, reversed] = [
    yield* output(otherId, 40),
    yield* output(otherId, 40),
    yield* output(otherId, 40)
  ]
  yield* committed(Deposit.seen(seen), Deposit.seen(credited), Deposit.seen(reversed))
  const confirm = Effect.fnUntraced(function* (deposit: Deposit.Deposit) {
    const placed = Deposit.placed(deposit, 800, deposit.createdAtMillis)
    const confirmed = Deposit.confirmed(Deposit.after(placed), deposit.createdAtMillis)
    yield* committed(placed, confirmed)
    return Deposit.after(confirmed)
  })
  for (const deposit of [credited, reversed]) {
    const gone = Deposit.reversed(yield* confirm(deposit), Msat.fromSats(15), deposit.createdAtMillis)
    yield* committed(gone)
    if (deposit === credited) yield* confirm(Deposit.after(gone))
  }
  // Received without a known owner.
  const { paymentHash } = yield* secret
  const unmatched = {
    id: Id.fromHash(paymentHash),
    companyId,
    paymentHash,
    received: Msat.fromSats(3),
    reason: "paid twice",
    createdAtMillis: 1_700_000_000_000
  }
  yield* committed(Invoice.unmatched(unmatched))
  return { companyId, otherId, unmatched }
})

const plain = ({ accounts }: Tally.Tally) =>
  Object.fromEntries(
    Object.entries(accounts).map(([account, { into, out }]) => [account, [String(into), String(out)]])
  )

/** Guarantees about reads for reconciliation. */
export const money = {
  "a running total is the sum of all entries, whichever earlier total it starts from": Effect.gen(
    function* () {
      const records = yield* Records
      const first = yield* records.tally(null)
      yield* everyState
      const second = yield* records.tally(first)
      yield* companyWith(21)
      const third = yield* records.tally(second)
      const all = yield* records.tally(null)
      assert.deepStrictEqual(plain(third), plain(all))
      assert.deepStrictEqual(plain(yield* records.tally(first)), plain(all))
      assert.deepStrictEqual(plain(yield* records.tally(third)), plain(all))
      assert.strictEqual(third.accounts.node.out - second.accounts.node.out, Msat.fromSats(21))
      const accounts: Readonly<Record<Account, Msat.Msat>> = yield* records.trialBalance
      assert.deepStrictEqual(
        Tally.byAccount((account) => Tally.net(third.accounts[account])),
        accounts
      )
    }
  ),
  "a running total omits no entry that is committed while it is computed": Effect.gen(function* () {
    const records = yield* Records
    const companyId = yield* open
    const changes = yield* Effect.forEach(
      Array.from({ length: 64 }, (_, n) => n + 1),
      Effect.fnUntraced(function* (sats) {
        return yield* payment(yield* created(companyId, sats), sats)
      })
    )
    let tally = yield* records.tally(null)
    const counting = Effect.repeat(
      Effect.tap(records.tally(tally), (next) => Effect.sync(() => (tally = next))),
      { times: 20 }
    )
    yield* Effect.all([counting, ...changes.map((change) => committed(change))], {
      concurrency: "unbounded",
      discard: true
    })
    assert.deepStrictEqual(plain(yield* records.tally(tally)), plain(yield* records.tally(null)))
  }),
  "the books of a company with money in every state have no violation": Effect.gen(function* () {
    const records = yield* Records
    const { companyId, otherId } = yield* everyState
    assert.deepStrictEqual(yield* records.faults(companyId), [])
    assert.deepStrictEqual(yield* records.faults(otherId), [])
    assert.deepStrictEqual(yield* records.faults(yield* unopened), [])
  }),
  "a posting that differs from its record is a violation on both accounts": Effect.gen(function* () {
    const records = yield* Records
    const companyId = yield* open
    const short = (change: Invoice.InvoiceSettled): Change => ({
      ...change,
      legs: [{ companyId, postings: [{ from: "node", to: "available", amount: Msat.fromSats(999) }] }]
    })
    const { deposit } = yield* settled(companyId, 1000, short)
    const fault = { kind: "transfer", id: deposit.ledgerTxId } as const
    assert.sameDeepMembers(
      [...(yield* records.faults(companyId))],
      [
        { ...fault, account: "available", expected: Msat.fromSats(1000), found: Msat.fromSats(999) },
        { ...fault, account: "node", expected: Msat.fromSats(-1000), found: Msat.fromSats(-999) }
      ]
    )
  }),
  "a posting without a record, or a record without its posting, is a violation": Effect.gen(function* () {
    const records = yield* Records
    const companyId = yield* open
    const transferId = yield* Id.make
    const { deposit } = yield* settled(companyId, 1000, (change) => ({ ...change, transferId }))
    assert.sameDeepMembers(
      (yield* records.faults(companyId)).map(({ id, account, expected, found }) => [
        id,
        account,
        expected,
        found
      ]),
      [
        [deposit.ledgerTxId, "available", Msat.fromSats(1000), Msat.zero],
        [deposit.ledgerTxId, "node", Msat.fromSats(-1000), Msat.zero],
        [transferId, "available", Msat.zero, Msat.fromSats(1000)],
        [transferId, "node", Msat.zero, Msat.fromSats(-1000)]
      ]
    )
  }),
  "C33: an invoice whose received amount differs from its deposit is a violation": Effect.gen(function* () {
    const companyId = yield* open
    const { invoice } = yield* settled(companyId, 1000, saying({ received: Msat.fromSats(1001) }))
    assert.deepStrictEqual(yield* (yield* Records).faults(companyId), [
      {
        kind: "credit",
        id: invoice.id,
        account: null,
        expected: Msat.fromSats(1001),
        found: Msat.fromSats(1000)
      }
    ])
  }),
  "an invalid preimage of an invoice or withdrawal is a violation": Effect.gen(function* () {
    const records = yield* Records
    const companyId = yield* open
    yield* settled(companyId, 1000)
    const { invoice } = yield* settled(companyId, 500, saying({ preimage: Preimage.make("00".repeat(32)) }))
    const { withdrawal, fence } = yield* dispatched(companyId, 400)
    yield* committed(
      Withdrawal.settled(
        withdrawal,
        settlement(Preimage.make("no preimage at all"), 0),
        fence,
        withdrawal.createdAtMillis + 1
      )
    )
    const fault = { kind: "proof", account: null, found: null } as const
    assert.sameDeepMembers(
      [...(yield* records.faults(companyId))],
      [
        { ...fault, id: invoice.id, expected: invoice.amount },
        { ...fault, id: withdrawal.id, expected: withdrawal.amount }
      ]
    )
  }),
  "the deposit of a paid invoice is returned; an unpaid invoice has none": Effect.gen(function* () {
    const records = yield* Records
    const companyId = yield* open
    const waits = yield* created(companyId, 5)
    const { invoice, deposit } = yield* settled(companyId, 1000)
    yield* settled(companyId, 1000)
    assert.deepStrictEqual(yield* found(records.depositOfInvoice(companyId, invoice.id)), deposit)
    assert.isTrue(Option.isNone(yield* records.depositOfInvoice(companyId, waits.id)))
    assert.isTrue(Option.isNone(yield* records.depositOfInvoice(yield* open, invoice.id)))
    const paid = yield* found(records.invoice(companyId, invoice.id))
    assert.deepStrictEqual(yield* found(records.invoiceWithDeposit(companyId, invoice.id)), {
      invoice: paid,
      depositId: deposit.id
    })
    assert.deepStrictEqual(yield* found(records.invoiceWithDeposit(companyId, waits.id)), {
      invoice: waits,
      depositId: null
    })
    assert.isTrue(Option.isNone(yield* records.invoiceWithDeposit(yield* open, invoice.id)))
    const payer = yield* companyWith(100)
    yield* transferred(payer, companyId, 50)
    const [line] = yield* records.transactions(companyId, { limit: 1 })
    const inside = yield* found(records.deposit(companyId, line?.id ?? ""))
    assert.deepStrictEqual(
      yield* found(records.depositOfInvoice(companyId, inside.lightningInvoiceId ?? "")),
      inside
    )
  }),
  "a suspense item is returned as committed, to its company only": Effect.gen(function* () {
    const records = yield* Records
    const { companyId, otherId, unmatched } = yield* everyState
    assert.deepStrictEqual(
      yield* found(records.get(Invoice.unmatchedNoun, companyId, unmatched.id)),
      unmatched
    )
    assert.isTrue(Option.isNone(yield* records.get(Invoice.unmatchedNoun, otherId, unmatched.id)))
    assert.isTrue(Option.isNone(yield* records.get(Invoice.unmatchedNoun, companyId, yield* Id.make)))
  }),
  "withdrawals in progress are those dispatched but not final; each is listed once, ordered by id":
    Effect.gen(function* () {
      const records = yield* Records
      const companyId = yield* companyWith(1000)
      yield* begin(companyId, 10)
      const underWay = yield* Effect.forEach(Array.from({ length: 7 }), () => dispatched(companyId, 10))
      const together = yield* sentTogether(companyId, 10)
      const ended = yield* dispatched(companyId, 10)
      yield* committed(Withdrawal.failed(ended.withdrawal, "no_route", ended.fence, 1_700_000_000_000))
      const rows: Array<Withdrawal.Withdrawal> = []
      for (let after: string | null = null; ;) {
        const page: ReadonlyArray<Withdrawal.Withdrawal> = yield* records.withdrawalsUnderWay(after, 3)
        assert.isAtMost(page.length, 3)
        for (const row of page)
          assert.isTrue(after === null || row.id > after, "each id is higher than the one before")
        rows.push(...page)
        after = page.at(-1)?.id ?? null
        if (page.length < 3) break
      }
      const mine = rows.filter((row) => row.companyId === companyId)
      const expected = [
        ...underWay.map(({ withdrawal, paymentHash }) => [withdrawal.id, paymentHash]),
        ...together.map(({ id }) => [id, null])
      ]
      assert.deepStrictEqual(
        mine.map(({ id, paymentHash }) => [id, paymentHash]),
        expected.toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))
      )
    })
} satisfies Contract.Promises<Journal | Records | Tasks>

/** Guarantees about the operator's reads. */
export const other = {
  "the events after the last one read are those committed since then": Effect.gen(function* () {
    const { events, lastEvent } = yield* Records
    const { id } = yield* created(yield* open, 5)
    const last = yield* lastEvent
    assert.deepStrictEqual(yield* events(last, 10), [])
    assert.strictEqual((yield* events(last - 1n, 10))[0]?.subject, id)
    const next = yield* created(yield* open, 5)
    assert.strictEqual((yield* events(last, 10)).at(-1)?.subject, next.id)
  }),
  "waiting records are counted by reason, with their total amount and the oldest record's time": Effect.gen(
    function* () {
      const records = yield* Records
      const overdueBefore = 100
      const before = yield* records.waiting(overdueBefore)
      const companyId = yield* companyWith(1000)
      const fees = { serviceFee: Msat.fromSats(1), networkAllowance: Msat.fromSats(2) }
      const atMillis = (yield* past) % 1_000_000
      const ask = (n: number, fields: Partial<Withdrawal.Withdrawal> = {}) =>
        withdrawal(companyId, 10, { ...fees, createdAtMillis: atMillis + n, ...fields })
      const [asked, payout] = [yield* ask(1_000), yield* ask(1_001, onChain)]
      yield* committed(Withdrawal.requested(asked), Withdrawal.requested(payout))
      const sent = yield* dispatched(companyId, 10, { ...fees, createdAtMillis: atMillis + 2_000_000 })
      yield* sentTogether(companyId, 10, fees)
      const [seen, placed] = [
        yield* output(companyId, 10, { createdAtMillis: 5 }),
        yield* output(companyId, 10, { createdAtMillis: 6 })
      ]
      yield* committed(Deposit.seen(seen), Deposit.seen(placed), Deposit.placed(placed, 800, 7))
      yield* committed(
        ...(yield* Holding.holding(companyId, 10, { ...fees, createdAtMillis: 8, expiresAtMillis: 9 }))
      )
      // The claim of a caller that died waits for a repetition, so it is not overdue.
      yield* (yield* Journal).commit(Duty.started(`${RunOnce.claimPrefix}${companyId}`, 0))
      const after = yield* records.waiting(overdueBefore)
      const more = (kind: Waiting.Kind) => [
        after[kind].count - before[kind].count,
        Msat.make(after[kind].amount - before[kind].amount)
      ]
      const [held, bare] = [Msat.fromSats(13), Msat.fromSats(10)]
      const none = [0, Msat.zero]
      const ofFeatures = Holding.kinds.map((kind) => [kind, [1, held]])
      assert.deepStrictEqual(Object.fromEntries(Waiting.kinds(features).map((kind) => [kind, more(kind)])), {
        ...Object.fromEntries(Waiting.kinds(features).map((kind) => [kind, none])),
        withdrawal_requested: [1, held],
        withdrawal_dispatched: [1, held],
        payout_without_coins: [1, held],
        payout_without_block: [2, Msat.fromSats(26)],
        deposit_without_block: [1, bare],
        deposit_unconfirmed: [1, bare],
        task_overdue: [ofFeatures.length, Msat.zero],
        ...Object.fromEntries(ofFeatures)
      })
      for (const [kind, oldest] of [
        ["deposit_without_block", 5],
        ["deposit_unconfirmed", 6],
        ...Holding.kinds.flatMap((kind) => [[kind, 8] as const, ["task_overdue", 9] as const])
      ] as const) {
        assert.strictEqual(after[kind].oldestAtMillis, oldest, kind)
      }
      assert.isAtMost(after.withdrawal_requested.oldestAtMillis ?? Infinity, asked.createdAtMillis)
      assert.isAtMost(after.withdrawal_dispatched.oldestAtMillis ?? Infinity, sent.withdrawal.createdAtMillis)
    }
  )
} satisfies Contract.Promises<Journal | Records | Tasks>
