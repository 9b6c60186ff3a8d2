import { Clock, Effect } from "effect"
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

/** Claims withdrawal tasks for the process `holder`, for a duration that depends on the node's calls. */
export const make = Effect.fnUntraced(function* (holder: string) {
  const tasks = yield* Tasks
  const { graceMillis } = yield* NodePayments.make
  const leaseMillis = leaseFor(graceMillis)

  interface At {
    readonly nowMillis: number
    readonly leaseMillis: number
    readonly holder: string
  }

  const claim = Effect.fnUntraced(function* (find: (at: At) => Effect.Effect<ReadonlyArray<Task | TakenOver>, StoreUnavailable>) {
    const nowMillis = yield* Clock.currentTimeMillis
    return (yield* find({ nowMillis, leaseMillis, holder })).map((task): Claim => ({ ...task, atMillis: nowMillis, leaseMillis }))
  })

  return {
    leaseMillis,

    /** Renews this process's presence, and claims the tasks of processes that are no longer alive. */
    takeOver: claim((at) => tasks.takeOver({ kinds: Withdrawal.kinds, limit: takenOverAtOnce, aliveMillis: presence.aliveMillis, ...at })),

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
