import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"

/** Whether `preimage` proves the payment of `paymentHash`, both in lower-case hex: sha256(preimage) = hash (BOLT 4, "Payment Preimage"). */
export const proves = (preimage: string, paymentHash: string): boolean =>
  /^[0-9a-f]{64}$/.test(preimage) && bytesToHex(sha256(hexToBytes(preimage))) === paymentHash
