import * as JsonText from "@satrail/core/base/JsonText"
import * as Nearest from "@satrail/core/base/Nearest"
import { Context, Effect, Layer, Schema, SchemaAST, SchemaIssue } from "effect"
import { HttpServerRequest } from "effect/http"
import type { unhandled } from "effect/Types"
import { HttpApiError, HttpApiMiddleware } from "effect/http-api"
import type { Issue } from "./Envelope.ts"
import * as Errors from "./Errors.ts"

/** How much a request may say: values in its body (objects, arrays, members and items, at any depth), and parameters in its query. Counted before any is decoded. */
export const most = { values: 256, parameters: 32 } as const

/** Answers invalid requests with an envelope, and refuses unknown query parameters. Names what any endpoint may answer. */
export class Decoding extends HttpApiMiddleware.Service<Decoding>()("@satrail/http/wire/Decoding", {
  error: Errors.of(
    "malformed",
    "request_timeout",
    "body_too_large",
    "unsupported_media_type",
    "expectation_failed",
    "headers_too_large",
    "internal",
    "timeout",
    "stopping"
  )
}) {}

/**
 * What else is wrong with the body of an endpoint, beyond its schema: what only the text shows, or what costs too much to look at
 * twice. Asked when a request is refused, so that its answer has every issue.
 */
export const Rules = Context.Reference<(text: string, body: object) => ReadonlyArray<Issue>>("@satrail/http/wire/Decoding/Rules", {
  defaultValue: () => () => []
})

const isStrange = "Unknown here"

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  // What was sent is not repeated: it may be a secret in the wrong place, or 60 KiB.
  leafHook: (issue) =>
    issue._tag === "MissingKey" ? "Missing" : issue._tag === "UnexpectedKey" ? isStrange : SchemaIssue.defaultLeafHook(issue)
})

const notJson = "Expected a valid JSON body"

/** Where the body is no JSON. */
const jsonIssue = (text: string): Issue => {
  const at = JsonText.errorAt(text) ?? text.length
  const place = JsonText.placeOf(text, at)
  const where = `line ${place.line}, column ${place.column}`
  return { path: "", message: `The body must be JSON, and ${at === text.length ? "ends too early, at" : "is not, from"} ${where}`, place }
}

/** A schema names itself where it expected a body, and that name means nothing to a caller. */
const ofBody = (message: string, text: string): Issue =>
  message === notJson ? jsonIssue(text) : { path: "", message: "The body must be a JSON object" }

// As long as a key of metadata may be; and longer than any name that is known here, with a slip in it.
const nameCharacters = 40
const strangeNameCharacters = 20

/** A name as far as it is repeated: one that is strange or long may be a secret in the wrong place, of which the beginning is enough to find it by. */
const named = (name: string, characters: number): string => {
  const all = [...name]
  return all.length <= characters ? name : `${all.slice(0, 8).join("")}…`
}

/** The members that there are beside each unknown one, in the order in which a formatter names them. */
const beside = (issue: SchemaIssue.Issue): ReadonlyArray<ReadonlyArray<string>> => {
  switch (issue._tag) {
    case "Composite":
    case "AnyOf":
      return issue.issues.flatMap(beside)
    case "Pointer":
    case "Filter":
    case "Encoding":
      return beside(issue.issue)
    case "UnexpectedKey":
      return [SchemaAST.isObjects(issue.ast) ? issue.ast.propertySignatures.map(({ name }) => String(name)) : []]
    default:
      return []
  }
}

/** What is said of an unknown name where these are known. */
const strange = (name: string, known: ReadonlyArray<string>): string => {
  const near = Nearest.member(name, known)
  return near === undefined ? isStrange : `${isStrange}: did you mean ${near}?`
}

const issuesOf = (issue: SchemaIssue.Issue, text = ""): ReadonlyArray<Issue> => {
  const known = beside(issue).values()
  return format(issue).issues.map(({ path = [], message }) => {
    if (path.length === 0) return ofBody(message, text)
    const names = path.map((part) => String(typeof part === "object" ? part.key : part))
    const isUnknown = message === isStrange
    return {
      path: names.map((name) => named(name, isUnknown ? strangeNameCharacters : nameCharacters)).join("."),
      message: isUnknown ? strange(names.at(-1) ?? "", known.next().value ?? []) : message
    }
  })
}

/** What is wrong with a parameter that a route does not have, beside those that it has. A long name may be a secret, and is not repeated whole. */
export const strangeParameter = (name: string, known: ReadonlyArray<string>): Issue => ({
  path: named(name, strangeNameCharacters),
  message: known.length === 0 ? `${isStrange}: there are no parameters` : strange(name, known)
})

