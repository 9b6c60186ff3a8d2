import { Effect } from "effect"

/** Reads a page of rows after a row. null reads the first page. */
export type Read<A, E, R = never> = (after: A | null) => Effect.Effect<ReadonlyArray<A>, E, R>

/**
 * Reads pages in order, and processes each before reading the next. A page with fewer than `size` rows is the
 * last.
 */
export const each = Effect.fnUntraced(function* <A, E, R, E2, R2>(
  size: number,
  read: Read<A, E, R>,
  work: (page: ReadonlyArray<A>) => Effect.Effect<unknown, E2, R2>
) {
  let after: A | null = null
  do {
    const page: ReadonlyArray<A> = yield* read(after)
    yield* work(page)
    after = page.length < size ? null : (page.at(-1) ?? null)
  } while (after !== null)
})

/** Returns the rows of all pages. */
export const all = Effect.fnUntraced(function* <A, E, R>(size: number, read: Read<A, E, R>) {
  const rows: Array<A> = []
  yield* each(size, read, (page) => Effect.sync(() => rows.push(...page)))
  return rows
})
