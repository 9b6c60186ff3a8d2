import { Effect } from "effect"
import type { CompanyId } from "../base/CompanyId.ts"
import * as FairSlots from "../base/FairSlots.ts"
import * as Id from "../base/Id.ts"
import { Invalid } from "../base/Invalid.ts"

/** A position in a list. A page starts after it. */
export interface Position {
  readonly createdAtMillis: number
  readonly id: string
}

/** Records per page, unless the list has its own limits. */
export const limit = { default: 100, maximum: 1000 } as const

/**
 * Maximum length of all texts of a page, in UTF-16 code units. The page ends with the record that reaches it,
 * because a thousand records with large metadata would take 200 MB of memory. It leaves 2000 for each of a
 * thousand records, which is more than most have.
 */
export const maxCharacters = 2_000_000

/**
 * Number of records read at a time, so that little more is read from the store than the page contains. One read
 * is enough for a page of the default size.
 */
export const atOnce = limit.default + 1

/** Selects records by the time of their creation. Both bounds are exclusive. */
export interface Period {
  readonly createdAfterMillis?: number
  readonly createdBeforeMillis?: number
}

/**
 * Requests a page of a list, newest first. `before` is the id of the record that the page precedes; null for
 * the first page.
 */
export interface Asked {
  readonly limit: number
  readonly before: string | null
}

/** Requests a page of a list that can be filtered by time. */
export interface Dated extends Asked, Period {}

/** `next` is where the next page starts; undefined on the last page. A page before it may not be full. */
export interface Page<A> {
  readonly rows: ReadonlyArray<A>
  readonly next: Position | undefined
}

/**
 * Maximum number of rows that a store scans for the rows read at a time, so that the cost does not grow with
 * the number of rows filtered out. A page that reaches it may have fewer rows than requested, or none, and the
 * next page resumes there.
 */
export const looks = 10_000

/** Rows returned by a store, newest first. */
export interface Found<A> {
  readonly rows: ReadonlyArray<A>
  /**
   * Position at which the scan stopped without finding the requested number of rows; null if there are no more
   * rows.
   */
  readonly lookedTo: Position | null
}

/** Returns the length of all texts in a value, at any depth. */
export const charactersOf = (value: unknown): number => {
  if (typeof value === "string") return value.length
  if (typeof value !== "object" || value === null) return 0
  let sum = 0
  for (const one of Object.values(value)) sum += charactersOf(one)
  return sum
}

/**
 * Like `charactersOf`, for lists that are read often: the other texts of their records have at most a few thousand
 * characters, and to count them would cost a fifth of a request.
 */
export const ofMetadata = (row: Position): number => ("metadata" in row ? charactersOf(row.metadata) : 0)

/**
 * Returns a page of up to `size` rows, which ends early at `maxCharacters`. `find` reads up to `limit` rows after
 * a position; undefined for the first rows. One extra row is read to determine whether there is another page
 * without counting rows.
 */
export const pick = Effect.fnUntraced(function* <A extends Position, E, R>(
  size: number,
  find: (limit: number, after: Position | undefined) => Effect.Effect<Found<A>, E, R>,
  lengthOf: (row: Position) => number = charactersOf
) {
  if (!Number.isInteger(size) || size < 1 || size > limit.maximum)
    return yield* new Invalid({ path: "limit", message: `must be a whole number from 1 to ${limit.maximum}` })
  const rows: Array<A> = []
  let characters = 0
  while (characters < maxCharacters) {
    const wanted = Math.min(size + 1 - rows.length, atOnce)
    const found = yield* find(wanted, rows.at(-1))
    for (const row of found.rows) {
      if (rows.length === size || characters >= maxCharacters)
        return { rows, next: rows.at(-1) } satisfies Page<A>
      rows.push(row)
      characters += lengthOf(row)
    }
    if (found.rows.length < wanted) return { rows, next: found.lookedTo ?? undefined } satisfies Page<A>
  }
  return { rows, next: rows.at(-1) } satisfies Page<A>
})

/**
 * Longest time by which a record may be created after its id. Some records get their id first and then wait for a node,
 * within the time limit of a request.
 */
const idLeadMillis = 60_000

/** Maximum number of records that are read for a page whose filter needs other records, as a checkout's status does. */
export const looksWithOthers = 1000

/**
 * Returns a page from `find`, which reads up to `limit` records before an id, newest first. A record's id contains its
 * time, so only records of the requested period are read, and those of the minute before it. `keep` returns the matching
 * ones of these records.
 */
export const filtered = <A extends Position, B extends Position, E, R>(
  { limit: size, before, createdAfterMillis = -Infinity, createdBeforeMillis = Infinity }: Dated,
  find: (before: string | null, limit: number) => Effect.Effect<ReadonlyArray<A>, E, R>,
  keep: (rows: ReadonlyArray<A>) => Effect.Effect<ReadonlyArray<B>, E, R>
): Effect.Effect<Page<B>, Invalid | E, R> => {
  const until = Id.floorOf(createdBeforeMillis)
  const begin = createdBeforeMillis === Infinity || (before !== null && before < until) ? before : until
  const since = Id.floorOf(createdAfterMillis - idLeadMillis)
  const isIn = ({ createdAtMillis }: A) =>
    createdAtMillis > createdAfterMillis && createdAtMillis < createdBeforeMillis
  return pick(
    size,
    Effect.fnUntraced(function* (limit, after) {
      const rows: Array<B> = []
      let at = after?.id ?? begin
      for (let looked = 0; ; looked += limit) {
        const found = yield* find(at, limit)
        rows.push(...(yield* keep(found.filter(isIn))))
        const last = found.at(-1)
        if (last === undefined || found.length < limit || last.id < since) return { rows, lookedTo: null }
        if (rows.length >= limit || looked >= looksWithOthers)
          return { rows, lookedTo: { createdAtMillis: last.createdAtMillis, id: last.id } }
        at = last.id
      }
    })
  )
}

/** Returns a page of all records of the requested period, as `filtered` does. */
export const read = <A extends Position, E, R>(
  asked: Dated,
  find: (before: string | null, limit: number) => Effect.Effect<ReadonlyArray<A>, E, R>
): Effect.Effect<Page<A>, Invalid | E, R> => filtered(asked, find, Effect.succeed)

/**
 * Maximum number of pages, in total and of each company, and of records of a page, for which other records are read at
 * the same time. These reads share a queue with those of all other requests, which a few pages would fill.
 */
export const pagesAtOnce: FairSlots.Limits = { most: 16, each: 4 }
export const rowsAtOnce = 64

const slots = FairSlots.make(pagesAtOnce)

/** Adds to each record of a company's page what `show` reads of other records. */
export const shown = <A, B, E>(
  companyId: CompanyId,
  rows: ReadonlyArray<A>,
  show: (row: A) => Effect.Effect<B, E>
) => slots.run(companyId, Effect.forEach(rows, show, { concurrency: rowsAtOnce }))
