import { Effect } from "effect"
import type { CompanyId } from "../base/CompanyId.ts"
import * as FairSlots from "../base/FairSlots.ts"
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

/**
 * Requests a page of a list, newest first. `before` is the id of the record that the page precedes; null for
 * the first page.
 */
export interface Asked {
  readonly limit: number
  readonly before: string | null
}

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
      if (rows.length === size || characters >= maxCharacters) return { rows, next: rows.at(-1) } satisfies Page<A>
      rows.push(row)
      characters += lengthOf(row)
    }
    if (found.rows.length < wanted) return { rows, next: found.lookedTo ?? undefined } satisfies Page<A>
  }
  return { rows, next: rows.at(-1) } satisfies Page<A>
})

/** Returns a page from `find`, which reads up to `limit` records before an id, newest first. */
export const read = <A extends Position, E, R>(
  { limit: size, before }: Asked,
  find: (before: string | null, limit: number) => Effect.Effect<ReadonlyArray<A>, E, R>
): Effect.Effect<Page<A>, Invalid | E, R> =>
  pick(size, (limit, after) => Effect.map(find(after?.id ?? before, limit), (rows) => ({ rows, lookedTo: null })))

/**
 * Maximum number of pages, in total and of each company, and of records of a page, for which other records are read at
 * the same time. These reads share a queue with those of all other requests, which a few pages would fill.
 */
export const pagesAtOnce: FairSlots.Limits = { most: 16, each: 4 }
export const rowsAtOnce = 64

const slots = FairSlots.make(pagesAtOnce)

/** Adds to each record of a company's page what `show` reads of other records. */
export const shown = <A, B, E>(companyId: CompanyId, rows: ReadonlyArray<A>, show: (row: A) => Effect.Effect<B, E>) =>
  slots.run(companyId, Effect.forEach(rows, show, { concurrency: rowsAtOnce }))
