import { assert } from "@effect/vitest"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Change from "@satrail/core/ledger/Change"
import * as Cursor from "@satrail/core/ledger/Cursor"
import { claimedFromStart, fence, Tasks } from "@satrail/core/ledger/Tasks"
import { Effect } from "effect"
import { hex, unchanged, verdict } from "../Fixtures.ts"
import { renewed } from "./TasksRenewed.ts"

const lease = 30_000

/** A Change that can carry tasks. Its only other effect is to set a new cursor. */
const bare = Effect.gen(function* () {
  return Cursor.moved({ source: `test ${yield* hex(8)}`, value: "1" }, yield* Id.make, 1)
})

const claim = Effect.fnUntraced(function* (kind: string, nowMillis: number) {
  return yield* (yield* Tasks).claim({ kind, nowMillis, leaseMillis: lease, limit: 10 })
})

/** Guarantees about a dead process's tasks, and about operations on many tasks. */
export const takenOver = {
  ...renewed,
  "C19: a task is taken over before its claim ends only from a process that is no longer alive": Effect.gen(
    function* () {
      const [kind, ending] = [`test ${yield* hex(8)}`, `test ${yield* hex(8)}`]
      const tasks = yield* Tasks
      const [own, other] = [yield* Id.make, yield* Id.make]
      const takeOver = (holder: string, nowMillis: number) =>
        tasks.takeOver({
          holder,
          kinds: [kind, ending],
          nowMillis,
          aliveMillis: 10,
          leaseMillis: lease,
          limit: 10
        })
      assert.deepStrictEqual(yield* takeOver(other, 1000), [])
      const [claimed, enqueued, ended] = [yield* Id.make, yield* Id.make, yield* Id.make]
      const jobs = [
        Change.enqueue({ kind, id: claimed, dueAtMillis: 1000 }),
        Change.enqueue({ kind, id: enqueued, dueAtMillis: 1000 + lease, claimedBy: other }),
        Change.enqueue({ kind: ending, id: ended, dueAtMillis: 1021, claimedBy: other })
      ]
      assert.strictEqual(yield* verdict({ ...(yield* bare), jobs }), "Applied")
      const before =
        (yield* tasks.claim({ kind, nowMillis: 1000, leaseMillis: lease, limit: 10, holder: other }))[0] ??
        assert.fail("nothing to claim")
      assert.strictEqual(before.id, claimed)
      assert.deepStrictEqual(yield* takeOver(own, 1010), [])
      assert.deepStrictEqual(yield* takeOver(other, 1010), [])
      assert.deepStrictEqual(yield* takeOver(own, 1020), [])
      const taken = yield* takeOver(own, 1021)
      assert.deepStrictEqual(
        taken.map(({ id, attempts, heldUntilMillis }) => [id, attempts, heldUntilMillis]).toSorted(),
        [claimed, enqueued].map((id) => [id, 2, 1000 + lease]).toSorted()
      )
      // The previous process may still be alive and merely slow. Its commits under the old claim are refused.
      for (const task of [before, claimedFromStart(kind, enqueued, CompanyId.operator)]) {
        assert.strictEqual(yield* unchanged({ ...(yield* bare), fence: fence(task) }), "StaleFence")
      }
      assert.deepStrictEqual(yield* takeOver(other, 1022), [])
      assert.deepStrictEqual(yield* claim(kind, 1021 + lease - 1), [])
      const next = [...(yield* claim(kind, 1021 + lease))]
      assert.strictEqual(next.length, 2)
      // A claim that has ended is not taken over: the task is due, like any other.
      next.push(...(yield* claim(ending, 1021)))
      assert.strictEqual(next.length, 3)
      // These claims name no process, so no other process takes over the tasks.
      assert.deepStrictEqual(yield* takeOver(other, 1021 + lease), [])
      for (const task of next)
        assert.strictEqual(
          yield* verdict({ ...(yield* bare), fence: fence(task), jobs: [Change.complete(task.id)] }),
          "Applied"
        )
    }
  ),
  "C19: a process that slept until others could take over its tasks does not take them over itself":
    Effect.gen(function* () {
      const kind = `test ${yield* hex(8)}`
      const tasks = yield* Tasks
      const [own, other, id] = [yield* Id.make, yield* Id.make, yield* Id.make]
      const takeOver = (holder: string, nowMillis: number) =>
        tasks.takeOver({ holder, kinds: [kind], nowMillis, aliveMillis: 10, leaseMillis: lease, limit: 10 })
      const jobs = [Change.enqueue({ kind, id, dueAtMillis: 1000 })]
      assert.strictEqual(yield* verdict({ ...(yield* bare), jobs }), "Applied")
      assert.deepStrictEqual(yield* takeOver(own, 1000), [])
      const [task = assert.fail("nothing to claim")] = yield* tasks.claim({
        kind,
        nowMillis: 1000,
        leaseMillis: lease,
        limit: 10,
        holder: own
      })
      assert.deepStrictEqual(yield* takeOver(own, 9000), [])
      // It is alive again, so its claim is still good, and other processes respect it.
      assert.deepStrictEqual(yield* takeOver(other, 9005), [])
      assert.strictEqual(
        yield* verdict({ ...(yield* bare), fence: fence(task), jobs: [Change.complete(task.id)] }),
        "Applied"
      )
    })
}
