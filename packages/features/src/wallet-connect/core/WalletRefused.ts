import { ErrorCode } from "@satrail/bitcoin/WalletConnect"
import type * as Nostr from "@satrail/bitcoin/Nostr"
import { Effect, Record, Result, Schema, SchemaIssue } from "effect"
import type { Holder } from "@satrail/core/accounts/ApiKey"
import type * as MetadataRules from "@satrail/core/base/Metadata"

/** An error response to an app. `message` is human-readable and reveals nothing that the key may not read. */
export class WalletRefused extends Schema.TaggedError<WalletRefused>()("WalletRefused", {
  code: ErrorCode,
  message: Schema.String
}) {}

export const refuse = (code: ErrorCode, message: string) => new WalletRefused({ code, message })

/** An authenticated request from an app: its key, and the content. */
export interface Call {
  readonly holder: Holder
  readonly event: Nostr.Event
  readonly params: unknown
}

const Params = Schema.Record(Schema.String, Schema.Unknown)

/** Apps written in Go send every parameter, so null, 0 and an empty text count as omitted. */
const isGiven = (value: unknown): boolean => value !== null && value !== 0 && value !== ""
const given = (params: unknown) =>
  Schema.is(Params)(params)
    ? Object.fromEntries(Object.entries(params).filter(([, value]) => isGiven(value)))
    : params

/** Maximum number of characters of an unknown parameter's name that are repeated. */
const maxNameCharacters = 40

const format = SchemaIssue.makeFormatterStandardSchemaV1({
  // The value is not repeated.
  leafHook: (issue) =>
    issue._tag === "MissingKey" ? "It is required." : `${SchemaIssue.defaultLeafHook(issue)}.`
})

const wrong = (issue: SchemaIssue.Issue): WalletRefused => {
  const [{ path = [], message } = { message: "" }] = format(issue).issues
  const name = path.map((part) => String(typeof part === "object" ? part.key : part)).join(".")
  return refuse(
    "OTHER",
    name === "" ? "The parameters must be an object." : `The parameter ${name} is invalid. ${message}`
  )
}

/**
 * Decodes the parameters of a request. An unknown parameter is refused by its name, because an app must not believe that
 * it took effect.
 */
export const paramsOf = <A>(
  { params }: Call,
  schema: Schema.Codec<A, unknown> & { readonly fields: object }
): Effect.Effect<A, WalletRefused> => {
  const all = given(params ?? {})
  const names = Object.keys(schema.fields)
  const unknown = Object.keys(Object(all)).find((name) => !names.includes(name))
  if (unknown !== undefined) {
    const takes = names.length === 0 ? "no parameters" : names.join(", ")
    return Effect.fail(
      refuse(
        "OTHER",
        `The parameter ${unknown.slice(0, maxNameCharacters)} is not supported. This method takes ${takes}.`
      )
    )
  }
  const decoded = Schema.decodeUnknownResult(schema)(all)
  return Result.isSuccess(decoded)
    ? Effect.succeed(decoded.success)
    : Effect.fail(wrong(decoded.failure.issue))
}

/** Metadata of a payment or invoice: any JSON. */
export const Metadata = Schema.optionalKey(Params)

/** Returns metadata as a record stores it. Values other than text are stored as JSON. */
export const metadataOf = (metadata: typeof Params.Type | undefined): MetadataRules.Metadata =>
  Record.map(metadata ?? {}, (value) => (typeof value === "string" ? value : JSON.stringify(value)))

/** The idempotency key of an event. Its response is stored with the payment or invoice that the event made. */
export const keyOf = ({ id }: Nostr.Event): string => `nwc:${id}`

/** The event may have made a payment. An app that learned otherwise would pay another way. */
export const unknown =
  "The payment may or may not have started. Send the same event again, or look it up by its payment hash."

/** The event's idempotency key is used up. */
export const alreadyUsed = "This event was already refused or used for a different request. Send a new one."
