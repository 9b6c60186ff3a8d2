import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Coin from "@satrail/core/nodes/Coin"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as OnChainAddress from "@satrail/core/receiving/OnChainAddress"
import { Records } from "@satrail/core/service/Records"
import * as LostPayout from "@satrail/core/sending/LostPayout"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect } from "effect"
import type { Promises } from "../Contract.ts"
import {
  begin,
  type Started,
  chainAttempt,
  companyWith,
  eventsOf,
  found,
  onChain,
  onChainAddress,
  output,
  tally,
  txId,
  unchanged,
  verdict
} from "../Fixtures.ts"
import { has } from "../Ledger.ts"

const atMillis = 1_700_000_000_000

type Signed = Withdrawal.Attempt & { readonly _tag: "Chain" }

const allowance = { ...onChain, networkAllowance: Msat.fromSats(10) }

const changeOf = ({ txId, change }: Signed) => Coin.outpoint(txId, change?.vout ?? assert.fail("no change"))

const released = ({ withdrawal }: Started, { txId }: Signed, coins: ReadonlyArray<string> = []) =>
  LostPayout.released(withdrawal, txId, coins, atMillis + 2)
const settled = ({ withdrawal, fence }: Started, { txId, networkFee }: Signed) =>
  Withdrawal.settled(
    withdrawal,
    { preimage: null, chainTxId: txId, networkFee, paymentIndex: null },
    fence,
    atMillis + 2
  )

/** Credits a company with an output of the wallet. Returns the coin. */
const coin = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, wallet: string) {
  const address = { ...(yield* onChainAddress(companyId)), nodeId: wallet }
  const seen = yield* output(companyId, 100, { recipient: address.address })
  const placed = Deposit.placed(seen, 800, atMillis)
  const credited = Deposit.confirmed(Deposit.after(placed), atMillis)
  for (const change of [OnChainAddress.created(address), Deposit.seen(seen), placed, credited])
    yield* verdict(change)
  return Coin.outpoint(seen.chainTxId ?? assert.fail("no transaction"), seen.vout ?? 0)
})

/** A dispatched payout of 40 sats, with change in this wallet. */
const sent = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  fields: Partial<Signed> & { readonly wallet?: string } = {}
) {
  const one = yield* begin(companyId, 40, allowance)
  const { wallet, ...rest } = fields
  const attempt = yield* chainAttempt
  const change = attempt.change && { ...attempt.change, ...(wallet !== undefined && { wallet }) }
  const first: Signed = { ...attempt, change, ...rest }
  assert.strictEqual(
    yield* verdict(Withdrawal.dispatched(one.withdrawal, first, one.fence, atMillis)),
    "Applied"
  )
  return { one, first, wallet: change?.wallet ?? "" }
})

const coins = Effect.fnUntraced(function* (wallet: string) {
  return (yield* (yield* Records).coins(wallet, 100)).map(({ outpoint, isConfirmed }) => [
    outpoint,
    isConfirmed
  ])
})

const read = Effect.fnUntraced(function* ({ withdrawal: { companyId, id } }: Started) {
  return yield* found((yield* Records).withdrawal(companyId, id))
})

