import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import type { Standing } from "@satrail/core/accounts/AccountReads"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import * as Company from "@satrail/core/accounts/Company"
import * as Balance from "@satrail/core/ledger/Balance"
import type { Journal } from "@satrail/core/ledger/Journal"
import { claimedFromStart, Tasks } from "@satrail/core/ledger/Tasks"
import { Records } from "@satrail/core/service/Records"
import * as Waiting from "@satrail/core/ledger/Waiting"
import { all as features } from "@satrail/service/features/core"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as LostWithdrawal from "@satrail/core/sending/LostWithdrawal"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect, Option } from "effect"
import type * as Contract from "../Contract.ts"
import {
  apiKey,
  byId,
  committed,
  company,
  companyWith,
  onChain,
  open,
  output,
  unopened,
  withdrawal
} from "../Fixtures.ts"
import { dispatched, sentTogether } from "./RecordsBooks.ts"

/** A query for all waiting records except overdue tasks. */
const everything: Waiting.Query = {
  kinds: Waiting.kinds(features),
  overdueBeforeMillis: 0,
  sinceBeforeMillis: Number.MAX_SAFE_INTEGER,
  after: null,
  perKind: 2 ** 31,
  limit: 2 ** 31
}

/** Guarantees about an operator's searches over all companies. */
export const other = {
  "companies are found by name, id prefix, plan or freeze, newest first, in pages with a cursor": Effect.gen(
    function* () {
      const { companiesAsked } = yield* Records
      const tag = (yield* unopened).slice(-8)
      const rows = yield* Effect.forEach(["a", "B", "c"] as const, (name) =>
        Effect.map(company, (row): Company.Company => ({
          ...row,
          name: `${tag} ${name}`,
          plan: name === "B" ? "paid" : "free"
        }))
      )
      yield* committed(...rows.map((row) => Company.opened(row)))
      const newest = byId(rows).toReversed()
      const [first, second, third] = newest
      if (first === undefined || second === undefined || third === undefined) return assert.fail()
      const ask = { limit: 10, before: null, text: tag.toUpperCase() }
      const all = 2 ** 31
      assert.deepStrictEqual((yield* companiesAsked(ask, all)).rows, newest)
      assert.deepStrictEqual((yield* companiesAsked({ ...ask, before: first.id }, all)).rows, [second, third])
      assert.deepStrictEqual((yield* companiesAsked({ ...ask, limit: 1 }, all)).rows, [first])
      assert.deepStrictEqual(
        (yield* companiesAsked({ ...ask, plan: "paid" }, all)).rows,
        newest.filter(({ plan }) => plan === "paid")
      )
      assert.deepStrictEqual(
        (yield* companiesAsked({ ...ask, text: `${tag} b` }, all)).rows,
        newest.filter(({ plan }) => plan === "paid")
      )
      assert.deepStrictEqual((yield* companiesAsked({ ...ask, text: second.id.toUpperCase() }, all)).rows, [
        second
      ])
      assert.deepStrictEqual((yield* companiesAsked({ ...ask, text: `%${tag}` }, all)).rows, [])
      const short = yield* companiesAsked({ ...ask, before: first.id, text: "no such company" }, 1)
      assert.deepStrictEqual([short.rows, short.lookedTo === null], [[], false])
      const frozen = { reason: "Key stolen", pending: "wait", sinceMillis: 0 } as const
      yield* committed(Company.freezeChanged(third.id, frozen, 1))
      const only = { ...ask, status: "frozen" } as const
      assert.deepStrictEqual((yield* companiesAsked(only, 1)).rows, [{ ...third, frozen }])
      assert.deepStrictEqual(
        (yield* companiesAsked({ ...only, plan: third.plan === "paid" ? "free" : "paid" }, all)).rows,
        []
      )
      assert.deepStrictEqual((yield* companiesAsked({ ...only, before: third.id }, all)).rows, [])
    }
  ),
  "a company's overview has its balance, its number of usable keys and its last use; its keys are listed newest first":
    Effect.gen(function* () {
      const { standings, keysOf } = yield* Records
      const [companyId, otherId, nobody] = [yield* companyWith(1000), yield* open, yield* unopened]
      const atMillis = 1_700_000_000_000
      const [plain, ended, revoked] = [
        yield* apiKey(companyId, { createdAtMillis: atMillis + 1, lastUsedAtMillis: null }),
        yield* apiKey(companyId, { createdAtMillis: atMillis + 2, expiresAtMillis: atMillis + 10 }),
        yield* apiKey(companyId, { createdAtMillis: atMillis + 3 })
      ]
      yield* committed(...[plain, ended, revoked].map((row) => ApiKey.issued(row)))
      yield* committed(
        ApiKey.revoked(revoked, atMillis + 4),
        ApiKey.used(ended, atMillis + 5),
        ApiKey.used(plain, atMillis + 6)
      )
      const at = (millis: number) => standings([companyId, otherId, nobody], millis)
      const none = { balance: Balance.empty, keys: 0, lastSeenAtMillis: null }
      const sorted = (rows: ReadonlyArray<Standing>) =>
        rows.toSorted((a, b) => (a.companyId < b.companyId ? -1 : 1))
      const expected = (keys: number) =>
        sorted([
          {
            companyId,
            balance: { posted: Msat.fromSats(1000), held: Msat.zero },
            keys,
            lastSeenAtMillis: atMillis + 6
          },
          { companyId: otherId, ...none }
        ])
      assert.deepStrictEqual(sorted(yield* at(atMillis + 9)), expected(2))
      assert.deepStrictEqual(sorted(yield* at(atMillis + 10)), expected(1))
      const listed = yield* keysOf(companyId, null, 10)
      assert.deepStrictEqual(
        listed.map(({ id }) => id),
        [revoked.id, ended.id, plain.id]
      )
      assert.deepStrictEqual(yield* keysOf(companyId, listed[0] ?? null, 1), listed.slice(1, 2))
      assert.deepStrictEqual(yield* keysOf(otherId, null, 10), [])
    }),
  "waiting records are listed oldest first, each with its job, and a record is found by its id alone":
    Effect.gen(function* () {
      const { backlog, job, withdrawalById, depositById } = yield* Records
      const companyId = yield* companyWith(1000)
      const [asked, payout] = [yield* withdrawal(companyId, 10), yield* withdrawal(companyId, 11, onChain)]
      const seen = yield* output(companyId, 10)
      yield* committed(Withdrawal.requested(asked), Withdrawal.requested(payout), Deposit.seen(seen))
      const mine = (more: Partial<Waiting.Query>) =>
        Effect.map(backlog({ ...everything, ...more }), (items) =>
          items.filter((item) => item.companyId === companyId)
        )
      const all = yield* mine({})
      const places = all.map(({ sinceMillis, id }) => `${String(sinceMillis).padStart(20)} ${id}`)
      assert.deepStrictEqual(places, places.toSorted())
      const work = (row: Withdrawal.Withdrawal) => ({
        kind: "withdrawal",
        lane: "",
        dueAtMillis: row.createdAtMillis,
        attempts: 0
      })
      const items: ReadonlyArray<Waiting.Item> = [
        {
          kind: "withdrawal_requested",
          id: asked.id,
          companyId,
          sinceMillis: asked.createdAtMillis,
          amount: Withdrawal.held(asked),
          job: work(asked)
        },
        {
          kind: "payout_without_coins",
          id: payout.id,
          companyId,
          sinceMillis: payout.createdAtMillis,
          amount: Withdrawal.held(payout),
          job: work(payout)
        },
        {
          kind: "deposit_without_block",
          id: seen.id,
          companyId,
          sinceMillis: seen.createdAtMillis,
          amount: seen.amount,
          job: null
        }
      ]
      assert.sameDeepMembers([...all], [...items])
      for (const [at, item] of all.entries()) {
        assert.deepStrictEqual(yield* mine({ after: item }), all.slice(at + 1))
        assert.deepStrictEqual(yield* mine({ kinds: [item.kind] }), [item])
        assert.isFalse(
          (yield* mine({ sinceBeforeMillis: item.sinceMillis })).some(({ id }) => id === item.id)
        )
      }
      assert.lengthOf(
        yield* backlog({
          ...everything,
          kinds: ["withdrawal_requested", "payout_without_coins"],
          perKind: 1
        }),
        2
      )
      assert.lengthOf(yield* backlog({ ...everything, limit: 1 }), 1)
      const { token, ...own } = Option.getOrThrow(yield* job(companyId, asked.id))
      assert.deepStrictEqual([own, Number.isInteger(token)], [work(asked), true])
      assert.isTrue(Option.isNone(yield* job(yield* unopened, asked.id)))
      assert.isTrue(Option.isNone(yield* job(companyId, seen.id)))
      assert.deepStrictEqual(yield* withdrawalById(asked.id), Option.some(asked))
      assert.deepStrictEqual(yield* depositById(seen.id), Option.some(seen))
      assert.isTrue(Option.isNone(yield* withdrawalById(seen.id)))
    }),
  "a withdrawal is counted and listed as lost while its task is in the lane of lost withdrawals": Effect.gen(
    function* () {
      const { backlog, waiting } = yield* Records
      const tasks = yield* Tasks
      const companyId = yield* companyWith(1000)
      const { withdrawal, fence } = yield* dispatched(companyId, 10)
      const task = { ...claimedFromStart(Withdrawal.taskKind, withdrawal.id, companyId), token: fence.token }
      const kinds = ["withdrawal_dispatched", "withdrawal_lost"] as const
      const mine = Effect.gen(function* () {
        const items = yield* backlog({ ...everything, kinds })
        return items.filter(({ id }) => id === withdrawal.id).map(({ kind }) => kind)
      })
      const count = Effect.map(waiting(0), (all) => all.withdrawal_lost)
      const before = yield* count
      assert.deepStrictEqual(yield* mine, ["withdrawal_dispatched"])
      yield* tasks.postpone(task, 1, { kind: Withdrawal.paymentKind, lane: LostWithdrawal.lane })
      assert.deepStrictEqual(yield* mine, ["withdrawal_lost"])
      const now = yield* count
      assert.deepStrictEqual(
        [now.count, now.amount - before.amount],
        [before.count + 1, Withdrawal.held(withdrawal)]
      )
      yield* tasks.postpone(task, 1, { kind: Withdrawal.paymentKind, lane: "" })
      assert.deepStrictEqual([yield* mine, yield* count], [["withdrawal_dispatched"], before])
    }
  ),
  "a payout that follows another one in a batch is listed with the leading payout's job": Effect.gen(
    function* () {
      const { backlog, job } = yield* Records
      const companyId = yield* companyWith(1000)
      const together = yield* sentTogether(companyId, 10)
      const [own, led] = yield* Effect.forEach(together, ({ id }) => job(companyId, id))
      assert.deepStrictEqual(led, own)
      const { token: _, ...leading } = Option.getOrThrow(own ?? Option.none())
      const items = yield* backlog({ ...everything, kinds: ["payout_without_block"] })
      const mine = items.filter((item) => item.companyId === companyId)
      assert.sameMembers(
        mine.map(({ id }) => id),
        together.map(({ id }) => id)
      )
      for (const item of mine) assert.deepStrictEqual(item.job, leading)
    }
  )
} satisfies Contract.Promises<Journal | Records | Tasks>
