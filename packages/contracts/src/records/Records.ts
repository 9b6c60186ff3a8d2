import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as TxId from "@satrail/bitcoin/TxId"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import * as Company from "@satrail/core/accounts/Company"
import * as Domain from "@satrail/core/accounts/Domain"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import * as Balance from "@satrail/core/ledger/Balance"
import type { Journal, StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { Published } from "@satrail/core/ledger/LedgerReads"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import * as OnChainAddress from "@satrail/core/receiving/OnChainAddress"
import { Records } from "@satrail/core/service/Records"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Clock, Effect, Option } from "effect"
import * as Contract from "../Contract.ts"
import {
  apiKey,
  arrival,
  begin,
  byId,
  chainAttempt,
  claimFor,
  committed,
  company,
  companyWith,
  created,
  domain,
  found,
  hex,
  invoice,
  lightningAddress,
  lightningAttempt,
  once,
  onChain,
  onChainAddress,
  open,
  output,
  payment,
  preimage,
  proof,
  transfer,
  unopened,
  withdrawal
} from "../Fixtures.ts"
import { together } from "../features/Feature.ts"
import { holding } from "../features/Holding.ts"
import { features } from "../features/index.ts"
import { auditAll, has } from "../Ledger.ts"
import * as Bookings from "./RecordsBookings.ts"
import * as Books from "./RecordsBooks.ts"
import * as Events from "./RecordsEvents.ts"
import * as Lists from "./RecordsLists.ts"
import * as Offers from "./RecordsOffers.ts"
import * as Operator from "./RecordsOperator.ts"
import * as Search from "./RecordsSearch.ts"
import * as Transactions from "./RecordsTransactions.ts"

/** Returns an id that is lower than every id created later. */
const floor = Effect.gen(function* () {
  return Id.fromMillis((yield* Clock.currentTimeMillis) - 1, yield* Entropy)
})

type Page<A> = (after: string | null, limit: number) => Effect.Effect<ReadonlyArray<A>, StoreUnavailable>

/** Reads everything after `after` in pages of three, and checks that ids increase from page to page. */
const paged = Effect.fnUntraced(function* <A extends { readonly id: string }>(page: Page<A>, after: string) {
  const all: Array<A> = []
  for (let last = after; ;) {
    const rows = yield* page(last, 3)
    assert.isAtMost(rows.length, 3)
    for (const row of rows) {
      assert.isTrue(row.id > last, "each id is higher than the one before")
      last = row.id
      all.push(row)
    }
    if (rows.length < 3) return all
  }
})

const ofCompany = <A extends { readonly companyId: CompanyId.CompanyId }>(
  rows: ReadonlyArray<A>,
  companyId: CompanyId.CompanyId
) => rows.filter((row) => row.companyId === companyId)

