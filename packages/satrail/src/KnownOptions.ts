import { Invalid } from "@satrail/core/base/Invalid"
import * as Suggestion from "@satrail/core/base/Suggestion"
import { issuesOf } from "@satrail/http/wire/Decoding"
import { Effect, Predicate, Schema, SchemaAST } from "effect"
import type { Parameter } from "./Fields.ts"

/** An option is unknown, missing or invalid. */
export class OptionsInvalid extends Error {
  readonly _tag = "OptionsInvalid"
  override readonly name = "OptionsInvalid"
  readonly code = "options_invalid"
  readonly isRetryable = false
  readonly isUnknown = false
  readonly issues = []
  readonly paths = []
  readonly details = {}
}

/** Returns the error if an option has an unknown name. */
const unknownOption = (of: string, given: object, known: ReadonlyArray<string>) => {
  const name = Object.keys(given).find((one) => !known.includes(one))
  if (name === undefined) return undefined
  const nearest = Suggestion.member(name, known)
  const hint = nearest === undefined ? `it has ${known.join(", ")}` : `did you mean \`${nearest}\`?`
  return { path: name, message: `\`${name}\` is not an option of ${of}; ${hint}` }
}

/** Returns the fields of an object of options, which may be optional or nullable. */
const fieldsOf = (parameter: unknown): object | undefined => {
  if (!Predicate.isObjectKeyword(parameter) || "records" in parameter) return undefined
  if ("fields" in parameter && Predicate.isObject(parameter.fields)) return parameter.fields
  if ("members" in parameter && Array.isArray(parameter.members)) return fieldsOf(parameter.members[0])
  return "schema" in parameter ? fieldsOf(parameter.schema) : undefined
}

/** Whether a parameter is an object of options. */
export const hasFields = (parameter: unknown): boolean => fieldsOf(parameter) !== undefined

const titleOf = (parameter: Parameter | undefined, at: number): string =>
  (parameter && Schema.resolveAnnotations(parameter)?.title) ?? `argument ${at + 1}`

/** The effect of leaving out a field that may be left out, but not be undefined. */
const omitted: Readonly<Record<string, string>> = {
  allowedFrom: "allow any address",
  amount: "let the payer decide",
  apiKey: "apply no limits of a key",
  expiresAt: "let the key work until it is revoked",
  idempotencyKey: "repeat the effect with each call",
  limits: "set no limits",
  maxFee: "accept any fee"
}

/** Returns why a field is refused whose value is undefined. */
const missing = (parameter: unknown, names: ReadonlyArray<string>): string => {
  const field = names.reduce((of, name): unknown => Reflect.get(fieldsOf(of) ?? {}, name), parameter)
  const isOptional = Schema.isSchema(field) && SchemaAST.isOptional(field.ast)
  return isOptional
    ? `must not be undefined; leave it out to ${omitted[names.at(-1) ?? ""] ?? "set no such limit"}`
    : "is required"
}

/** Returns a function that fails if an argument does not fit its schema. The error names the field. */
export const checking = (of: string, parameters: ReadonlyArray<Parameter>) => {
  const decode = Schema.decodeUnknownEffect(Schema.Tuple(parameters), { onExcessProperty: "error" })
  return Effect.fnUntraced(function* (given: ReadonlyArray<unknown>) {
    for (const [at, one] of given.entries()) {
      const known = fieldsOf(parameters[at])
      const unknown =
        known && typeof one === "object" && one !== null
          ? unknownOption(of, one, Object.keys(known))
          : undefined
      if (unknown !== undefined) return yield* new Invalid(unknown)
    }
    yield* Effect.mapError(decode(given.slice(0, parameters.length)), ({ issue }) => {
      const [{ path, message } = { path: "", message: "is invalid" }] = issuesOf("field", issue)
      const [at = "", ...names] = path.split(".")
      const value = path.split(".").reduce<unknown>((of, name) => Object(of)[name], given)
      return new Invalid({
        path: names.length > 0 ? names.join(".") : titleOf(parameters[Number(at)], Number(at)),
        message:
          value === undefined ? missing(parameters[Number(at)], names) : message.replace(`"${at}.`, '"')
      })
    })
  })
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
  const unknown = unknownOption(of, given, known)
  if (unknown !== undefined) throw new OptionsInvalid(unknown.message)
}
