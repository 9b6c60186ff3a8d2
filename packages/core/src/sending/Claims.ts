import { Clock, Effect } from "effect"
import type { CompanyId } from "../base/CompanyId.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { type TakenOver, type Task, Tasks, type Turn } from "../ledger/Tasks.ts"
import { type Claim, leaseMillis as leaseFor } from "./Claim.ts"
import * as Ways from "./Ways.ts"
import * as Withdrawal from "./Withdrawal.ts"

/** What is claimed of one kind of work: at most `limit` in all, and `perLane` of one company in one lane; nothing of those that are full. */
export interface Share {
  readonly kind: string
  readonly limit: number
  readonly perLane: number
  readonly full: { readonly companies: ReadonlyArray<CompanyId>; readonly lanes: ReadonlyArray<string> }
}

/** How often a process renews its presence, and how long it counts as alive without: claims of a process that was killed are taken over within 12 s. */
export const presence = { everyMillis: 4_000, aliveMillis: 8_000 } as const

const kinds = [Withdrawal.taskKind, Withdrawal.recipientKind, Withdrawal.paymentKind, Withdrawal.payoutKind]
const takenOverAtOnce = 256

/** Claims tasks of withdrawals for the process `holder`, for as long as the node's calls need. */
export const make = Effect.fnUntraced(function* (holder: string) {
  const tasks = yield* Tasks
  const { graceMillis } = yield* Ways.make
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
    /** How long each claim lasts. */
    leaseMillis,

    /** Renews this process's presence, and claims the tasks of processes that are no longer alive. */
    takeOver: claim((at) => tasks.takeOver({ kinds, limit: takenOverAtOnce, aliveMillis: presence.aliveMillis, ...at })),

    /** The longest due first. */
    due: (kind: string, limit: number) => claim((at) => tasks.claim({ kind, limit, ...at })),

    /** A way to claim of each company in turn: it continues after the last company, and begins anew when none is left. */
    inTurn: () => {
      let turn: Turn | null = null
      return (share: Share) =>
        claim(
          Effect.fnUntraced(function* (at) {
            let found = yield* tasks.claimInTurn({ ...share, ...at, after: turn })
            if (found.length === 0 && turn !== null) found = yield* tasks.claimInTurn({ ...share, ...at, after: null })
            // Fewer than were asked for: every company was asked.
            turn = found.length < share.limit ? null : (found.at(-1) ?? null)
            return found
          })
        )
    }
  }
})

export type Claims = Effect.Success<typeof make>
