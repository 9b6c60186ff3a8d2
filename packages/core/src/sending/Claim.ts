import type { Task } from "../ledger/Tasks.ts"
import type { PaymentOptions } from "./PaymentOptions.ts"

/** A task claimed by this process, with the start and duration of its claim. */
export interface Claim extends Task {
  readonly atMillis: number
  readonly leaseMillis: number
  /**
   * After a takeover, the time until which the previous process may still call the node, because that process
   * may be slow rather than dead.
   */
  readonly heldUntilMillis?: number
}

// Longer than the slowest node call. A process that takes longer loses the claim, and the fence prevents
// duplicate work.
const minLeaseMillis = 30_000

/**
 * Returns the duration of a claim on a withdrawal. A call to the node cannot be recalled. Calls start in the
 * first half of a claim, and the second half is longer than a call can take, so the next holder starts only
 * after the call has ended.
 */
export const leaseMillis = (graceMillis: number): number => Math.max(minLeaseMillis, 2 * graceMillis)

/**
 * Returns whether a node may still be called under this claim. After that, another process may hold the job and
 * may have seen the payment fail.
 */
export const mayCall = (claim: Claim, nowMillis: number): boolean => nowMillis <= claim.atMillis + claim.leaseMillis / 2

/** Returns the delay until the next attempt at a task. The delay grows with each attempt. */
export const laterMillis = (task: Task, { trackMillis: { minimum, maximum } }: PaymentOptions["Service"]): number =>
  Math.min(maximum, minimum * 2 ** Math.min(task.attempts - 1, 20))
