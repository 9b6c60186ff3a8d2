import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js"
import { ripemd160 } from "@noble/hashes/legacy.js"
import { sha256 } from "@noble/hashes/sha2.js"
import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as TxId from "@satrail/bitcoin/TxId"
import { hex } from "@scure/base"
import { RawOldTx, RawTx, Script } from "@scure/btc-signer/script.js"
import { SigHash, Transaction as Scure } from "@scure/btc-signer/transaction.js"
import { Result } from "effect"
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

/** Returns the kind of a script that wallets can pay, or undefined for other scripts. */
export const kindOf = (scriptPubKey: string): BitcoinAddress.Kind | undefined =>
  // Scripts are the same on every network, so any network works here.
  Result.getOrUndefined(Result.map(BitcoinAddress.fromScript(scriptPubKey, "regtest"), ({ kind }) => kind))

const hash160 = (bytes: Uint8Array) => ripemd160(sha256(bytes))
const isSame = (one: Uint8Array | undefined, other: Uint8Array) => one !== undefined && hex.encode(one) === hex.encode(other)

const keyHashScript = (program: Uint8Array) => hex.decode(`76a914${hex.encode(program)}88ac`)

/** A P2WPKH spend (BIP 143): signs everything with the key whose hash is in the output. */
const spendsKeyHash = (
  tx: Scure,
  index: number,
  program: Uint8Array,
  sats: bigint,
  [signature, publicKey, ...rest]: ReadonlyArray<Uint8Array>
): boolean => {
  if (signature === undefined || publicKey === undefined || rest.length > 0 || !isSame(hash160(publicKey), program)) return false
  if (signature.at(-1) !== SigHash.ALL) return false
  const hash = tx.preimageWitnessV0(index, keyHashScript(program), SigHash.ALL, sats)
  return secp256k1.verify(signature.subarray(0, -1), hash, publicKey, { prehash: false, format: "der", lowS: true })
}

/** A P2TR key spend (BIP 341). */
const spendsOutputKey = (
  tx: Scure,
  index: number,
  spent: ReadonlyArray<Output>,
  key: Uint8Array,
  [signature, ...rest]: ReadonlyArray<Uint8Array>
): boolean => {
  if (signature?.length !== 64 || rest.length > 0) return false
  const scripts = spent.map((output) => hex.decode(output.scriptPubKey))
  return schnorr.verify(
    signature,
    tx.preimageWitnessV1(
      index,
      scripts,
      SigHash.DEFAULT,
      spent.map((output) => output.sats)
    ),
    key
  )
}

/**
 * Returns whether every input is signed by the key of its output. Supports the key spends P2WPKH, P2SH-P2WPKH
 * and P2TR. Any other input counts as unsigned.
 */
export const isSigned = (rawTx: string, spent: ReadonlyArray<Output>): boolean => {
  try {
    const bytes = hex.decode(rawTx)
    const { witnesses, inputs } = RawTx.decode(bytes)
    const tx = Scure.fromRaw(bytes, { allowUnknownOutputs: true, allowUnknownInputs: true, disableScriptCheck: true })
    return spent.every(({ scriptPubKey, sats }, index) => {
      const witness = witnesses?.[index] ?? []
      const script = hex.decode(scriptPubKey)
      switch (kindOf(scriptPubKey)) {
        case "p2wpkh":
          return spendsKeyHash(tx, index, script.subarray(2), sats, witness)
        case "p2tr":
          return spendsOutputKey(tx, index, spent, script.subarray(2), witness)
        case "p2sh": {
          const [redeem, ...others] = Script.decode(inputs[index]?.finalScriptSig ?? new Uint8Array())
          return (
            redeem instanceof Uint8Array &&
            others.length === 0 &&
            isSame(hash160(redeem), script.subarray(2, 22)) &&
            kindOf(hex.encode(redeem)) === "p2wpkh" &&
            spendsKeyHash(tx, index, redeem.subarray(2), sats, witness)
          )
        }
        default:
          return false
      }
    })
  } catch {
    // The verification throws on malformed signatures and keys.
    return false
  }
}
