import * as JsonText from "@satrail/core/base/JsonText"
import * as Suggestion from "@satrail/core/base/Suggestion"
import { Context, Effect, Layer, Schema, SchemaAST, SchemaIssue } from "effect"
import { HttpServerRequest } from "effect/http"
import type { unhandled } from "effect/Types"
import { HttpApiError, HttpApiMiddleware } from "effect/http-api"
import type { Issue } from "./Envelope.ts"
import * as Errors from "./Errors.ts"
import * as Received from "./Received.ts"

/**
 * Maximum number of values in a body (objects, arrays, fields and items, at any depth) and of parameters in a
 * query. They are counted before decoding.
 */
export const most = { values: 256, parameters: 32 } as const

/**
 * Responds to invalid requests with an envelope and rejects unknown query parameters. Declares the errors
 * that any endpoint can return.
 */
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
 * Finds issues that a body's schema does not check, because they are visible only in the text or too expensive
 * to check twice. Called only when a request is rejected, so that the response lists every issue.
 */
export const Rules = Context.Reference<(text: string, body: object) => ReadonlyArray<Issue>>(
  "@satrail/http/wire/Decoding/Rules",
  {
    defaultValue: () => () => []
  }
)

/** Whether an endpoint without a payload schema reads its body itself. Otherwise it accepts only an empty one. */
export const ReadsBody = Context.Reference<boolean>("@satrail/http/wire/Decoding/ReadsBody", {
  defaultValue: () => false
})

const isStrange = "unknown member"

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  // Do not repeat the value. It may be a misplaced secret, or 60 KiB long.
  leafHook: (issue) =>
    issue._tag === "MissingKey"
      ? "is required"
      : issue._tag === "UnexpectedKey"
        ? isStrange
        : SchemaIssue.defaultLeafHook(issue)
})

const types: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  array: "an array"
}

/** Returns what the schema library says of a wrong value if the schema has no name. */
const expectedOf = (ast: SchemaAST.AST): string =>
  SchemaIssue.defaultLeafHook(
    new SchemaIssue.InvalidType(Schema.make<Schema.Top>(ast).annotate({ identifier: undefined }).ast)
  ).replace("Expected ", "")

type Names = ReadonlyArray<readonly [name: string, expected: string]>

const namesOf = (ast: SchemaAST.AST): Names => {
  const name = SchemaAST.resolve(ast)?.identifier
  return [
    ...(typeof name !== "string" ? [] : [[name, expectedOf(ast)] as const]),
    ...(SchemaAST.isUnion(ast) ? ast.types.map(SchemaAST.toEncoded).flatMap(namesOf) : [])
  ]
}

/** Returns the names of schemas in an issue's messages, which mean nothing to a caller, with the values that they stand for. */
const namesIn = (issue: SchemaIssue.Issue): Names => {
  switch (issue._tag) {
    case "Composite":
    case "AnyOf":
      return issue._tag === "AnyOf" && issue.issues.length === 0
        ? namesOf(issue.ast)
        : issue.issues.flatMap(namesIn)
    case "Pointer":
    case "Filter":
    case "Encoding":
      return namesIn(issue.issue)
    case "InvalidType":
      return namesOf(issue.ast)
    default:
      return []
  }
}

/** Rewrites the schema library's `Expected string | null` as `must be a string or null`. */
const mustBe = (message: string, names: ReadonlyMap<string, string>): string => {
  const [, expected] = /^Expected (.*)$/s.exec(message) ?? []
  if (expected === undefined) return message
  const of = /^a value with (.*)$/s.exec(expected)?.[1]
  if (of !== undefined) return `must have ${of}`
  const choices = expected
    .split(" | ")
    .flatMap((choice) => (names.get(choice) ?? choice).split(" | "))
    .map((choice) => types[choice] ?? choice)
  const last = choices.pop() ?? ""
  return `must be ${choices.length === 0 ? last.replace(/^a value /, "") : `${choices.join(", ")} or ${last}`}`
}

const notJson = "Expected a valid JSON body"

/** Reports the position of the first JSON syntax error in the body. */
const jsonIssue = (text: string): Issue => {
  const at = JsonText.errorAt(text) ?? text.length
  const place = JsonText.placeOf(text, at)
  const where = `line ${place.line}, column ${place.column}`
  return {
    path: "",
    message: `The body is not valid JSON: ${at === text.length ? "it ends too early, at" : "the error is at"} ${where}`,
    place
  }
}

/**
 * Replaces the schema library's message about the whole body, which can contain a schema's name that means
 * nothing to a caller.
 */
const ofBody = (message: string, text: string): Issue =>
  message === notJson ? jsonIssue(text) : { path: "", message: "The body must be a JSON object" }

// Maximum length of a name in a message. Metadata keys, and known names with a typo, are never longer.
const nameCharacters = 40
const strangeNameCharacters = 20

/**
 * Shortens a name. An unknown or long name may be a misplaced secret, and its beginning is enough for the
 * caller to find it.
 */
