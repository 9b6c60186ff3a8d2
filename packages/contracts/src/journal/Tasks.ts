import { assert } from "@effect/vitest"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Change from "@satrail/core/ledger/Change"
import * as Cursor from "@satrail/core/ledger/Cursor"
import type { Journal } from "@satrail/core/ledger/Journal"
import { claimedFromStart, fence, type Task, Tasks } from "@satrail/core/ledger/Tasks"
import { Records } from "@satrail/core/service/Records"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { Effect, Option } from "effect"
import * as Contract from "../Contract.ts"
import {
  claimFor,
  companyWith,
  created,
  hex,
  open,
  payment,
  proof,
  transfer,
  unchanged,
  verdict,
  withdrawal
} from "../Fixtures.ts"
import { has } from "../Ledger.ts"
import { startedFor, claimInTurn, inTurn } from "./TasksInTurn.ts"
import { takenOver } from "./TasksTakenOver.ts"

const lease = 30_000

interface Work {
  readonly companyId: CompanyId.CompanyId
  /**
   * One withdrawal for each task. The first task is due at `atMillis`, each later one a second after the one
   * before.
   */
  readonly rows: ReadonlyArray<Withdrawal.Withdrawal>
  readonly atMillis: number
}

/**
 * Runs a test with `count` new tasks and ends them all afterward. They are due in the 1970s, when no other
 * suite's task is due.
 */
const withWork = <E>(count: number, use: (work: Work) => Effect.Effect<void, E, Journal | Records | Tasks>) =>
  Effect.gen(function* () {
    const companyId = yield* companyWith(count)
    const atMillis = 1_000_000 + 50 * Number.parseInt(yield* hex(3), 16)
    const rows = yield* Effect.forEach(Array.from({ length: count }), (_, n) =>
      withdrawal(companyId, 1, { createdAtMillis: atMillis + n * 1000 })
    )
    for (const row of rows.toReversed())
      assert.strictEqual(yield* verdict(Withdrawal.requested(row)), "Applied")
    const end = Effect.forEach(rows, (row) => {
      const { fence: _, ...failed } = Withdrawal.failed(
        row,
        "canceled",
        { taskId: row.id, token: 0 },
        atMillis
      )
      return verdict(failed)
    })
    yield* Effect.ensuring(use({ companyId, rows, atMillis }), Effect.orDie(end))
  })

const claim = Effect.fnUntraced(function* (nowMillis: number, limit = 1000, kind = Withdrawal.taskKind) {
  return yield* (yield* Tasks).claim({ kind, nowMillis, leaseMillis: lease, limit })
})

/** Claims the only task that is due now. */
const claimOne = Effect.fnUntraced(function* (nowMillis: number, kind = Withdrawal.taskKind) {
  const [task, ...more] = yield* claim(nowMillis, 1000, kind)
  assert.deepStrictEqual(more, [])
  return task ?? assert.fail("nothing to claim")
})

const ids = (rows: ReadonlyArray<{ readonly id: string }>): ReadonlyArray<string> => rows.map(({ id }) => id)
const first = <A>(rows: ReadonlyArray<A>): A => rows[0] ?? assert.fail("no rows")

/** A Change that can carry tasks. Its only other effect is to set a new cursor. */
const bare = Effect.gen(function* () {
  return Cursor.moved({ source: `test ${yield* hex(8)}`, value: "1" }, yield* Id.make, 1)
})

/** A task of a unique kind, due at 1000. */
const begun = Effect.gen(function* () {
  const work: Change.Work = { kind: `test ${yield* hex(8)}`, id: yield* Id.make, dueAtMillis: 1000 }
  assert.strictEqual(yield* verdict({ ...(yield* bare), jobs: [Change.enqueue(work)] }), "Applied")
  return work
})

const cursorOf = ({ cursor }: Cursor.CursorMoved) =>
  Effect.flatMap(Records, (records) => records.cursor(cursor.source))

const lost = (row: Withdrawal.Withdrawal, task: Task) =>
  Withdrawal.failed(row, "no_route", fence(task), row.createdAtMillis + 1)

