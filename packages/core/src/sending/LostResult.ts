import type { PaymentHash } from "@satrail/bitcoin/PaymentHash"
import { Effect, Option, Schema } from "effect"
import { type InFlight, LightningBooks } from "../nodes/LightningBooks.ts"
import type { NodeUnavailable } from "../nodes/LightningReceiver.ts"
import type { LookupResult } from "./NodePayments.ts"

// A node that was killed can report a payment as in flight forever, although none of its channels holds one of the
// payment's HTLCs (lnd issues 5152, 5396 and 6249). The node has then lost the payment's result.

/**
 * Blocks after the time lock of a payment's HTLCs until its result counts as lost. By then, a node that still held
 * such an HTLC has closed the channel and resolved the HTLC on-chain (BOLT 2, "cltv_expiry_delta Selection"), or
 * lists the channel as closing. Also the depth of the deepest reorganization considered.
 */
export const marginBlocks = 144

/**
 * Whether the node has lost a payment's result; if not, the reason. `in_flight`: the node may still learn it.
 * `channel_closing`: a closing channel may hold an HTLC of the payment, because the node lists HTLCs of closing
 * channels without their hashes.
 */
export const Verdict = Schema.Literals(["lost", "in_flight", "node_behind", "in_channel", "channel_closing"])
export type Verdict = typeof Verdict.Type

/** Judges a pending payment by the node's channels, which must be read after the payment's state. */
export const judge = (
  payment: LookupResult,
  paymentHash: PaymentHash,
  { height, hashes, isClosing }: InFlight
): Verdict => {
  if (payment._tag !== "pending" || payment.expiryHeight === undefined) return "in_flight"
  if (height === null) return "node_behind"
  if (height < payment.expiryHeight + marginBlocks) return "in_flight"
  if (hashes.has(paymentHash)) return "in_channel"
  return isClosing ? "channel_closing" : "lost"
}

/** Reads the HTLCs in the channels of the service's node; undefined if it never loses a payment's result. */
export const inFlight = Effect.map(
  Effect.serviceOption(LightningBooks),
  (books): Effect.Effect<InFlight, NodeUnavailable> | undefined => Option.getOrUndefined(books)?.inFlight
)

/**
 * Returns the verdict on a payment that is tracked: null if it is not pending at a node that can lose its result,
 * `unknown` if the node does not respond. Reads the channels at most once a minute.
 */
export const tracked = Effect.gen(function* () {
  const read = yield* inFlight
  if (read === undefined) return () => Effect.succeed(null)
  const channels = yield* Effect.cachedWithTTL(Effect.option(read), "1 minute")
  return (
    payment: LookupResult,
    paymentHash: PaymentHash | null
  ): Effect.Effect<Verdict | "unknown" | null> =>
    payment._tag !== "pending" || payment.expiryHeight === undefined || paymentHash === null
      ? Effect.succeed(null)
      : Effect.map(
          channels,
          Option.match({
            onNone: () => "unknown" as const,
            onSome: (found) => judge(payment, paymentHash, found)
          })
        )
})
