import * as TxId from "@satrail/bitcoin/TxId"
import { hex } from "@scure/base"
import { RawOldTx, RawTx } from "@scure/btc-signer/script.js"
import { createHash } from "node:crypto"

export interface Output {
  readonly scriptPubKey: string
  readonly sats: bigint
}

/** A transaction as the chain stores it. Outpoints are `txid:vout`. */
export interface Transaction {
  readonly txId: TxId.TxId
  readonly rawTx: string
  readonly inputs: ReadonlyArray<string>
  readonly outputs: ReadonlyArray<Output>
  /** In weight units (BIP 141), four of which are a virtual byte. */
  readonly weight: number
}

export const outpoint = (txId: TxId.TxId, vout: number): string => `${txId}:${vout}`

const sha256OfNode = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest()

export const sha256Twice = (bytes: Uint8Array): Uint8Array => sha256OfNode(sha256OfNode(bytes))

/** Formats a hash as it is displayed, with its bytes reversed. */
export const displayed = (hash: Uint8Array): string => hex.encode(hash.toReversed())

/** Parses a serialized transaction (BIP 144). Returns undefined if it is invalid. */
export const parse = (rawTx: string): Transaction | undefined => {
  try {
    const bytes = hex.decode(rawTx)
    const { version, inputs, outputs, lockTime } = RawTx.decode(bytes)
    const stripped = RawOldTx.encode({ version, inputs, outputs, lockTime })
    return {
      txId: TxId.make(displayed(sha256Twice(stripped))),
      rawTx: hex.encode(bytes),
      inputs: inputs.map(({ txid, index }) => outpoint(TxId.make(hex.encode(txid)), index)),
      outputs: outputs.map(({ amount, script }) => ({ scriptPubKey: hex.encode(script), sats: amount })),
      weight: stripped.length * 3 + bytes.length
    }
  } catch {
    return undefined
  }
}

/** Returns the size in virtual bytes, rounded up. */
export const virtualSize = (weight: number): number => Math.ceil(weight / 4)
