import { SatrailError } from "@satrail/client/Errors"
import * as Suggestion from "@satrail/core/base/Suggestion"
import { Predicate } from "effect"

/** An option is unknown, missing or invalid. */
export class OptionsInvalid extends SatrailError {
  constructor(message: string) {
    super({ status: 400, code: "options_invalid", message })
  }
}

/**
 * Throws if the options are missing, or one has an unknown name. Otherwise a misspelled option would silently
 * take its default; for example, a misspelled `database` would select the embedded database. `names` must contain
 * every name, which the compiler checks.
 */
export const checkNames = <A extends object>(
  of: string,
  given: A,
  names: { readonly [K in keyof A]-?: unknown }
): void => {
  const known = Object.keys(names)
  if (!Predicate.isObjectKeyword(given))
    // Don't echo the value: a URL can contain a password.
    throw new OptionsInvalid(
      `the options of ${of} must be an object with ${known.join(", ")} (got ${given === null ? "null" : typeof given})`
    )
  const name = Object.keys(given).find((one) => !known.includes(one))
  if (name === undefined) return
  const nearest = Suggestion.member(name, known)
  const hint = nearest === undefined ? `it has ${known.join(", ")}` : `did you mean \`${nearest}\`?`
  throw new OptionsInvalid(`\`${name}\` is not an option of ${of}; ${hint}`)
}
