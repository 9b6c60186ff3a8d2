import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as TxId from "@satrail/bitcoin/TxId"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Coin from "@satrail/core/nodes/Coin"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as KeyRange from "@satrail/core/receiving/KeyRange"
import * as OnChainAddress from "@satrail/core/receiving/OnChainAddress"
import { Records } from "@satrail/core/service/Records"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect } from "effect"
import type { Promises } from "../Contract.ts"
import {
  begin,
  type Started,
  chainAttempt,
  companyWith,
  found,
  hex,
  onChain,
  onChainAddress,
  open,
  output,
  tally,
  unchanged,
  verdict
} from "../Fixtures.ts"
import { has } from "../Ledger.ts"

const atMillis = 1_700_000_000_000

type Signed = Withdrawal.Attempt & { readonly _tag: "Chain" }

const candidateOf = ({ _tag, coins: _, ...candidate }: Signed): Withdrawal.Candidate => candidate
const changeOf = ({ txId, change }: Withdrawal.Candidate) =>
  change === null ? null : Coin.outpoint(txId, change.vout)

const dispatched = ({ withdrawal, fence }: Started, attempt: Signed) =>
  Withdrawal.dispatched(withdrawal, attempt, fence, atMillis)
const replaced = ({ withdrawal, fence }: Started, attempt: Signed, before: Signed) =>
  Withdrawal.replaced(
    withdrawal,
    attempt,
    { txId: before.txId, change: changeOf(before) },
    fence,
    atMillis + 1
  )
const mined = ({ withdrawal, fence }: Started, { txId, networkFee }: Signed) =>
  Withdrawal.settled(
    withdrawal,
    { preimage: null, chainTxId: txId, networkFee, paymentIndex: null },
    fence,
    atMillis + 2
  )

/** Returns the same payment from the same coins, with a higher fee that reduces the change by 1 sat. */
const dearer = Effect.fnUntraced(function* (before: Signed): Effect.fn.Return<Signed> {
  const change = before.change && { ...before.change, amount: Msat.make(before.change.amount - 1000n) }
  return {
    ...before,
    txId: TxId.make(yield* hex(32)),
    rawTx: yield* hex(120),
    psbt: yield* hex(60),
    networkFee: Msat.fromSats(3),
    change
  }
})

const candidates = Effect.fnUntraced(function* ({ withdrawal: { companyId, id } }: Started) {
  return yield* (yield* Records).candidates(companyId, id)
})

/** The wallet's coins: their outpoints, and whether they are confirmed. */
const coins = Effect.fnUntraced(function* (wallet: string) {
  return (yield* (yield* Records).coins(wallet, 100)).map(({ outpoint, isConfirmed }) => [
    outpoint,
    isConfirmed
  ])
})

const walletOf = ({ change }: Signed) => change?.wallet ?? assert.fail("no change")

const read = Effect.fnUntraced(function* ({ withdrawal: { companyId, id } }: Started) {
  return yield* found((yield* Records).withdrawal(companyId, id))
})

/** A dispatched payout. */
const sent = Effect.fnUntraced(function* (fields: Partial<Withdrawal.Candidate> = {}) {
  const companyId = yield* companyWith(100)
  const one = yield* begin(companyId, 40, { ...onChain, networkAllowance: Msat.fromSats(10) })
  const first: Signed = { ...(yield* chainAttempt), ...fields }
  assert.strictEqual(yield* verdict(dispatched(one, first)), "Applied")
  return { companyId, one, first }
})

const range = Effect.fnUntraced(function* (
  wallet: string,
  first: number,
  fields: Partial<KeyRange.KeyRange> = {}
) {
  return KeyRange.reserved(
    { id: yield* Id.make, wallet, type: "taproot", branch: 0, first, next: first + 50, ...fields },
    atMillis
  )
})

