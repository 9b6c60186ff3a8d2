import { Result, Schema } from "effect"
import * as JsonText from "./JsonText.ts"

/** An exact decimal: `digits` divided by 10 to the power of `scale`. 2.10 is `{ digits: 21n, scale: 1 }`, never with a trailing zero. */
export interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

/** The text is no number that can be taken exactly. */
export class DecimalInvalid extends Schema.TaggedError<DecimalInvalid>()("DecimalInvalid", {
  reason: Schema.Literals(["malformed", "too_long", "exponent_out_of_range", "not_a_number"]),
  message: Schema.String
}) {}

/** Longest text read as a number: all of bitcoin in msat takes 19 digits, the rest is room for careless writers. */
export const maxLength = 64

/** Largest exponent either way. Without a bound, `1e999999999` would be eleven characters of input and a gigabyte of digits. */
export const maxExponent = 32

const grammar = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

const refuse = (reason: DecimalInvalid["reason"], message: string) => Result.fail(new DecimalInvalid({ reason, message }))

/** The decimal of a whole number divided by 10 to the power of `scale`: `make(2100n, 2)` is 21. */
export const make = (digits: bigint, scale = 0): Decimal => {
  while (scale > 0 && digits % 10n === 0n) {
    digits /= 10n
    scale -= 1
  }
  return scale < 0 ? { digits: digits * 10n ** BigInt(-scale), scale: 0 } : { digits, scale }
}

/** Reads a number as JSON writes it (RFC 8259, section 6): `21.0`, `2.1e-7`, `-1`, `1e3`. Nothing passes through a float. */
export const parse = (text: string): Result.Result<Decimal, DecimalInvalid> => {
  if (text.length > maxLength) return refuse("too_long", `A number has at most ${maxLength} characters`)
  const match = grammar.exec(text)
  if (match === null) return refuse("malformed", `"${text}" is not a decimal number`)
  const [, sign = "", whole = "", fraction = "", power = "0"] = match
  const exponent = Number(power)
  if (Math.abs(exponent) > maxExponent) {
    return refuse("exponent_out_of_range", `The exponent of "${text}" is outside of -${maxExponent} to ${maxExponent}`)
  }
  return Result.succeed(make(BigInt(sign + whole + fraction), fraction.length - exponent))
}

/** `format({ digits: 21n, scale: 1 })` is "2.1". */
export const format = ({ digits, scale }: Decimal): string => {
  const sign = digits < 0n ? "-" : ""
  const text = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, "0")
  return scale === 0 ? sign + text : `${sign}${text.slice(0, -scale)}.${text.slice(-scale)}`
}

// A number of a JSON text ends where none of these goes on.
const number = /-?\d[\d.eE+-]*/y

/**
 * The number that `member` of a JSON object is, read from its own source text: 0.1 is exactly one tenth.
 * `undefined` when the member is absent or null. A member of the same name deeper inside is another member. `jsonText` is JSON: whoever asks has parsed it.
 */
export const ofJsonMember = (jsonText: string, member: string): Result.Result<Decimal | undefined, DecimalInvalid> => {
  const at = JsonText.valueOfMember(jsonText, member)
  if (at === undefined || jsonText.startsWith("null", at)) return Result.succeed(undefined)
  number.lastIndex = at
  const [source] = number.exec(jsonText) ?? []
  return source === undefined ? refuse("not_a_number", `"${member}" must be a JSON number`) : parse(source)
}
