import { Effect } from "effect"
import { Invalid } from "../base/Invalid.ts"

/** Where a page starts: right after this line. */
export interface Position {
  readonly createdAtMillis: number
  readonly id: string
}

/** How many records a page has, unless its list says otherwise. */
export const limit = { default: 100, maximum: 1000 } as const

/** Which page of a list, the newest first: what is before the record with this id; null is the first page. */
export interface Asked {
  readonly limit: number
  readonly before: string | null
}

/** `next` is where the page after it starts, undefined when there is none. */
export interface Page<A> {
  readonly rows: ReadonlyArray<A>
  readonly next: Position | undefined
}

/**
 * How many rows of a list a store looks at for one page that picks among them, by status for example: what a page costs does not grow with what it leaves
 * out. A page that looked at so many has fewer rows than was asked for, or none, and goes on where it stopped.
 */
export const looks = 10_000

/** Rows that a store found, the newest first. */
export interface Found<A> {
  readonly rows: ReadonlyArray<A>
  /** Where it stopped looking before it had found as many as were asked for; null where there are no more. */
  readonly lookedTo: Position | null
}

/** The page of `size` rows that `find` has, when it is asked for one more: that shows whether there is another page, without counting. */
export const pick = <A extends Position, E, R>(
  size: number,
  find: (limit: number) => Effect.Effect<Found<A>, E, R>
): Effect.Effect<Page<A>, Invalid | E, R> => {
  if (!Number.isInteger(size) || size < 1 || size > limit.maximum)
    return Effect.fail(new Invalid({ path: "limit", message: `A whole number from 1 to ${limit.maximum}` }))
  return Effect.map(find(size + 1), (found) => {
    const rows = found.rows.slice(0, size)
    return { rows, next: found.rows.length > size ? rows.at(-1) : (found.lookedTo ?? undefined) }
  })
}

/** A page of what `find` answers: at most so many records before one, the newest first. */
export const read = <A extends Position, E, R>(
  { limit: size, before }: Asked,
  find: (before: string | null, limit: number) => Effect.Effect<ReadonlyArray<A>, E, R>
): Effect.Effect<Page<A>, Invalid | E, R> => pick(size, (limit) => Effect.map(find(before, limit), (rows) => ({ rows, lookedTo: null })))
