import { Context, type Effect } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type { Fence } from "./Change.ts"
import type { StoreUnavailable } from "./Journal.ts"

/** Work that is due. It exists from the Change that enqueues it until the one that completes it. */
export interface Task {
  readonly kind: string
  /** What it is about, such as a withdrawal. */
  readonly id: string
  readonly companyId: CompanyId.CompanyId
  /** What else its turn goes by, within its company: such as the host that has to be asked. Empty where there is nothing. */
  readonly lane: string
  /** Says who has claimed it: each claim gets a higher one, and a Change with an older one is refused. */
  readonly token: number
  /** How often it was claimed, this time included. */
  readonly attempts: number
}

/** A task that was claimed before the claim of a dead process ended. */
export interface TakenOver extends Task {
  /** When that claim would have ended. */
  readonly heldUntilMillis: number
}

/** Whose turn it is where work is claimed in turn: a company, and a lane of it. */
export type Turn = Pick<Task, "companyId" | "lane">

/** The task of a job that was claimed by who enqueued it. */
export const claimedFromStart = (kind: string, id: string, companyId: CompanyId.CompanyId): Task => ({
  kind,
  id,
  companyId,
  lane: "",
  token: 1,
  attempts: 1
})

export const fence = (task: Task): Fence => ({ taskId: task.id, token: task.token })

/** Hands out due work to one worker at a time, among any number of processes. */
export class Tasks extends Context.Service<
  Tasks,
  {
    /**
     * Claims up to `limit` jobs of one kind that are due and unclaimed, the longest due first. A claim ends at
     * `nowMillis + leaseMillis`, unless it is given back or prolonged.
     */
    readonly claim: (ask: {
      readonly kind: string
      readonly nowMillis: number
      readonly leaseMillis: number
      readonly limit: number
      /** The process that claims them, where another may take them over when it dies. */
      readonly holder?: string
    }) => Effect.Effect<ReadonlyArray<Task>, StoreUnavailable>
    /**
     * The same, with companies and their lanes taking turns: at most `perLane` tasks of each, in the order of their ids and lanes, beginning with the
     * turn after `after` (null: with the first). Those in `full` are passed over. What it costs grows with the limit, not with what waits.
     */
    readonly claimInTurn: (ask: {
      readonly kind: string
      readonly nowMillis: number
      readonly leaseMillis: number
      readonly limit: number
      readonly holder?: string
      readonly perLane: number
      readonly after: Turn | null
      readonly full: { readonly companies: ReadonlyArray<CompanyId.CompanyId>; readonly lanes: ReadonlyArray<string> }
    }) => Effect.Effect<ReadonlyArray<Task>, StoreUnavailable>
    /**
     * Records that the process `holder` is alive until `nowMillis + aliveMillis`, and claims up to `limit` jobs of these kinds that a process holds which is
     * no longer alive. Only a process that was alive once can be dead: claims of one that never called this end by themselves.
     */
    readonly takeOver: (ask: {
      readonly holder: string
      readonly kinds: ReadonlyArray<string>
      readonly nowMillis: number
      readonly aliveMillis: number
      readonly leaseMillis: number
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<TakenOver>, StoreUnavailable>
    /**
     * The task can be claimed again from `untilMillis` on: given back, or held for longer. With `as` it is work of that kind and lane from here on.
     * False when another process has claimed it since, or it ended.
     */
    readonly postpone: (
      task: Task,
      untilMillis: number,
      as?: { readonly kind: string; readonly lane: string }
    ) => Effect.Effect<boolean, StoreUnavailable>
    /** Holds all of these until then, together. Answers the ids of those that no other process has claimed since, and that have not ended. */
    readonly renew: (tasks: ReadonlyArray<Task>, untilMillis: number) => Effect.Effect<ReadonlySet<string>, StoreUnavailable>
    /** When the first task of each of these kinds is due, or was. A kind without tasks is left out. */
    readonly dueAt: (kinds: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, number>, StoreUnavailable>
  }
>()("@satrail/core/ledger/Tasks") {}
