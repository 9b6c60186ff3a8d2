import { Schema } from "effect"

/**
 * The network a payment uses. A payment between two companies keeps the rail of its destination.
 */
export const Rail = Schema.Literals(["lightning", "on_chain"])
export type Rail = typeof Rail.Type

/** The rail of a transaction in a list. `internal`: between two companies of this service, by a feature's record. */
export const ListedRail = Schema.Literals([...Rail.literals, "internal"])
export type ListedRail = typeof ListedRail.Type

/** Kinds of destinations, as named in records. */
export const RecipientType = Schema.Literals([
  "lightning_address",
  "lightning_invoice",
  "chain_address",
  "lnurl",
  "bolt12_offer"
])
export type RecipientType = typeof RecipientType.Type

/** Kinds of payees that limits can allow: destinations, and accounts of this service. */
export const PayeeType = Schema.Literals([...RecipientType.literals, "account"])
export type PayeeType = typeof PayeeType.Type

/** Status of a withdrawal or deposit. `settled` and `failed` are final for a withdrawal. */
export const Status = Schema.Literals(["pending", "settled", "failed"])
export type Status = typeof Status.Type

/** The status that companies see. A pending withdrawal that waits for approval is `pending_approval`. */
export const Standing = Schema.Literals(["pending_approval", ...Status.literals])
export type Standing = typeof Standing.Type
