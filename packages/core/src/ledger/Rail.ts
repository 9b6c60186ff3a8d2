import { Schema } from "effect"

/**
 * The network a payment uses. A payment between two companies keeps the rail of its destination.
 */
export const Rail = Schema.Literals(["lightning", "on_chain"])
export type Rail = typeof Rail.Type

/** Kinds of destinations, as named in records. */
export const RecipientType = Schema.Literals([
  "lightning_address",
  "lightning_invoice",
  "chain_address",
  "lnurl",
  "bolt12_offer"
])
export type RecipientType = typeof RecipientType.Type

/** Status of a withdrawal or deposit. `settled` and `failed` are final for a withdrawal. */
export const Status = Schema.Literals(["pending", "settled", "failed"])
export type Status = typeof Status.Type

/** The status that companies see. A pending withdrawal that waits for approval is `pending_approval`. */
export const Standing = Schema.Literals(["pending_approval", ...Status.literals])
export type Standing = typeof Standing.Type
