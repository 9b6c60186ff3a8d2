import { Effect } from "effect"
import { Invalid } from "../base/Invalid.ts"

/** A position in a list. A page starts after it. */
export interface Position {
  readonly createdAtMillis: number
  readonly id: string
}

/** Records per page, unless the list has its own limits. */
export const limit = { default: 100, maximum: 1000 } as const

/**
 * Requests a page of a list, newest first. `before` is the id of the record that the page precedes; null for
 * the first page.
 */
export interface Asked {
  readonly limit: number
  readonly before: string | null
}

/** `next` is where the next page starts; undefined on the last page. */
export interface Page<A> {
  readonly rows: ReadonlyArray<A>
  readonly next: Position | undefined
}

/**
 * Maximum number of rows that a store scans for one page of a filtered list, so that the cost does not grow
 * with the number of rows filtered out. A page that reaches it may have fewer rows than requested, or none, and
 * the next page resumes there.
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

/**
 * Returns a page of `size` rows. Requests one extra row from `find` to determine whether there is another page
 * without counting rows.
 */
export const pick = <A extends Position, E, R>(
  size: number,
  find: (limit: number) => Effect.Effect<Found<A>, E, R>
): Effect.Effect<Page<A>, Invalid | E, R> => {
  if (!Number.isInteger(size) || size < 1 || size > limit.maximum)
    return Effect.fail(new Invalid({ path: "limit", message: `must be a whole number from 1 to ${limit.maximum}` }))
  return Effect.map(find(size + 1), (found) => {
    const rows = found.rows.slice(0, size)
    return { rows, next: found.rows.length > size ? rows.at(-1) : (found.lookedTo ?? undefined) }
  })
}

/** Returns a page from `find`, which reads up to `limit` records before an id, newest first. */
export const read = <A extends Position, E, R>(
  { limit: size, before }: Asked,
  find: (before: string | null, limit: number) => Effect.Effect<ReadonlyArray<A>, E, R>
): Effect.Effect<Page<A>, Invalid | E, R> => pick(size, (limit) => Effect.map(find(before, limit), (rows) => ({ rows, lookedTo: null })))
