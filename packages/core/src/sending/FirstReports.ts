/** Maximum number of reports remembered. The oldest is forgotten first, and may then be logged again. */
const capacity = 1000

/** Remembers which problems of payouts were logged, so that later steps do not log them again. */
export const make = () => {
  const known = new Set<string>()
  /** Returns whether this reason is new for this payout. */
  return (payoutId: string, reason: string): boolean => {
    const report = `${payoutId} ${reason}`
    if (known.has(report)) return false
    known.add(report)
    const [oldest] = known
    if (known.size > capacity && oldest !== undefined) known.delete(oldest)
    return true
  }
}
