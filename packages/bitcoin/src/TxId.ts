import { Brand, Schema } from "effect"

/**
 * Identifies a bitcoin transaction: its hash without witnesses (BIP 141), 32 bytes in lowercase hex, in the
 * byte order of explorers and RPCs.
 */
export const TxId = Schema.String.pipe(Schema.brand("TxId"))
export type TxId = typeof TxId.Type

/** Brands a string as a transaction id without checking it. */
export const make = Brand.nominal<TxId>()