const unknownParameters = (names: ReadonlyArray<string>) => Errors.malformedRequest(names.map((name) => strangeParameter(name, [])))

type Told = Errors.Failure<"malformed" | "unsupported_media_type">

const isMalformed = Schema.is(Schema.Union(Errors.of("malformed")))

const utf8 = new TextDecoder("utf-8", { fatal: true })

const wholeIssue = (message: string) => Errors.malformedRequest([{ path: "", message }])

const isUtf8 = (contentType = "") => /^utf-?8$/i.test(/;\s*charset\s*=\s*"?([^\s";]*)/i.exec(contentType)?.[1] ?? "utf-8")

/** What the bytes of a body were put through on their way, if anything: each name that is not the bytes themselves (RFC 9110, section 8.4; RFC 9112, section 7). */
const codingOf = ({ headers }: HttpServerRequest.HttpServerRequest): string | undefined =>
  [headers["content-encoding"] ?? "", headers["transfer-encoding"] ?? ""]
    .flatMap((text) => text.split(","))
    .map((name) => name.trim().toLowerCase())
    .find((name) => name !== "" && name !== "identity" && name !== "chunked")

/** The body as its text. What cannot be decoded is refused: the framework would put other characters in its place. */
const textOf = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
  if (codingOf(request) !== undefined)
    return yield* Effect.fail(Errors.failure("unsupported_media_type", "The body must be sent as it is: without Content-Encoding"))
  if (!isUtf8(request.headers["content-type"]))
    return yield* Effect.fail(Errors.failure("unsupported_media_type", "The body must be sent in UTF-8"))
  const bytes = yield* Effect.orDie(request.arrayBuffer)
  const text = yield* Effect.try({ try: () => utf8.decode(bytes), catch: () => wholeIssue("The body must be UTF-8") })
  if (JsonText.hasMoreValues(text, most.values))
    return yield* Effect.fail(wholeIssue(`The body must have at most ${most.values} members and items in total`))
  const repeated = JsonText.repeatedMembers(text)
  if (repeated.length === 0) return text
  return yield* Effect.fail(
    Errors.malformedRequest(repeated.map((name) => ({ path: named(name, strangeNameCharacters), message: "Given more than once" })))
  )
})

/** Reads a body that nothing is done with to its end, before anything else is done: one that breaks off is refused. */
const readUnasked = (request: HttpServerRequest.HttpServerRequest) =>
  request.headers["transfer-encoding"] === undefined && (request.headers["content-length"] ?? "0") === "0"
    ? Effect.void
    : Effect.orDie(request.arrayBuffer)

/** Nothing of what is no JSON object. */
const issuesBy = (rules: typeof Rules.Service, text: string): ReadonlyArray<Issue> => {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === "object" && body !== null ? rules(text, body) : []
  } catch {
    return []
  }
}

/** A member is named once: the first issue is the endpoint's own. */
const completed = (issues: ReadonlyArray<Issue>, more: ReadonlyArray<Issue>) =>
  Errors.malformedRequest([...issues, ...more.filter(({ path }) => !issues.some((issue) => issue.path === path))])

/** A request we cannot read is the caller's mistake; an answer we cannot write is ours, and stays a defect. */
export const layer = Layer.succeed(
  Decoding,
  Decoding.of((http, { endpoint }) => {
    const rules = Context.get(endpoint.annotations, Rules)
    const told = (more: () => ReadonlyArray<Issue>, text?: string) =>
      http.pipe(
        Effect.catch((error): Effect.Effect<never, unhandled | Told> => {
          if (isMalformed(error)) return Effect.fail(completed(error.error.issues ?? [], more()))
          if (!HttpApiError.HttpApiSchemaError.is(error)) return Effect.fail(error)
          return error.kind === "Body" || error.kind === "ResponseHeaders"
            ? Effect.die(error)
            : Effect.fail(completed(issuesOf(error.cause.issue, text), more()))
        })
      )
    const read =
      endpoint.payload.size === 0
        ? Effect.andThen(
            Effect.flatMap(HttpServerRequest.HttpServerRequest, readUnasked),
            told(() => [])
          )
        : Effect.flatMap(Effect.flatMap(HttpServerRequest.HttpServerRequest, textOf), (text) => told(() => issuesBy(rules, text), text))
    return Effect.flatMap(HttpServerRequest.ParsedSearchParams, (parameters): typeof read => {
      const count = Object.values(parameters).reduce((sum, value) => sum + (typeof value === "string" ? 1 : value.length), 0)
      if (count > most.parameters)
        return Effect.fail(wholeIssue(`The query must have at most ${most.parameters} parameters (this one has ${count})`))
      return count === 0 || endpoint.query !== undefined ? read : Effect.fail(unknownParameters(Object.keys(parameters)))
    })
  })
)
