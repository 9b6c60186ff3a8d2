import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Journal } from "@satrail/core/ledger/Journal"
import { Tasks } from "@satrail/core/ledger/Tasks"
import * as Coin from "@satrail/core/nodes/Coin"
import { Records } from "@satrail/core/service/Records"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import * as TxId from "@satrail/bitcoin/TxId"
import { Effect, Option } from "effect"
import type { Promises } from "../Contract.ts"
import {
  begin,
  type Started,
  chainAttempt,
  companyWith,
  eventsOf,
  found,
  onChain,
  takeOver,
  tally,
  unchanged,
  verdict
} from "../Fixtures.ts"
import { booked, has } from "../Ledger.ts"

const atMillis = 1_700_000_000_000

type Signed = Withdrawal.Attempt & { readonly _tag: "Chain" }

const allowance = { ...onChain, networkAllowance: Msat.fromSats(10) }

/** The followers, each with a fee share of this many sats. */
const following = (others: ReadonlyArray<Started>, ...sats: ReadonlyArray<number>) =>
  others.map(({ withdrawal: { id, companyId }, task: { token } }, n) => ({
    id,
    companyId,
    token,
    networkFee: Msat.fromSats(sats[n] ?? 0)
  }))

type Following = ReturnType<typeof following>

const dispatched = ({ withdrawal, fence }: Started, attempt: Signed, followers: Following) =>
  Withdrawal.dispatched(withdrawal, attempt, fence, atMillis, followers)

const replaced = ({ withdrawal, fence }: Started, attempt: Signed, before: Signed, followers: Following) => {
  const change = before.change && Coin.outpoint(before.txId, before.change.vout)
  return Withdrawal.replaced(
    withdrawal,
    attempt,
    { txId: before.txId, change },
    fence,
    atMillis + 1,
    followers
  )
}

/** Settles a withdrawal under the leading payout's task. */
const settled = ({ withdrawal }: Started, leader: Started, { txId }: Signed, sats: number) =>
  Withdrawal.settled(
    withdrawal,
    { preimage: null, chainTxId: txId, networkFee: Msat.fromSats(sats), paymentIndex: null },
    leader.fence,
    atMillis + 2
  )

/** A signed transaction with this fee. */
const signed = Effect.fnUntraced(function* (sats: number): Effect.fn.Return<Signed> {
  return { ...(yield* chainAttempt), networkFee: Msat.fromSats(sats) }
})

const read = Effect.fnUntraced(function* ({ withdrawal: { companyId, id } }: Started) {
  return yield* found((yield* Records).withdrawal(companyId, id))
})

const shown = Effect.fnUntraced(function* (one: Started) {
  const { status, chainTxId, rawTx, networkFee, dispatchedAtMillis } = yield* read(one)
  return {
    status,
    chainTxId,
    rawTx,
    dispatchedAtMillis,
    sats: networkFee === null ? null : Number(networkFee) / 1000
  }
})

const waiting = {
  status: "pending",
  chainTxId: null,
  rawTx: null,
  dispatchedAtMillis: null,
  sats: null
} as const

const byId = (one: Started, other: Started) => (one.withdrawal.id < other.withdrawal.id ? -1 : 1)

/** Three withdrawals of two companies. The first leads the batch. */
const three = Effect.gen(function* () {
  const [acme, globex] = [yield* companyWith(200), yield* companyWith(100)]
  const leader = yield* begin(acme, 40, allowance)
  const others = [yield* begin(globex, 30, allowance), yield* begin(acme, 20, allowance)].toSorted(byId)
  return { acme, globex, leader, others }
})

/** Pays them in one transaction, whose fee of 9 is divided into shares of 4, 3 and 2. */
const sent = Effect.gen(function* () {
  const all = yield* three
  const [attempt, followers] = [yield* signed(9), following(all.others, 3, 2)]
  assert.strictEqual(yield* verdict(dispatched(all.leader, attempt, followers)), "Applied")
  return { ...all, attempt, followers }
})

const paidWith = Effect.fnUntraced(function* ({ withdrawal }: Started) {
  return (yield* (yield* Records).followers(withdrawal.id)).map(({ id }) => id)
})

const ids = (all: ReadonlyArray<Started>) => all.map(({ withdrawal }) => withdrawal.id)

