import { assert } from "@effect/vitest"
import * as Id from "@satrail/core/base/Id"
import * as Change from "@satrail/core/ledger/Change"
import * as Cursor from "@satrail/core/ledger/Cursor"
import { Tasks } from "@satrail/core/ledger/Tasks"
import { Effect } from "effect"
import { hex, verdict } from "../Fixtures.ts"

const lease = 30_000

/** Applies jobs in a Change whose only other effect is to set a new cursor. */
const apply = Effect.fnUntraced(function* (...jobs: ReadonlyArray<Change.Job>) {
  const change = Cursor.moved({ source: `test ${yield* hex(8)}`, value: "1" }, yield* Id.make, 1)
  assert.strictEqual(yield* verdict({ ...change, jobs }), "Applied")
})

const claim = Effect.fnUntraced(function* (kind: string, nowMillis: number, limit = 10) {
  return yield* (yield* Tasks).claim({ kind, nowMillis, leaseMillis: lease, limit })
})

/** Guarantees about operations on many tasks. */
export const renewed = {
  "tasks are renewed together, except those claimed by another process": Effect.gen(function* () {
    const tasks = yield* Tasks
    const kind = `test ${yield* hex(8)}`
    const ids = [yield* Id.make, yield* Id.make].toSorted()
    yield* apply(...ids.map((id) => Change.enqueue({ kind, id, dueAtMillis: 1000 })))
    const held = yield* claim(kind, 1000)
    assert.deepStrictEqual([...(yield* tasks.renew(held, 1000 + 2 * lease))].toSorted(), ids)
    assert.deepStrictEqual(yield* claim(kind, 1000 + 2 * lease - 1), [])
    const [taken] = yield* claim(kind, 1000 + 2 * lease, 1)
    assert.deepStrictEqual(
      [...(yield* tasks.renew(held, 1000 + 3 * lease))],
      ids.filter((id) => id !== taken?.id)
    )
  }),
  "`dueAt` returns the time at which each kind's first task is due": Effect.gen(function* () {
    const tasks = yield* Tasks
    const [kind, other] = [`test ${yield* hex(8)}`, `test ${yield* hex(8)}`]
    const [first, second, third] = [yield* Id.make, yield* Id.make, yield* Id.make]
    yield* apply(
      Change.enqueue({ kind, id: first, dueAtMillis: 2000 }),
      Change.enqueue({ kind, id: second, dueAtMillis: 1000 }),
      Change.enqueue({ kind: other, id: third, dueAtMillis: 3000 })
    )
    const due = tasks.dueAt([kind, other, "nobody's kind"])
    assert.deepStrictEqual(
      [...(yield* due)].toSorted(),
      [
        ...new Map([
          [kind, 1000],
          [other, 3000]
        ])
      ].toSorted()
    )
    yield* claim(kind, 1000)
    assert.strictEqual((yield* due).get(kind), 2000)
    yield* apply(Change.complete(first), Change.complete(third))
    assert.deepStrictEqual([...(yield* due)], [[kind, 1000 + lease]])
  })
}
