import { Result, Schema } from "effect"
import * as JsonText from "./JsonText.ts"

/**
 * An exact decimal: `digits` divided by 10 to the power of `scale`. 2.10 is `{ digits: 21n, scale: 1 }`.
 * There are no trailing zeros.
 */
export interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

/** The text is not a number that can be represented exactly. */
export class DecimalInvalid extends Schema.TaggedError<DecimalInvalid>()("DecimalInvalid", {
  reason: Schema.Literals(["malformed", "too_long", "exponent_out_of_range", "not_a_number"]),
  message: Schema.String
}) {}

/**
 * Maximum length of a number's text. The whole supply of bitcoin in msat has 19 digits; the rest allows for
 * redundant zeros.
 */
export const maxLength = 64

/**
 * Largest absolute exponent. Without a limit, the eleven characters `1e999999999` would expand to a gigabyte
 * of digits.
 */
export const maxExponent = 32

const grammar = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

const refuse = (reason: DecimalInvalid["reason"], message: string) =>
  Result.fail(new DecimalInvalid({ reason, message }))

/** Returns a whole number divided by 10 to the power of `scale`: `make(2100n, 2)` is 21. */
export const make = (digits: bigint, scale = 0): Decimal => {
  while (scale > 0 && digits % 10n === 0n) {
    digits /= 10n
    scale -= 1
  }
  return scale < 0 ? { digits: digits * 10n ** BigInt(-scale), scale: 0 } : { digits, scale }
}

/**
 * Parses a JSON number (RFC 8259, section 6): `21.0`, `2.1e-7`, `-1`, `1e3`. No value passes through a float.
 */
export const parse = (text: string): Result.Result<Decimal, DecimalInvalid> => {
  if (text.length > maxLength) return refuse("too_long", `must have at most ${maxLength} characters`)
  const match = grammar.exec(text)
  if (match === null) return refuse("malformed", `must be a decimal number (got "${text}")`)
  const [, sign = "", whole = "", fraction = "", power = "0"] = match
  const exponent = Number(power)
  if (Math.abs(exponent) > maxExponent) {
    return refuse(
      "exponent_out_of_range",
      `must have an exponent between -${maxExponent} and ${maxExponent} (got "${text}")`
    )
  }
  return Result.succeed(make(BigInt(sign + whole + fraction), fraction.length - exponent))
}

/** Formats a decimal: `format({ digits: 21n, scale: 1 })` is "2.1". */
export const format = ({ digits, scale }: Decimal): string => {
  const sign = digits < 0n ? "-" : ""
  const text = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, "0")
  return scale === 0 ? sign + text : `${sign}${text.slice(0, -scale)}.${text.slice(-scale)}`
}

// A number in JSON text ends at the first character outside this set.
const number = /-?\d[\d.eE+-]*/y

const sourceAt = (jsonText: string, at: number): string | undefined => {
  number.lastIndex = at
  return number.exec(jsonText)?.[0]
}

/**
 * Returns the source text of the number in `member` of a JSON object; undefined if the member is not a
 * number.
 */
export const sourceOfJsonMember = (jsonText: string, member: string): string | undefined => {
  const at = JsonText.valueOfMember(jsonText, member)
  return at === undefined ? undefined : sourceAt(jsonText, at)
}

/**
 * Returns the number in `member` of a JSON object, parsed from its source text, so 0.1 is exactly one tenth.
 * Returns `undefined` when the member is absent or null. Members of nested objects are ignored. `jsonText`
 * must be valid JSON.
 */
export const ofJsonMember = (
  jsonText: string,
  member: string
): Result.Result<Decimal | undefined, DecimalInvalid> => {
  const at = JsonText.valueOfMember(jsonText, member)
  if (at === undefined || jsonText.startsWith("null", at)) return Result.succeed(undefined)
  const source = sourceAt(jsonText, at)
  return source === undefined ? refuse("not_a_number", `${member} must be a JSON number`) : parse(source)
}
