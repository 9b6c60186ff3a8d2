import { Clock, Effect } from "effect"
import type { CompanyId } from "../base/CompanyId.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { type TakenOver, type Task, Tasks, type Turn } from "../ledger/Tasks.ts"
import { type Claim, leaseMillis as leaseFor } from "./Claim.ts"
import * as NodePayments from "./NodePayments.ts"
import * as Withdrawal from "./Withdrawal.ts"

/**
 * Limits a claim on one kind of work to `limit` tasks in all and `perLane` tasks per company and lane, and
 * excludes the companies and lanes in `full`.
 */
export interface Share {
  readonly kind: string
  readonly limit: number
  readonly perLane: number
  readonly full: { readonly companies: ReadonlyArray<CompanyId>; readonly lanes: ReadonlyArray<string> }
}

/**
 * Interval at which a process renews its presence, and the time for which it counts as alive without a renewal.
 * Together they ensure that the claims of a killed process are taken over within 12 s.
 */
export const presence = { everyMillis: 4_000, aliveMillis: 8_000 } as const

const kinds = [Withdrawal.taskKind, Withdrawal.recipientKind, Withdrawal.paymentKind, Withdrawal.payoutKind]
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
    /** Duration of each claim. */
    leaseMillis,

    /** Renews this process's presence, and claims the tasks of processes that are no longer alive. */
    takeOver: claim((at) => tasks.takeOver({ kinds, limit: takenOverAtOnce, aliveMillis: presence.aliveMillis, ...at })),

    /** Claims due tasks, longest overdue first. */
    due: (kind: string, limit: number) => claim((at) => tasks.claim({ kind, limit, ...at })),

    /**
     * Creates a function that claims from each company in turn. Each call continues with the next company, and
     * starts over after the last one.
     */
    inTurn: () => {
      let turn: Turn | null = null
      return (share: Share) =>
        claim(
          Effect.fnUntraced(function* (at) {
            let found = yield* tasks.claimInTurn({ ...share, ...at, after: turn })
            if (found.length === 0 && turn !== null) found = yield* tasks.claimInTurn({ ...share, ...at, after: null })
            // If there are fewer tasks than the limit, every company was included.
            turn = found.length < share.limit ? null : (found.at(-1) ?? null)
            return found
          })
        )
    }
  }
})

export type Claims = Effect.Success<typeof make>
