import { hex } from "@scure/base"
import { curve } from "./Curve.ts"

/** One record of a TLV stream (BOLT 1). */
export interface Field {
  readonly type: bigint
  readonly data: Uint8Array
}

const byte = 8n

const toNumber = (bytes: Uint8Array): bigint =>
  bytes.reduce((value, one) => (value << byte) | BigInt(one), 0n)

const fromNumber = (value: bigint, length: number): Uint8Array =>
  Uint8Array.from({ length }, (_, index) => Number((value >> (byte * BigInt(length - 1 - index))) & 0xffn))

/**
 * The sizes of a BigSize (BOLT 1). Its first byte is the value or a prefix that gives the length of the value.
 * The encoding must be minimal.
 */
const sizes: ReadonlyArray<readonly [first: number, length: number, least: bigint]> = [
  [0xfd, 2, 0xfdn],
  [0xfe, 4, 0x1_0000n],
  [0xff, 8, 0x1_0000_0000n]
]

const readSize = (
  bytes: Uint8Array,
  at: number
): { readonly value: bigint; readonly next: number } | undefined => {
  const first = bytes[at]
  if (first === undefined) return undefined
  const size = sizes.find(([one]) => one === first)
  if (size === undefined) return { value: BigInt(first), next: at + 1 }
  const [, length, least] = size
  const next = at + 1 + length
  const value = toNumber(bytes.subarray(at + 1, next))
  return next > bytes.length || value < least ? undefined : { value, next }
}

const writeSize = (value: bigint): Uint8Array => {
  const [first, length] = sizes.findLast(([, , least]) => value >= least) ?? []
  return first === undefined || length === undefined
    ? fromNumber(value, 1)
    : Uint8Array.of(first, ...fromNumber(value, length))
}

/**
 * Reads the records of a stream. Returns undefined if types are not strictly ascending, a record is truncated,
 * or an encoding is not minimal.
 */
export const read = (bytes: Uint8Array): ReadonlyArray<Field> | undefined => {
  const fields: Array<Field> = []
  let before = -1n
  for (let at = 0; at < bytes.length;) {
    const type = readSize(bytes, at)
    const length = type && readSize(bytes, type.next)
    if (type === undefined || length === undefined || type.value <= before) return undefined
    if (length.value > BigInt(bytes.length - length.next)) return undefined
    at = length.next + Number(length.value)
    fields.push({ type: type.value, data: bytes.subarray(length.next, at) })
    before = type.value
  }
  return fields
}

/** Writes records, which must be sorted by type. */
export const write = (fields: ReadonlyArray<Field>): Uint8Array =>
  Uint8Array.from(
    fields.flatMap(({ type, data }) => [...writeSize(type), ...writeSize(BigInt(data.length)), ...data])
  )

/** `tu64`: a number of up to eight bytes without leading zeros; empty is 0. */
export const toInteger = (data: Uint8Array): bigint | undefined =>
  data.length > 8 || data[0] === 0 ? undefined : toNumber(data)

export const fromInteger = (value: bigint): Uint8Array => {
  let length = 0
  while (value >> (byte * BigInt(length)) > 0n) length += 1
  return fromNumber(value, length)
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

export const toText = (data: Uint8Array): string | undefined => {
  try {
    return utf8.decode(data)
  } catch {
    return undefined
  }
}

export const fromText = (text: string): Uint8Array => new TextEncoder().encode(text)

const pointBytes = 33

/** A public key in hex, if it is on the curve. */
export const toPoint = (data: Uint8Array): string | undefined =>
  data.length === pointBytes && curve.isPoint(data) ? hex.encode(data) : undefined

const chainBytes = 32

/** Decodes a list of chains, each as the hash of its first block in hex. */
export const toChains = (data: Uint8Array): ReadonlyArray<string> | undefined =>
  data.length % chainBytes === 0
    ? Array.from({ length: data.length / chainBytes }, (_, index) =>
        hex.encode(data.subarray(index * chainBytes, (index + 1) * chainBytes))
      )
    : undefined

/** Returns the positions of the set bits in ascending order. Position 0 is the lowest bit of the last byte. */
export const toFeatures = (data: Uint8Array): ReadonlyArray<number> =>
  [...data]
    .toReversed()
    .flatMap((one, index) =>
      [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => ((one >> bit) & 1) === 1).map((bit) => index * 8 + bit)
    )

export const fromFeatures = (features: ReadonlyArray<number>): Uint8Array => {
  const bytes = new Uint8Array(features.length === 0 ? 0 : Math.floor(Math.max(...features) / 8) + 1)
  for (const bit of features) {
    const at = bytes.length - 1 - Math.floor(bit / 8)
    bytes[at] = (bytes[at] ?? 0) | (1 << (bit % 8))
  }
  return bytes
}

/**
 * Returns the first node of each blinded path (BOLT 4), in hex: the 33 bytes of its key, or 9 bytes that
 * identify a channel and one of its ends. Undefined if a path has no hop, or a key is not on the curve.
 */
export const toIntroductions = (data: Uint8Array): ReadonlyArray<string> | undefined => {
  let at = 0
  const introductions: Array<string> = []
  const isPoint = () => toPoint(data.subarray(at, (at += pointBytes))) !== undefined
  const skip = (bytes: number) => (at += bytes) <= data.length
  while (at < data.length) {
    const begin = at
    const isChannel = (data[at] ?? 0) <= 1
    if (!(isChannel ? skip(9) : isPoint())) return undefined
    introductions.push(hex.encode(data.subarray(begin, at)))
    // The path key that blinds the hops comes next.
    if (!isPoint()) return undefined
    const hops = data[at++] ?? 0
    if (hops === 0) return undefined
    for (let hop = 0; hop < hops; hop++) {
      if (!isPoint()) return undefined
      const length = data.subarray(at, at + 2)
      if (length.length < 2 || !skip(2 + Number(toNumber(length)))) return undefined
    }
  }
  return introductions.length > 0 ? introductions : undefined
}
