import { SatrailError } from "@satrail/client/Errors"
import { plain } from "@satrail/client/Plain"
import * as Errors from "@satrail/http/wire/Errors"

/** Converts `DirectoryLocked` to `directory_locked`. */
const codeOf = (tag: string): string =>
  tag.replace(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter}`).toLowerCase()

const isTagged = (error: unknown): error is Error & { readonly _tag: string } =>
  error instanceof Error && "_tag" in error && typeof error._tag === "string"

const failed = ({ status, message, error }: Errors.Failure, cause?: unknown): SatrailError => {
  const { code, issues = [], ...details } = error
  return new SatrailError({ status, code, message, issues, details: Object(plain(details)) }, { cause })
}

/** Converts an error of the service to the client's error, with the API's code and message. Returns other errors unchanged. */
export const refusal = (cause: unknown): unknown => {
  if (Errors.isFailure(cause)) return failed(cause)
  if (!isTagged(cause)) return cause
  if (Errors.isServiceError(cause)) return failed(Errors.failureFor(cause), cause)
  return new SatrailError({ status: 500, code: codeOf(cause._tag), message: cause.message }, { cause })
}

/** An argument of a method that only a process has is invalid. */
export const invalid = (path: string, message: string): SatrailError =>
  new SatrailError({
    status: 400,
    code: "malformed",
    message: `${path} ${message}`,
    issues: [{ path, message: `${path} ${message}` }]
  })

/** The service was closed before or during the call. */
export const stopping = (): SatrailError =>
  new SatrailError({ status: 503, code: "stopping", message: "the service was closed" })