const named = (name: string, characters: number): string => {
  // A character is one or two code units, so no more are needed to see that the name is too long.
  const all = Array.from(name.slice(0, 2 * characters + 1))
  return all.length <= characters ? name : `${all.slice(0, 8).join("")}…`
}

/** For each unknown field, returns the names that its object allows, in the order of the formatter's issues. */
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
      return [
        SchemaAST.isObjects(issue.ast) ? issue.ast.propertySignatures.map(({ name }) => String(name)) : []
      ]
    default:
      return []
  }
}

/** Names of list parameters in other APIs, by our name. */
const synonyms: Readonly<Record<string, RegExp>> = {
  cursor: /^(?:page|offset|skip|after|starting_after|page_token|next)$/,
  limit: /^(?:per_page|page_size|count|size|first)$/,
  from: /^(?:since|start|after|created_after|created_from|date_from|from_date)$/,
  until: /^(?:to|end|before|created_before|created_to|date_to|until_date)$/
}

const isSynonym = (name: string, of: string): boolean => synonyms[of]?.test(name.toLowerCase()) === true

/** Reports an unknown name and suggests the nearest known one. */
const strange = (
  what: "field" | "parameter",
  shown: string,
  name: string,
  known: ReadonlyArray<string>
): string => {
  const near =
    known.find((one) => what === "parameter" && isSynonym(name, one)) ?? Suggestion.member(name, known)
  return near === undefined
    ? `unknown ${what} "${shown}"`
    : near === "cursor" && isSynonym(name, near)
      ? `unknown parameter "${shown}": use "cursor", which is in the Link header of the previous page`
      : `unknown ${what} "${shown}": did you mean "${near}"?`
}

/** Returns the issues of a value that its schema rejects, in the API's words. */
export const issuesOf = (
  what: "field" | "parameter",
  issue: SchemaIssue.Issue,
  text = ""
): ReadonlyArray<Issue> => {
  const known = beside(issue).values()
  const schemas = new Map(namesIn(issue))
  return format(issue).issues.map(({ path = [], message }) => {
    if (path.length === 0) return ofBody(message, text)
    const names = path.map((part) => String(typeof part === "object" ? part.key : part))
    const isUnknown = message === isStrange
    const shown = names
      .map((name) => named(name, isUnknown ? strangeNameCharacters : nameCharacters))
      .join(".")
    return {
      path: shown,
      message: isUnknown
        ? strange(what, shown, names.at(-1) ?? "", known.next().value ?? [])
        : mustBe(message, schemas)
    }
  })
}

/** Reports a field or parameter that a route does not have. A long name may be a secret, so it is shortened. */
const strangeTo = (what: "field" | "parameter", name: string, known: ReadonlyArray<string>): Issue => {
  const path = named(name, strangeNameCharacters)
  const message = strange(what, path, name, known)
  return { path, message: known.length === 0 ? `${message}: this endpoint has none` : message }
}

/** Reports a parameter that a route does not have. */
export const strangeParameter = (name: string, known: ReadonlyArray<string>): Issue =>
  strangeTo("parameter", name, known)

const allUnknown = (what: "field" | "parameter", names: ReadonlyArray<string>) =>
  Errors.malformedRequest(names.map((name) => strangeTo(what, name, [])))

type Rejection = Errors.Failure<"malformed" | "unsupported_media_type">

const isMalformed = Schema.is(Schema.Union(Errors.of("malformed")))

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** Issue of a field or parameter that is sent more than once, because only one of its values would count. */
export const onlyOnce = "must be sent only once"

const wholeIssue = (message: string) => Errors.malformedRequest([{ path: "", message }])

export const tooManyParameters = (count: number) =>
  wholeIssue(`The query must have at most ${most.parameters} parameters (this one has ${count})`)

const isUtf8 = (contentType = "") =>
  /^utf-?8$/i.test(/;\s*charset\s*=\s*"?([^\s";]*)/i.exec(contentType)?.[1] ?? "utf-8")

/** Returns the body's first coding other than identity and chunked (RFC 9110, section 8.4; RFC 9112, section 7). */
const codingOf = ({ headers }: HttpServerRequest.HttpServerRequest): string | undefined =>
  [headers["content-encoding"], headers["transfer-encoding"]]
    .flatMap((text) => text?.split(",") ?? [])
    .map((name) => name.trim().toLowerCase())
    .find((name) => name !== "" && name !== "identity" && name !== "chunked")

/** Decodes the body as text. Invalid bytes are rejected, because the framework would replace them. */
const textIn = (bytes: ArrayBuffer): Effect.Effect<string, Rejection> => {
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    return Effect.fail(wholeIssue("The body must be UTF-8"))
  }
  if (JsonText.hasMoreValues(text, most.values))
    return Effect.fail(wholeIssue(`The body must have at most ${most.values} fields and items in total`))
  const repeated = JsonText.repeatedMembers(text, (name) => named(name, strangeNameCharacters))
  return repeated.length === 0
    ? Effect.succeed(text)
    : Effect.fail(Errors.malformedRequest(repeated.map((path) => ({ path, message: onlyOnce }))))
}

