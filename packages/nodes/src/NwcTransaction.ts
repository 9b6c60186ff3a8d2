import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { type InvoiceState, NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import type { Payment } from "@satrail/core/nodes/LightningSender"
import { Effect, Schema, SchemaGetter } from "effect"
import { type NwcWallet, refusal } from "./NwcWallet.ts"

// What a wallet says of a payment (NIP-47, `lookup_invoice` and `list_transactions`): amounts in msat, times in seconds since 1970.

const Amount = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })).pipe(
  Schema.decodeTo(Msat.Msat, { decode: SchemaGetter.transform(BigInt), encode: SchemaGetter.transform(Number) })
)
const orNull = <A, I>(schema: Schema.Codec<A, I>) => Schema.optionalKey(Schema.NullOr(schema))

/** A payment in the wallet's words, of which the document leaves most out, and wallets more. */
export const Transaction = Schema.Struct({
  type: Schema.Literals(["incoming", "outgoing"]),
  /** Of the newer document; a wallet without it says by `settled_at` that it settled. */
  state: orNull(Schema.String),
  payment_hash: PaymentHash.PaymentHash,
  invoice: orNull(Schema.String),
  preimage: orNull(Preimage.Preimage),
  amount: Amount,
  fees_paid: orNull(Amount),
  settled_at: orNull(Schema.Int)
})
export interface Transaction extends Schema.Schema.Type<typeof Transaction> {}

export const isSettled = ({ state, settled_at }: Transaction): boolean =>
  typeof state === "string" ? state === "settled" : typeof settled_at === "number" && settled_at > 0

/** What arrived: of 500 that were sent, of which the wallet kept 10, 490. */
const received = ({ amount, fees_paid }: Transaction): bigint => amount - (fees_paid ?? Msat.zero)

/** A settled receipt with its proof; undefined where one of them is missing. That the wallet shows a preimage of its own making says nothing yet. */
export const settledOf = (transaction: Transaction) => {
  const { type, preimage, payment_hash: paymentHash } = transaction
  const arrived = received(transaction)
  return type === "incoming" &&
    isSettled(transaction) &&
    typeof preimage === "string" &&
    arrived >= 0n &&
    Preimage.proves(preimage, paymentHash)
    ? { paymentHash, preimage, received: Msat.make(arrived) }
    : undefined
}

/** Of an invoice of ours. */
export const incoming = (transaction: Transaction): Effect.Effect<InvoiceState, NodeUnavailable> => {
  const odd = (cause: string) => Effect.fail(new NodeUnavailable({ operation: "lookup_invoice", cause }))
  if (transaction.type !== "incoming") return odd("the wallet names a payment of its own with the hash of our invoice")
  if (isSettled(transaction)) {
    const settled = settledOf(transaction)
    return settled === undefined
      ? odd("the wallet calls an invoice settled, and has no valid preimage or no valid amount of it")
      : Effect.succeed({ _tag: "settled", received: settled.received, preimage: settled.preimage })
  }
  switch (transaction.state) {
    case "accepted":
      return Effect.succeed({ _tag: "accepted" })
    case "expired":
    case "failed":
      return Effect.succeed({ _tag: "canceled" })
    default:
      return Effect.succeed({ _tag: "open" })
  }
}

/** Of a payment of ours: settled by its proof, failed by the wallet's own word for it, and nothing else is an end. */
export const outgoing = (transaction: Transaction): Payment => {
  const { type, state, preimage, fees_paid, payment_hash } = transaction
  if (type !== "outgoing") return { _tag: "unknown" }
  const isProven = typeof preimage === "string" && Preimage.proves(preimage, payment_hash)
  if (isSettled(transaction) || (typeof state !== "string" && isProven))
    return isProven ? { _tag: "settled", preimage, fee: fees_paid ?? Msat.zero, index: null } : { _tag: "unknown" }
  if (state === "failed") return isProven ? { _tag: "unknown" } : { _tag: "failed", reason: "error" }
  return { _tag: "pending" }
}

/** What the wallet has with this hash; undefined where it says that it has nothing. */
export const find = ({ ask }: NwcWallet, paymentHash: PaymentHash.PaymentHash) =>
  ask("lookup_invoice", { payment_hash: paymentHash }, Transaction).pipe(
    Effect.flatMap((found) =>
      found.payment_hash === paymentHash
        ? Effect.succeed(found)
        : Effect.fail(new NodeUnavailable({ operation: "lookup_invoice", cause: "the wallet answers with another payment" }))
    ),
    Effect.catchTag("Refused", (refused) => (refused.code === "NOT_FOUND" ? Effect.undefined : refusal("lookup_invoice")(refused)))
  )
