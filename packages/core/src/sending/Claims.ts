import { Clock, Effect } from "effect"
import * as Id from "../base/Id.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { type TakenOver, type Task, Tasks } from "../ledger/Tasks.ts"
import * as TurnQueue from "../ledger/TurnQueue.ts"
import { type Claim, leaseMillis as leaseFor } from "./Claim.ts"
import * as NodePayments from "./NodePayments.ts"
import * as Withdrawal from "./Withdrawal.ts"

/**
 * Interval at which a process renews its presence, and the time for which it counts as alive without a renewal.
 * Together they ensure that the claims of a killed process are taken over within 12 s.
 */
export const presence = { everyMillis: 4_000, aliveMillis: 8_000 } as const

const takenOverAtOnce = 256

/** Claims withdrawal tasks for this process, for a duration that depends on the node's calls. */
export const make = Effect.gen(function* () {
  const tasks = yield* Tasks
  let holder: string = yield* Id.make
  /** Whether a claim got no response. The store may have made it, and this process does not know of it. */
  let isUnsure = false
  const { graceMillis } = yield* NodePayments.make
  const leaseMillis = leaseFor(graceMillis)

  interface At {
    readonly nowMillis: number
    readonly leaseMillis: number
    readonly holder: string
  }

  const claim = Effect.fnUntraced(function* (
    find: (at: At) => Effect.Effect<ReadonlyArray<Task | TakenOver>, StoreUnavailable>
  ) {
    const nowMillis = yield* Clock.currentTimeMillis
    const found = find({ nowMillis, leaseMillis, holder }).pipe(
      Effect.tapError(({ why }) =>
        Effect.sync(() => {
          if (why === "away") isUnsure = true
        })
      )
    )
    return (yield* found).map((task): Claim => ({ ...task, atMillis: nowMillis, leaseMillis }))
  })

  return {
    leaseMillis,

    /** Returns the current id of this process in its claims. */
    holder: () => holder,

    /**
     * Renews this process's presence, and claims the tasks of processes that are no longer alive. After a claim without
     * a response, the process continues under another id, so that the tasks claimed under the old one are soon taken
     * over.
     */
    takeOver: Effect.gen(function* () {
      if (isUnsure) holder = yield* Id.make
      isUnsure = false
      return yield* claim((at) =>
        tasks.takeOver({
          kinds: Withdrawal.kinds,
          limit: takenOverAtOnce,
          aliveMillis: presence.aliveMillis,
          ...at
        })
      )
    }),

    /** Claims due tasks, longest overdue first. */
    due: (kind: string, limit: number) => claim((at) => tasks.claim({ kind, limit, ...at })),

    /** Creates a function that claims from each company in turn. */
    inTurn: () => {
      const next = TurnQueue.turns(tasks)
      return (share: TurnQueue.Share) => claim((at) => next({ ...share, ...at }))
    }
  }
})

export type Claims = Effect.Success<typeof make>
