import * as Withdrawal from "./Withdrawal.ts"

/**
 * Maximum number of withdrawals that a process keeps. For any others the time counts from their confirmation, so
 * that each of them fails at some point.
 */
export const mostKept = 10_000

/** Another process may have ended a withdrawal that is kept here. After this time, its place can be taken. */
const keptMillis = 86_400_000

type Began = Pick<Withdrawal.Withdrawal, "id"> & Parameters<typeof Withdrawal.beganAtMillis>[0]

/**
 * Remembers when this process first found the payee of a withdrawal unreachable. Time before that attempt, such
 * as a pause or an outage of the store, must not fail a withdrawal.
 */
export const make = () => {
  const first = new Map<string, number>()
  return {
    /** Forgets a withdrawal, and returns its time. */
    take: (id: string): number | undefined => {
      const atMillis = first.get(id)
      first.delete(id)
      return atMillis
    },
    /** Keeps a withdrawal, and returns the time from which to count. */
    keep: (withdrawal: Began, firstMillis: number, nowMillis: number): number => {
      const [oldest] = first
      if (first.size >= mostKept && oldest !== undefined) {
        if (nowMillis - oldest[1] < keptMillis) return Withdrawal.beganAtMillis(withdrawal)
        first.delete(oldest[0])
      }
      first.set(withdrawal.id, firstMillis)
      return firstMillis
    }
  }
}
