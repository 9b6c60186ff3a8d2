import { Effect, Layer, SchemaIssue } from "effect"
import { HttpServerRequest } from "effect/http"
import type { unhandled } from "effect/Types"
import { HttpApiError, HttpApiMiddleware } from "effect/http-api"
import type { Issue } from "./Envelope.ts"
import * as Errors from "./Errors.ts"

/** Answers what cannot be read with an envelope, and refuses query parameters that nobody asked for. Names what any endpoint may answer. */
export class Decoding extends HttpApiMiddleware.Service<Decoding>()("http/Decoding", {
  error: Errors.of("malformed", "unsupported_media_type", "body_too_large", "internal", "timeout", "stopping")
}) {}

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  // What was sent is not repeated: it may be a secret in the wrong place, or 60 KiB.
  leafHook: (issue) =>
    issue._tag === "MissingKey" ? "Missing" : issue._tag === "UnexpectedKey" ? "Unknown here" : SchemaIssue.defaultLeafHook(issue)
})

/** A schema names itself where it expected a body, and nobody outside knows its name. */
const ofBody = (message: string) => (message === "Expected a valid JSON body" ? "The body must be JSON" : "The body must be a JSON object")

const issuesOf = (issue: SchemaIssue.Issue): ReadonlyArray<Issue> =>
  format(issue).issues.map(({ path = [], message }) => ({
    path: path.map((part) => String(typeof part === "object" ? part.key : part)).join("."),
    message: path.length === 0 ? ofBody(message) : message
  }))

const unknownParameters = (names: ReadonlyArray<string>) =>
  Errors.malformedRequest(names.map((path) => ({ path, message: "Unknown here" })))

type Told = Errors.Failure<"malformed">

/** A request we cannot read is the caller's mistake; an answer we cannot write is ours, and stays a defect. */
export const layer = Layer.succeed(
  Decoding,
  Decoding.of((http, { endpoint }) => {
    const read = http.pipe(
      Effect.catch((error): Effect.Effect<never, unhandled | Told> => {
        if (!HttpApiError.HttpApiSchemaError.is(error)) return Effect.fail(error)
        return error.kind === "Body" || error.kind === "ResponseHeaders"
          ? Effect.die(error)
          : Effect.fail(Errors.malformedRequest(issuesOf(error.cause.issue)))
      })
    )
    if (endpoint.query !== undefined) return read
    return Effect.flatMap(HttpServerRequest.ParsedSearchParams, (parameters): typeof read => {
      const names = Object.keys(parameters)
      return names.length === 0 ? read : Effect.fail(unknownParameters(names))
    })
  })
)
