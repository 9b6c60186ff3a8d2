import * as TxId from "@satrail/bitcoin/TxId"
import { createHash } from "node:crypto"

/** An output of a transaction. The script is in hex. */
export interface Output {
  readonly vout: number
  readonly scriptPubKey: string
  readonly sats: bigint
}

/** The parts of a transaction that a follower needs. */
export interface Transaction {
  readonly outputs: ReadonlyArray<Output>
  readonly isCoinbase: boolean
  /** Returns the outpoints it spends, as `txid:vout`. */
  readonly spent: () => ReadonlyArray<string>
  /**
   * Computes the id. Not done while parsing, because hashing every transaction of a block would cost more than
   * parsing it.
   */
  readonly txId: () => TxId.TxId
}

export interface Block {
  readonly previousHash: string
  readonly transactions: ReadonlyArray<Transaction>
}

const shown = (hash: Uint8Array): string => Buffer.from(hash.toReversed()).toString("hex")

const sha256Twice = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const first = createHash("sha256")
  for (const part of parts) first.update(part)
  return createHash("sha256").update(first.digest()).digest()
}

/** Reads bytes sequentially. Throws if the bytes end too early. */
class Reader {
  readonly bytes: Buffer
  at = 0
  constructor(bytes: Buffer) {
    this.bytes = bytes
  }
  take(length: number): Buffer {
    const end = this.at + length
    if (end > this.bytes.length) throw new RangeError("it ends too early")
    const part = this.bytes.subarray(this.at, end)
    this.at = end
    return part
  }
  count(): number {
    const first = this.take(1).readUInt8()
    if (first < 0xfd) return first
    if (first === 0xfd) return this.take(2).readUInt16LE()
    if (first === 0xfe) return this.take(4).readUInt32LE()
    return Number(this.take(8).readBigUInt64LE())
  }
}

/** Parses one transaction (BIP 144). */
const readTransaction = (reader: Reader): Transaction => {
  const { bytes } = reader
  const version = reader.take(4)
  const isSegwit = bytes[reader.at] === 0 && bytes[reader.at + 1] === 1
  if (isSegwit) reader.take(2)
  const bodyAt = reader.at
  const inputCount = reader.count()
  const outpoints: Array<Buffer> = []
  let isCoinbase = false
  for (let n = 0; n < inputCount; n++) {
    const outpoint = reader.take(36)
    outpoints.push(outpoint)
    isCoinbase =
      n === 0 &&
      outpoint.readUInt32LE(32) === 0xffffffff &&
      outpoint.subarray(0, 32).every((byte) => byte === 0)
    reader.take(reader.count())
    reader.take(4)
  }
  const outputs: Array<Output> = []
  const outputCount = reader.count()
  for (let vout = 0; vout < outputCount; vout++) {
    const sats = reader.take(8).readBigUInt64LE()
    outputs.push({ vout, sats, scriptPubKey: reader.take(reader.count()).toString("hex") })
  }
  const body = bytes.subarray(bodyAt, reader.at)
  if (isSegwit) {
    for (let n = 0; n < inputCount; n++) {
      for (let items = reader.count(); items > 0; items--) reader.take(reader.count())
    }
  }
  const lockTime = reader.take(4)
  const spent = () =>
    outpoints.map((outpoint) => `${shown(outpoint.subarray(0, 32))}:${outpoint.readUInt32LE(32)}`)
  return { outputs, isCoinbase, spent, txId: () => TxId.make(shown(sha256Twice(version, body, lockTime))) }
}

/** Parses a serialized block. Throws if it is invalid. */
export const parse = (bytes: Buffer): Block => {
  const reader = new Reader(bytes)
  const header = reader.take(80)
  const transactions: Array<Transaction> = []
  for (let left = reader.count(); left > 0; left--) transactions.push(readTransaction(reader))
  if (reader.at !== bytes.length) throw new RangeError("something follows the last transaction")
  return { previousHash: shown(header.subarray(4, 36)), transactions }
}

/** Parses a serialized transaction. Throws if it is invalid. */
export const parseTransaction = (bytes: Buffer): Transaction => {
  const reader = new Reader(bytes)
  const transaction = readTransaction(reader)
  if (reader.at !== bytes.length) throw new RangeError("something follows the transaction")
  return transaction
}

/** Returns the hash of a block, from its header. */
export const hashOf = (bytes: Buffer): string => shown(sha256Twice(bytes.subarray(0, 80)))

/** Returns the id of a transaction in hex; undefined if it is invalid. */
export const txIdOf = (rawTx: string): TxId.TxId | undefined => {
  const bytes = Buffer.from(rawTx, "hex")
  if (bytes.toString("hex") !== rawTx.toLowerCase()) return undefined
  try {
    return parseTransaction(bytes).txId()
  } catch {
    return undefined
  }
}
