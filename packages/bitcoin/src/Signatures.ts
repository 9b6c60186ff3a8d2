import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js"
import { ripemd160 } from "@noble/hashes/legacy.js"
import { sha256 } from "@noble/hashes/sha2.js"
import { hex } from "@scure/base"
import { RawTx } from "@scure/btc-signer/script.js"
import { SigHash, Transaction } from "@scure/btc-signer/transaction.js"
import * as BitcoinAddress from "./BitcoinAddress.ts"

/** An output that a transaction spends. */
export interface Spent {
  readonly scriptPubKey: string
  readonly sats: bigint
}

const hash160 = (bytes: Uint8Array) => ripemd160(sha256(bytes))
const isSame = (one: Uint8Array | undefined, other: Uint8Array) =>
  one !== undefined && hex.encode(one) === hex.encode(other)

const keyHashScript = (program: Uint8Array) => hex.decode(`76a914${hex.encode(program)}88ac`)

/** A P2WPKH spend (BIP 143): signs everything with the key whose hash is in the output. */
const spendsKeyHash = (
  tx: Transaction,
  index: number,
  program: Uint8Array,
  sats: bigint,
  [signature, publicKey, ...rest]: ReadonlyArray<Uint8Array>
): boolean => {
  if (
    signature === undefined ||
    publicKey === undefined ||
    rest.length > 0 ||
    !isSame(hash160(publicKey), program)
  )
    return false
  if (signature.at(-1) !== SigHash.ALL) return false
  const hash = tx.preimageWitnessV0(index, keyHashScript(program), SigHash.ALL, sats)
  return secp256k1.verify(signature.subarray(0, -1), hash, publicKey, {
    prehash: false,
    format: "der",
    lowS: true
  })
}

/** A P2TR key spend (BIP 341): signs everything, which a 65th byte may state. */
const spendsOutputKey = (
  tx: Transaction,
  index: number,
  spent: ReadonlyArray<Spent>,
  key: Uint8Array,
  [signature, ...rest]: ReadonlyArray<Uint8Array>
): boolean => {
  if (signature === undefined || rest.length > 0) return false
  const [type = SigHash.DEFAULT, ...others] = signature.subarray(64)
  if (others.length > 0 || (signature.length === 65 && type !== SigHash.ALL)) return false
  const scripts = spent.map((output) => hex.decode(output.scriptPubKey))
  const amounts = spent.map((output) => output.sats)
  return schnorr.verify(signature.subarray(0, 64), tx.preimageWitnessV1(index, scripts, type, amounts), key)
}

/**
 * Returns whether an input is signed by the key of its output. Supports the key spends P2WPKH, P2SH-P2WPKH and P2TR.
 * Any other input counts as unsigned, and so does one with another scriptSig than BIP 141 requires: no node accepts it.
 * `spent` are the outputs of all inputs.
 */
export const isSigned = (rawTx: string, spent: ReadonlyArray<Spent>, index: number): boolean => {
  try {
    const bytes = hex.decode(rawTx)
    const { witnesses, inputs } = RawTx.decode(bytes)
    const tx = Transaction.fromRaw(bytes, {
      allowUnknownOutputs: true,
      allowUnknownInputs: true,
      disableScriptCheck: true
    })
    const { scriptPubKey = "", sats = 0n } = spent[index] ?? {}
    const witness = witnesses?.[index] ?? []
    const script = hex.decode(scriptPubKey)
    const scriptSig = inputs[index]?.finalScriptSig ?? new Uint8Array()
    const isNative = scriptSig.length === 0
    switch (BitcoinAddress.kindOf(scriptPubKey)) {
      case "p2wpkh":
        return isNative && spendsKeyHash(tx, index, script.subarray(2), sats, witness)
      case "p2tr":
        return isNative && spendsOutputKey(tx, index, spent, script.subarray(2), witness)
      case "p2sh": {
        // BIP 141: the only script is one byte with the length of the program, and the program.
        const program = scriptSig.subarray(1)
        return (
          scriptSig[0] === program.length &&
          isSame(hash160(program), script.subarray(2, 22)) &&
          BitcoinAddress.kindOf(hex.encode(program)) === "p2wpkh" &&
          spendsKeyHash(tx, index, program.subarray(2), sats, witness)
        )
      }
      default:
        return false
    }
  } catch {
    // The verification throws on malformed signatures and keys.
    return false
  }
}
