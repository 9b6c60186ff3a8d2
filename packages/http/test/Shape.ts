/** Requirements for each field of an object: a description and a predicate. */
export type Shape = Readonly<Record<string, readonly [words: string, is: (value: unknown) => boolean]>>

const matching = (words: string, pattern: RegExp) =>
  [words, (value: unknown) => typeof value === "string" && pattern.test(value)] as const

export const uuid = matching(
  "a UUIDv7",
  /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
)
export const instant = matching("a timestamp with three decimals", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
export const hex32 = matching("32 bytes in hex", /^[0-9a-f]{64}$/)
export const text = matching("text", /./)
export const digits = matching("digits", /^\d+$/)
export const sats = [
  "whole sats",
  (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0
] as const
export const is = (expected: unknown) =>
  [JSON.stringify(expected), (value: unknown) => JSON.stringify(value) === JSON.stringify(expected)] as const
export const nullOr = ([words, check]: readonly [string, (value: unknown) => boolean]) =>
  [`${words} or null`, (value: unknown) => value === null || check(value)] as const

/** Describes unexpected fields of `value`, and fields that don't meet their requirement. */
export const differences = (value: unknown, shape: Shape): ReadonlyArray<string> => {
  const record = new Map(typeof value === "object" && value !== null ? Object.entries(value) : [])
  const more = [...record.keys()]
    .filter((member) => !Object.hasOwn(shape, member))
    .map((member) => `${member} should not be there`)
  const wrong = Object.entries(shape).flatMap(([member, [words, check]]) =>
    record.has(member) && check(record.get(member))
      ? []
      : [`${member} must be ${words}, is ${JSON.stringify(record.get(member))}`]
  )
  return [...more, ...wrong]
}
