import { Brand, Schema } from "effect"

/** What a bitcoin transaction is known by: the hash of it without its witnesses (BIP 141), 32 bytes in lower-case hex, in the order of explorers and RPCs. */
export const TxId = Schema.String.pipe(Schema.brand("TxId"))
export type TxId = typeof TxId.Type

/** Names a text as a transaction's id. It is not checked. */
export const make = Brand.nominal<TxId>()