const textOf = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<string, Rejection> => {
  if (codingOf(request) !== undefined)
    return Effect.fail(
      Errors.failure("unsupported_media_type", "The body must be sent without Content-Encoding")
    )
  return isUtf8(request.headers["content-type"])
    ? Effect.flatMap(Effect.orDie(request.arrayBuffer), textIn)
    : Effect.fail(Errors.failure("unsupported_media_type", "The body must be sent in UTF-8"))
}

/** Accepts the body of an endpoint that has no fields: blank text, `null` or `{}`. */
const withoutFieldsIn = (text: string): Effect.Effect<void, Rejection> => {
  if (text.trim() === "") return Effect.void
  const body = JsonText.parsed(text)
  if (body === null) return Effect.void
  if (typeof body !== "object" || Array.isArray(body))
    return Effect.fail(wholeIssue("The body must be empty or {}"))
  const names = Object.keys(body)
  return names.length === 0 ? Effect.void : Effect.fail(allUnknown("field", names))
}

/** Like `withoutFieldsIn`. The headers of a request without a body can describe one, because some clients always send them. */
const withoutFields = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<void, Rejection> =>
  Effect.flatMap(Effect.orDie(request.arrayBuffer), ({ byteLength }) =>
    byteLength === 0 ? Effect.void : Effect.flatMap(textOf(request), withoutFieldsIn)
  )

/** Returns the issues that the rules find; none for a body that is not a JSON object. */
const issuesBy = (rules: typeof Rules.Service, text: string): ReadonlyArray<Issue> => {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === "object" && body !== null && !Array.isArray(body) ? rules(text, body) : []
  } catch {
    return []
  }
}

/** Adds issues for fields that have none yet. */
const completed = (issues: ReadonlyArray<Issue>, more: ReadonlyArray<Issue>) =>
  Errors.malformedRequest([
    ...issues,
    ...more.filter(({ path }) => !issues.some((issue) => issue.path === path))
  ])

/**
 * A request that cannot be decoded is the caller's error. A response that cannot be encoded is our bug and
 * stays a defect.
 */
export const layer = Layer.succeed(
  Decoding,
  Decoding.of((http, { endpoint }) => {
    const rules = Context.get(endpoint.annotations, Rules)
    const hasNoFields = endpoint.method !== "GET" && !Context.get(endpoint.annotations, ReadsBody)
    const told = (more: () => ReadonlyArray<Issue>, text?: string) =>
      http.pipe(
        Effect.catch((error): Effect.Effect<never, unhandled | Rejection> => {
          if (isMalformed(error)) return Effect.fail(completed(error.error.issues ?? [], more()))
          if (!HttpApiError.HttpApiSchemaError.is(error)) return Effect.fail(error)
          if (error.kind === "Body" || error.kind === "ResponseHeaders") return Effect.die(error)
          if (error.kind !== "Query")
            return Effect.fail(completed(issuesOf("field", error.cause.issue, text), more()))
          return Effect.withFiber(({ context }) => {
            const parameters = Context.getUnsafe(context, HttpServerRequest.ParsedSearchParams)
            const issues = issuesOf("parameter", error.cause.issue).map((issue) =>
              Array.isArray(parameters[issue.path]) && issue.message === "must be a string"
                ? { ...issue, message: onlyOnce }
                : issue
            )
            return Effect.fail(completed(issues, more()))
          })
        })
      )
    const withoutBody = told(() => [])
    const read = (request: HttpServerRequest.HttpServerRequest): typeof withoutBody => {
      if (endpoint.payload.size > 0)
        return Effect.flatMap(textOf(request), (text) =>
          Effect.provideService(
            told(() => issuesBy(rules, text), text),
            Received.BodyText,
            text
          )
        )
      if (hasNoFields) return Effect.andThen(withoutFields(request), withoutBody)
      // Read an unused body to its end before the endpoint runs, so that an interrupted request is rejected.
      return Received.isEmpty(request)
        ? withoutBody
        : Effect.andThen(Effect.orDie(request.arrayBuffer), withoutBody)
    }
    return Effect.withFiber(({ context }): typeof withoutBody => {
      const parameters = Context.getUnsafe(context, HttpServerRequest.ParsedSearchParams)
      const count = Object.values(parameters).reduce(
        (sum, value) => sum + (typeof value === "string" ? 1 : value.length),
        0
      )
      if (count > most.parameters) return Effect.fail(tooManyParameters(count))
      return count === 0 || endpoint.query !== undefined
        ? read(Context.getUnsafe(context, HttpServerRequest.HttpServerRequest))
        : Effect.fail(allUnknown("parameter", Object.keys(parameters)))
    })
  })
)
