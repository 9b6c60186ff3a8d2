import type { Task } from "../ledger/Tasks.ts"
import type { PaymentOptions } from "./PaymentOptions.ts"

/** A task claimed by this process, with the start and duration of its claim. */
export interface Claim extends Task {
  readonly atMillis: number
  readonly leaseMillis: number
  /**
   * After a takeover: until when the previous process, which may be slow rather than dead, may still call the
   * node.
   */
  readonly heldUntilMillis?: number
}

// Longer than the slowest node call, and the time that a killed process's work waits for another process. A
// slower holder loses the claim, and the fence prevents duplicate work.
const minLeaseMillis = 30_000

/**
 * Returns the duration of a claim on a withdrawal. Nothing but time stops a call to the node. Calls start in
 * the first half of a claim, and the second half is longer than a call can take, so the next holder of the
 * claim starts after it.
 */
export const leaseMillis = (graceMillis: number): number => Math.max(minLeaseMillis, 2 * graceMillis)

/**
 * Returns whether a node may still be called under this claim. Later, another process may hold the job and
 * have seen the payment fail.
 */
export const mayCall = (claim: Claim, nowMillis: number): boolean => nowMillis <= claim.atMillis + claim.leaseMillis / 2

/** Returns the delay until the next attempt of a task, which grows with each attempt. */
export const laterMillis = (task: Task, { trackMillis: { minimum, maximum } }: PaymentOptions["Service"]): number =>
  Math.min(maximum, minimum * 2 ** Math.min(task.attempts - 1, 20))
