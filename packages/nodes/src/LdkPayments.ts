import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import type { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import type { NotFound, NotSent } from "@satrail/core/nodes/LightningSender"
import type { OfferPayment } from "@satrail/core/nodes/OfferSender"
import { Clock, Effect, Option, Schema, Stream } from "effect"
import { type LdkSocket, unavailable } from "./LdkSocket.ts"
import { NotLookedAt } from "./NodeState.ts"

// The part that invoice payments and offer payments share: the node's responses about a payment.

/** How long after a request the node may still start the payment. Both processes read the same machine's clock. */
export const graceMillis = 60_000
/** How long the node waits for a payment to become final before it returns an empty list. */
const waitMillis = 20_000
/** Pause between requests for final payments, so that payments that become final together are reported together. */
const gap = Effect.sleep("50 millis")

const Known = Schema.Union([
  Schema.Struct({
    state: Schema.Literal("settled"),
    hash: PaymentHash.PaymentHash,
    preimage: Preimage.Preimage,
    fee: Msat.FromString,
    index: Schema.String
  }),
  Schema.Struct({
    state: Schema.Literal("failed"),
    reason: Schema.Literals([
      "timeout",
      "no_route",
      "error",
      "incorrect_payment_details",
      "insufficient_balance",
      "canceled",
      "channel_closed"
    ])
  }),
  Schema.Struct({ state: Schema.Literal("pending") }),
  // `lostBefore` is set after an old store of the node was accepted.
  Schema.Struct({ state: Schema.Literal("notFound"), lostBefore: Schema.optionalKey(Schema.Int) })
])

type Found = OfferPayment | NotFound

const foundOf = (known: typeof Known.Type): Found => {
  switch (known.state) {
    case "settled":
      return {
        _tag: "settled",
        paymentHash: known.hash,
        preimage: known.preimage,
        fee: known.fee,
        index: known.index
      }
    case "failed":
      return { _tag: "failed", reason: known.reason }
    case "pending":
      return { _tag: "pending" }
    case "notFound":
      return {
        _tag: "notFound",
        ...(known.lostBefore !== undefined && { lostBeforeMillis: known.lostBefore })
      }
  }
}

/**
 * Reports the status as unknown during an outage, because a missing response proves nothing about a payment.
 * The outage is already logged.
 */
const orUnknown = <A>(answer: Effect.Effect<A, NodeUnavailable>) =>
  Effect.catchTag(answer, "NodeUnavailable", (outage) =>
    Effect.as(Effect.logDebug("ldk: payment status unavailable", outage), { _tag: "unknown" } as const)
  )

const Quoted = Schema.Struct({ fee: Schema.NullOr(Msat.FromString), probability: Schema.Finite })

/**
 * Sends and looks up payments of one kind. `lookup` is the lookup method, and `key` is the name of the
 * payment's identifier.
 */
export const make = (
  { ask }: LdkSocket,
  lookup: "lookupPayment" | "lookupOffer",
  key: "hash" | "attempt"
) => {
  const find = (one: string): Effect.Effect<Found, NodeUnavailable> =>
    ask(lookup, { [key]: one }, Known).pipe(
      Effect.catchTag("Refused", unavailable(lookup)),
      Effect.map(foundOf)
    )

  const known = (payment: Found): OfferPayment =>
    payment._tag === "notFound" ? { _tag: "unknown" } : payment

  const pay = Effect.fnUntraced(function* (method: "pay" | "payOffer", one: string, params: object) {
    const notAfter = (yield* Clock.currentTimeMillis) + graceMillis
    return yield* ask(method, { ...params, notAfter }, Known).pipe(
      Effect.map((answer) => known(foundOf(answer))),
      Effect.catchTags({
        // Applies to this call only: a lookup that the node did not process proves nothing about the call before it.
        NodeUnavailable: (outage): Effect.Effect<OfferPayment | NotSent> =>
          outage instanceof NotLookedAt
            ? Effect.succeed({ _tag: "notSent" })
            : orUnknown(Effect.fail(outage)),
        Refused: (refused) =>
          orUnknown(
            Effect.gen(function* () {
              // This call was not executed, so an existing record shows the effect of an earlier call.
              const before = yield* find(one)
              if (before._tag !== "notFound") return before
              yield* Effect.logWarning("ldk: payment refused", { [key]: one, words: refused.words })
              return refused.code === "bad_request"
                ? ({ _tag: "failed", reason: "error" } as const)
                : ({ _tag: "unknown" } as const)
            })
          )
      })
    )
  })

  return {
    pay,
    lookup: (one: string) => orUnknown(find(one)),
    ends: <A extends string>(method: "ends" | "offerEnds", Line: Schema.Codec<A, string>) => {
      const Ends = Schema.Struct({ lines: Schema.Array(Line), cursor: Schema.String })
      return Stream.paginate<string | undefined, A, NodeUnavailable>(undefined, (after) =>
        Effect.andThen(
          after === undefined ? Effect.void : gap,
          ask(method, after === undefined ? {} : { after, waitMillis }, Ends, waitMillis)
        ).pipe(
          Effect.catchTag("Refused", unavailable(method)),
          Effect.map(({ lines, cursor }) => [lines, Option.some(cursor)] as const)
        )
      )
    },
    quote: (method: "quote" | "quoteOffer", params: object) =>
      ask(method, params, Quoted).pipe(
        Effect.catchTag("Refused", unavailable(method)),
        Effect.map(({ fee, probability }) => (fee === null ? undefined : { fee, probability }))
      )
  }
}
