import type { Task } from "../ledger/Tasks.ts"
import type { PaymentOptions } from "./PaymentOptions.ts"

/** A task claimed by this process, with the start and duration of its claim. */
export interface Claim extends Task {
  readonly atMillis: number
  readonly leaseMillis: number
  /**
   * The time until which an earlier call may still reach the node: a call by the previous process, which may be
   * slow rather than dead, or a call under this claim that got no response. Until then, no failure is final. Never
   * later than the end of the claim.
   */
  readonly heldUntilMillis?: number
  /** Set if a call under this claim got no response. It is not repeated before `heldUntilMillis`. */
  readonly isCalled?: true
}

/** Returns how long an earlier call may still reach the node; zero or less if none can. */
export const heldMillis = (claim: Claim, nowMillis: number): number =>
  (claim.heldUntilMillis ?? 0) - nowMillis

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
export const mayCall = (claim: Claim, nowMillis: number): boolean =>
  nowMillis <= claim.atMillis + claim.leaseMillis / 2

/** Returns whether a claim has ended, so that another process may hold the job. */
export const isEnded = ({ atMillis, leaseMillis }: Claim, nowMillis: number): boolean =>
  nowMillis >= atMillis + leaseMillis

/** Returns the delay until the next attempt at a task. The delay grows with each attempt. */
export const laterMillis = (
  task: Task,
  { trackMillis: { minimum, maximum } }: PaymentOptions["Service"]
): number => Math.min(maximum, minimum * 2 ** Math.min(task.attempts - 1, 20))
