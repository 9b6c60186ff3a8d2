import * as Msat from "@satrail/bitcoin/Msat"
import { Schema } from "effect"
import type { CompanyId } from "../base/CompanyId.ts"

// Spending within a sliding window is counted in time buckets, in the commit that holds the amount (see
// Journal) and never in process memory. A bucket counts in full until it is entirely outside the window, so
// no window of that length ever exceeds its limit.

/** The windows and the length of their buckets. A month is 30 days. */
export const windows = {
  hour: { millis: 3_600_000, stepMillis: 60_000 },
  day: { millis: 86_400_000, stepMillis: 1_800_000 },
  month: { millis: 2_592_000_000, stepMillis: 43_200_000 }
} as const

export type Window = keyof typeof windows
export const all: ReadonlyArray<Window> = ["hour", "day", "month"]

/** Number of bucket slots, more than any window needs. The bucket `places` steps later reuses the slot. */
export const places = 64

/** Limits with a running total, by their wire names. */
export const counted = {
  hour_sats: { window: "hour", of: "amount" },
  day_sats: { window: "day", of: "amount" },
  month_sats: { window: "month", of: "amount" },
  day_count: { window: "day", of: "times" }
} as const satisfies { readonly [name: string]: { readonly window: Window; readonly of: "amount" | "times" } }

export type Counted = keyof typeof counted
export const names: ReadonlyArray<Counted> = ["hour_sats", "day_sats", "month_sats", "day_count"]

/**
 * Maximum for each limit: an amount in msat including fees, or a number of payments. Absent limits do not
 * apply.
 */
export type Most = { readonly [name in Counted]?: bigint }

/**
 * A subject that a Change counts toward, and its limits. The subject is the id of an API key or of the
 * company.
 */
export interface Count {
  readonly subject: string
  /** The time at which it is counted; for a reversal, the time of the original count. */
  readonly atMillis: number
  readonly most: Most
}

/**
 * The subjects that a record counted toward, and the time of the count, so that the count can be reversed if
 * the record fails.
 */
export const Noted = Schema.Struct({ atMillis: Schema.Int, subjects: Schema.Array(Schema.String) })
export interface Noted extends Schema.Schema.Type<typeof Noted> {}

/** The total of one bucket of a window. */
export interface Spent {
  readonly window: Window
  readonly bucket: number
  /** Includes fees. */
  readonly amount: Msat.Msat
  readonly times: number
}

/** A limit that was exceeded: one with a running total, or one for a single withdrawal. */
export const Name = Schema.Literals([
  ...names,
  "per_withdrawal_sats",
  "approval_above_sats",
  "recipient_types",
  "recipients"
])
export type Name = typeof Name.Type

/**
 * The payment exceeds a limit of the key or the company. Nothing was held. `remaining`, `freesAtMillis` and
 * `advice` are for display only. Stores omit them.
 */
export class LimitExceeded extends Schema.TaggedError<LimitExceeded>()("LimitExceeded", {
  limit: Name,
  of: Schema.Literals(["key", "company"]),
  /** Amount that can still be sent now, including fees. */
  remaining: Schema.optionalKey(Msat.Msat),
  /** Time at which the requested amount will be allowed if nothing else is sent first; null if it never will be. */
  freesAtMillis: Schema.optionalKey(Schema.NullOr(Schema.Int)),
  /** What to do instead, in sentences. */
  advice: Schema.optionalKey(Schema.String)
}) {}

export const exceeded = (limit: Name, subject: string, companyId: CompanyId): LimitExceeded =>
  new LimitExceeded({ limit, of: subject === companyId ? "company" : "key" })

/** The same for an amount that no later time will allow. `most` is the limit, if it is an amount. */
export const never = (
  limit: Name,
  subject: string,
  companyId: CompanyId,
  most: number | undefined
): LimitExceeded =>
  new LimitExceeded({
    ...exceeded(limit, subject, companyId),
    freesAtMillis: null,
    ...(most !== undefined && { remaining: Msat.fromSats(most) })
  })