/** Guarantees about withdrawals that are paid in one transaction. */
export const money = {
  "C19: one transaction can pay several withdrawals, and each withdrawal records its own share of the fee":
    Effect.gen(function* () {
      const { acme, globex, leader, others, attempt, followers } = yield* sent
      const { txId, rawTx } = attempt
      const at = { status: "pending", chainTxId: txId, dispatchedAtMillis: atMillis } as const
      assert.deepStrictEqual(yield* shown(leader), { ...at, rawTx, sats: 4 })
      assert.deepStrictEqual(yield* Effect.forEach(others, shown), [
        { ...at, rawTx: null, sats: 3 },
        { ...at, rawTx: null, sats: 2 }
      ])
      const records = yield* Records
      assert.deepStrictEqual(yield* paidWith(leader), ids(others))
      assert.deepStrictEqual(
        yield* records.followers(leader.withdrawal.id),
        yield* Effect.forEach(others, read)
      )
      const candidates = Effect.forEach([leader, ...others], ({ withdrawal }) =>
        records.candidates(withdrawal.companyId, withdrawal.id)
      )
      assert.deepStrictEqual(
        (yield* candidates).map((all) => all.map(({ txId, networkFee }) => [txId, networkFee])),
        [[[txId, Msat.fromSats(9)]], [], []]
      )
      assert.deepStrictEqual(yield* records.payoutOf(txId), Option.some(yield* read(leader)))
      assert.deepStrictEqual(yield* records.payoutOf(TxId.make("0e".repeat(32))), Option.none())
      assert.deepStrictEqual(yield* records.spentCoins(attempt.coins), new Set(attempt.coins))
      assert.strictEqual(yield* unchanged(dispatched(leader, attempt, followers)), "Applied")
      yield* has(acme, { posted: 200, held: 80 })
      yield* has(globex, { posted: 100, held: 40 })
    }),
  "C19: the same transaction for other withdrawals is refused, and so is another transaction for one of the same withdrawals":
    Effect.gen(function* () {
      const { acme, globex, leader, others, attempt, followers } = yield* sent
      const stranger = yield* begin(acme, 5, allowance)
      assert.strictEqual(
        yield* unchanged(dispatched(leader, attempt, [...followers.slice(1), ...following([stranger], 3)])),
        "Conflict"
      )
      for (const other of others) {
        assert.strictEqual(yield* unchanged(dispatched(other, attempt, [])), "Conflict")
        assert.strictEqual(yield* unchanged(dispatched(other, yield* signed(9), [])), "Conflict")
      }
      assert.deepStrictEqual(yield* paidWith(leader), ids(others))
      assert.deepStrictEqual(yield* shown(stranger), waiting)
      yield* has(acme, { posted: 200, held: 95 })
      yield* has(globex, { posted: 100, held: 40 })
    }),
  "C10: if the claim on one withdrawal is stale, the whole batch is refused and the error names the withdrawal":
    Effect.gen(function* () {
      const { commit } = yield* Journal
      const { acme, globex, leader, others } = yield* three
      const attempt = yield* signed(9)
      const stale = dispatched(leader, attempt, following(others, 3, 2))
      const [one, other] = others
      if (one === undefined || other === undefined) return assert.fail("nobody follows")
      const taken = yield* takeOver(other)
      assert.strictEqual(yield* unchanged(stale), "StaleFence")
      const refusal = yield* Effect.flip(commit(stale))
      assert.deepInclude({ ...refusal }, { _tag: "StaleFence", taskId: other.withdrawal.id })
      assert.deepStrictEqual(yield* Effect.forEach([leader, ...others], shown), [waiting, waiting, waiting])
      assert.strictEqual((yield* (yield* Records).spentCoins(attempt.coins)).size, 0)
      assert.strictEqual(
        yield* verdict(dispatched(leader, attempt, following([one, taken], 3, 2))),
        "Applied"
      )
      yield* has(acme, { posted: 200, held: 80 })
      yield* has(globex, { posted: 100, held: 40 })
    }),
  "C10: only the leading payout's job can change a batch member": Effect.gen(function* () {
    const { acme, globex, leader, others } = yield* sent
    const { claim, postpone } = yield* Tasks
    for (const { withdrawal, fence, task } of others) {
      assert.isFalse(yield* postpone(task, 0))
      assert.strictEqual(
        yield* unchanged(Withdrawal.failed(withdrawal, "timeout", fence, atMillis)),
        "StaleFence"
      )
    }
    assert.isTrue(yield* postpone(leader.task, leader.withdrawal.createdAtMillis))
    const due = {
      kind: Withdrawal.taskKind,
      nowMillis: leader.withdrawal.createdAtMillis,
      leaseMillis: 4_000_000_000_000,
      limit: 1000
    }
    const claimed = (yield* claim(due)).map(({ id }) => id)
    assert.include(claimed, leader.withdrawal.id)
    for (const id of ids(others)) assert.notInclude(claimed, id)
    yield* has(acme, { posted: 200, held: 80 })
    yield* has(globex, { posted: 100, held: 40 })
  }),
  "C10: if two concurrent transactions pay one withdrawal, exactly one applies in full": Effect.gen(
    function* () {
      const { acme, globex, leader, others } = yield* three
      const [shared, alone] = others
      if (shared === undefined || alone === undefined) return assert.fail("nobody follows")
      const [one, other] = [yield* signed(9), yield* signed(9)]
      const verdicts = yield* Effect.forEach(
        [dispatched(leader, one, following([shared], 3)), dispatched(alone, other, following([shared], 3))],
        verdict,
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(tally(verdicts), { Applied: 1, StaleFence: 1 })
      const [first, second] = verdicts[0] === "Applied" ? [leader, alone] : [alone, leader]
      const winner = verdicts[0] === "Applied" ? one : other
      assert.deepStrictEqual([yield* paidWith(first), yield* paidWith(second)], [ids([shared]), []])
      assert.deepStrictEqual(yield* shown(second), waiting)
      assert.strictEqual((yield* read(shared)).chainTxId, winner.txId)
      assert.strictEqual(
        (yield* (yield* Records).spentCoins([...one.coins, ...other.coins])).size,
        winner.coins.length
      )
      yield* has(acme, { posted: 200, held: 80 })
      yield* has(globex, { posted: 100, held: 40 })
    }
  ),
  "C19: if one coin is already spent, the whole batch is refused": Effect.gen(function* () {
    const { attempt } = yield* sent
    const { acme, globex, leader, others } = yield* three
    const followers = following(others, 3, 2)
    const another = { ...(yield* signed(9)), coins: attempt.coins.slice(0, 1) }
    assert.strictEqual(yield* unchanged(dispatched(leader, another, followers)), "CoinTaken")
    assert.deepStrictEqual(yield* Effect.forEach([leader, ...others], shown), [waiting, waiting, waiting])
    assert.strictEqual(yield* verdict(dispatched(leader, yield* signed(9), followers)), "Applied")
    yield* has(acme, { posted: 200, held: 80 })
    yield* has(globex, { posted: 100, held: 40 })
  }),
  "each batch member settles once, with its share; change is a confirmed coin once the leading payout settles":
    Effect.gen(function* () {
      const { acme, globex, leader, others, attempt } = yield* sent
      const records = yield* Records
      const wallet = attempt.change?.wallet ?? assert.fail("no change")
      const isConfirmed = Effect.map(records.coins(wallet, 10), (coins) =>
        coins.map((coin) => coin.isConfirmed)
      )
      for (const [n, other] of others.entries()) {
        const sats = Number(other.withdrawal.amount) / 1000
        assert.deepStrictEqual(yield* booked(verdict(settled(other, leader, attempt, 3 - n))), {
          held: -sats - 10,
          chain: sats + 3 - n,
          network_fees: 7 + n
        })
        assert.strictEqual(yield* unchanged(settled(other, leader, attempt, 3 - n)), "Applied")
        assert.strictEqual(yield* unchanged(settled(other, leader, attempt, 9)), "Conflict")
        assert.deepInclude(yield* shown(other), { status: "settled", chainTxId: attempt.txId, sats: 3 - n })
      }
      assert.deepStrictEqual([(yield* shown(leader)).status, yield* isConfirmed], ["pending", [false]])
      assert.deepStrictEqual(yield* booked(verdict(settled(leader, leader, attempt, 4))), {
        held: -50,
        chain: 44,
        network_fees: 6
      })
      assert.deepStrictEqual([(yield* shown(leader)).status, yield* isConfirmed], ["settled", [true]])
      yield* has(acme, { posted: 120, held: 0 })
      yield* has(globex, { posted: 60, held: 0 })
    }),
  "C19: a replacement must cover the whole batch; a replacement with other members is refused": Effect.gen(
    function* () {
      const { acme, globex, leader, others, attempt, followers } = yield* sent
      const second = { ...(yield* signed(18)), coins: attempt.coins }
      const stranger = yield* begin(acme, 5, allowance)
      for (const wrong of [[], followers.slice(1), [...followers, ...following([stranger], 1)]]) {
        assert.strictEqual(yield* unchanged(replaced(leader, second, attempt, wrong)), "Conflict")
      }
      const dearer = following(others, 6, 4)
      assert.strictEqual(yield* verdict(replaced(leader, second, attempt, dearer)), "Applied")
      assert.strictEqual(yield* unchanged(replaced(leader, second, attempt, dearer)), "Applied")
      const at = { status: "pending", chainTxId: second.txId, dispatchedAtMillis: atMillis } as const
      assert.deepStrictEqual(yield* Effect.forEach([leader, ...others], shown), [
        { ...at, rawTx: second.rawTx, sats: 8 },
        { ...at, rawTx: null, sats: 6 },
        { ...at, rawTx: null, sats: 4 }
      ])
      // The first transaction is mined despite its replacement, so all withdrawals settle with that transaction.
      for (const [n, other] of others.entries())
        assert.strictEqual(yield* verdict(settled(other, leader, attempt, 3 - n)), "Applied")
      assert.strictEqual(yield* verdict(settled(leader, leader, attempt, 4)), "Applied")
      assert.deepStrictEqual(
        (yield* Effect.forEach([leader, ...others], shown)).map(({ chainTxId, sats }) => [chainTxId, sats]),
        [4, 3, 2].map((sats) => [attempt.txId, sats])
      )
      yield* has(acme, { posted: 120, held: 15 })
      yield* has(globex, { posted: 60, held: 0 })
    }
  ),
  "C19: a partly settled batch cannot be replaced": Effect.gen(function* () {
    const { acme, globex, leader, others, attempt, followers } = yield* sent
    const [one] = others
    if (one === undefined) return assert.fail("nobody follows")
    yield* verdict(settled(one, leader, attempt, 3))
    const second = { ...(yield* signed(18)), coins: attempt.coins }
    assert.strictEqual(yield* unchanged(replaced(leader, second, attempt, followers)), "AlreadyTerminal")
    assert.strictEqual((yield* read(leader)).chainTxId, attempt.txId)
    assert.strictEqual(
      (yield* (yield* Records).candidates(leader.withdrawal.companyId, leader.withdrawal.id)).length,
      1
    )
    const spent = Msat.sum(
      ...(yield* Effect.forEach([acme, globex], (id) =>
        Effect.flatMap(Records, ({ balance }) => balance(id))
      )).map(({ posted }) => posted)
    )
    assert.strictEqual(spent, Msat.fromSats(300 - Number(one.withdrawal.amount) / 1000 - 10))
  }),
  "C24: each company's event lists only that company's withdrawals, however many settle in one commit":
    Effect.gen(function* () {
      const companyIds = yield* Effect.forEach(Array.from({ length: 4 }), () => companyWith(200))
      const groups = yield* Effect.forEach([0, 1], () =>
        Effect.forEach(Array.from({ length: 40 }), (_, n) =>
          begin(companyIds[n % 4] ?? CompanyId.operator, 1, onChain)
        )
      )
      const changes = yield* Effect.forEach(groups, ([leader, ...others]) =>
        leader === undefined
          ? assert.fail("no payout leads the batch")
          : Effect.map(signed(0), (attempt) => dispatched(leader, attempt, following(others)))
      )
      assert.deepStrictEqual(tally(yield* Effect.forEach(changes, verdict, { concurrency: "unbounded" })), {
        Applied: 2
      })
      for (const companyId of companyIds) {
        const told = (yield* eventsOf(companyId))
          .filter(({ type }) => type === "withdrawal.dispatched")
          .map(({ subject }) => subject)
        const own = groups.flat().filter(({ withdrawal }) => withdrawal.companyId === companyId)
        assert.deepStrictEqual(told.toSorted(), ids(own).toSorted())
        yield* has(companyId, { posted: 200, held: 20 })
      }
    })
} satisfies Promises<Journal | Records | Tasks>
