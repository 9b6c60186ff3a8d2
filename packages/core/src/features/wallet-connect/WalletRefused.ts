import { ErrorCode } from "@satrail/bitcoin/WalletConnect"
import type * as Nostr from "@satrail/bitcoin/Nostr"
import { Effect, Option, Schema } from "effect"
import type { Holder } from "../../accounts/ApiKey.ts"

/** An error response to an app. `message` is human-readable and reveals nothing that the key may not read. */
export class WalletRefused extends Schema.TaggedError<WalletRefused>()("WalletRefused", { code: ErrorCode, message: Schema.String }) {}

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
  Schema.is(Params)(params) ? Object.fromEntries(Object.entries(params).filter(([, value]) => isGiven(value))) : params

/** Decodes the parameters of a request with `schema`. */
export const paramsOf = <A>({ params }: Call, schema: Schema.Codec<A, unknown>): Effect.Effect<A, WalletRefused> =>
  Option.match(Schema.decodeUnknownOption(schema)(given(params ?? {})), {
    onNone: () => Effect.fail(refuse("OTHER", "The parameters do not match the method.")),
    onSome: Effect.succeed
  })

/** The idempotency key of an event. Its response is stored with the payment or invoice that the event made. */
export const keyOf = ({ id }: Nostr.Event): string => `nwc:${id}`

/** The event may have made a payment. An app that learned otherwise would pay another way. */
export const unknown = "The payment may or may not have started. Send the same event again, or look it up by its payment hash."

/** The event's idempotency key is used up. */
export const alreadyUsed = "This event was already refused or used for a different request. Send a new one."
