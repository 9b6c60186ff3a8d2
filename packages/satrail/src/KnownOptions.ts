import { Invalid } from "@satrail/core/base/Invalid"
import * as Suggestion from "@satrail/core/base/Suggestion"
import { Effect } from "effect"

/** An option is unknown, missing or invalid. */
export class OptionsInvalid extends Error {
  readonly _tag = "OptionsInvalid"
  override readonly name = "OptionsInvalid"
  readonly code = "options_invalid"
  readonly isRetryable = false
}

/** Returns the error if an option has an unknown name. */
const unknownOption = (of: string, given: object, known: ReadonlyArray<string>) => {
  const name = Object.keys(given).find((one) => !known.includes(one))
  if (name === undefined) return undefined
  const nearest = Suggestion.member(name, known)
  const hint = nearest === undefined ? `it has ${known.join(", ")}` : `did you mean \`${nearest}\`?`
  return { path: name, message: `\`${name}\` is not an option of ${of}; ${hint}` }
}

/**
 * Fails if an argument of a method has an unknown field. `known` lists the field names for each argument, or is
 * `*` for a record.
 */
export const checkMembers = (of: string, asked: ReadonlyArray<unknown>, known: ReadonlyArray<string | undefined>) => {
  for (const [at, one] of asked.entries()) {
    const names = known[at]
    if (names === undefined || names === "*" || typeof one !== "object" || one === null) continue
    const unknown = unknownOption(of, one, names.split(" "))
    if (unknown !== undefined) return Effect.fail(new Invalid(unknown))
  }
  return Effect.void
}

/**
 * Throws if an option has an unknown name. Otherwise a misspelled option would silently take its default; for
 * example, a misspelled `database` would select the embedded database. `names` must contain every name, which
 * the compiler checks.
 */
export const checkNames = <A extends object>(of: string, given: A, names: { readonly [K in keyof A]-?: true }): void => {
  const unknown = unknownOption(of, given, Object.keys(names))
  if (unknown !== undefined) throw new OptionsInvalid(unknown.message)
}
