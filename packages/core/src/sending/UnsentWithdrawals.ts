import type { Task } from "../ledger/Tasks.ts"

type Claimed = Pick<Task, "id" | "token">

// Maximum number of withdrawals remembered. Beyond it, the oldest are forgotten and wait for the grace period,
// as after a restart.
export const capacity = 10_000

/**
 * Remembers withdrawals known not to have been sent to the node, each with its claim at that time. The holder
 * of the next claim then knows that no call was made in between, and skips the grace period.
 */
export const make = () => {
  const unsent = new Map<string, number>()
  return {
    /** Records that the node was not called under this claim. */
    note: ({ id, token }: Claimed): void => {
      unsent.set(id, token)
      const [oldest] = unsent.keys()
      if (unsent.size > capacity && oldest !== undefined) unsent.delete(oldest)
    },
    /**
     * Returns whether the node was not called under this claim or the previous one, and records the same for this
     * one. Call `forget` before calling the node.
     */
    isStill: ({ id, token }: Claimed): boolean => {
      const noted = unsent.get(id)
      if (noted !== token && noted !== token - 1) return false
      unsent.set(id, token)
      return true
    },
    /** Records that a call is being made. */
    forget: ({ id }: Claimed): void => {
      unsent.delete(id)
    }
  }
}
