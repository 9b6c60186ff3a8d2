import type * as TxId from "@satrail/bitcoin/TxId"
import { Context, type Effect, Schema } from "effect"

/** The signer could not be reached or would not sign. Nothing was sent. */
export class SignerUnavailable extends Schema.TaggedError<SignerUnavailable>()("SignerUnavailable", { cause: Schema.Defect() }) {}

/** A transaction that the network will take. */
export interface Signed {
  readonly txId: TxId.TxId
  /** Serialised for the network (BIP 144), in hex. */
  readonly rawTx: string
}

/** Holds the keys, and does nothing but sign: a PSBT (BIP 174, base64) in, the finished transaction out. */
export class Signer extends Context.Service<
  Signer,
  {
    readonly sign: (psbt: string) => Effect.Effect<Signed, SignerUnavailable>
  }
>()("@satrail/core/nodes/Signer") {}
