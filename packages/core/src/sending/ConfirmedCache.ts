import type { Task } from "../ledger/Tasks.ts"
import type { Destination } from "./Destination.ts"
import type { Withdrawal } from "./Withdrawal.ts"

/** A committed withdrawal and its destination, as parsed from the request. */
export interface Confirmed {
  readonly withdrawal: Withdrawal
  readonly destination: Destination
}

/**
 * Maximum number of withdrawals cached. If more withdrawals are confirmed before the worker takes them, the
 * oldest are read from the store instead.
 */
export const capacity = 256

/**
 * Caches withdrawals confirmed by this process until its worker takes them. The worker need not read them from
 * the store or parse their destinations again.
 */
export const make = () => {
  const rows = new Map<string, Confirmed>()
  return {
    keep: (confirmed: Confirmed): void => {
      rows.set(confirmed.withdrawal.id, confirmed)
      const [oldest] = rows.keys()
      if (rows.size > capacity && oldest !== undefined) rows.delete(oldest)
    },
    /**
     * Returns the confirmed withdrawal on a task's first attempt, because nothing may have changed the
     * withdrawal before that attempt. Undefined if the withdrawal is not cached here, or if the task has been
     * claimed before.
     */
    take: ({ id, attempts }: Task): Confirmed | undefined => {
      const row = rows.get(id)
      rows.delete(id)
      return attempts === 1 ? row : undefined
    }
  }
}
