import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"
import { Brand, Schema } from "effect"
import * as PaymentHash from "./PaymentHash.ts"

/** What settles a Lightning payment, 32 bytes in lower-case hex (BOLT 4, "Payment Preimage"). A secret until the payment is settled. */
export const Preimage = Schema.String.pipe(Schema.brand("Preimage"))
export type Preimage = typeof Preimage.Type

/** Names a text as a preimage. It is not checked: whether it proves a payment, `proves` says. */
export const make = Brand.nominal<Preimage>()

/** The hash of the payment that `preimage` settles: sha256 of its bytes. Throws where it is not hex. */
export const hashOf = (preimage: Preimage): PaymentHash.PaymentHash => PaymentHash.make(bytesToHex(sha256(hexToBytes(preimage))))

/** Whether `preimage` proves the payment of `paymentHash`: sha256(preimage) = hash (BOLT 4, "Payment Preimage"). */
export const proves = (preimage: Preimage, paymentHash: PaymentHash.PaymentHash): boolean =>
  /^[0-9a-f]{64}$/.test(preimage) && hashOf(preimage) === paymentHash
