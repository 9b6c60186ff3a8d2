/** Where a list is, where one record of it is, and which columns the list has. What has no columns is no list. */
export interface Kind {
  readonly all?: string
  readonly one?: (id: string) => string
  readonly columns?: ReadonlyArray<string>
  /** By what the next page is asked for. */
  readonly after?: "cursor" | "after"
}

export const listed = (all: string, ...columns: ReadonlyArray<string>): Kind => ({ all, one: (id) => `${all}/${id}`, columns })
