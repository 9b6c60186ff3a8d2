import { assert } from "@effect/vitest"
import * as Company from "@satrail/core/accounts/Company"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { Journal } from "@satrail/core/ledger/Journal"
import * as Change from "@satrail/core/ledger/Change"
import * as Limit from "@satrail/core/ledger/Limit"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Waiting from "@satrail/core/ledger/Waiting"
import { all as features } from "@satrail/service/features/core"
import * as Approval from "@satrail/features/approvals/core/Approval"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Records } from "@satrail/core/service/Records"
import { Effect, Option } from "effect"
import type { Promises } from "../../Contract.ts"
import {
  claim,
  companyWith,
  found,
  lightningAttempt,
  tally,
  unchanged,
  verdict,
  withdrawal
} from "../../Fixtures.ts"
import { has } from "../../Ledger.ts"

const atMillis = 1_600_000_000_000
const atOnce = { concurrency: "unbounded" } as const

/** Commits a withdrawal that waits for approval by a second key. */
const waiting = Effect.fnUntraced(function* (
  companyId: CompanyId.CompanyId,
  sats: number,
  counts: ReadonlyArray<Limit.Count> = [],
  approvalExpiresAtMillis = atMillis + 1000
) {
  const row = yield* withdrawal(companyId, sats, {
    createdAtMillis: atMillis,
    approval: "waiting",
    approvalAskedBy: "asks",
    approvalExpiresAtMillis,
    counted: Limit.noted(counts)
  })
  assert.strictEqual(yield* verdict(Withdrawal.requested(row, undefined, undefined, counts)), "Applied")
  return Withdrawal.isWaiting(row) ? row : yield* Effect.die("the withdrawal is not waiting for approval")
})

const approved = (row: Withdrawal.Waiting, by = "approves") =>
  Approval.approved(row, by, { kind: Withdrawal.taskKind, dueAtMillis: atMillis }, atMillis + 1)

const stands = Effect.fnUntraced(function* ({ companyId, id }: Withdrawal.Withdrawal) {
  const row = yield* found((yield* Records).withdrawal(companyId, id))
  return [Withdrawal.standing(row), row.approval, row.approvalBy, row.failure]
})