/** Guarantees about reads that affect money: who owns a record, and what work is still due. */
export const money = {
  "C53: no company reads another's records": Effect.gen(function* () {
    const records = yield* Records
    const [companyId, otherId] = [yield* companyWith(100), yield* companyWith(10)]
    const [row, asked, seen] = [
      yield* created(companyId, 10),
      yield* withdrawal(companyId, 40),
      yield* output(companyId, 5)
    ]
    yield* committed(Withdrawal.requested(asked), Deposit.seen(seen))
    assert.isTrue(Option.isSome(yield* records.invoice(companyId, row.id)))
    assert.isTrue(Option.isNone(yield* records.invoice(otherId, row.id)))
    assert.isTrue(Option.isSome(yield* records.withdrawal(companyId, asked.id)))
    assert.isTrue(Option.isNone(yield* records.withdrawal(otherId, asked.id)))
    assert.isTrue(Option.isSome(yield* records.deposit(companyId, seen.id)))
    assert.isTrue(Option.isNone(yield* records.deposit(otherId, seen.id)))
    assert.strictEqual((yield* records.transactions(companyId, { limit: 10 })).length, 3)
    assert.strictEqual((yield* records.transactions(otherId, { limit: 10 })).length, 1)
    assert.strictEqual(Balance.available(yield* records.balance(companyId)), Msat.fromSats(60))
    assert.strictEqual(Balance.available(yield* records.balance(otherId)), Msat.fromSats(10))
    yield* has(otherId, { posted: 10, held: 0 })
  }),
  "a company that was never created has no balance": Effect.gen(function* () {
    const records = yield* Records
    const companyId = yield* unopened
    assert.deepStrictEqual(yield* records.balance(companyId), Balance.empty)
    assert.deepStrictEqual(yield* records.transactions(companyId, { limit: 10 }), [])
    yield* has(companyId, { posted: 0, held: 0 })
  }),
  "a balance consists of the posted and the held amount": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    yield* committed(Withdrawal.requested(yield* withdrawal(companyId, 40)))
    assert.deepStrictEqual(yield* (yield* Records).balance(companyId), {
      posted: Msat.fromSats(100),
      held: Msat.fromSats(40)
    })
    yield* has(companyId, { posted: 100, held: 40 })
  }),
  "a company's holdings are the posted, held and pending amounts, to the millisatoshi": Effect.gen(
    function* () {
      const records = yield* Records
      const companyId = yield* companyWith(100)
      const atMillis = 1_700_000_000_000
      const asked = yield* withdrawal(companyId, 40, {
        serviceFee: Msat.make(1n),
        networkAllowance: Msat.make(2n)
      })
      const others = yield* holding(companyId, 3)
      yield* committed(Withdrawal.requested(asked), ...others)
      // One deposit is pending, one is in a block, one was evicted, one is credited, one is too small, and one
      // was reversed and partly written off.
      const [waits, mined, gone, credited, tooSmall, returned] = [
        yield* output(companyId, 0, { amount: Msat.make(7_001n) }),
        yield* output(companyId, 20),
        yield* output(companyId, 5),
        yield* output(companyId, 30),
        yield* output(companyId, 1, { status: "failed" }),
        yield* output(companyId, 50)
      ]
      yield* committed(...[waits, mined, gone, credited, tooSmall, returned].map(Deposit.seen))
      const placed = Deposit.placed(mined, 800, atMillis)
      const back = Deposit.confirmed(returned, atMillis)
      const reversed = Deposit.reversed(Deposit.after(back), Msat.make(20_500n), atMillis)
      yield* committed(
        placed,
        Deposit.dropped(gone, atMillis),
        Deposit.confirmed(credited, atMillis),
        back,
        reversed
      )
      const look = Effect.gen(function* () {
        const { pendingDeposits, ...balance } = yield* records.funds(companyId)
        assert.deepStrictEqual<unknown>(balance, (yield* records.audit(companyId)).entries)
        assert.deepStrictEqual<unknown>(balance, yield* records.balance(companyId))
        return { ...balance, pendingDeposits }
      })
      const before = yield* look
      assert.deepStrictEqual(before, {
        posted: Msat.make(150_500n),
        held: Msat.make(40_003n + 3_000n * BigInt(others.length)),
        pendingDeposits: Msat.make(56_501n)
      })
      // Confirming the pending deposits credits exactly their amount.
      yield* committed(
        Deposit.confirmed(waits, atMillis),
        Deposit.confirmed(Deposit.after(placed), atMillis),
        Deposit.confirmed(Deposit.after(reversed), atMillis)
      )
      const posted = Msat.make(before.posted + before.pendingDeposits)
      assert.deepStrictEqual(yield* look, { posted, held: before.held, pendingDeposits: Msat.zero })
      const nothing = { posted: Msat.zero, held: Msat.zero, pendingDeposits: Msat.zero }
      assert.deepStrictEqual(yield* records.funds(yield* open), nothing)
      assert.deepStrictEqual(yield* records.funds(yield* unopened), nothing)
    }
  ),
  "each of 64 concurrent reads of balances returns the right company's balance": Effect.gen(function* () {
    const records = yield* Records
    const companyIds = yield* Effect.forEach(
      Array.from({ length: 64 }, (_, n) => n + 1),
      companyWith,
      { concurrency: "unbounded" }
    )
    const read = yield* Effect.forEach([...companyIds, ...companyIds], records.balance, {
      concurrency: "unbounded"
    })
    assert.deepStrictEqual(
      read.map(({ posted }) => posted),
      [...companyIds, ...companyIds].map((_, n) => Msat.fromSats((n % 64) + 1))
    )
  }),
  "C29 C34: amounts are exact to the millisatoshi, even above the floating-point range": Effect.gen(
    function* () {
      const records = yield* Records
      const companyId = yield* open
      const amount = Msat.make(9_007_199_254_740_993n)
      const row = yield* created(companyId, 0, { amount })
      const deposit = { ...(yield* arrival(companyId, 0)), amount, lightningInvoiceId: row.id }
      yield* committed(Invoice.settled(row, deposit, yield* preimage))
      assert.strictEqual((yield* records.balance(companyId)).posted, amount)
      assert.strictEqual((yield* found(records.invoice(companyId, row.id))).received, amount)
      assert.strictEqual((yield* found(records.deposit(companyId, deposit.id))).amount, amount)
      assert.strictEqual((yield* records.transactions(companyId, { limit: 1 }))[0]?.amount, amount)
      assert.strictEqual((yield* records.audit(companyId)).entries.posted, amount)
    }
  ),
  "an invoice is returned as committed, by its id and by its hash": Effect.gen(function* () {
    const records = yield* Records
    const companyId = yield* open
    const address = yield* lightningAddress(companyId)
    yield* committed(LightningAddress.created(address))
    const row = yield* invoice(companyId, 21, {
      rate: "97123.45",
      rateAtMillis: 1_699_999_999_999,
      fiatCurrency: "eur",
      rateSource: "Kraken",
      lightningAddressId: address.id,
      memo: "café ☕ \"'\\",
      callback: {
        metadata: '[["text/plain", "caf\\u00e9 ☕"],\n["text/identifier","a@b.example" ]]',
        payerData: '{ "name":"\\u0000 \\\\ é" ,"name":"two"}',
        comment: " two\nlines 🎉 ",
        zapRequest: null
      },
      metadata: { "a b": "ü", empty: "" }
    })
    yield* committed(Invoice.created(row))
    assert.deepStrictEqual(yield* found(records.invoice(companyId, row.id)), row)
    assert.deepStrictEqual(yield* found(records.invoiceByHash(row.paymentHash)), row)
  }),
  "open invoices are those that can still be paid; each is listed once, ordered by id": Effect.gen(
    function* () {
      const records = yield* Records
      const after = yield* floor
      const [companyId, payer] = [yield* open, yield* companyWith(100)]
      const rows = yield* Effect.forEach(Array.from({ length: 8 }), () => created(companyId, 10))
      const [claimed, settled, expired] = [
        yield* created(companyId, 10),
        yield* created(companyId, 10),
        yield* created(companyId, 10)
      ]
      const [canceling, canceled] = [yield* created(companyId, 10), yield* created(companyId, 10)]
      const canceledAtMillis = canceling.createdAtMillis
      const one = yield* begin(payer, 10)
      yield* claimFor(one, claimed)
      yield* committed(yield* payment(settled, 10), Invoice.expired(expired, expired.expiresAtMillis))
      yield* committed(
        Invoice.canceled(canceling, canceledAtMillis),
        Invoice.canceled(canceled, canceledAtMillis),
        Invoice.closed(canceled, canceledAtMillis)
      )
      const payable = byId([
        ...rows,
        { ...claimed, status: "claimed" as const, claimedBy: one.withdrawal.id },
        { ...canceling, status: "canceling" as const, canceledAtMillis }
      ])
      assert.deepStrictEqual(ofCompany(yield* paged(records.openInvoices, after), companyId), payable)
      assert.strictEqual((yield* records.openInvoices(null, 1)).length, 1)
      yield* has(companyId, { posted: 10, held: 0 })
    }
  ),
  "open invoices are selected by the time in their ids, and each is listed once, ordered by id": Effect.gen(
    function* () {
      const records = yield* Records
      const companyId = yield* open
      const madeAt = (millis: number) => Effect.map(Entropy, (entropy) => Id.fromMillis(millis, entropy))
      // A long-past time that only this test uses.
      const beginMillis =
        1_000_000_000_000 + Math.floor((yield* Clock.currentTimeMillis) % 1_000_000_000) * 100
      const rows = yield* Effect.forEach([0, 1, 10, 11, 19, 20, 30], (at) =>
        Effect.flatMap(madeAt(beginMillis + at), (id) => created(companyId, 10, { id }))
      )
      const [, , , gone] = rows
      if (gone === undefined) return assert.fail()
      yield* committed(Invoice.expired(gone, gone.expiresAtMillis))
      const ranges = [
        [0, 1],
        [10, 20],
        [21, 30]
      ].map(
        ([from = 0, until = 0]) => [Id.floorOf(beginMillis + from), Id.floorOf(beginMillis + until)] as const
      )
      const expected = [rows[0], rows[2], rows[4]]
      const page: Page<Invoice.Invoice> = (after, limit) => records.openInvoicesWithin(ranges, after, limit)
      assert.deepStrictEqual<ReadonlyArray<unknown>>(yield* paged(page, Id.nil), expected)
      assert.deepStrictEqual<ReadonlyArray<unknown>>(
        yield* records.openInvoicesWithin(ranges, null, 2),
        expected.slice(0, 2)
      )
      assert.deepStrictEqual(yield* records.openInvoicesWithin([], null, 10), [])
    }
  ),
  "hold invoices that are still open are counted by company, up to a limit": Effect.gen(function* () {
    const records = yield* Records
    const [companyId, other] = [yield* open, yield* open]
    const [paid, canceled, expired, held] = yield* Effect.forEach([1, 2, 3, 4], () =>
      created(companyId, 10, { hold: "node" })
    )
    if (paid === undefined || canceled === undefined || expired === undefined || held === undefined)
      return assert.fail()
    yield* created(companyId, 10)
    yield* created(other, 10, { hold: "company" })
    const count = (limit = 100) => records.openHolds(companyId, limit)
    assert.deepStrictEqual([yield* count(), yield* count(3), yield* records.openHolds(other, 100)], [4, 3, 1])
    const atMillis = held.createdAtMillis
    yield* committed(Invoice.held(held, { held: Msat.fromSats(10), heldUntilMillis: atMillis }, atMillis))
    yield* committed(Invoice.canceled(canceled, atMillis))
    assert.strictEqual(yield* count(), 4)
    yield* committed(Invoice.closed(canceled, atMillis), Invoice.expired(expired, expired.expiresAtMillis))
    yield* committed({ ...(yield* payment(paid, 10)), jobs: Invoice.ends(paid) })
    assert.strictEqual(yield* count(), 1)
  }),
  "wallet invoices are listed after their expiry, by expiry time": Effect.gen(function* () {
    const records = yield* Records
    const [companyId, payer] = [yield* open, yield* companyWith(100)]
    const [address, other] = [yield* lightningAddress(companyId), yield* lightningAddress(companyId)]
    yield* committed(LightningAddress.created(address), LightningAddress.created(other))
    // Long-past times that only this test uses.
    const atMillis = 1_000_000_000_000 + Math.floor((yield* Clock.currentTimeMillis) % 1_000_000_000) * 1000
    const asked = (expiresIn: number, lightningAddressId: string | null = address.id) =>
      created(companyId, 10, { lightningAddressId, expiresAtMillis: atMillis + expiresIn })
    const late = yield* asked(100, other.id)
    const [one, two, three] = [yield* asked(5), yield* asked(3), yield* asked(5)]
    const [paid, claimed, old] = [yield* asked(4), yield* asked(4), yield* asked(4)]
    yield* asked(4, null)
    yield* claimFor(yield* begin(payer, 10), claimed)
    yield* committed(yield* payment(paid, 10), Invoice.expired(old, old.expiresAtMillis))
    const ended = yield* records.endedForWallets(atMillis + 99, { expiresAtMillis: atMillis, id: Id.nil }, 10)
    const inOrder = [two, ...byId([one, three])]
    assert.deepStrictEqual(ended, inOrder)
    const first = yield* records.endedForWallets(atMillis + 99, { expiresAtMillis: atMillis, id: Id.nil }, 2)
    assert.deepStrictEqual(first, inOrder.slice(0, 2))
    assert.deepStrictEqual(yield* records.endedForWallets(atMillis + 100, first[1] ?? null, 10), [
      ...inOrder.slice(2),
      late
    ])
    assert.deepStrictEqual(
      yield* records.endedForWallets(atMillis + 2, { expiresAtMillis: atMillis, id: Id.nil }, 10),
      []
    )
  }),
  "a deposit is returned as committed, by its id and by its output": Effect.gen(function* () {
    const records = yield* Records
    const companyId = yield* open
    const row = yield* output(companyId, 21, { vout: 0, network: "signet", recipient: "tb1q…" })
    yield* committed(Deposit.seen(row))
    assert.deepStrictEqual(yield* found(records.deposit(companyId, row.id)), row)
    assert.deepStrictEqual(yield* found(records.depositByOutpoint(row.chainTxId ?? TxId.make(""), 0)), row)
    assert.isTrue(Option.isNone(yield* records.depositByOutpoint(row.chainTxId ?? TxId.make(""), 1)))
    yield* has(companyId, { posted: 0, held: 0 })
  }),
  "mined deposits that await confirmations are each listed once, ordered by id": Effect.gen(function* () {
    const records = yield* Records
    const after = yield* floor
    const companyId = yield* open
    const atMillis = 1_700_000_000_000
    const seen = yield* Effect.forEach(Array.from({ length: 9 }), () => output(companyId, 10))
    yield* committed(...seen.map(Deposit.seen))
    // The first is in the mempool, the last is credited, and the second to last was evicted.
    const placed = seen.slice(1).map((row) => Deposit.placed(row, 800, atMillis))
    yield* committed(...placed)
    const [dropped, credited] = placed.slice(-2).map(Deposit.after)
    if (dropped === undefined || credited === undefined) return assert.fail()
    yield* committed(Deposit.dropped(dropped, atMillis), Deposit.confirmed(credited, atMillis))
    const expected = byId(placed.slice(0, -2).map(Deposit.after))
    assert.deepStrictEqual(ofCompany(yield* paged(records.depositsInBlocks, after), companyId), expected)
    yield* has(companyId, { posted: 10, held: 0 })
  }),
  "a withdrawal is returned as committed, by its id and by its hash": Effect.gen(function* () {
    const records = yield* Records
    const companyId = yield* companyWith(100)
    const fields = {
      rate: "0.5",
      rateAtMillis: 1_699_999_999_998,
      fiatCurrency: "usd",
      rateSource: "Coinbase",
      network: "mainnet",
      recipientType: "lnurl",
      recipient: "lnurl1…",
      serviceFee: Msat.make(1n),
      networkAllowance: Msat.make(2n)
    } as const
    const one = yield* begin(companyId, 40, fields)
    const read = found(records.withdrawal(companyId, one.withdrawal.id))
    assert.deepStrictEqual(yield* read, one.withdrawal)
    const attempt = yield* lightningAttempt
    assert.isTrue(Option.isNone(yield* records.withdrawalByHash(attempt.paymentHash)))
    const how = yield* proof(0)
    yield* committed(
      Withdrawal.dispatched(one.withdrawal, attempt, one.fence, 1_700_000_000_000),
      Withdrawal.settled(one.withdrawal, how, one.fence, 1_700_000_000_001)
    )
    const { paymentHash, paymentRequest, successAction } = attempt
    const expected: Withdrawal.Withdrawal = {
      ...one.withdrawal,
      successAction,
      ...how,
      paymentHash,
      paymentRequest,
      status: "settled",
      dispatchedAtMillis: 1_700_000_000_000,
      updatedAtMillis: 1_700_000_000_001
    }
    assert.deepStrictEqual(yield* read, expected)
    assert.deepStrictEqual(yield* found(records.withdrawalByHash(paymentHash)), expected)
  }),
  "spent coins are those that a payout uses": Effect.gen(function* () {
    const records = yield* Records
    const companyId = yield* companyWith(100)
    const one = yield* begin(companyId, 40, onChain)
    const [attempt, never] = [yield* chainAttempt, yield* chainAttempt]
    const coins = [...attempt.coins, ...never.coins]
    assert.deepStrictEqual(yield* records.spentCoins(coins), new Set())
    yield* committed(Withdrawal.dispatched(one.withdrawal, attempt, one.fence, 1_700_000_000_000))
    assert.deepStrictEqual(Array.from(yield* records.spentCoins(coins)).toSorted(), attempt.coins.toSorted())
    assert.deepStrictEqual(yield* records.spentCoins([]), new Set())
    yield* committed(
      Withdrawal.settled(
        one.withdrawal,
        { ...(yield* proof(2)), preimage: null },
        one.fence,
        1_700_000_000_001
      )
    )
    assert.strictEqual((yield* records.spentCoins(coins)).size, 2)
  }),
  "a query for scripts returns those that belong to our addresses": Effect.gen(function* () {
    const records = yield* Records
    const [one, two] = [yield* onChainAddress(yield* open), yield* onChainAddress(yield* open)]
    yield* committed(
      OnChainAddress.created(one),
      OnChainAddress.created({ ...two, type: "taproot", index: 0 })
    )
    const read = yield* records.onChainAddresses([
      two.scriptPubKey,
      `0014${yield* hex(20)}`,
      one.scriptPubKey,
      one.scriptPubKey
    ])
    assert.deepStrictEqual(byId(read), byId([one, { ...two, type: "taproot", index: 0 }]))
    assert.deepStrictEqual(yield* records.onChainAddresses([]), [])
  }),
  "a key is returned with its current limits and those of its company": Effect.gen(function* () {
    const records = yield* Records
    const companyId = yield* open
    const limits = {
      daySats: 10_000,
      dayCount: 0,
      recipientTypes: ["lnurl", "lightning_invoice"],
      recipients: ["café@pay.example"]
    } as const
    const row = yield* apiKey(companyId, { limits, spendsAs: "another" })
    const looked = Effect.map(found(records.apiKey(row.id)), ({ apiKey, companyLimits }) => [
      apiKey.limits,
      companyLimits
    ])
    yield* committed(ApiKey.issued(row))
    assert.deepStrictEqual((yield* found(records.apiKey(row.id))).apiKey, row)
    const others = { monthSats: 2_100_000_000_000_000 }
    yield* committed(Company.limited(companyId, others, 1), ApiKey.limited(row, null, 1))
    assert.deepStrictEqual(yield* looked, [null, others])
    assert.deepStrictEqual((yield* found(records.company(companyId))).limits, others)
    yield* committed(
      Company.limited(companyId, others, 2),
      Company.limited(companyId, null, 3),
      ApiKey.limited({ ...row, limits: null }, others, 3)
    )
    assert.deepStrictEqual(yield* looked, [others, null])
    assert.deepStrictEqual(yield* records.spent(companyId, row.id), [])
  }),
  "a key is returned with its current IP ranges": Effect.gen(function* () {
    const records = yield* Records
    const row = yield* apiKey(yield* open, {
      allowedFrom: { for: "sending", ranges: ["203.0.113.0/24", "2001:db8::/32"] }
    })
    const looked = Effect.map(found(records.apiKey(row.id)), ({ apiKey }) => apiKey.allowedFrom)
    yield* committed(ApiKey.issued(row))
    assert.deepStrictEqual((yield* found(records.apiKey(row.id))).apiKey, row)
    const other = { for: "everything", ranges: ["192.0.2.1"] } as const
    yield* committed(ApiKey.confined(row, other, 1), ApiKey.confined(row, other, 2))
    assert.deepStrictEqual(yield* looked, other)
    yield* committed(ApiKey.confined({ ...row, allowedFrom: other }, null, 3))
    assert.isNull(yield* looked)
  }),
  "a key is returned as committed, with its company's current plan": Effect.gen(function* () {
    const records = yield* Records
    const companyId = yield* open
    const row = yield* apiKey(companyId, {
      name: "büro",
      scopes: ["admin", "read", "send"],
      expiresAtMillis: 4_000_000_000_000
    })
    yield* committed(ApiKey.issued(row))
    assert.deepStrictEqual(yield* found(records.apiKey(row.id)), {
      apiKey: row,
      plan: "free",
      companyLimits: null,
      fees: null,
      feesRevision: 0
    })
    yield* committed(
      Company.planChanged(companyId, "paid", 1_700_000_000_000),
      ApiKey.used(row, row.createdAtMillis + 1)
    )
    assert.deepStrictEqual(yield* found(records.apiKey(row.id)), {
      apiKey: { ...row, lastUsedAtMillis: row.createdAtMillis + 1 },
      plan: "paid",
      companyLimits: null,
      fees: null,
      feesRevision: 1
    })
  }),
  "a stored response is returned byte for byte": Effect.gen(function* () {
    const companyId = yield* open
    const answer = '{"b": 1, "a":"é\\u0000☕"}\n '
    yield* committed(
      Invoice.created(yield* invoice(companyId, 1), once(companyId, "~!k", "print", { answer }))
    )
    assert.deepStrictEqual(yield* found((yield* Records).answer(companyId, "~!k")), {
      fingerprint: "print",
      meaning: null,
      answer
    })
  }),
  ...Books.money,
  ...Bookings.money,
  ...together(features, "books"),
  "C41: all companies' books balance together": Effect.gen(function* () {
    const [payer, payee] = [yield* companyWith(100), yield* open]
    const fees = { serviceFee: Msat.fromSats(5), networkAllowance: Msat.fromSats(10) }
    const [outside, inside] = [yield* begin(payer, 20, fees), yield* begin(payer, 10)]
    yield* begin(payer, 1)
    const row = yield* created(payee, 10)
    yield* claimFor(inside, row)
    yield* committed(
      Withdrawal.settled(
        outside.withdrawal,
        yield* proof(3),
        outside.fence,
        outside.withdrawal.createdAtMillis + 1
      ),
      yield* transfer(inside, row)
    )
    yield* has(payer, { posted: 55, held: 1 })
    yield* has(payee, { posted: 10, held: 0 })
    yield* auditAll
  })
} satisfies Contract.Promises<Journal | Records | Tasks>