/** Guarantees about which worker has a task. If two workers had the same withdrawal, they would pay it twice. */
export const money = {
  "C19: a task is claimed by one worker at a time": withWork(
    1,
    Effect.fnUntraced(function* ({ atMillis }) {
      yield* claimOne(atMillis)
      for (const later of [0, 1, lease - 1]) assert.deepStrictEqual(yield* claim(atMillis + later), [])
    })
  ),
  "C19: concurrent workers never claim the same task": withWork(
    40,
    Effect.fnUntraced(function* ({ rows, atMillis }) {
      const now = atMillis + 100_000
      const claimed = yield* Effect.forEach(Array.from({ length: 32 }), () => claim(now, 3), {
        concurrency: "unbounded"
      })
      const rest = yield* claim(now)
      const all = ids([...claimed.flat(), ...rest])
      assert.strictEqual(new Set(all).size, all.length)
      assert.deepStrictEqual(all.toSorted(), ids(rows).toSorted())
    })
  ),
  "a claim expires unless the task is returned, and the next claim has a higher token": withWork(
    1,
    Effect.fnUntraced(function* ({ rows, atMillis }) {
      let before = yield* claimOne(atMillis)
      for (const round of [1, 2, 3]) {
        const now = atMillis + round * lease
        assert.deepStrictEqual(yield* claim(now - 1), [])
        const after = yield* claimOne(now)
        assert.isAbove(after.token, before.token)
        assert.strictEqual(yield* unchanged(lost(first(rows), before)), "StaleFence")
        before = after
      }
      assert.strictEqual(yield* verdict(lost(first(rows), before)), "Applied")
    })
  ),
  "an expired claim stays valid until another process claims the task": withWork(
    1,
    Effect.fnUntraced(function* ({ companyId, rows, atMillis }) {
      const task = yield* claimOne(atMillis)
      assert.strictEqual(yield* verdict(lost(first(rows), task)), "Applied")
      yield* has(companyId, { posted: 1, held: 0 })
    })
  ),
  "a worker that has lost a task cannot return it": withWork(
    1,
    Effect.fnUntraced(function* ({ atMillis }) {
      const tasks = yield* Tasks
      const before = yield* claimOne(atMillis)
      const holder = yield* claimOne(atMillis + lease)
      assert.isFalse(yield* tasks.postpone(before, atMillis))
      assert.deepStrictEqual(yield* claim(atMillis + lease), [])
      assert.isTrue(yield* tasks.postpone(holder, atMillis))
    })
  ),
  "a worker can extend its claim under the same token": withWork(
    1,
    Effect.fnUntraced(function* ({ rows, atMillis }) {
      const tasks = yield* Tasks
      const task = yield* claimOne(atMillis)
      assert.isTrue(yield* tasks.postpone(task, atMillis + 2 * lease))
      assert.deepStrictEqual(yield* claim(atMillis + 2 * lease - 1), [])
      assert.strictEqual(yield* verdict(lost(first(rows), task)), "Applied")
    })
  ),
  "C19: a task is claimed by one worker at a time, whether or not tasks are claimed in turn": Effect.gen(
    function* () {
      const { kind } = yield* startedFor(1, 1)
      const inTurn = yield* claimInTurn(kind)
      assert.strictEqual(inTurn.length, 2)
      assert.deepStrictEqual([yield* claimInTurn(kind), yield* claim(2000, 1000, kind)], [[], []])
      const later = yield* claim(2000 + lease, 1000, kind)
      assert.deepStrictEqual(ids(later).toSorted(), ids(inTurn).toSorted())
      for (const task of later)
        assert.isTrue(inTurn.every(({ id, token }) => id !== task.id || token < task.token))
      assert.deepStrictEqual(yield* claimInTurn(kind, { nowMillis: 2000 + lease }), [])
    }
  ),
  "C19: concurrent workers that claim tasks in turn never claim the same task": Effect.gen(function* () {
    const { kind, ids: all } = yield* startedFor(8, 8, 8, 8)
    const claimed = yield* Effect.forEach(
      Array.from({ length: 32 }),
      () => claimInTurn(kind, { limit: 3, perLane: 2 }),
      {
        concurrency: "unbounded"
      }
    )
    const rest = yield* claimInTurn(kind, { perLane: 100 })
    const got = ids([...claimed.flat(), ...rest])
    assert.strictEqual(new Set(got).size, got.length)
    assert.deepStrictEqual(got.toSorted(), all.flat().toSorted())
  }),
  "a task claimed when it is enqueued goes to no other process before that claim ends": Effect.gen(
    function* () {
      const kind = `test ${yield* hex(8)}`
      // The first Change enqueues one task, and the second enqueues two.
      const [alone, together, beside] = [yield* Id.make, yield* Id.make, yield* Id.make]
      const claimed = (id: string) =>
        Change.enqueue({ kind, id, dueAtMillis: 1000 + lease, claimedBy: Id.nil })
      const free = Change.enqueue({ kind, id: beside, dueAtMillis: 1000 })
      for (const jobs of [[claimed(alone)], [claimed(together), free]]) {
        assert.strictEqual(yield* verdict({ ...(yield* bare), jobs }), "Applied")
      }
      assert.deepStrictEqual(ids(yield* claim(1000 + lease - 1, 1000, kind)), [beside])
      for (const id of [alone, together]) {
        const own = claimedFromStart(kind, id, CompanyId.operator)
        assert.strictEqual(yield* verdict({ ...(yield* bare), fence: fence(own) }), "Applied")
      }
      const next = (yield* claim(1000 + lease, 1000, kind)).filter(({ id }) => id !== beside)
      assert.deepStrictEqual(ids(next).toSorted(), [alone, together].toSorted())
      for (const { id, token, attempts } of next) {
        const own = claimedFromStart(kind, id, CompanyId.operator)
        assert.deepStrictEqual([token > own.token, attempts], [true, 2])
        assert.strictEqual(yield* unchanged({ ...(yield* bare), fence: fence(own) }), "StaleFence")
      }
    }
  ),
  ...takenOver,
  "a Change with a fencing token leaves its task and claim in place unless the Change completes the task":
    Effect.gen(function* () {
      const { kind, id } = yield* begun
      const tasks = yield* Tasks
      const task = yield* claimOne(1000, kind)
      for (const _ of [1, 2])
        assert.strictEqual(yield* verdict({ ...(yield* bare), fence: fence(task) }), "Applied")
      assert.isTrue(yield* tasks.postpone(task, 1000))
      const next = yield* claimOne(1000, kind)
      assert.strictEqual(
        yield* unchanged({ ...(yield* bare), fence: fence(task), jobs: [Change.complete(id)] }),
        "StaleFence"
      )
      assert.strictEqual(
        yield* verdict({ ...(yield* bare), fence: fence(next), jobs: [Change.complete(id)] }),
        "Applied"
      )
      assert.isFalse(yield* tasks.postpone(next, 1000))
      assert.strictEqual(yield* unchanged({ ...(yield* bare), fence: fence(next) }), "StaleFence")
    }),
  "a worker that has lost a task cannot move the cursor, not even by repeating an applied Change": Effect.gen(
    function* () {
      const { kind } = yield* begun
      const task = yield* claimOne(1000, kind)
      const row = yield* created(yield* open, 1)
      const credit = { ...(yield* payment(row, 1)), fence: fence(task) }
      const change = { ...(yield* bare), fence: fence(task) }
      assert.strictEqual(yield* verdict({ ...credit, cursor: change.cursor }), "Applied")
      yield* claimOne(1000 + lease, kind)
      assert.strictEqual(
        yield* verdict({ ...change, cursor: { ...change.cursor, value: "2" } }),
        "StaleFence"
      )
      assert.strictEqual(yield* verdict({ ...credit, cursor: { ...change.cursor, value: "3" } }), "Applied")
      assert.deepStrictEqual(yield* cursorOf(change), Option.some("1"))
    }
  ),
  "an ended withdrawal has no task, whatever its outcome": withWork(
    3,
    Effect.fnUntraced(function* ({ companyId, rows, atMillis }) {
      const tasks = yield* Tasks
      const now = atMillis + 10_000
      const payee = yield* open
      const begun = (yield* claim(now)).map((task, n) => ({
        withdrawal: rows[n] ?? assert.fail(),
        task,
        fence: fence(task)
      }))
      const [paid, failed, internal] = begun
      if (paid === undefined || failed === undefined || internal === undefined) return assert.fail()
      const invoice = yield* created(payee, 1)
      yield* claimFor(internal, invoice)
      const endings = [
        Withdrawal.settled(paid.withdrawal, yield* proof(), paid.fence, now),
        lost(failed.withdrawal, failed.task),
        yield* transfer(internal, invoice)
      ]
      for (const ending of endings) assert.strictEqual(yield* verdict(ending), "Applied", ending._tag)
      assert.deepStrictEqual(yield* claim(now + 10 * lease), [])
      for (const { task } of begun) assert.isFalse(yield* tasks.postpone(task, atMillis))
      assert.deepStrictEqual(yield* claim(now + 10 * lease), [])
      yield* has(companyId, { posted: 1, held: 0 })
      yield* has(payee, { posted: 1, held: 0 })
    })
  ),
  "a refused withdrawal leaves no task": withWork(
    1,
    Effect.fnUntraced(function* ({ companyId, atMillis }) {
      const refused = yield* withdrawal(companyId, 2, { createdAtMillis: atMillis })
      assert.strictEqual(yield* verdict(Withdrawal.requested(refused)), "InsufficientBalance")
      assert.notInclude(ids(yield* claim(atMillis + 10_000)), refused.id)
    })
  )
} satisfies Contract.Promises<Journal | Records | Tasks>

