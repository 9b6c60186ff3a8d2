import type { Task } from "../ledger/Tasks.ts"

type Claimed = Pick<Task, "id" | "token">

// Who has forgotten that a payment was never sent waits for the grace, as after a restart.
export const maxUnsent = 10_000

/**
 * Remembers withdrawals of which no call has reached the node or ever will, with the claim under which that is so. The next holder of the claim knows that no node was
 * called in between, and need not wait for the grace.
 */
export const make = () => {
  const unsent = new Map<string, number>()
  return {
    /** The node was not called under this claim. */
    note: ({ id, token }: Claimed): void => {
      for (const oldest of unsent.keys()) if (unsent.size >= maxUnsent) unsent.delete(oldest)
      unsent.set(id, token)
    },
    /** Whether it was not called under the claim before this one. Then it was not under this one either, until it is. */
    isStill: ({ id, token }: Claimed): boolean => {
      if (unsent.get(id) !== token - 1) return false
      unsent.set(id, token)
      return true
    },
    /** A call is made. */
    forget: ({ id }: Claimed): void => {
      unsent.delete(id)
    }
  }
}
