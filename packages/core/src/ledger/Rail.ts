import { Schema } from "effect"

/** How money moves between us and the world. What one company sends another here stays on the rail that the recipient named. */
export const Rail = Schema.Literals(["lightning", "on_chain"])
export type Rail = typeof Rail.Type

/** How records name the kinds of destination. */
export const RecipientType = Schema.Literals(["lightning_address", "lightning_invoice", "chain_address", "lnurl", "bolt12_offer"])
export type RecipientType = typeof RecipientType.Type

/** Where a withdrawal or a deposit stands. A withdrawal that is `settled` or `failed` stays so. */
export const Status = Schema.Literals(["pending", "settled", "failed"])
export type Status = typeof Status.Type

/** The same as companies are told it: a pending withdrawal that waits for a second key is `pending_approval`. */
export const Standing = Schema.Literals(["pending_approval", ...Status.literals])
export type Standing = typeof Standing.Type