/** Guarantees about the records that companies read. */
export const other = {
  ...together(features, "records"),
  ...Offers.other,
  ...Search.other,
  ...Transactions.other,
  ...Lists.other,
  ...Books.other,
  ...Bookings.other,
  ...Events.other,
  ...Operator.other,
  "a company is returned as committed; each company is listed once, ordered by id": Effect.gen(function* () {
    const records = yield* Records
    const after = yield* floor
    const rows = yield* Effect.forEach(["Ünïcode & Söhne", "b", "c", "d", "e", "f", "g"], (name) =>
      Effect.map(company, (row): Company.Company => ({ ...row, name, plan: name === "b" ? "paid" : "free" }))
    )
    yield* committed(...rows.map((row) => Company.opened(row)))
    for (const row of rows) assert.deepStrictEqual(yield* found(records.company(row.id)), row)
    const ids = new Set(rows.map(({ id }) => id))
    assert.deepStrictEqual(
      (yield* paged(records.companies, after)).filter(({ id }) => ids.has(id)),
      byId(rows)
    )
    assert.strictEqual((yield* records.companies(null, 1)).length, 1)
  }),
  "a company's Lightning addresses are listed newest first, each once, without those of other companies":
    Effect.gen(function* () {
      const records = yield* Records
      const [companyId, otherId] = [yield* open, yield* open]
      const rows = yield* Effect.forEach(Array.from({ length: 7 }), () => lightningAddress(companyId))
      const theirs = yield* lightningAddress(otherId)
      yield* committed(...[...rows, theirs].map((row) => LightningAddress.created(row)))
      const newest = byId(rows).toReversed()
      const pages = [null, newest[2]?.id ?? null, newest[5]?.id ?? null].map((before) =>
        records.newestFirst(LightningAddress.noun, companyId, before, 3)
      )
      assert.deepStrictEqual((yield* Effect.all(pages)).flat(), newest)
      assert.deepStrictEqual(yield* records.newestFirst(LightningAddress.noun, otherId, null, 10), [theirs])
      assert.isTrue(Option.isNone(yield* records.get(LightningAddress.noun, otherId, newest[0]?.id ?? "")))
      assert.deepStrictEqual(yield* records.newestFirst(LightningAddress.noun, yield* unopened, null, 10), [])
    }),
  "domains are listed by name, and those verified by DNS become due for a check": Effect.gen(function* () {
    const records = yield* Records
    const [companyId, otherId] = [yield* open, yield* open]
    const atMillis = 1_600_000_000_000
    const rows = yield* Effect.forEach([1, 2, 3, 4, 5], (n) =>
      domain(companyId, { checkedAtMillis: atMillis + n })
    )
    const others = [
      yield* domain(companyId, { shownBy: "operator", checkedAtMillis: atMillis }),
      yield* domain(otherId, { checkedAtMillis: atMillis + 9 })
    ]
    yield* committed(...[...rows, ...others].map((row) => Domain.verified(row)))
    const byName = (rows: ReadonlyArray<Domain.Domain>) =>
      rows.toSorted((a, b) => (a.domain < b.domain ? -1 : 1))
    const [vouched, theirs] = others
    if (vouched === undefined || theirs === undefined) return assert.fail()
    assert.deepStrictEqual(yield* records.domainsOf(companyId), byName([...rows, vouched]))
    assert.deepStrictEqual(yield* records.domainsOf(otherId), [theirs])
    const due = byName(rows.slice(0, 4))
    const first = yield* records.domainsToCheck(atMillis + 5, null, 3)
    assert.deepStrictEqual(
      [...first, ...(yield* records.domainsToCheck(atMillis + 5, first.at(-1)?.domain ?? "", 3))],
      due
    )
    assert.deepStrictEqual(yield* records.domainsToCheck(atMillis + 1, null, 9), [])
  }),
  "a Lightning address is returned as committed, by handle and domain": Effect.gen(function* () {
    const records = yield* Records
    const row = yield* lightningAddress(yield* open)
    yield* committed(LightningAddress.created(row))
    assert.deepStrictEqual(
      yield* found(records.named(LightningAddress.noun, { handle: row.handle, domain: row.domain })),
      row
    )
    assert.isTrue(
      Option.isNone(
        yield* records.named(LightningAddress.noun, { handle: row.handle, domain: "other.example" })
      )
    )
  }),
  "a record that was never committed is not found": Effect.gen(function* () {
    const records = yield* Records
    const companyId = yield* open
    const [id, hash] = [yield* Id.make, yield* hex(32)]
    const reads: ReadonlyArray<Effect.Effect<Option.Option<unknown>, StoreUnavailable>> = [
      records.company(yield* unopened),
      records.apiKey((yield* apiKey(companyId)).id),
      records.domain(`${hash}.example`),
      records.answer(companyId, "k"),
      records.cursor(hash),
      records.invoice(companyId, id),
      records.invoiceByHash(PaymentHash.make(hash)),
      records.named(LightningAddress.noun, { handle: hash, domain: "pay.example" }),
      records.deposit(companyId, id),
      records.depositByOutpoint(TxId.make(hash), 0),
      records.depositOfInvoice(companyId, id),
      records.get(Invoice.unmatchedNoun, companyId, id),
      records.withdrawal(companyId, id),
      records.withdrawalByHash(PaymentHash.make(hash))
    ]
    for (const [n, read] of reads.entries()) assert.isTrue(Option.isNone(yield* read), `read ${n}`)
  }),
  "events are read from a position, oldest first, each once": Effect.gen(function* () {
    const records = yield* Records
    const companyId = yield* open
    const opened = (yield* records.events(0n, 1_000_000)).find((event) => event.companyId === companyId)
    if (opened === undefined) return assert.fail("no event was recorded for the opening of the company")
    const rows = yield* Effect.forEach(Array.from({ length: 10 }), () => created(companyId, 1))
    const read: Array<Published> = []
    for (let last = opened.id; ;) {
      const page = yield* records.events(last, 3)
      assert.isAtMost(page.length, 3)
      for (const event of page) {
        assert.isTrue(event.id > last, "each id is higher than the one before")
        last = event.id
        read.push(event)
      }
      if (page.length < 3) break
    }
    assert.deepStrictEqual(
      ofCompany(read, companyId).map(({ id: _, ...event }) => event),
      rows.map(({ id, createdAtMillis }) => ({
        companyId,
        type: "invoice.created",
        subject: id,
        atMillis: createdAtMillis
      }))
    )
  })
} satisfies Contract.Promises<Journal | Records | Tasks>

/** The guarantees that every implementation of `Records` must provide. Each entry is one guarantee. */
export const promises = { ...money, ...other }

/** Runs the contract against a layer. Nothing else may commit to the layer's store while the contract runs. */
export const suite = Contract.suite<Journal | Records | Tasks, typeof money, typeof other>("Records", {
  money,
  other
})
