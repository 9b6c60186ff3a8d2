import { Brand, Schema } from "effect"

/** Identifies a Lightning payment: the SHA-256 of its preimage, as 32 bytes in lowercase hex (BOLT 4). */
export const PaymentHash = Schema.String.pipe(Schema.brand("PaymentHash"))
export type PaymentHash = typeof PaymentHash.Type

/** Brands a string as a payment hash without checking it. `Preimage.proves` checks it against a preimage. */
export const make = Brand.nominal<PaymentHash>()
