import { chacha20 } from "@noble/ciphers/chacha.js"
import { expand, extract } from "@noble/hashes/hkdf.js"
import { hmac } from "@noble/hashes/hmac.js"
import { sha256 } from "@noble/hashes/sha2.js"
import { concatBytes, hexToBytes } from "@noble/hashes/utils.js"
import { base64 } from "@scure/base"
import { Redacted, Result, Schema } from "effect"
import { curve } from "./Curve.ts"

// Encrypted payloads between two keys on Nostr (NIP-44, version 2): ChaCha20 with an HMAC, and padded
// lengths.

const version = 2
const nonceBytes = 32
const macBytes = 32
/** Maximum length of a string, in UTF-8 bytes. */
export const maxBytes = 65_535

// Base64 lengths of the encrypted shortest and longest strings.
const [minPayload, maxPayload] = [132, 87_472]

/**
 * The payload is not valid for this version and these two keys: it is malformed, was changed, or was encrypted
 * by another key.
 */
export class Unreadable extends Schema.TaggedError<Unreadable>()("Unreadable", { reason: Schema.String }) {}

/**
 * Derives the shared key of two parties. Both parties derive the same key. Undefined if the public key (x-only,
 * in hex) is not a point, or the secret key is invalid.
 */
export const conversationKey = (
  secretKey: Redacted.Redacted,
  publicKey: string
): Redacted.Redacted<Uint8Array> | undefined => {
  const secret = Redacted.value(secretKey)
  if (!/^[0-9a-f]{64}$/.test(secret) || !/^[0-9a-f]{64}$/.test(publicKey)) return undefined
  const [point, scalar] = [hexToBytes(`02${publicKey}`), hexToBytes(secret)]
  if (!curve.isSecretKey(scalar) || !curve.isPoint(point)) return undefined
  const shared = curve.multiply(point, scalar)
  return Redacted.make(extract(sha256, shared.subarray(1), new TextEncoder().encode("nip44-v2")), {
    label: "conversation key"
  })
}

/** Returns the padded length of a string of this many bytes. */
export const paddedBytes = (size: number): number => {
  const power = 2 ** (32 - Math.clz32(size - 1))
  const chunk = power <= 256 ? 32 : power / 8
  return chunk * (Math.floor((size - 1) / chunk) + 1)
}

const keysOf = (key: Redacted.Redacted<Uint8Array>, nonce: Uint8Array) => {
  const keys = expand(sha256, Redacted.value(key), nonce, 76)
  return { cipher: keys.subarray(0, 32), nonce: keys.subarray(32, 44), mac: keys.subarray(44, 76) }
}

/** Encrypts a string of 1 to `maxBytes` bytes. `nonce` is 32 random bytes, never reused. */
export const encrypt = (text: string, key: Redacted.Redacted<Uint8Array>, nonce: Uint8Array): string => {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length < 1 || bytes.length > maxBytes)
    throw new RangeError(`The text must have 1 to ${maxBytes} bytes, but it has ${bytes.length}`)
  const padded = new Uint8Array(2 + paddedBytes(bytes.length))
  padded.set([bytes.length >> 8, bytes.length & 0xff])
  padded.set(bytes, 2)
  const keys = keysOf(key, nonce)
  const sealed = chacha20(keys.cipher, keys.nonce, padded)
  return base64.encode(
    concatBytes(Uint8Array.of(version), nonce, sealed, hmac(sha256, keys.mac, concatBytes(nonce, sealed)))
  )
}

const isSame = (one: Uint8Array, other: Uint8Array): boolean => {
  let difference = one.length ^ other.length
  for (const [n, byte] of one.entries()) difference |= byte ^ (other[n] ?? 0)
  return difference === 0
}

const bytesOf = (payload: string): Uint8Array | undefined => {
  try {
    return base64.decode(payload)
  } catch {
    return undefined // not base64; the caller needs no further detail
  }
}

const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined // not UTF-8
  }
}

/** Decrypts a string. Verifies its MAC before it decrypts anything. */
export const decrypt = (
  payload: string,
  key: Redacted.Redacted<Uint8Array>
): Result.Result<string, Unreadable> => {
  const refuse = (reason: string) => Result.fail(new Unreadable({ reason }))
  if (payload.startsWith("#")) return refuse("an unknown version")
  if (payload.length < minPayload || payload.length > maxPayload) return refuse("an impossible length")
  const bytes = bytesOf(payload)
  if (bytes === undefined) return refuse("no base64")
  if (bytes[0] !== version) return refuse("an unknown version")
  const nonce = bytes.subarray(1, 1 + nonceBytes)
  const sealed = bytes.subarray(1 + nonceBytes, -macBytes)
  const keys = keysOf(key, nonce)
  if (!isSame(hmac(sha256, keys.mac, concatBytes(nonce, sealed)), bytes.subarray(-macBytes)))
    return refuse("a wrong MAC")
  const padded = chacha20(keys.cipher, keys.nonce, sealed)
  const size = ((padded[0] ?? 0) << 8) | (padded[1] ?? 0)
  if (size === 0 || padded.length !== 2 + paddedBytes(size)) return refuse("invalid padding")
  const text = textOf(padded.subarray(2, 2 + size))
  return text === undefined ? refuse("no UTF-8") : Result.succeed(text)
}
