import type { Msat } from "@satrail/bitcoin/Msat"
import { Context, type Effect, Schema } from "effect"
import type { SuccessAction } from "./SuccessAction.ts"

/** The payee's server refused the payment, or its response is invalid. */
export class RecipientRefused extends Schema.TaggedError<RecipientRefused>()("RecipientRefused", { reason: Schema.String }) {}

/** The recipient's server could not be reached. */
export class RecipientUnreachable extends Schema.TaggedError<RecipientUnreachable>()("RecipientUnreachable", { reason: Schema.String }) {}

/** What a Lightning address or lnurl offers (LUD-06, `payRequest`): anything between `min` and `max`. */
export interface Offer {
  readonly callback: string
  readonly min: Msat
  readonly max: Msat
  /** The metadata as it was sent, byte for byte: its hash is in the invoice. */
  readonly metadata: string
}

/** An invoice as the recipient's server sent it. */
export interface Fetched {
  readonly paymentRequest: string
  readonly successAction: SuccessAction | null
}

/** Asks other people's servers, on behalf of a user who gave us their address. The only holder of a way out to the web. */
export class Resolver extends Context.Service<
  Resolver,
  {
    /** What the server behind `url` offers. */
    readonly offer: (url: string) => Effect.Effect<Offer, RecipientRefused | RecipientUnreachable>
    /** A fresh invoice for exactly `amount`, as the server sent it: to be checked before it is paid. */
    readonly invoice: (offer: Offer, amount: Msat) => Effect.Effect<Fetched, RecipientRefused | RecipientUnreachable>
  }
>()("@satrail/core/nodes/Resolver") {}
