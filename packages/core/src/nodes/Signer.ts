import type * as TxId from "@satrail/bitcoin/TxId"
import { Context, type Effect, Schema } from "effect"

/** The signer was unreachable, refused to sign or took too long. Nothing was sent. */
export class SignerUnavailable extends Schema.TaggedError<SignerUnavailable>()("SignerUnavailable", {
  cause: Schema.Defect()
}) {}

/** A fully signed transaction. */
export interface Signed {
  readonly txId: TxId.TxId
  /** Serialized for the network (BIP 144), in hex. */
  readonly rawTx: string
}

/**
 * Holds the keys and only signs: it takes a PSBT (BIP 174, base64) and returns the final transaction. Each
 * process asks for one signature at a time, and interrupts a request when it stops or loses its claim.
 */
export class Signer extends Context.Service<
  Signer,
  {
    readonly sign: (psbt: string) => Effect.Effect<Signed, SignerUnavailable>
  }
>()("@satrail/core/nodes/Signer") {}
