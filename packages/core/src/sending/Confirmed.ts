import type { Task } from "../ledger/Tasks.ts"
import type * as Withdrawal from "./Withdrawal.ts"

/** How many are kept: what a burst confirms before the worker has taken it up. Of more than these the oldest are read again. */
export const kept = 256

/** What a process has confirmed and its worker has not taken up yet, so that it is not read back from the store. */
export const make = () => {
  const rows = new Map<string, Withdrawal.Withdrawal>()
  return {
    keep: (withdrawal: Withdrawal.Withdrawal): void => {
      rows.set(withdrawal.id, withdrawal)
      const [oldest] = rows.keys()
      if (rows.size > kept && oldest !== undefined) rows.delete(oldest)
    },
    /** Under its first claim it is what was confirmed: until then nobody may change it. Undefined where it is not known here, or somebody had it before. */
    take: ({ id, attempts }: Task): Withdrawal.Withdrawal | undefined => {
      const row = rows.get(id)
      rows.delete(id)
      return attempts === 1 ? row : undefined
    }
  }
}