/** Guarantees about when tasks are claimed, and in which order. */
export const other = {
  "tasks are claimed by kind": Effect.gen(function* () {
    const [one, another] = [yield* begun, yield* begun]
    assert.deepStrictEqual(yield* claim(999, 1000, one.kind), [])
    const { token, ...task } = yield* claimOne(1000, one.kind)
    assert.deepStrictEqual(task, {
      kind: one.kind,
      id: one.id,
      companyId: CompanyId.operator,
      lane: "",
      attempts: 1
    })
    assert.isAbove(token, 0)
    assert.notInclude(ids(yield* claim(1_000_000)), another.id)
    assert.strictEqual((yield* claimOne(1000, another.kind)).id, another.id)
  }),
  ...inTurn,
  "a task that is returned with another kind has that kind": Effect.gen(function* () {
    const tasks = yield* Tasks
    const { kind, id } = yield* begun
    const task = yield* claimOne(1000, kind)
    const as = { kind: `${kind} later`, lane: "a.example" }
    assert.isTrue(yield* tasks.postpone(task, 2000, as))
    assert.deepStrictEqual([yield* claim(2000, 10, kind), yield* claim(1999, 10, as.kind)], [[], []])
    const { token, ...again } = yield* claimOne(2000, as.kind)
    assert.deepStrictEqual(again, { ...as, id, companyId: CompanyId.operator, attempts: 2 })
    assert.isTrue(yield* tasks.postpone({ ...again, token }, 3000))
    assert.strictEqual((yield* claimOne(3000, as.kind)).lane, "a.example")
  }),
  "enqueuing a task again leaves it unchanged": Effect.gen(function* () {
    const work = yield* begun
    const task = yield* claimOne(1000, work.kind)
    const again = {
      ...(yield* bare),
      jobs: [Change.enqueue({ ...work, kind: "something else", dueAtMillis: 0 })]
    }
    const changes = [again, { ...(yield* bare), jobs: again.jobs }]
    assert.deepStrictEqual(yield* Effect.forEach(changes, verdict, { concurrency: "unbounded" }), [
      "Applied",
      "Applied"
    ])
    assert.deepStrictEqual(yield* claim(1000, 1000, work.kind), [])
    assert.strictEqual(
      yield* verdict({ ...(yield* bare), fence: fence(task), jobs: [Change.complete(work.id)] }),
      "Applied"
    )
  }),
  "one Change can enqueue and complete several jobs": Effect.gen(function* () {
    const kind = `test ${yield* hex(8)}`
    const [one, two, three] = [yield* Id.make, yield* Id.make, yield* Id.make]
    const jobOf = (id: string) => Change.enqueue({ kind, id, dueAtMillis: 1000 })
    const waiting = (nowMillis: number) =>
      Effect.map(claim(nowMillis, 1000, kind), (tasks) => tasks.map(({ id }) => id).toSorted())
    // Commits them with Changes that have one job or none, because all Changes of a flush are sent together.
    const changes = [
      { ...(yield* bare), jobs: [jobOf(one), jobOf(two)] },
      { ...(yield* bare), jobs: [jobOf(three)] },
      yield* bare
    ]
    assert.deepStrictEqual(yield* Effect.forEach(changes, verdict, { concurrency: "unbounded" }), [
      "Applied",
      "Applied",
      "Applied"
    ])
    assert.deepStrictEqual(yield* waiting(1000), [one, two, three].toSorted())
    const four = yield* Id.make
    const done = { ...(yield* bare), jobs: [Change.complete(one), jobOf(four), Change.complete(three)] }
    assert.strictEqual(yield* verdict(done), "Applied")
    assert.deepStrictEqual(yield* waiting(2000 + lease), [two, four].toSorted())
  }),
  "a completed task is never claimed again, even if the task was completed without a claim": Effect.gen(
    function* () {
      const { kind, id } = yield* begun
      assert.strictEqual(yield* verdict({ ...(yield* bare), jobs: [Change.complete(id)] }), "Applied")
      assert.deepStrictEqual(yield* claim(1000, 1000, kind), [])
    }
  ),
  "a withdrawal's task is due at the time of the request": withWork(
    1,
    Effect.fnUntraced(function* ({ companyId, rows, atMillis }) {
      assert.deepStrictEqual(yield* claim(atMillis - 1), [])
      const { token, ...task } = yield* claimOne(atMillis)
      assert.deepStrictEqual(task, {
        kind: Withdrawal.taskKind,
        id: first(rows).id,
        companyId,
        lane: "",
        attempts: 1
      })
      assert.isAbove(token, 0)
    })
  ),
  "tasks are claimed longest overdue first, up to the limit": withWork(
    7,
    Effect.fnUntraced(function* ({ rows, atMillis }) {
      const now = atMillis + 5000 // the last task is not due yet
      for (const [from, to] of [
        [0, 2],
        [2, 5],
        [5, 6]
      ] as const) {
        assert.deepStrictEqual(ids(yield* claim(now, to === 6 ? 10 : to - from)), ids(rows.slice(from, to)))
      }
      assert.deepStrictEqual(yield* claim(now), [])
    })
  ),
  "a returned task is due at the time that the worker set": withWork(
    2,
    Effect.fnUntraced(function* ({ rows, atMillis }) {
      const tasks = yield* Tasks
      const now = atMillis + 1000
      const [task, other] = yield* claim(now)
      if (task === undefined || other === undefined) return assert.fail()
      assert.isTrue(yield* tasks.postpone(task, now + 2 * lease))
      assert.deepStrictEqual(ids(yield* claim(now + 2 * lease - 1)), [other.id])
      const again = yield* claimOne(now + 2 * lease)
      assert.strictEqual(again.id, first(rows).id)
      assert.isAbove(again.token, task.token)
      assert.isTrue(yield* tasks.postpone(again, now))
      assert.strictEqual((yield* claimOne(now)).id, first(rows).id)
    })
  ),
  "each claim of a task is counted": withWork(
    1,
    Effect.fnUntraced(function* ({ atMillis }) {
      const tasks = yield* Tasks
      for (const attempts of [1, 2, 3, 4]) {
        const task = yield* claimOne(atMillis)
        assert.strictEqual(task.attempts, attempts)
        assert.isTrue(yield* tasks.postpone(task, atMillis))
      }
    })
  )
} satisfies Contract.Promises<Journal | Records | Tasks>

/** The guarantees that every Tasks must provide. Each entry is one guarantee. */
export const promises = { ...money, ...other }

/** Runs the contract against a layer. Nothing else may claim tasks in the layer's store while the contract runs. */
export const suite = Contract.suite<Journal | Records | Tasks, typeof money, typeof other>("Tasks", {
  money,
  other
})
