import { type Counted, counted, names, windows } from "@satrail/core/ledger/Limit"
import type { Change } from "@satrail/core/service/Changes"
import * as Written from "@satrail/core/ledger/Written"
import { all as features } from "../features/index.ts"
import { heldBy } from "../features/Feature.ts"
import { claim } from "./Violation.ts"

/** An amount that counts against limits and was not reversed. */
interface Entry {
  readonly id: string
  readonly subject: string
  readonly atMillis: number
  readonly amount: bigint
}

const counts = new Set<string>(features.flatMap(({ limits }) => limits?.counts ?? []))

const holders = new Map(features.flatMap(({ limits }) => Object.entries(limits?.holders ?? {})))

/** Returns the id of the record for which a Change holds money, or undefined if it holds none. */
const holderOf = (change: Change): string | undefined => {
  const own = Written.is(change) ? holders.get(change._tag)?.(change) : undefined
  if (own !== undefined) return own
  return change._tag === "WithdrawalRequested" || counts.has(change._tag) ? change.id : undefined
}

const givesBack = new Set<string>([
  "WithdrawalFailed",
  "PayoutReleased",
  ...features.flatMap(({ limits }) => limits?.returns ?? [])
])

/**
 * Checks that the total in each window stays within the limit, whenever the window begins. Changes arrive in
 * the order in which they were applied.
 */
export const listener = (): ((change: Change) => void) => {
  let entries: ReadonlyArray<Entry> = []
  /** Ids of records that hold money. A Change sent twice is applied once but reported twice. */
  const heard = new Set<string>()
  /** Maps a record's id to the earlier id under which its amount was counted. */
  const claimed = new Map<string, string>()

  const isWithin = (subject: string, name: Counted, most: bigint, atMillis: number): boolean => {
    const { window, of } = counted[name]
    const { millis } = windows[window]
    const own = entries.filter((one) => one.subject === subject)
    // It is enough to check the windows that begin at an entry and contain this moment.
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
    if (givesBack.has(change._tag))
      entries = entries.filter(({ id }) => id !== (claimed.get(change.id) ?? change.id))
    const id = holderOf(change)
    if (id === undefined || heard.has(id)) return
    heard.add(id)
    for (const { subject, most, ...count } of change.counts ?? []) {
      // Use the commit time instead of the record's time, because the service may have waited for a payee's
      // server in between. If the commit time is earlier, use the record's time.
      const atMillis = Math.max(count.atMillis, change.atMillis)
      entries = [...entries, { id, subject, atMillis, amount: heldBy(change) }]
      for (const name of names) {
        const limit = most[name]
        if (limit !== undefined)
          claim(
            isWithin(subject, name, limit, atMillis),
            `no window exceeds its limit: ${name} of ${subject}`
          )
      }
    }
  }
}
