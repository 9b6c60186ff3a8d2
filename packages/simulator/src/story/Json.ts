/** The member of something that came as JSON. */
export const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined

/** The text that this path of members leads to; empty where there is none. */
export const text = (value: unknown, ...path: ReadonlyArray<string>): string => {
  const found = path.reduce(member, value)
  return typeof found === "string" ? found : ""
}

export const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
export const amountIn = (value: unknown, name: string): number => Number(member(value, name) ?? 0)
