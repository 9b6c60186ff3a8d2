import * as Suggestion from "@satrail/core/base/Suggestion"

/** An option is unknown, missing or invalid. */
export class OptionsInvalid extends Error {
  readonly _tag = "OptionsInvalid"
  override readonly name = "OptionsInvalid"
  readonly code = "options_invalid"
  readonly isRetryable = false
}

/**
 * Throws if options have an unknown name, because a misspelled one would silently take its default: a misspelled
 * `database` is an embedded one. `names` has every name, which the compiler checks.
 */
export const checkNames = <A extends object>(of: string, given: A, names: { readonly [K in keyof A]-?: true }): void => {
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(names, name)) continue
    const known = Object.keys(names)
    const nearest = Suggestion.member(name, known)
    const hint = nearest === undefined ? `it has ${known.join(", ")}` : `did you mean ${nearest}?`
    throw new OptionsInvalid(`${of} has no option ${JSON.stringify(name)}: ${hint}`)
  }
}
