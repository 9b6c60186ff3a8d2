import { assert } from "@effect/vitest"
import * as CompanyId from "@satrail/core/base/CompanyId"
import type { Journal } from "@satrail/core/ledger/Journal"
import { type Task, Tasks } from "@satrail/core/ledger/Tasks"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect } from "effect"
import type * as Contract from "../Contract.ts"
import { companyWith, hex, verdict, withdrawal } from "../Fixtures.ts"

const lease = 30_000

const ids = (rows: ReadonlyArray<{ readonly id: string }>): ReadonlyArray<string> => rows.map(({ id }) => id)

/**
 * Enqueues tasks of a unique kind, due one after another, starting at 1000. `counts` gives the number for each
 * company. The companies are ordered by id.
 */
export const startedFor = Effect.fnUntraced(function* (...counts: ReadonlyArray<number>) {
  const kind = `test ${yield* hex(8)}`
  const companies = (yield* Effect.forEach(counts, () => companyWith(Math.max(...counts)))).toSorted()
  const ids: Array<ReadonlyArray<string>> = []
  for (const [at, companyId] of companies.entries()) {
    const rows = yield* Effect.forEach(Array.from({ length: counts[at] ?? 0 }), (_, n) =>
      withdrawal(companyId, 1, { createdAtMillis: 1000 + n })
    )
    for (const row of rows.toReversed()) {
      const work = { kind, dueAtMillis: row.createdAtMillis }
      assert.strictEqual(yield* verdict(Withdrawal.requested(row, undefined, work)), "Applied")
    }
    ids.push(rows.map(({ id }) => id))
  }
  return { kind, companies, ids }
})

type InTurn = Parameters<Tasks["Service"]["claimInTurn"]>[0]

export const claimInTurn = Effect.fnUntraced(function* (kind: string, ask: Partial<InTurn> = {}) {
  const all = {
    nowMillis: 2000,
    leaseMillis: lease,
    limit: 1000,
    perLane: 1,
    after: null,
    full: { companies: [], lanes: [] }
  }
  return yield* (yield* Tasks).claimInTurn({ kind, ...all, ...ask })
})

/** Guarantees about claiming tasks in turn, by company. */
export const inTurn = {
  "claiming in turn gives each company at most `perLane` tasks, the longest overdue first": Effect.gen(
    function* () {
      const { kind, companies, ids: all } = yield* startedFor(5, 1, 3)
      const claimed = yield* claimInTurn(kind, { perLane: 2 })
      assert.deepStrictEqual(
        claimed.map(({ id }) => id),
        all.flatMap((ids) => ids.slice(0, 2))
      )
      assert.deepStrictEqual([...new Set(claimed.map(({ companyId }) => companyId))], companies)
      const [task] = claimed
      const { token, ...rest } = task ?? assert.fail()
      assert.deepStrictEqual(rest, {
        kind,
        id: all[0]?.[0] ?? "",
        companyId: companies[0] ?? "",
        lane: "",
        attempts: 1
      })
      assert.isAbove(token, 0)
      assert.deepStrictEqual(ids(yield* claimInTurn(kind, { perLane: 2 })), [
        ...(all[0]?.slice(2, 4) ?? []),
        ...(all[2]?.slice(2) ?? [])
      ])
      assert.deepStrictEqual(ids(yield* claimInTurn(kind)), all[0]?.slice(4))
    }
  ),
  "claiming in turn takes only due tasks, up to the limit": Effect.gen(function* () {
    const { kind, ids: all } = yield* startedFor(3, 3, 3)
    assert.deepStrictEqual(yield* claimInTurn(kind, { nowMillis: 999 }), [])
    assert.deepStrictEqual(
      ids(yield* claimInTurn(kind, { nowMillis: 1000, perLane: 10 })),
      all.flatMap((ids) => ids.slice(0, 1))
    )
    assert.strictEqual((yield* claimInTurn(kind, { limit: 1, perLane: 10 })).length, 1)
  }),
  "claiming in turn starts after the given company and wraps around to the first": Effect.gen(function* () {
    const { kind, companies, ids: all } = yield* startedFor(9, 9, 9)
    const after = (at: number) => ({ companyId: companies[at] ?? CompanyId.operator, lane: "" })
    for (const [from, expected] of [
      [0, [all[1]?.[0], all[2]?.[0]]],
      [1, [all[2]?.[1]]],
      [2, []]
    ] as const) {
      assert.deepStrictEqual<ReadonlyArray<unknown>>(
        ids(yield* claimInTurn(kind, { after: after(from) })),
        expected
      )
    }
    assert.deepStrictEqual(ids(yield* claimInTurn(kind, { limit: 1 })), all[0]?.slice(0, 1))
  }),
  "claiming in turn serves each `lane` of a company and skips the lanes that are full": Effect.gen(
    function* () {
      const tasks = yield* Tasks
      const { kind, companies, ids: all } = yield* startedFor(4, 2)
      const hosts = ["a.example", "b.example"] as const
      for (const task of yield* claimInTurn(kind, { perLane: 10 })) {
        const at = all.flat().indexOf(task.id)
        assert.isTrue(yield* tasks.postpone(task, 1000 + at, { kind, lane: hosts[at % 2] ?? "" }))
      }
      const lanes = (claimed: ReadonlyArray<Task>) =>
        claimed.map(({ companyId, lane }) => `${companies.indexOf(companyId)} ${lane}`)
      const [one, other] = companies
      const full = { companies: [one ?? CompanyId.operator], lanes: [] }
      assert.deepStrictEqual(lanes(yield* claimInTurn(kind, { full, limit: 1 })), ["1 a.example"])
      assert.deepStrictEqual(
        lanes(yield* claimInTurn(kind, { full: { companies: [], lanes: ["a.example"] } })),
        ["0 b.example", "1 b.example"]
      )
      assert.deepStrictEqual(
        lanes(
          yield* claimInTurn(kind, { after: { companyId: one ?? CompanyId.operator, lane: "a.example" } })
        ),
        ["0 b.example"]
      )
      assert.deepStrictEqual(
        lanes(yield* claimInTurn(kind, { full: { companies: [other ?? CompanyId.operator], lanes: [] } })),
        ["0 a.example"]
      )
      assert.deepStrictEqual(lanes(yield* claimInTurn(kind, { full })), [])
      assert.deepStrictEqual(lanes(yield* claimInTurn(kind)), ["0 a.example"])
    }
  )
} satisfies Contract.Promises<Journal | Tasks>
