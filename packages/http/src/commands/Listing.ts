/**
 * The routes of a list and of a single record, and the list's columns. Without columns, only single records can
 * be shown.
 */
export interface Listing {
  readonly all?: string
  readonly one?: (id: string) => string
  readonly columns?: ReadonlyArray<string>
  /** The query parameter that selects the next page. */
  readonly after?: "cursor" | "after"
}

export const listed = (all: string, ...columns: ReadonlyArray<string>): Listing => ({
  all,
  one: (id) => `${all}/${id}`,
  columns
})
