import { hexToBytes } from "@noble/hashes/utils.js"
import { Brand, Schema } from "effect"
import * as PaymentHash from "./PaymentHash.ts"
import { sha256 } from "./Sha256.ts"

/**
 * The secret that settles a Lightning payment, 32 bytes in lowercase hex (BOLT 4, "Payment Preimage"). It
 * must stay secret until the payment is settled.
 */
export const Preimage = Schema.String.pipe(Schema.brand("Preimage"))
export type Preimage = typeof Preimage.Type

/** Brands a string as a preimage without checking it. `proves` checks it against a payment hash. */
export const make = Brand.nominal<Preimage>()

/** Returns the payment hash of `preimage`: the SHA-256 of its bytes. Throws if it is not hex. */
export const hashOf = (preimage: Preimage): PaymentHash.PaymentHash =>
  PaymentHash.make(sha256.hex(hexToBytes(preimage)))

/**
 * Returns whether `preimage` proves the payment of `paymentHash`: sha256(preimage) = hash (BOLT 4, "Payment
 * Preimage").
 */
export const proves = (preimage: Preimage, paymentHash: PaymentHash.PaymentHash): boolean =>
  /^[0-9a-f]{64}$/.test(preimage) && hashOf(preimage) === paymentHash
