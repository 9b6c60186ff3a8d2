import * as EventTypes from "@satrail/service/core/Catalogue"
import { askedName, plain } from "@satrail/client/Plain"
import * as Catalogue from "@satrail/service/http/pages/Catalogue"
import { all as features } from "@satrail/service/features/http"
import * as Errors from "@satrail/http/wire/Errors"
import type { OwnError } from "@satrail/http/wire/OwnErrors"
import type { SatrailError } from "./Errors.ts"

const ofFeatures: ReadonlyMap<string, OwnError> = new Map(
  features.flatMap(({ errors }) => Object.entries(errors?.table ?? {}))
)

/** Converts `VoucherRefused` to `voucher_refused`. */
const codeOf = (tag: string): string =>
  tag.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase()

type Tagged = Error & { readonly _tag: string; readonly details?: Texts["details"] }
type Texts = Pick<SatrailError, "code" | "message" | "issues" | "details">

const none: Pick<Texts, "issues" | "details"> = { issues: [], details: {} }

/** Matches quoted values, received values, metadata keys, and words, which may have dots. */
const parts = /"(?:[^"\\]|\\.)*"|\(got [^)]*\)|\bmetadata\.\S+|\b[a-z_]+(?:\.[a-z_]+)*\b/g
const isUnchanged = /^(?:["(]|metadata\.)/
const eventTypes: ReadonlySet<string> = new Set(EventTypes.types)

/** Replaces the HTTP API's names of fields, such as `expires_at`, by the names in this package. */
const named = (text: string): string =>
  text.replaceAll(parts, (part) =>
    isUnchanged.test(part) || eventTypes.has(part) ? part : part.replaceAll(/[a-z]+(?:_[a-z]+)+/g, askedName)
  )

const told = (error: Tagged): Texts => {
  const own = ofFeatures.get(error._tag)
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the row was found by the error's tag
  if (own !== undefined) return { ...none, code: own.code, message: own.message(error as never) }
  if (!Errors.isServiceError(error))
    return {
      ...none,
      ...(error.details && { details: error.details }),
      code: codeOf(error._tag),
      message: error.message
    }
  const { message, error: body } = Errors.failureFor(error)
  const { code, issues = [], ...others } = body
  return {
    code,
    message: issues.length > 0 || code === "fee_changed" ? named(message) : message,
    issues: issues.map(({ path, message }) => ({ path: named(path), message: named(message) })),
    details: Object(plain(others))
  }
}

const words: ReadonlyMap<string, { readonly status: number }> = new Map(Object.entries(Catalogue.catalogue))

/**
 * Errors after which the same request may succeed later, because another request came first or the server is
 * down or busy.
 */
const isRetryable = (code: string): boolean => {
  const status = words.get(code)?.status ?? 0
  return status === 429 || status === 503 || code === "conflict" || codeOf("StoreUnavailable") === code
}

/**
 * Errors after which the request may have taken effect, because the store may have committed it before the
 * response was lost.
 */
const unknown: ReadonlySet<string> = new Set(["store_unavailable", "timeout", "stopping", "internal"])

const isTagged = (error: unknown): error is Tagged =>
  error instanceof Error && "_tag" in error && typeof error._tag === "string"

/** Adds the HTTP API's code and message to an error of the service. Returns other errors unchanged. */
export const refusal = (error: unknown): unknown => {
  if (!isTagged(error) || Object.hasOwn(error, "isRetryable")) return error
  const found = told(error)
  const added = {
    ...found,
    paths: found.issues.map(({ path }) => path),
    isRetryable: isRetryable(found.code),
    isUnknown: unknown.has(found.code)
  } satisfies Omit<SatrailError, "_tag" | "name">
  // Without this text, consoles print the fields and the stack of the underlying library.
  const shown = {
    [Symbol.for("nodejs.util.inspect.custom")]: () => `${error._tag} [${found.code}]: ${found.message}`
  }
  const property = (value: unknown) => ({ value, enumerable: false, configurable: true, writable: true })
  for (const name of Reflect.ownKeys({ ...added, ...shown }))
    Object.defineProperty(error, name, property(Reflect.get({ ...added, ...shown }, name)))
  return error
}
