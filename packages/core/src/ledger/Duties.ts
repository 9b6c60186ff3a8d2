import { Clock, Context, Effect, Option, type Scope } from "effect"
import * as Worker from "../base/Worker.ts"
import type { Fence } from "./Change.ts"
import * as Duty from "./Duty.ts"
import { Journal } from "./Journal.ts"
import { fence, type Task, Tasks } from "./Tasks.ts"

// The holder has two more tries before its lease ends, and another process need not wait long for what was given back.
const renewalsPerLease = 3
const looksPerLease = 6

/** Which process does what only one of them does. */
export class Options extends Context.Service<
  Options,
  {
    /** How long a process that died keeps others from its roles, such as listening to a node. Clocks of processes must agree to within a part of it. */
    readonly dutyLeaseMillis: number
  }
>()("@satrail/core/ledger/Duties/Options") {}

export const defaults: Options["Service"] = { dutyLeaseMillis: 6_000 }

/**
 * Does `work` in one process of all, until the scope closes. The holder of the lease renews it; a process that cannot, or finds another holder, stops;
 * who is stopped finishes its step and gives the role back at once. Two may overlap for a moment: what must not be done by both carries the fence.
 */
export const run = Effect.fnUntraced(function* <R>(role: Duty.Role, work: (fence: Fence) => Effect.Effect<void, never, R | Scope.Scope>) {
  const journal = yield* Journal
  const tasks = yield* Tasks
  const { dutyLeaseMillis } = yield* Options
  const now = Clock.currentTimeMillis
  let isBegun = false

  const claim = Effect.gen(function* () {
    const nowMillis = yield* now
    if (!isBegun) yield* journal.commit(Duty.begun(role, nowMillis))
    isBegun = true
    const [task] = yield* tasks.claim({ kind: role, nowMillis, leaseMillis: dutyLeaseMillis, limit: 1 })
    return task && { task, untilMillis: nowMillis + dutyLeaseMillis }
  })

  /** Ends when the lease is lost, or could not be confirmed. */
  const keep = Effect.fnUntraced(function* (task: Task, claimedUntilMillis: number) {
    let untilMillis = claimedUntilMillis
    while ((yield* now) < untilMillis) {
      yield* Effect.sleep(dutyLeaseMillis / renewalsPerLease)
      const nowMillis = yield* now
      const kept = yield* tasks.postpone(task, nowMillis + dutyLeaseMillis).pipe(
        Effect.timeoutOption(Math.max(0, untilMillis - nowMillis)),
        Effect.catchTag("StoreUnavailable", () => Effect.succeedNone)
      )
      if (Option.isSome(kept)) untilMillis = kept.value ? nowMillis + dutyLeaseMillis : 0
    }
    yield* Effect.logWarning("lease: held by another process, or the store did not confirm it", { role })
  })

  const step = Effect.acquireUseRelease(
    claim,
    (held) => (held === undefined ? Effect.void : Effect.scoped(Effect.andThen(work(fence(held.task)), keep(held.task, held.untilMillis)))),
    // A store that is away learns it when the lease ends.
    (held) => (held === undefined ? Effect.void : Effect.flatMap(now, (nowMillis) => Effect.ignore(tasks.postpone(held.task, nowMillis))))
  )
  yield* Worker.runOpen(role, step, Effect.sleep(dutyLeaseMillis / looksPerLease))
})
