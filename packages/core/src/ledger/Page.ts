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

/** A page of what `find` answers: at most so many records before one, the newest first. */
export const read = <A extends Position, E, R>(
  { limit: size, before }: Asked,
  find: (before: string | null, limit: number) => Effect.Effect<ReadonlyArray<A>, E, R>
): Effect.Effect<Page<A>, Invalid | E, R> => {
  if (!Number.isInteger(size) || size < 1 || size > limit.maximum)
    return Effect.fail(new Invalid({ path: "limit", message: `A whole number from 1 to ${limit.maximum}` }))
  // One more than requested shows whether there is another page, without counting.
  return Effect.map(find(before, size + 1), (found) => {
    const rows = found.slice(0, size)
    return { rows, next: found.length > size ? rows.at(-1) : undefined }
  })
}