/** Guarantees about withdrawals that wait for approval by a second key, and about their outcomes. */
export const money = {
  "approval: a waiting withdrawal holds its money and has no job; it cannot be sent, settled or failed until approved":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100)
      const row = yield* waiting(companyId, 40)
      const records = yield* Records
      yield* has(companyId, { posted: 100, held: 40 })
      assert.isTrue(Option.isNone(yield* records.job(companyId, row.id)))
      const attempt = yield* lightningAttempt
      for (const token of [0, 1]) {
        const fence = { taskId: row.id, token }
        assert.strictEqual(
          yield* unchanged(Withdrawal.dispatched(row, attempt, fence, atMillis)),
          "StaleFence"
        )
        assert.strictEqual(
          yield* unchanged(Withdrawal.failed(row, "no_route", fence, atMillis)),
          "StaleFence"
        )
      }
      assert.deepStrictEqual(yield* stands(row), ["pending_approval", "waiting", null, null])
      assert.strictEqual(yield* verdict(approved(row)), "Applied")
      assert.deepStrictEqual(yield* stands(row), ["pending", "approved", "approves", null])
      yield* has(companyId, { posted: 100, held: 40 })
      const { fence } = yield* claim(row)
      assert.strictEqual(yield* verdict(Withdrawal.dispatched(row, attempt, fence, atMillis + 2)), "Applied")
    }),
  "approval: a rejection or expiry releases the hold and the limit usage once, and the withdrawal can no longer be approved":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100)
      const counts = [{ subject: companyId, atMillis, most: { day_count: 2n } }]
      const [one, two] = [yield* waiting(companyId, 40, counts), yield* waiting(companyId, 30, counts)]
      const [rejected, expired] = [
        Approval.rejected(one, "approves", atMillis + 1),
        Approval.rejected(two, null, atMillis + 2)
      ]
      for (const change of [rejected, expired]) {
        const verdicts = yield* Effect.forEach([1, 2, 3], () => verdict(change), atOnce)
        assert.deepStrictEqual(tally(verdicts), { Applied: 3 })
      }
      yield* has(companyId, { posted: 100, held: 0 })
      assert.strictEqual(Limit.used(yield* (yield* Records).spent(companyId, companyId), "day_count", 0), 0n)
      for (const row of [one, two]) {
        assert.strictEqual(yield* unchanged(approved(row)), "AlreadyTerminal")
        assert.isTrue(Option.isNone(yield* (yield* Records).job(companyId, row.id)))
      }
      assert.deepStrictEqual(yield* stands(one), ["failed", "rejected", "approves", "approval_rejected"])
      assert.deepStrictEqual(yield* stands(two), ["failed", "expired", null, "approval_expired"])
    }),
  "approval: an approval does not change a job that the waiting withdrawal already has, and a rejection or expiry completes it":
    Effect.gen(function* () {
      const companyId = yield* companyWith(100)
      const { job } = yield* Records
      const rows = [
        yield* waiting(companyId, 10),
        yield* waiting(companyId, 20),
        yield* waiting(companyId, 30)
      ] as const
      // After a restore, an operator adds these jobs. Here, the Changes of other withdrawals do.
      const work = { kind: Withdrawal.taskKind, dueAtMillis: atMillis + 1_000_000 }
      for (const { id } of rows) {
        const row = yield* withdrawal(companyId, 1, { createdAtMillis: atMillis })
        const change = { ...Withdrawal.requested(row), jobs: [Change.enqueue({ ...work, id })] }
        assert.strictEqual(yield* verdict(change), "Applied")
      }
      const [first, second, third] = rows
      assert.strictEqual(yield* verdict(approved(first)), "Applied")
      assert.strictEqual((yield* found(job(companyId, first.id))).dueAtMillis, work.dueAtMillis)
      for (const change of [
        Approval.rejected(second, "approves", atMillis + 1),
        Approval.rejected(third, null, atMillis + 1)
      ]) {
        assert.isTrue(Option.isSome(yield* job(companyId, change.id)))
        assert.strictEqual(yield* verdict(change), "Applied")
        assert.isTrue(Option.isNone(yield* job(companyId, change.id)))
      }
    }),
  "approval: if two approvals, a rejection and an expiry run concurrently, exactly one is applied":
    Effect.gen(function* () {
      const companyId = yield* companyWith(1000)
      let held = 0
      for (let i = 0; i < 12; i++) {
        const row = yield* waiting(companyId, 10)
        const changes = [
          approved(row, "one"),
          Approval.rejected(row, "two", atMillis + 1),
          approved(row, "three"),
          Approval.rejected(row, null, atMillis + 1)
        ]
        const turned = [...changes.slice(i % 4), ...changes.slice(0, i % 4)]
        const verdicts = yield* Effect.forEach(turned, (change) => verdict(change), atOnce)
        assert.deepStrictEqual(tally(verdicts), { Applied: 1, AlreadyTerminal: 3 })
        const [status, , by] = yield* stands(row)
        const winner = turned[verdicts.indexOf("Applied")] ?? assert.fail("one Change must be applied")
        assert.strictEqual(status, winner._tag === "WithdrawalApproved" ? "pending" : "failed")
        assert.strictEqual(by, Reflect.get(winner.writes[0].set, "approvalBy"))
        held += status === "pending" ? 10 : 0
        yield* has(companyId, { posted: 1000, held })
      }
    }),
  "approval: a freeze blocks approvals, even concurrent ones, while rejections and expiries still release the hold":
    Effect.gen(function* () {
      const companyId = yield* companyWith(1000)
      const freeze = { reason: "stolen", pending: "wait", sinceMillis: atMillis } as const
      const rows = yield* Effect.forEach(Array.from({ length: 12 }), () => waiting(companyId, 10))
      let isFrozen = false
      const late: Array<string> = []
      const approving = Effect.forEach(
        rows,
        (row) =>
          Effect.suspend(() => {
            const isLate = isFrozen
            return Effect.tap(verdict(approved(row)), (word) => Effect.sync(() => isLate && late.push(word)))
          }),
        { concurrency: 3 }
      )
      const halted = Effect.tap(verdict(Company.freezeChanged(companyId, freeze, atMillis)), () =>
        Effect.sync(() => (isFrozen = true))
      )
      const [words] = yield* Effect.all([approving, halted], atOnce)
      assert.notInclude(late, "Applied")
      const after = rows[words.indexOf("CompanyFrozen")]
      if (after === undefined) return // every approval was committed before the freeze
      assert.strictEqual(yield* unchanged(approved(after)), "CompanyFrozen")
      assert.strictEqual(yield* verdict(Approval.rejected(after, "approves", atMillis + 1)), "Applied")
      yield* verdict(Company.freezeChanged(companyId, null, atMillis + 1))
      assert.strictEqual(yield* unchanged(approved(after)), "AlreadyTerminal")
    }),
  "approval: an undecided withdrawal is found by its expiry and by its status, and is listed in the backlog":
    Effect.gen(function* () {
      const records = yield* Records
      const companyId = yield* companyWith(100)
      const [late, soon] = [yield* waiting(companyId, 10, [], 2000), yield* waiting(companyId, 20, [], 1000)]
      const due = (untilMillis: number) =>
        Effect.map(records.unapproved(untilMillis, 1000), (rows) =>
          rows.filter((row) => row.companyId === companyId).map(({ id }) => id)
        )
      assert.deepStrictEqual(
        [yield* due(999), yield* due(1000), yield* due(2000)],
        [[], [soon.id], [soon.id, late.id]]
      )
      const named = Effect.map(
        records.backlog({
          kinds: Waiting.kinds(features),
          overdueBeforeMillis: 0,
          sinceBeforeMillis: Number.MAX_SAFE_INTEGER,
          after: null,
          perKind: 1000,
          limit: 10_000
        }),
        (items) => items.flatMap((item) => (item.companyId === companyId ? [[item.kind, item.id]] : []))
      )
      const listed = (status: "pending" | "pending_approval" | "failed") =>
        Effect.map(records.search(companyId, { limit: 10, status }, 1000), ({ rows }) =>
          rows.map((row) => [row.id, row.status])
        )
      assert.sameDeepMembers(yield* named, [
        ["withdrawal_unapproved", late.id],
        ["withdrawal_unapproved", soon.id]
      ])
      assert.lengthOf(yield* listed("pending_approval"), 2)
      assert.lengthOf(yield* listed("pending"), 0)
      yield* verdict(approved(soon))
      yield* verdict(Approval.rejected(late, "approves", atMillis))
      assert.deepStrictEqual(yield* due(3000), [])
      assert.deepStrictEqual(yield* named, [["withdrawal_requested", soon.id]])
      assert.deepStrictEqual(
        [yield* listed("pending_approval"), yield* listed("pending"), yield* listed("failed")],
        [[], [[soon.id, "pending"]], [[late.id, "failed"]]]
      )
    })
} satisfies Promises<Journal | Records | Tasks>
