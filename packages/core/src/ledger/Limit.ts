import * as Msat from "@satrail/bitcoin/Msat"
import { Schema } from "effect"
import type { CompanyId } from "../base/CompanyId.ts"

// What may be sent within a sliding window is counted in the commit that holds it (see Journal), in buckets of time, and never in a process. A bucket counts in
// full until all of it is outside the window: no window of that length, wherever it begins, has more in it than its limit.

/** The windows, and how finely each is counted. A month is 30 days. */
export const windows = {
  hour: { millis: 3_600_000, stepMillis: 60_000 },
  day: { millis: 86_400_000, stepMillis: 1_800_000 },
  month: { millis: 2_592_000_000, stepMillis: 43_200_000 }
} as const

export type Window = keyof typeof windows
export const all: ReadonlyArray<Window> = ["hour", "day", "month"]

/** More than any window has buckets: the place of a bucket is used again by the one that is so many later. */
export const places = 64

/** Limits that are counted, by their names on the wire. */
export const counted = {
  hour_sats: { window: "hour", of: "amount" },
  day_sats: { window: "day", of: "amount" },
  month_sats: { window: "month", of: "amount" },
  day_count: { window: "day", of: "times" }
} as const satisfies { readonly [name: string]: { readonly window: Window; readonly of: "amount" | "times" } }

export type Counted = keyof typeof counted
export const names: ReadonlyArray<Counted> = ["hour_sats", "day_sats", "month_sats", "day_count"]

/** The most that each of them allows: an amount with its fees in msat, or how often. What is absent is not limited. */
export type Most = { readonly [name in Counted]?: bigint }

/** Whom a Change counts for, and what it may come to there. The subject is the id of a key, or of the company. */
export interface Count {
  readonly subject: string
  /** When it is counted. What is given back was counted then. */
  readonly atMillis: number
  readonly most: Most
}

/** For whom a record was counted, and when: what is given back where it comes to nothing. */
export const Noted = Schema.Struct({ atMillis: Schema.Int, subjects: Schema.Array(Schema.String) })
export interface Noted extends Schema.Schema.Type<typeof Noted> {}

/** What was counted in one bucket of a window. */
export interface Spent {
  readonly window: Window
  readonly bucket: number
  /** With fees. */
  readonly amount: Msat.Msat
  readonly times: number
}

/** Which limit was in the way: one that is counted, or one that a single withdrawal is over. */
export const Name = Schema.Literals([...names, "per_withdrawal_sats", "approval_above_sats", "recipient_types", "recipients"])
export type Name = typeof Name.Type

/**
 * Sending this is more than a limit of the key or of its company allows. Nothing was held. `remaining` and `freesAtMillis` are for people to read: a store compares,
 * and leaves them out.
 */
export class LimitExceeded extends Schema.TaggedError<LimitExceeded>()("LimitExceeded", {
  limit: Name,
  of: Schema.Literals(["key", "company"]),
  /** What could still be sent now, with its fees. */
  remaining: Schema.optionalKey(Msat.Msat),
  /** When as much as was asked for will be free, if nothing else is sent by then; null where it never will. */
  freesAtMillis: Schema.optionalKey(Schema.NullOr(Schema.Int))
}) {}

export const exceeded = (limit: Name, subject: string, companyId: CompanyId): LimitExceeded =>
  new LimitExceeded({ limit, of: subject === companyId ? "company" : "key" })

export const bucketOf = (window: Window, atMillis: number): number => Math.floor(atMillis / windows[window].stepMillis)

/** The oldest bucket that is in the window which ends at this time. */
export const oldest = (window: Window, atMillis: number): number => bucketOf(window, atMillis - windows[window].millis)

/** What a window came to in the end: from `since` on, or what is in there at this time. */
export const used = (spent: ReadonlyArray<Spent>, name: Counted, since: number): bigint => {
  const { window, of } = counted[name]
  let sum = 0n
  for (const one of spent) if (one.window === window && one.bucket >= since) sum += of === "amount" ? one.amount : BigInt(one.times)
  return sum
}

/** What is left of a limit at this time: never less than nothing. */
export const left = (spent: ReadonlyArray<Spent>, name: Counted, most: bigint, atMillis: number): bigint => {
  const room = most - used(spent, name, oldest(counted[name].window, atMillis))
  return room > 0n ? room : 0n
}

/** When `need` is free again; null where it is more than the limit itself. */
export const freesAtMillis = (spent: ReadonlyArray<Spent>, name: Counted, most: bigint, need: bigint, atMillis: number): number | null => {
  const { window } = counted[name]
  const { millis, stepMillis } = windows[window]
  if (need > most) return null
  const ends = spent.flatMap((one) => (one.window === window ? [(one.bucket + 1) * stepMillis + millis] : [])).toSorted((a, b) => a - b)
  const fits = (at: number) => need <= left(spent, name, most, at)
  return [atMillis, ...ends.filter((end) => end > atMillis)].find(fits) ?? null
}

/** What is counted for each name that limits: an amount, or one time. */
export const needOf = (name: Counted, amount: bigint): bigint => (counted[name].of === "amount" ? amount : 1n)

/** The first limit that this is over, undefined where it is over none. */
export const over = (spent: ReadonlyArray<Spent>, { most, atMillis }: Count, amount: bigint): Counted | undefined =>
  names.find((name) => {
    const limit = most[name]
    return limit !== undefined && needOf(name, amount) > limit - used(spent, name, oldest(counted[name].window, atMillis))
  })

/** The same with this counted too; what is too old for any window is left out. */
export const add = (spent: ReadonlyArray<Spent>, atMillis: number, amount: bigint, times: 1 | -1): ReadonlyArray<Spent> =>
  all.flatMap((window) => {
    const bucket = bucketOf(window, atMillis)
    const own = spent.filter((one) => one.window === window)
    const newest = Math.max(bucket, ...own.map((one) => one.bucket))
    const kept = own.filter((one) => one.bucket !== bucket && one.bucket > newest - places)
    const same = own.find((one) => one.bucket === bucket)
    if (bucket <= newest - places || (same === undefined && times < 0)) return kept
    return [...kept, { window, bucket, amount: Msat.make((same?.amount ?? 0n) + amount), times: (same?.times ?? 0) + times }]
  })

/** What a Change carries to give back what was counted for it. */
export const returned = (noted: Noted | null): { readonly counts?: ReadonlyArray<Count> } =>
  noted === null ? {} : { counts: noted.subjects.map((subject) => ({ subject, atMillis: noted.atMillis, most: {} })) }

/** What a record notes of these counts. */
export const noted = (counts: ReadonlyArray<Count>): Noted | null => {
  const [first] = counts
  return first === undefined ? null : { atMillis: first.atMillis, subjects: counts.map(({ subject }) => subject) }
}
