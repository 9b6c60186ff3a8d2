import { type Counted, counted, names, windows } from "@satrail/core/ledger/Limit"
import type { Change } from "@satrail/core/service/Changes"
import * as Written from "@satrail/core/ledger/Written"
import { all as features } from "../features/checks.ts"
import { heldBy } from "../features/Feature.ts"
import { claim } from "./Violation.ts"

/** Something that was counted against somebody's limits, and was not given back. */
interface Entry {
  readonly id: string
  readonly subject: string
  readonly atMillis: number
  readonly amount: bigint
}

const counts = new Set<string>(features.flatMap(({ limits }) => limits?.counts ?? []))

const holders = new Map(features.flatMap(({ limits }) => Object.entries(limits?.holders ?? {})))

/** The record that a Change holds money for; undefined where it holds none. */
const holderOf = (change: Change): string | undefined => {
  const own = Written.is(change) ? holders.get(change._tag)?.(change) : undefined
  if (own !== undefined) return own
  return change._tag === "WithdrawalRequested" || counts.has(change._tag) ? change.id : undefined
}

const givesBack = new Set<string>(["WithdrawalFailed", ...features.flatMap(({ limits }) => limits?.returns ?? [])])

/** No window of a limit, wherever it begins, has more in it than the limit. Changes are heard of in the order in which they were applied. */
export const listener = (): ((change: Change) => void) => {
  let entries: ReadonlyArray<Entry> = []
  /** What holds money. A Change that was sent twice is applied once, and heard of twice. */
  const heard = new Set<string>()
  /** What is counted under another id since. */
  const claimed = new Map<string, string>()

  const isWithin = (subject: string, name: Counted, most: bigint, atMillis: number): boolean => {
    const { window, of } = counted[name]
    const { millis } = windows[window]
    const own = entries.filter((one) => one.subject === subject)
    // Each window that has this moment in it begins with one of them.
    return own.every(({ atMillis: from }) => {
      if (from > atMillis || from + millis <= atMillis) return true
      const inside = own.filter((one) => one.atMillis >= from && one.atMillis < from + millis)
      return inside.reduce((sum, { amount }) => sum + (of === "amount" ? amount : 1n), 0n) <= most
    })
  }

  return (change) => {
    for (const { limits } of features) {
      const became = Written.is(change) ? limits?.became?.(change) : undefined
      if (became !== undefined) claimed.set(...became)
    }
    if (givesBack.has(change._tag)) entries = entries.filter(({ id }) => id !== (claimed.get(change.id) ?? change.id))
    const id = holderOf(change)
    if (id === undefined || heard.has(id)) return
    heard.add(id)
    for (const { subject, most, ...count } of change.counts ?? []) {
      // Counted when it is committed: a recipient's server may have been waited for since the record's own time. Never before that.
      const atMillis = Math.max(count.atMillis, change.atMillis)
      entries = [...entries, { id, subject, atMillis, amount: heldBy(change) }]
      for (const name of names) {
        const limit = most[name]
        if (limit !== undefined)
          claim(isWithin(subject, name, limit, atMillis), `no window has more in it than its limit: ${name} of ${subject}`)
      }
    }
  }
}
