import { concatBytes } from "@noble/hashes/utils.js"
import type * as TxId from "@satrail/bitcoin/TxId"
import { hex } from "@scure/base"
import { RawTx, ScriptNum } from "@scure/btc-signer/script.js"
import * as Transaction from "./Transaction.ts"

/** The subsidy of a block. No sandbox reaches the height of the first halving. */
export const subsidySats = 50n * 100_000_000n

const littleEndian = (value: number, bytes: number): Uint8Array => {
  const encoded = new Uint8Array(bytes)
  for (let at = 0; at < bytes; at++) encoded[at] = Math.floor(value / 256 ** at) & 0xff
  return encoded
}

const push = (bytes: Uint8Array) => Uint8Array.of(bytes.length, ...bytes)

/**
 * Builds a block's first transaction. It contains the height (BIP 34) and `unique`, so that no two such
 * transactions are equal.
 */
export const coinbase = (height: number, unique: number, output: Transaction.Output): string =>
  hex.encode(
    RawTx.encode({
      version: 2,
      segwitFlag: false,
      inputs: [
        {
          txid: new Uint8Array(32),
          index: 0xffffffff,
          finalScriptSig: concatBytes(
            push(ScriptNum().encode(BigInt(height))),
            push(littleEndian(unique, 6))
          ),
          sequence: 0xffffffff
        }
      ],
      outputs: [{ amount: output.sats, script: hex.decode(output.scriptPubKey) }],
      witnesses: undefined,
      lockTime: 0
    })
  )

const merkleRoot = (hashes: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [first = new Uint8Array(32), ...rest] = hashes
  if (rest.length === 0) return first
  const pairs: Array<Uint8Array> = []
  // A hash without a partner is paired with itself.
  for (let at = 0; at < hashes.length; at += 2) {
    const left = hashes[at] ?? first
    pairs.push(Transaction.sha256Twice(concatBytes(left, hashes[at + 1] ?? left)))
  }
  return merkleRoot(pairs)
}

const internal = (hash: string) => hex.decode(hash).toReversed()

/** Returns the hash of a block's header, which has no proof of work. */
export const hash = (previous: string, txIds: ReadonlyArray<TxId.TxId>, timeSeconds: number): string =>
  Transaction.displayed(
    Transaction.sha256Twice(
      concatBytes(
        littleEndian(0x20000000, 4),
        internal(previous),
        merkleRoot(txIds.map(internal)),
        littleEndian(timeSeconds, 4),
        littleEndian(0x207fffff, 4),
        littleEndian(0, 4)
      )
    )
  )