/** Guarantees about the coins that a wallet may spend and the payments in its transactions. */
export const money = {
  "key ranges are reserved consecutively, and each range only once": Effect.gen(function* () {
    const { nextKey } = yield* Records
    const wallet = yield* hex(4)
    assert.strictEqual(yield* nextKey(wallet, "taproot", 0), 0)
    const first = yield* range(wallet, 0)
    assert.strictEqual(yield* verdict(first), "Applied")
    assert.strictEqual(yield* verdict(first), "Applied")
    for (const at of [0, 25, 49, 51])
      assert.strictEqual(yield* verdict(yield* range(wallet, at)), "KeyRangeTaken", `at ${at}`)
    assert.strictEqual(yield* verdict(yield* range(wallet, 50)), "Applied")
    assert.strictEqual(yield* nextKey(wallet, "taproot", 0), 100)
    for (const other of [{ branch: 1 }, { type: "segwit" }, { wallet: yield* hex(4) }] as const) {
      assert.strictEqual(yield* verdict(yield* range(wallet, 0, other)), "Applied")
    }
    assert.strictEqual(yield* verdict({ ...first, keyRange: { ...first.keyRange, next: 60 } }), "Conflict")
  }),
  "if eight processes reserve the same key range concurrently, one gets it": Effect.gen(function* () {
    const wallet = yield* hex(4)
    const asked = yield* Effect.forEach(Array.from({ length: 8 }), () => range(wallet, 0))
    const verdicts = yield* Effect.forEach(asked, verdict, { concurrency: "unbounded" })
    assert.deepStrictEqual(tally(verdicts), { Applied: 1, KeyRangeTaken: 7 })
    assert.strictEqual(yield* (yield* Records).nextKey(wallet, "taproot", 0), 50)
  }),
  "a credited deposit is a coin, with its key's derivation index, until a payout spends it": Effect.gen(
    function* () {
      const records = yield* Records
      const [companyId, wallet] = [yield* open, yield* hex(4)]
      const address = { ...(yield* onChainAddress(companyId)), nodeId: wallet }
      yield* verdict(OnChainAddress.created(address))
      const seen = yield* output(companyId, 100, { recipient: address.address })
      yield* verdict(Deposit.seen(seen))
      const placed = Deposit.placed(seen, 800, atMillis)
      yield* verdict(placed)
      assert.deepStrictEqual(yield* coins(wallet), [])
      const confirmed = Deposit.confirmed(Deposit.after(placed), atMillis)
      yield* verdict(confirmed)
      const outpoint = Coin.outpoint(seen.chainTxId ?? TxId.make(""), 1)
      const { scriptPubKey, type, index } = address
      assert.deepStrictEqual(yield* records.coins(wallet, 10), [
        { outpoint, scriptPubKey, amount: seen.amount, type, branch: 0, index, isConfirmed: true }
      ])
      assert.deepStrictEqual(yield* coins(yield* hex(4)), [])
      const one = yield* begin(companyId, 40, onChain)
      yield* verdict(dispatched(one, { ...(yield* chainAttempt), coins: [outpoint] }))
      assert.deepStrictEqual(yield* coins(wallet), [])
      // A reorganization removes and restores an output that was already spent, so it doesn't become a coin
      // again.
      const reversed = Deposit.reversed(Deposit.after(confirmed), Msat.fromSats(40), atMillis)
      assert.strictEqual(yield* verdict(reversed), "Applied")
      const back = Deposit.placed(Deposit.after(reversed), 805, atMillis)
      yield* verdict(back)
      yield* verdict(Deposit.confirmed(Deposit.after(back), atMillis))
      assert.deepStrictEqual(yield* coins(wallet), [])
      yield* has(companyId, { posted: 100, held: 40 })
    }
  ),
  "C45: a deposit removed by a reorganization is not a coin until it is credited again": Effect.gen(
    function* () {
      const [companyId, wallet] = [yield* open, yield* hex(4)]
      const address = { ...(yield* onChainAddress(companyId)), nodeId: wallet }
      yield* verdict(OnChainAddress.created(address))
      const seen = yield* output(companyId, 100, { recipient: address.address })
      const placed = Deposit.placed(seen, 800, atMillis)
      const confirmed = Deposit.confirmed(Deposit.after(placed), atMillis)
      const reversed = Deposit.reversed(Deposit.after(confirmed), Msat.zero, atMillis)
      for (const change of [Deposit.seen(seen), placed, confirmed, reversed]) yield* verdict(change)
      assert.deepStrictEqual(yield* coins(wallet), [])
      const back = Deposit.placed(Deposit.after(reversed), 805, atMillis)
      yield* verdict(back)
      yield* verdict(Deposit.confirmed(Deposit.after(back), atMillis))
      assert.strictEqual((yield* coins(wallet)).length, 1)
      yield* has(companyId, { posted: 100, held: 0 })
    }
  ),
  "coins are read largest first, up to the limit": Effect.gen(function* () {
    const [companyId, wallet] = [yield* open, yield* hex(4)]
    for (const sats of [20, 50, 10, 40]) {
      const address = { ...(yield* onChainAddress(companyId)), nodeId: wallet }
      const seen = yield* output(companyId, sats, { recipient: address.address })
      const placed = Deposit.placed(seen, 800, atMillis)
      for (const change of [
        OnChainAddress.created(address),
        Deposit.seen(seen),
        placed,
        Deposit.confirmed(Deposit.after(placed), atMillis)
      ]) {
        yield* verdict(change)
      }
    }
    const read = yield* (yield* Records).coins(wallet, 3)
    assert.deepStrictEqual(
      read.map(({ amount }) => amount),
      [50, 40, 20].map(Msat.fromSats)
    )
  }),
  "change becomes a coin when its payout is sent or, if the payout spends unconfirmed coins, when it is mined; mining confirms the coin":
    Effect.gen(function* () {
      const { one, first } = yield* sent()
      const deep = yield* sent({ isDeep: true })
      assert.deepStrictEqual(yield* coins(walletOf(first)), [[changeOf(first), false]])
      assert.deepStrictEqual(yield* coins(walletOf(deep.first)), [])
      yield* verdict(mined(one, first))
      yield* verdict(mined(deep.one, deep.first))
      assert.deepStrictEqual(yield* coins(walletOf(first)), [[changeOf(first), true]])
      assert.deepStrictEqual(yield* coins(walletOf(deep.first)), [[changeOf(deep.first), true]])
    }),
  "C19: a replacement adds a candidate that spends the same coins; repeating the replacement succeeds":
    Effect.gen(function* () {
      const { companyId, one, first } = yield* sent()
      const second = yield* dearer(first)
      assert.strictEqual(yield* verdict(replaced(one, second, first)), "Applied")
      assert.strictEqual(yield* unchanged(replaced(one, second, first)), "Applied")
      assert.deepStrictEqual(yield* candidates(one), [candidateOf(first), candidateOf(second)])
      const row = yield* read(one)
      assert.deepStrictEqual(
        [row.chainTxId, row.rawTx, row.networkFee],
        [second.txId, second.rawTx, second.networkFee]
      )
      assert.strictEqual(yield* unchanged(replaced(one, yield* dearer(first), first)), "Conflict")
      yield* has(companyId, { posted: 100, held: 50 })
    }),
  "C19: change of a replaced payout is not spendable until one of the payout's transactions is mined":
    Effect.gen(function* () {
      for (const wins of [0, 1]) {
        const { companyId, one, first } = yield* sent()
        const second = yield* dearer(first)
        yield* verdict(replaced(one, second, first))
        assert.deepStrictEqual(yield* coins(walletOf(first)), [])
        const winner = wins === 0 ? first : second
        assert.strictEqual(yield* verdict(mined(one, winner)), "Applied")
        assert.deepStrictEqual(yield* coins(walletOf(first)), [[changeOf(winner), true]])
        const { chainTxId, rawTx, networkFee } = yield* read(one)
        assert.deepStrictEqual([chainTxId, rawTx, networkFee], [winner.txId, winner.rawTx, winner.networkFee])
        yield* has(companyId, { posted: 50, held: 0 })
      }
    }),
  "C19: a payout cannot be replaced if another payout spends its change": Effect.gen(function* () {
    const { one, first } = yield* sent()
    const child = yield* begin(yield* companyWith(100), 10, onChain)
    yield* verdict(
      dispatched(child, { ...(yield* chainAttempt), coins: [changeOf(first) ?? ""], isDeep: true })
    )
    assert.strictEqual(yield* unchanged(replaced(one, yield* dearer(first), first)), "CoinTaken")
    assert.deepStrictEqual(yield* candidates(one), [candidateOf(first)])
    yield* verdict(mined(one, first))
    assert.deepStrictEqual(yield* coins(walletOf(first)), [])
  }),
  "an ended payout cannot be replaced": Effect.gen(function* () {
    const { one, first } = yield* sent()
    yield* verdict(mined(one, first))
    assert.strictEqual(yield* unchanged(replaced(one, yield* dearer(first), first)), "AlreadyTerminal")
  }),
  "a settled payout is watched until it is buried": Effect.gen(function* () {
    const records = yield* Records
    const { one, first } = yield* sent()
    const { companyId, id } = one.withdrawal
    const after = Effect.map(records.settledPayouts(null, 10_000), (all) =>
      all.filter((payout) => payout.id === id)
    )
    assert.deepStrictEqual(yield* after, [])
    yield* verdict(mined(one, first))
    const payout = { id, companyId, txId: first.txId, rawTx: first.rawTx }
    assert.deepStrictEqual(yield* after, [payout])
    assert.notDeepInclude(yield* records.settledPayouts(id, 10_000), payout, "the next page starts after it")
    assert.strictEqual(yield* verdict(Withdrawal.buried(payout, atMillis)), "Applied")
    assert.strictEqual(yield* unchanged(Withdrawal.buried(payout, atMillis)), "Applied")
    assert.deepStrictEqual(yield* after, [])
  }),
  "C45: deposits that a reorganization may have moved are found: those above a block height and those in no block":
    Effect.gen(function* () {
      const records = yield* Records
      const companyId = yield* open
      const at = Effect.fnUntraced(function* (height: number | null) {
        const row = yield* output(companyId, 10)
        yield* verdict(Deposit.seen(row))
        if (height === null) return row.id
        const placed = Deposit.placed(row, height, atMillis)
        yield* verdict(placed)
        if (height > 801) yield* verdict(Deposit.confirmed(Deposit.after(placed), atMillis))
        return row.id
      })
      const [waiting, block] = [yield* at(null), yield* at(800)]
      const [low, high] = [yield* at(801), yield* at(802)]
      const [second = "", third = ""] = [low, high].toSorted()
      const ids = (rows: ReadonlyArray<Deposit.Deposit>) =>
        rows.filter((row) => row.companyId === companyId).map(({ id }) => id)
      assert.deepStrictEqual(ids(yield* records.depositsAbove(800, null, null, 10_000)), [second, third])
      assert.deepStrictEqual(ids(yield* records.depositsAbove(800, null, second, 10_000)), [third])
      assert.deepStrictEqual(
        ids(yield* records.depositsAbove(799, 801, null, 10_000)).toSorted(),
        [block, low].toSorted()
      )
      assert.deepStrictEqual(ids(yield* records.depositsInNoBlock(null, 10_000)), [waiting])
      assert.strictEqual((yield* records.depositsAbove(-1, null, null, 1)).length, 1)
    }),
  "C46: deposits in blocks above a height are summed by company and block while they await confirmations":
    Effect.gen(function* () {
      const records = yield* Records
      const [one, other] = [yield* open, yield* open]
      // No other test uses these heights, so the sums contain no other deposits.
      const base = 1_000_000_000 + Math.floor(Number.parseInt(one.slice(-7), 16))
      const place = Effect.fnUntraced(function* (
        companyId: CompanyId.CompanyId,
        sats: number,
        height: number | null
      ) {
        const row = yield* output(companyId, sats)
        yield* verdict(Deposit.seen(row))
        const placed = Deposit.placed(row, height, atMillis)
        yield* verdict(placed)
        return Deposit.after(placed)
      })
      yield* place(one, 10, base)
      yield* place(one, 1, base)
      yield* place(one, 100, base + 1)
      yield* place(other, 1000, base + 1)
      yield* place(other, 5, base - 1)
      yield* place(other, 7, null)
      yield* verdict(Deposit.confirmed(yield* place(other, 9, base), atMillis))
      yield* verdict(Deposit.dropped(yield* place(other, 9, base), atMillis))
      const { ofCompany, inBlock } = yield* records.depositsUnconfirmed(base - 1)
      assert.deepStrictEqual(
        [ofCompany.get(one), ofCompany.get(other)],
        [Msat.fromSats(111), Msat.fromSats(1000)]
      )
      assert.deepStrictEqual(
        [inBlock.get(base - 1), inBlock.get(base), inBlock.get(base + 1)],
        [undefined, Msat.fromSats(11), Msat.fromSats(1100)]
      )
    }),
  "C45: evicted deposits are listed newest first, except those too small to credit and those that returned":
    Effect.gen(function* () {
      const records = yield* Records
      const companyId = yield* open
      const seen = yield* Effect.forEach([1, 2, 3, 4, 5], () => output(companyId, 10))
      const [pending, first, second, third, back] = seen.toSorted((a, b) => (a.id < b.id ? -1 : 1))
      const small = { ...(yield* output(companyId, 10)), status: "failed" as const }
      if (!pending || !first || !second || !third || !back) return assert.fail()
      for (const row of [...seen, small]) yield* verdict(Deposit.seen(row))
      for (const row of [first, second, third, back]) yield* verdict(Deposit.dropped(row, atMillis))
      yield* verdict(Deposit.placed(Deposit.after(Deposit.dropped(back, atMillis)), 800, atMillis))
      const ids = (rows: ReadonlyArray<Deposit.Deposit>) =>
        rows.filter((row) => row.companyId === companyId).map(({ id }) => id)
      assert.deepStrictEqual(ids(yield* records.depositsGivenUp(null, 10_000)), [
        third.id,
        second.id,
        first.id
      ])
      assert.deepStrictEqual(ids(yield* records.depositsGivenUp(third.id, 10_000)), [second.id, first.id])
      assert.strictEqual((yield* records.depositsGivenUp(null, 1)).length, 1)
    })
} satisfies Promises<Journal | Records | Tasks>
