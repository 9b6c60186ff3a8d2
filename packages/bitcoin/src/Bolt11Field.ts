import { bech32, hex } from "@scure/base"
import * as BitcoinAddress from "./BitcoinAddress.ts"
import * as Msat from "./Msat.ts"
import type { Network } from "./Network.ts"

/**
 * The parts of an invoice as bech32's 5-bit words (BOLT 11, tagged fields). The functions below return
 * `undefined` if their input is invalid.
 */
export type Words = ReadonlyArray<number>

/**
 * One channel on the route to a private payee. `shortChannelId` has the format of BOLT 7, such as
 * `589390x3312x1`.
 */
export interface Hop {
  readonly pubkey: string
  readonly shortChannelId: string
  readonly feeBaseMsat: Msat.Msat
  readonly feeProportionalMillionths: number
  readonly cltvExpiryDelta: number
}

/** The 5-bit value of each field type, by the letter that encodes it. */
export const type = { p: 1, r: 3, "9": 5, x: 6, f: 9, d: 13, s: 16, n: 19, h: 23, c: 24, m: 27 } as const

/** Types with a fixed length. A field of another length is skipped like an unknown type. */
export const fixedWords: ReadonlyMap<number, number> = new Map([
  [type.p, 52],
  [type.s, 52],
  [type.h, 52],
  [type.n, 53]
])

/** Maximum number of words in a field, because its length has ten bits. */
export const maxWords = 1023

/** Maximum number of words in a number. Longer numbers would not be exact in JavaScript, and no invoice needs them. */
const maxNumberWords = 10

/** Decodes bytes. The padding must be minimal and zero. */
export const toBytes = (words: Words): Uint8Array | undefined =>
  bech32.fromWordsUnsafe([...words]) ?? undefined

export const fromBytes = (bytes: Uint8Array): Words => bech32.toWords(bytes)

/** Decodes a big-endian number. Leading zeros, which a writer should omit, are ignored. */
export const toNumber = (words: Words): number | undefined =>
  words.length > maxNumberWords ? undefined : words.reduce((value, word) => value * 32 + word, 0)

export const fromNumber = (value: number, length = 0): Words => {
  const words: Array<number> = []
  for (; value > 0; value = Math.floor(value / 32)) words.unshift(value % 32)
  while (words.length < length) words.unshift(0)
  return words
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

export const toText = (words: Words): string | undefined => {
  const bytes = toBytes(words)
  try {
    return bytes && utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** Returns the positions of the set bits in ascending order. Position 0 is the lowest bit of the last word. */
export const toFeatures = (words: Words): ReadonlyArray<number> =>
  words
    .toReversed()
    .flatMap((word, index) =>
      [0, 1, 2, 3, 4].filter((bit) => ((word >> bit) & 1) === 1).map((bit) => index * 5 + bit)
    )

export const fromFeatures = (features: ReadonlyArray<number>): Words => {
  const length = features.length === 0 ? 0 : Math.floor(Math.max(...features) / 5) + 1
  const words = Array.from({ length }, () => 0)
  for (const bit of features) {
    const at = words.length - 1 - Math.floor(bit / 5)
    words[at] = (words[at] ?? 0) | (1 << (bit % 5))
  }
  return words
}

const hopBytes = 51

/**
 * Decodes one or more hops. Each hop has 33 bytes for the key, 8 for the channel, 4 for the base fee, 4 for the
 * proportional fee and 2 for the CLTV delta.
 */
export const toRoute = (words: Words): ReadonlyArray<Hop> | undefined => {
  const bytes = toBytes(words)
  if (bytes === undefined || bytes.length === 0 || bytes.length % hopBytes !== 0) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  return Array.from({ length: bytes.length / hopBytes }, (_, index) => {
    const at = index * hopBytes
    const channel = view.getBigUint64(at + 33)
    return {
      pubkey: hex.encode(bytes.subarray(at, at + 33)),
      shortChannelId: `${channel >> 40n}x${(channel >> 16n) & 0xffffffn}x${channel & 0xffffn}`,
      feeBaseMsat: Msat.make(BigInt(view.getUint32(at + 41))),
      feeProportionalMillionths: view.getUint32(at + 45),
      cltvExpiryDelta: view.getUint16(at + 49)
    }
  })
}

export const fromRoute = (route: ReadonlyArray<Hop>): Words => {
  const bytes = new Uint8Array(route.length * hopBytes)
  const view = new DataView(bytes.buffer)
  route.forEach((hop, index) => {
    const at = index * hopBytes
    const [block = 0n, transaction = 0n, output = 0n] = hop.shortChannelId.split("x").map(BigInt)
    bytes.set(hex.decode(hop.pubkey), at)
    view.setBigUint64(at + 33, (block << 40n) | (transaction << 16n) | output)
    view.setUint32(at + 41, Number(hop.feeBaseMsat))
    view.setUint32(at + 45, hop.feeProportionalMillionths)
    view.setUint16(at + 49, hop.cltvExpiryDelta)
  })
  return fromBytes(bytes)
}

/** A fallback begins with its witness version, or 17 for P2PKH and 18 for P2SH. */
const fallbackVersion: { readonly [kind in BitcoinAddress.Kind]: number } = {
  p2pkh: 17,
  p2sh: 18,
  p2wpkh: 0,
  p2wsh: 0,
  p2tr: 1
}

/**
 * Decodes a fallback address. "unknown" is a version or program without defined spending rules, which must be
 * skipped.
 */
export const toFallback = (
  [version, ...words]: Words,
  network: Network
): BitcoinAddress.BitcoinAddress | "unknown" | undefined => {
  const kinds = BitcoinAddress.Kind.literals.filter((kind) => fallbackVersion[kind] === version)
  const bytes = kinds.length === 0 ? undefined : toBytes(words)
  const found =
    bytes &&
    kinds
      .map((kind) => BitcoinAddress.fromPayload(kind, bytes, network))
      .find((address) => address !== undefined)
  return found ?? (kinds.length === 0 || version === fallbackVersion.p2tr ? "unknown" : undefined)
}

export const fromFallback = (address: BitcoinAddress.BitcoinAddress): Words => [
  fallbackVersion[address.kind],
  ...fromBytes(BitcoinAddress.payload(address))
]

/** Returns the bytes to sign: the words' bits in order, with the last byte padded with zeros. */
export const toSignedBytes = (words: Words): Uint8Array => {
  const bytes = new Uint8Array(Math.ceil((words.length * 5) / 8))
  let pending = 0
  let bits = 0
  let at = 0
  for (const word of words) {
    pending = ((pending << 5) | word) & 0xfff
    bits += 5
    if (bits >= 8) bytes[at++] = pending >> (bits -= 8)
  }
  if (bits > 0) bytes[at] = pending << (8 - bits)
  return bytes
}
