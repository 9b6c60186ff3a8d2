import { hmac } from "@noble/hashes/hmac.js"
import { sha256 as noble } from "@noble/hashes/sha2.js"
import { bytesToHex, concatBytes, utf8ToBytes } from "@noble/hashes/utils.js"

/** SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104) in lowercase hex. Text is hashed as UTF-8. */
export interface Sha256 {
  readonly hex: (data: string | Uint8Array) => string
  /** Prepares a key. The function that it returns computes MACs. */
  readonly hmac: (key: string | Uint8Array) => (data: string | Uint8Array) => string
}

const bytesOf = (data: string | Uint8Array): Uint8Array =>
  typeof data === "string" ? utf8ToBytes(data) : data

export const inJavaScript: Sha256 = {
  hex: (data) => bytesToHex(noble(bytesOf(data))),
  hmac: (key) => {
    const keyed = hmac.create(noble, bytesOf(key))
    return (data) => bytesToHex(keyed.clone().update(bytesOf(data)).digest())
  }
}

const native = "process" in globalThis ? globalThis.process.getBuiltinModule("node:crypto") : undefined

// Two calls of `hash` take two thirds of the time of `createHmac`, which makes an object for each MAC.
const overNative = ({ hash }: NonNullable<typeof native>): Sha256 => ({
  hex: (data) => hash("sha256", data, "hex"),
  hmac: (key) => {
    const bytes = bytesOf(key)
    const block = new Uint8Array(64)
    block.set(bytes.length > block.length ? hash("sha256", bytes, "buffer") : bytes)
    const [inner, outer] = [block.map((byte) => byte ^ 0x36), block.map((byte) => byte ^ 0x5c)]
    return (data) => {
      const inside = hash("sha256", concatBytes(inner, bytesOf(data)), "buffer")
      return hash("sha256", concatBytes(outer, inside), "hex")
    }
  }
})

/** Node's own functions, several times as fast; undefined in a runtime without them. */
export const inNode: Sha256 | undefined =
  native === undefined || !("hash" in native) ? undefined : overNative(native)

/** The faster implementation. Both give the same results. */
export const sha256: Sha256 = inNode ?? inJavaScript
