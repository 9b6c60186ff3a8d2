import { Context, type Effect } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type { Fence } from "./Change.ts"
import type { StoreUnavailable } from "./Journal.ts"

/** Work in the queue, from the Change that enqueues it to the one that completes it. */
export interface Task {
  readonly kind: string
  /** The subject, such as a withdrawal. */
  readonly id: string
  readonly companyId: CompanyId.CompanyId
  /** Splits a company's tasks into lanes that take turns, for example one per remote host. May be empty. */
  readonly lane: string
  /** Fencing token. Each claim gets a higher one, and a Change with an older one is refused. */
  readonly token: number
  /** Number of claims, including this one. */
  readonly attempts: number
}

/** A task taken over from a dead process before its claim ended. */
export interface TakenOver extends Task {
  /** Time at which the dead process's claim would have ended. */
  readonly heldUntilMillis: number
}

/** The unit that takes turns: a lane of a company. */
export type Turn = Pick<Task, "companyId" | "lane">

/** Returns the task of a job that its enqueuing process has claimed. */
export const claimedFromStart = (kind: string, id: string, companyId: CompanyId.CompanyId): Task => ({
  kind,
  id,
  companyId,
  lane: "",
  token: 1,
  attempts: 1
})

export const fence = (task: Task): Fence => ({ taskId: task.id, token: task.token })

/** Assigns due work to one worker at a time, across any number of processes. */
export class Tasks extends Context.Service<
  Tasks,
  {
    /**
     * Claims up to `limit` due and unclaimed jobs of one kind, most overdue first. A claim ends at
     * `nowMillis + leaseMillis` unless it is released or extended.
     */
    readonly claim: (ask: {
      readonly kind: string
      readonly nowMillis: number
      readonly leaseMillis: number
      readonly limit: number
      /** The claiming process, if others may take over its tasks when it dies. */
      readonly holder?: string
    }) => Effect.Effect<ReadonlyArray<Task>, StoreUnavailable>
    /**
     * Claims tasks so that companies and their lanes take turns. Takes at most `perLane` tasks from each lane,
     * in order of company id and lane, and starts with the turn after `after` (null: the first). Skips the
     * turns in `full`. The cost grows with the limit, not with the number of tasks.
     */
    readonly claimInTurn: (ask: {
      readonly kind: string
      readonly nowMillis: number
      readonly leaseMillis: number
      readonly limit: number
      readonly holder?: string
      readonly perLane: number
      readonly after: Turn | null
      readonly full: {
        readonly companies: ReadonlyArray<CompanyId.CompanyId>
        readonly lanes: ReadonlyArray<string>
      }
    }) => Effect.Effect<ReadonlyArray<Task>, StoreUnavailable>
    /**
     * Records that process `holder` is alive until `nowMillis + aliveMillis`, and claims up to `limit` jobs of
     * these kinds from processes that are no longer alive. Claims of a process that has never called this are
     * not taken over; they expire instead.
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
     * Makes a task claimable from `untilMillis` on, to release it or to hold it longer. `as` changes its kind
     * and lane. Returns false if another process has since claimed the task, or if the task is complete.
     */
    readonly postpone: (
      task: Task,
      untilMillis: number,
      as?: { readonly kind: string; readonly lane: string }
    ) => Effect.Effect<boolean, StoreUnavailable>
    /**
     * Extends these claims until `untilMillis` in one call. Returns the ids of the tasks that no other process
     * has since claimed and that are not complete.
     */
    readonly renew: (
      tasks: ReadonlyArray<Task>,
      untilMillis: number
    ) => Effect.Effect<ReadonlySet<string>, StoreUnavailable>
    /** Returns the due time of the first task of each kind. Kinds without tasks are left out. */
    readonly dueAt: (
      kinds: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, number>, StoreUnavailable>
  }
>()("@satrail/core/ledger/Tasks") {}