/** Guarantees about payouts that can never confirm. */
export const money = {
  "C1: a released payout returns its hold once, its unspent coins can be spent again, and its change never can":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100)
      const wallet = yield* txId
      const [gone, left] = [yield* coin(companyId, wallet), yield* coin(companyId, wallet)]
      const { one, first } = yield* sent(companyId, { wallet, coins: [gone, left] })
      assert.deepStrictEqual(yield* coins(wallet), [[changeOf(first), false]])
      yield* has(companyId, { posted: 300, held: 50 })
      const change = released(one, first, [left])
      const verdicts = yield* Effect.forEach(Array.from({ length: 4 }), () => verdict(change), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(tally(verdicts), { Applied: 4 })
      assert.strictEqual(yield* unchanged(change), "Applied")
      const { status, failure, counted, chainTxId } = yield* read(one)
      assert.deepStrictEqual(
        [status, failure, counted, chainTxId],
        ["failed", "node_error", null, first.txId]
      )
      assert.deepStrictEqual(yield* coins(wallet), [[left, true]])
      const spent = (yield* Records).spentCoins([gone, left])
      assert.deepStrictEqual(yield* spent, new Set([gone]))
      const told = (yield* eventsOf(companyId))
        .filter(({ subject }) => subject === one.withdrawal.id)
        .map(({ type }) => type)
      assert.deepStrictEqual(told, ["withdrawal.requested", "withdrawal.dispatched", "withdrawal.failed"])
      // Whatever the worker was about to do no longer applies.
      assert.include(["AlreadyTerminal", "StaleFence"], yield* unchanged(settled(one, first)))
      const replacement = { ...first, txId: yield* txId }
      const replaced = Withdrawal.replaced(
        one.withdrawal,
        replacement,
        { txId: first.txId, change: changeOf(first) },
        one.fence,
        atMillis
      )
      assert.include(["AlreadyTerminal", "StaleFence"], yield* unchanged(replaced))
      yield* has(companyId, { posted: 300, held: 0 })
      const next = yield* begin(companyId, 40, allowance)
      const spending = (coin: string, attempt: Signed) =>
        Withdrawal.dispatched(next.withdrawal, { ...attempt, coins: [coin] }, next.fence, atMillis)
      assert.strictEqual(yield* unchanged(spending(gone, yield* chainAttempt)), "CoinTaken")
      assert.strictEqual(yield* verdict(spending(left, yield* chainAttempt)), "Applied")
      assert.deepStrictEqual(yield* coins(wallet), [])
    }),
  "a released payout returns the change that it spent: of a settled payout, of a pending one, but not of a released one":
    Effect.gen(function* () {
      const companyId = yield* companyWith(1000)
      for (const [end, expected] of [
        ["settled", true],
        ["pending", false],
        ["released", undefined]
      ] as const) {
        const { one: parent, first, wallet } = yield* sent(companyId)
        const { one, first: child } = yield* sent(companyId, { coins: [changeOf(first)], isDeep: true })
        if (end === "settled") yield* verdict(settled(parent, first))
        if (end === "released") yield* verdict(released(parent, first))
        assert.deepStrictEqual(yield* coins(wallet), [])
        assert.strictEqual(yield* verdict(released(one, child, child.coins)), "Applied")
        assert.deepStrictEqual(
          yield* coins(wallet),
          expected === undefined ? [] : [[changeOf(first), expected]],
          end
        )
        if (end !== "pending") continue
        yield* verdict(settled(parent, first))
        assert.deepStrictEqual(yield* coins(wallet), [[changeOf(first), true]])
      }
    }),
  "C10: a payout that was replaced or has settled is not released": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const { one, first } = yield* sent(companyId)
    const second = { ...first, txId: yield* txId }
    const change = { txId: first.txId, change: changeOf(first) }
    assert.strictEqual(
      yield* verdict(Withdrawal.replaced(one.withdrawal, second, change, one.fence, atMillis)),
      "Applied"
    )
    assert.strictEqual(yield* unchanged(released(one, first, first.coins)), "Conflict")
    yield* has(companyId, { posted: 100, held: 50 })
    assert.strictEqual(yield* verdict(settled(one, second)), "Applied")
    assert.strictEqual(yield* unchanged(released(one, second, first.coins)), "AlreadyTerminal")
  }),
  "C10: if a payout is released and settled concurrently, exactly one applies": Effect.gen(function* () {
    const companyId = yield* companyWith(100)
    const { one, first } = yield* sent(companyId)
    const verdicts = yield* Effect.forEach(
      [released(one, first, first.coins), settled(one, first)],
      verdict,
      { concurrency: "unbounded" }
    )
    assert.strictEqual(verdicts.filter((one) => one === "Applied").length, 1, String(verdicts))
    const isReleased = verdicts[0] === "Applied"
    assert.strictEqual((yield* read(one)).status, isReleased ? "failed" : "settled")
    yield* has(companyId, isReleased ? { posted: 100, held: 0 } : { posted: 50, held: 0 })
  }),
  "C10: each payout of a batch is released in its own company, and its transaction is not replaced in between":
    Effect.gen(function* () {
      const [acme, globex] = [yield* companyWith(100), yield* companyWith(100)]
      const [leader, follower] = [yield* begin(acme, 40, allowance), yield* begin(globex, 30, allowance)]
      const first = yield* chainAttempt
      const { id, companyId } = follower.withdrawal
      const shares = [{ id, companyId, networkFee: Msat.fromSats(1) }]
      const both = shares.map((one) => ({ ...one, token: follower.task.token }))
      assert.strictEqual(
        yield* verdict(Withdrawal.dispatched(leader.withdrawal, first, leader.fence, atMillis, both)),
        "Applied"
      )
      assert.strictEqual(yield* verdict(released(follower, first)), "Applied")
      yield* has(acme, { posted: 100, held: 50 })
      yield* has(globex, { posted: 100, held: 0 })
      const change = { txId: first.txId, change: changeOf(first) }
      const replaced = Withdrawal.replaced(
        leader.withdrawal,
        { ...first, txId: yield* txId },
        change,
        leader.fence,
        atMillis,
        shares
      )
      assert.strictEqual(yield* unchanged(replaced), "AlreadyTerminal")
      assert.strictEqual(yield* verdict(released(leader, first, first.coins)), "Applied")
      yield* has(acme, { posted: 100, held: 0 })
    })
} satisfies Promises<Journal | Records | Tasks>
