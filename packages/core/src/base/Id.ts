import { sha256 } from "@satrail/bitcoin/Sha256"
import { Clock, Effect } from "effect"
import { Entropy } from "./Entropy.ts"

const hex = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"))

/** Returns bytes in lowercase hex. */
export const toHex = (bytes: Uint8Array): string => {
  let text = ""
  for (const byte of bytes) text += hex[byte]
  return text
}

/** Returns the first 48 bits of an id as text, with a hyphen after 32 bits. */
const timeOf = (millis: number): string => {
  const time = millis.toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}`
}

// Formatting the time takes most of the time of making an id, and many ids are made in the same millisecond.
let last = { millis: 0, time: timeOf(0) }

/**
 * Returns a UUIDv7 (RFC 9562, section 5.7). Its first 48 bits are the time, so new rows are added at the
 * right edge of their index.
 */
export const fromMillis = (millis: number, entropy: (size: number) => Uint8Array): string => {
  if (last.millis !== millis) last = { millis, time: timeOf(millis) }
  const random = toHex(entropy(10))
  const variant = hex[(parseInt(random.slice(4, 6), 16) & 0x3f) | 0x80]
  return `${last.time}-7${random.slice(1, 4)}-${variant}${random.slice(6, 8)}-${random.slice(8)}`
}

/** Returns a lower bound for ids created at `millis` or later. All earlier ids are below it. An id's time has 48 bits. */
export const floorOf = (millis: number): string =>
  millis >= 2 ** 48 ? max : `${timeOf(Math.max(0, Math.floor(millis)))}-0000-0000-000000000000`

/** Returns a new id with the current time. */
export const make: Effect.Effect<string> = Effect.gen(function* () {
  return fromMillis(yield* Clock.currentTimeMillis, yield* Entropy)
})

/** Derives an id from a hash: its first 16 bytes as a UUIDv8 (RFC 9562, section 5.8). */
export const fromHash = (hash: string): string =>
  `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`

/** Derives an id from a name. It is the same in every process. */
export const named = (name: string): string => fromHash(sha256.hex(name))

/** Returns whether `text` has the shape of an id. Other text never matches a record. */
export const is = (text: string): boolean =>
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(text)

/** An id that no record has. It sorts before every generated id. */
export const nil = "00000000-0000-0000-0000-000000000000"
/** An id that no record has. It sorts after every generated id. */
export const max = "ffffffff-ffff-ffff-ffff-ffffffffffff"
