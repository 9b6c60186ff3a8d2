import { Context, type Effect } from "effect"
import type { Fence } from "./Change.ts"
import type { StoreUnavailable } from "./Journal.ts"

/** Work that is due: so far always the sending of a withdrawal. It exists from `WithdrawalRequested` until the withdrawal ends. */
export interface Task {
  /** The withdrawal's id. */
  readonly id: string
  readonly companyId: string
  /** Says who has claimed it: each claim gets a higher one, and a Change with an older one is refused. */
  readonly token: number
  /** How often it was claimed, this time included. */
  readonly attempts: number
}

export const fence = (task: Task): Fence => ({ taskId: task.id, token: task.token })

/** Hands out due work to one worker at a time, among any number of processes. */
export class Tasks extends Context.Service<
  Tasks,
  {
    /** Claims up to `limit` tasks that are due and that nobody holds, the longest due first. A claim that is not given back ends at `nowMillis + leaseMillis`. */
    readonly claim: (ask: {
      readonly nowMillis: number
      readonly leaseMillis: number
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<Task>, StoreUnavailable>
    /** Gives the task back, to be claimed again from `untilMillis` on. False when somebody else has claimed it since. */
    readonly postpone: (task: Task, untilMillis: number) => Effect.Effect<boolean, StoreUnavailable>
  }
>()("core/Tasks") {}
