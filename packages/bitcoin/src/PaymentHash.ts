import { Brand, Schema } from "effect"

/** What a Lightning payment is known by: sha256 of its preimage, 32 bytes in lower-case hex (BOLT 4). */
export const PaymentHash = Schema.String.pipe(Schema.brand("PaymentHash"))
export type PaymentHash = typeof PaymentHash.Type

/** Names a text as a payment hash. It is not checked: whether a preimage proves it, `Preimage.proves` says. */
export const make = Brand.nominal<PaymentHash>()
