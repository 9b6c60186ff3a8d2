/**
 * Routes of a list and of one of its records, and the columns of the list. Without columns there is no list.
 */
export interface Listing {
  readonly all?: string
  readonly one?: (id: string) => string
  readonly columns?: ReadonlyArray<string>
  /** The query parameter of the next page. */
  readonly after?: "cursor" | "after"
}

export const listed = (all: string, ...columns: ReadonlyArray<string>): Listing => ({ all, one: (id) => `${all}/${id}`, columns })
