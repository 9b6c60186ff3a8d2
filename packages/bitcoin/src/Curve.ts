import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js"
import type * as Native from "tiny-secp256k1"

/**
 * The secp256k1 operations that this package needs. Points are compressed, x-only points have 32 bytes, and
 * hashes are signed without further hashing.
 */
export interface Curve {
  readonly isSecretKey: (key: Uint8Array) => boolean
  readonly isPoint: (point: Uint8Array) => boolean
  /** ECDH: the point times the key. */
  readonly multiply: (point: Uint8Array, key: Uint8Array) => Uint8Array
  /**
   * Signs with ECDSA, deterministic (RFC 6979) and low-S. Returns 64 bytes of r and s, then one byte of
   * recovery id.
   */
  readonly sign: (hash: Uint8Array, key: Uint8Array) => Uint8Array
  /** Returns whether the signature (r and s) is low-S and was made with the point's key. */
  readonly verify: (hash: Uint8Array, point: Uint8Array, signature: Uint8Array) => boolean
  /** Returns the public key of the signer. Throws if there is none. */
  readonly recover: (hash: Uint8Array, signature: Uint8Array, recoveryId: 0 | 1 | 2 | 3) => Uint8Array
  readonly xOnly: (key: Uint8Array) => Uint8Array
  /** Signs according to BIP 340, without auxiliary randomness, so the signature is deterministic. */
  readonly signSchnorr: (hash: Uint8Array, key: Uint8Array) => Uint8Array
  readonly verifySchnorr: (hash: Uint8Array, xOnly: Uint8Array, signature: Uint8Array) => boolean
}

const noRandomness = new Uint8Array(32)
const asIs = { prehash: false } as const

/** The curve in JavaScript. */
export const inJavaScript: Curve = {
  isSecretKey: (key) => secp256k1.utils.isValidSecretKey(key),
  isPoint: (point) => secp256k1.utils.isValidPublicKey(point),
  multiply: (point, key) => secp256k1.getSharedSecret(key, point, true),
  sign: (hash, key) => {
    const signed = secp256k1.sign(hash, key, { ...asIs, format: "recovered" })
    return Uint8Array.of(...signed.subarray(1), ...signed.subarray(0, 1))
  },
  verify: (hash, point, signature) => secp256k1.verify(signature, hash, point, { ...asIs, lowS: true }),
  recover: (hash, signature, recoveryId) =>
    secp256k1.recoverPublicKey(Uint8Array.of(recoveryId, ...signature), hash, asIs),
  xOnly: (key) => schnorr.getPublicKey(key),
  signSchnorr: (hash, key) => schnorr.sign(hash, key, noRandomness),
  verifySchnorr: (hash, xOnly, signature) => schnorr.verify(signature, hash, xOnly)
}

const notNull = <A>(value: A | null): A => {
  if (value === null) throw new Error("the result is the point at infinity")
  return value
}

const overNative = (native: typeof Native): Curve => ({
  isSecretKey: native.isPrivate,
  isPoint: native.isPoint,
  multiply: (point, key) => notNull(native.pointMultiply(point, key, true)),
  sign: (hash, key) => {
    const { signature, recoveryId } = native.signRecoverable(hash, key)
    return Uint8Array.of(...signature, recoveryId)
  },
  verify: (hash, point, signature) => native.verify(hash, point, signature, true),
  recover: (hash, signature, recoveryId) => notNull(native.recover(hash, signature, recoveryId, true)),
  xOnly: native.xOnlyPointFromScalar,
  signSchnorr: (hash, key) => native.signSchnorr(hash, key, noRandomness),
  verifySchnorr: native.verifySchnorr
})

/** Returns whether the error means that the package is not installed, as in a bundle without `node_modules`. */
const isAbsent = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND"

/**
 * libsecp256k1 as WebAssembly, five times as fast. The package reads its .wasm file at run time, which bundlers
 * don't copy. The package is therefore loaded dynamically, so that bundlers don't see it; a bundle uses the
 * curve in JavaScript instead.
 */
const loadNative = (): Curve | undefined => {
  const here: string | undefined = import.meta.url // undefined in a CommonJS bundle
  const modules = "process" in globalThis ? globalThis.process.getBuiltinModule("node:module") : undefined
  if (here === undefined || !here.startsWith("file:") || modules === undefined) return undefined
  try {
    return overNative(modules.createRequire(here)("tiny-secp256k1"))
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

export const inWebAssembly: Curve | undefined = loadNative()

/** The fastest available curve. Both give the same results. */
export const curve: Curve = inWebAssembly ?? inJavaScript
