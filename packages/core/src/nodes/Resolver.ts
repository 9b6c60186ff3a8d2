import type { Msat } from "@satrail/bitcoin/Msat"
import { Context, type Effect, Schema } from "effect"
import type { SuccessAction } from "./SuccessAction.ts"

/** The payee's server refused the payment, or its response is invalid. */
export class RecipientRefused extends Schema.TaggedError<RecipientRefused>()("RecipientRefused", {
  reason: Schema.String
}) {}

/** The payee's server could not be reached. */
export class RecipientUnreachable extends Schema.TaggedError<RecipientUnreachable>()("RecipientUnreachable", {
  reason: Schema.String
}) {}

/** The terms of a Lightning address or LNURL (LUD-06, `payRequest`): any amount between `min` and `max`. */
export interface PayTerms {
  readonly callback: string
  readonly min: Msat
  readonly max: Msat
  /** The metadata exactly as received, because the invoice contains its hash. */
  readonly metadata: string
}

/** An invoice as received from the payee's server. */
export interface Fetched {
  readonly paymentRequest: string
  readonly successAction: SuccessAction | null
}

/**
 * Sends requests to payees' servers on behalf of users who entered a payee's address. In the money path, only
 * this port accesses the web.
 */
export class Resolver extends Context.Service<
  Resolver,
  {
    /** Returns the terms of the server at `url`. */
    readonly offer: (url: string) => Effect.Effect<PayTerms, RecipientRefused | RecipientUnreachable>
    /** Returns a new invoice for exactly `amount`, as received. The caller must check it before paying. */
    readonly invoice: (
      terms: PayTerms,
      amount: Msat
    ) => Effect.Effect<Fetched, RecipientRefused | RecipientUnreachable>
  }
>()("@satrail/core/nodes/Resolver") {}
