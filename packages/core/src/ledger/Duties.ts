import { Clock, Context, Effect, Latch, Layer, Option, type Scope } from "effect"
import * as Worker from "../base/Worker.ts"
import type { Fence } from "./Change.ts"
import * as Duty from "./Duty.ts"
import { Journal } from "./Journal.ts"
import { fence, type Task, Tasks } from "./Tasks.ts"
import { Wakes } from "./Wakes.ts"

// If one renewal fails, two more attempts follow before the lease ends.
const renewalsPerLease = 3

/** Settings for leader leases. */
export class Options extends Context.Service<
  Options,
  {
    /**
     * Time for which a dead process blocks its roles, such as listening to a node. Process clocks must agree to
     * within a fraction of this time.
     */
    readonly dutyLeaseMillis: number
  }
>()("@satrail/core/ledger/Duties/Options") {}

export const defaults: Options["Service"] = { dutyLeaseMillis: 6_000 }

/** The leases of a process, which are renewed in one call. */
export class Leases extends Context.Service<
  Leases,
  {
    /**
     * Keeps renewing the lease, which would otherwise end at `untilMillis`. Returns the reason when the lease is
     * lost, or undefined if it ended without a failed renewal: the clock moved, or the process was suspended.
     */
    readonly keep: (task: Task, untilMillis: number) => Effect.Effect<string | undefined>
  }
>()("@satrail/core/ledger/Duties/Leases") {}

const makeLeases = Effect.gen(function* () {
  const tasks = yield* Tasks
  const { dutyLeaseMillis } = yield* Options
  const now = Clock.currentTimeMillis
  const held = new Set<{
    readonly task: Task
    untilMillis: number
    lost: string | undefined
    readonly changed: Latch.Latch
  }>()
  const isHeld = yield* Latch.make(false)

  const renew = Effect.gen(function* () {
    if (held.size === 0) return void isHeld.closeUnsafe()
    const nowMillis = yield* now
    const all = [...held].filter((one) => one.untilMillis > nowMillis)
    if (all.length === 0) return
    const untilMillis = nowMillis + dutyLeaseMillis
    const patience = Math.max(...all.map((one) => one.untilMillis - nowMillis))
    for (const one of all) one.lost = "the store did not confirm it"
    const asked = tasks.renew(
      all.map(({ task }) => task),
      untilMillis
    )
    const kept = yield* Effect.option(Effect.timeout(asked, patience))
    if (Option.isNone(kept)) return
    for (const one of all) {
      const isKept = kept.value.has(one.task.id)
      one.untilMillis = isKept ? untilMillis : 0
      one.lost = isKept ? undefined : "another process holds it"
      if (!isKept) one.changed.openUnsafe()
    }
  })
  const pauseMillis = dutyLeaseMillis / renewalsPerLease
  yield* Worker.runOpen("leases", renew, Effect.andThen(isHeld.await, Effect.sleep(pauseMillis)), pauseMillis)

  return Leases.of({
    keep: (task, untilMillis) =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          const one = { task, untilMillis, lost: undefined, changed: Latch.makeUnsafe(false) }
          held.add(one)
          isHeld.openUnsafe()
          return one
        }),
        Effect.fnUntraced(function* (one) {
          for (
            let leftMillis = one.untilMillis - (yield* now);
            leftMillis > 0;
            leftMillis = one.untilMillis - (yield* now)
          )
            yield* Effect.raceFirst(one.changed.await, Effect.sleep(leftMillis))
          return one.lost
        }),
        (one) => Effect.sync(() => held.delete(one))
      )
  })
})

export const layer = Layer.effect(Leases, makeLeases)

/**
 * Runs `work` in only one process at a time, until the scope closes. The leader renews its lease. If it
 * cannot, or if another process holds the lease, it stops. A stopped process finishes its step and releases
 * the role immediately. Two leaders can overlap briefly, so Changes that must not happen twice carry the
 * fence.
 */
export const run = Effect.fnUntraced(function* <R>(
  role: string,
  work: (fence: Fence) => Effect.Effect<void, never, R | Scope.Scope>
) {
  const journal = yield* Journal
  const tasks = yield* Tasks
  const leases = yield* Leases
  const wakes = yield* Wakes
  const { dutyLeaseMillis } = yield* Options
  const now = Clock.currentTimeMillis
  let isStarted = false

  const claim = Effect.gen(function* () {
    const nowMillis = yield* now
    if (!isStarted) yield* journal.commit(Duty.started(role, nowMillis))
    isStarted = true
    const [task] = yield* tasks.claim({ kind: role, nowMillis, leaseMillis: dutyLeaseMillis, limit: 1 })
    return task && { task, untilMillis: nowMillis + dutyLeaseMillis }
  })

  const keep = (task: Task, untilMillis: number) =>
    Effect.flatMap(leases.keep(task, untilMillis), (reason) =>
      reason === undefined
        ? Effect.logDebug("lease: ended before it was renewed", { role })
        : Effect.logWarning("lease: lost", { role, reason })
    )

  // If the store is unavailable, the lease expires instead.
  const giveBack = (task: Task) =>
    Effect.flatMap(now, (nowMillis) =>
      Effect.ignore(
        Effect.tap(tasks.postpone(task, nowMillis), (isKept) =>
          isKept ? wakes.tell({ topic: role, atMillis: nowMillis }) : Effect.void
        )
      )
    )

  const step = Effect.acquireUseRelease(
    claim,
    (held) =>
      held === undefined
        ? Effect.void
        : Effect.scoped(Effect.andThen(work(fence(held.task)), keep(held.task, held.untilMillis))),
    (held) => (held === undefined ? Effect.void : giveBack(held.task))
  )
  yield* Worker.runOpen(role, step, yield* wakes.listen(role))
})