export const bucketOf = (window: Window, atMillis: number): number =>
  Math.floor(atMillis / windows[window].stepMillis)

/** Returns the oldest bucket in the window that ends at this time. */
export const oldest = (window: Window, atMillis: number): number =>
  bucketOf(window, atMillis - windows[window].millis)

/** Returns the total of a window's buckets from bucket `since` on. */
export const used = (spent: ReadonlyArray<Spent>, name: Counted, since: number): bigint => {
  const { window, of } = counted[name]
  let sum = 0n
  for (const one of spent)
    if (one.window === window && one.bucket >= since) sum += of === "amount" ? one.amount : BigInt(one.times)
  return sum
}

/** Returns the remaining part of a limit at this time, never below zero. */
export const left = (spent: ReadonlyArray<Spent>, name: Counted, most: bigint, atMillis: number): bigint => {
  const room = most - used(spent, name, oldest(counted[name].window, atMillis))
  return room > 0n ? room : 0n
}

/** Returns the time at which `need` more will be allowed; null if it exceeds the limit itself. */
export const freesAtMillis = (
  spent: ReadonlyArray<Spent>,
  name: Counted,
  most: bigint,
  need: bigint,
  atMillis: number
): number | null => {
  const { window } = counted[name]
  const { millis, stepMillis } = windows[window]
  if (need > most) return null
  const ends = spent
    .flatMap((one) => (one.window === window ? [(one.bucket + 1) * stepMillis + millis] : []))
    .toSorted((a, b) => a - b)
  const fits = (at: number) => used(spent, name, oldest(window, at)) + need <= most
  return [atMillis, ...ends.filter((end) => end > atMillis)].find(fits) ?? null
}

/** Returns how much a payment counts toward a limit: its amount, or one payment. */
export const needOf = (name: Counted, amount: bigint): bigint => (counted[name].of === "amount" ? amount : 1n)

/** Returns the first limit that the amount exceeds; undefined if there is none. */
export const over = (
  spent: ReadonlyArray<Spent>,
  { most, atMillis }: Count,
  amount: bigint
): Counted | undefined =>
  names.find((name) => {
    const limit = most[name]
    return (
      limit !== undefined &&
      needOf(name, amount) > limit - used(spent, name, oldest(counted[name].window, atMillis))
    )
  })

/**
 * Adds an amount to its buckets. A slot that is in use by a newer bucket, because the clock was ahead, counts the
 * amount in that one.
 */
export const add = (
  spent: ReadonlyArray<Spent>,
  atMillis: number,
  amount: bigint,
  times: 1 | -1
): ReadonlyArray<Spent> =>
  all.reduce((before, window) => {
    const bucket = bucketOf(window, atMillis)
    const slot = before.find((one) => one.window === window && one.bucket % places === bucket % places)
    if (times < 0 && slot?.bucket !== bucket) return before
    const used = slot !== undefined && slot.bucket >= bucket ? slot : { bucket, amount: 0n, times: 0 }
    const now: Spent = {
      window,
      bucket: used.bucket,
      amount: Msat.make(used.amount + amount),
      times: used.times + times
    }
    return [...before.filter((one) => one !== slot), now]
  }, spent)

/** Returns the part of a Change that reverses an earlier count. */
export const returned = (noted: Noted | null): { readonly counts?: ReadonlyArray<Count> } =>
  noted === null
    ? {}
    : { counts: noted.subjects.map((subject) => ({ subject, atMillis: noted.atMillis, most: {} })) }

/** Returns these counts in the form that a record stores. */
export const noted = (counts: ReadonlyArray<Count>): Noted | null => {
  const [first] = counts
  return first === undefined
    ? null
    : { atMillis: first.atMillis, subjects: counts.map(({ subject }) => subject) }
}
