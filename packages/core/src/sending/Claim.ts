import type { Task } from "../ledger/Tasks.ts"
import type { PaymentOptions } from "./PaymentOptions.ts"

/** A task that is ours, since when, and for how long. */
export interface Claim extends Task {
  readonly atMillis: number
  readonly leaseMillis: number
  /** Until when the process from which it was taken over may still call the node, in case it is not dead but slow. */
  readonly heldUntilMillis?: number
}

// Long enough for the slowest node call, and how long a killed process's work waits for another. Who takes longer loses the claim, and the fence sees
// to it that nothing is done twice.
const minLeaseMillis = 30_000

/**
 * How long a withdrawal is claimed for. Nothing but time stops a call to the node: it is made in the first half of a claim, and the second half is longer
 * than it may be under way, so that the holder of the next claim comes after it.
 */
export const leaseMillis = (graceMillis: number): number => Math.max(minLeaseMillis, 2 * graceMillis)

/** Whether a node may still be called under this claim: later than that another process may have the job, and have seen the payment fail. */
export const mayCall = (claim: Claim, nowMillis: number): boolean => nowMillis <= claim.atMillis + claim.leaseMillis / 2

/** How long until a task is looked at again: longer each time. */
export const laterMillis = (task: Task, { trackMillis: { minimum, maximum } }: PaymentOptions["Service"]): number =>
  Math.min(maximum, minimum * 2 ** Math.min(task.attempts - 1, 20))
