/** Returns a field of a parsed JSON value. */
export const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined

/** Returns the string at this path of field names, or an empty string. */
export const text = (value: unknown, ...path: ReadonlyArray<string>): string => {
  const found = path.reduce(member, value)
  return typeof found === "string" ? found : ""
}

export const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
export const amountIn = (value: unknown, name: string): number => Number(member(value, name) ?? 0)

/** Returns the id of the record that an event is about. */
export const subjectOf = (event: unknown): string =>
  text(event, "data", text(event, "type").startsWith("domain.") ? "domain" : "id")
