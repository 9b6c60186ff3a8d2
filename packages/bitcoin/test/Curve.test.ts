import { assert, describe, it } from "@effect/vitest"
import { sha256 } from "@noble/hashes/sha2.js"
import { hex } from "@scure/base"
import { inJavaScript, inWebAssembly } from "../src/Curve.ts"

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const bytesOf = (value: bigint) => hex.decode(value.toString(16).padStart(64, "0"))
const hashOf = (text: string) => sha256(new TextEncoder().encode(text))
const highS = (signature: Uint8Array) => {
  const s = BigInt(`0x${hex.encode(signature.subarray(32, 64))}`)
  return Uint8Array.of(...signature.subarray(0, 32), ...bytesOf(order - s))
}

/** The result in hex, or false if `run` throws, because callers treat an exception as a rejection. */
const outcome = (run: () => Uint8Array | boolean): string | boolean => {
  try {
    const result = run()
    return typeof result === "boolean" ? result : hex.encode(result)
  } catch {
    return false
  }
}

describe("the two curves", () => {
  const native = inWebAssembly ?? assert.fail("tiny-secp256k1 is not installed")
  const both = [native, inJavaScript]
  const same = (run: (curve: typeof native) => Uint8Array | boolean, about: string) => {
    const [one, other] = both.map((curve) => outcome(() => run(curve)))
    assert.strictEqual(one, other, about)
    return one
  }

  it("curve: WebAssembly and JavaScript return the same signatures, keys and recovered points", () => {
    for (let n = 0; n < 25; n++) {
      const [key, hash, other] = [hashOf(`key ${n}`), hashOf(`hash ${n}`), hashOf(`other ${n}`)]
      const signed = native.sign(hash, key)
      const [compact, id] = [signed.subarray(0, 64), signed[64]]
      same((curve) => curve.sign(hash, key), `sign ${n}`)
      const point = native.recover(hash, compact, id === 1 ? 1 : 0)
      for (const recoveryId of [0, 1, 2, 3] as const) {
        for (const signature of [compact, highS(compact)])
          same((curve) => curve.recover(hash, signature, recoveryId), `recover ${n}`)
      }
      assert.isTrue(same((curve) => curve.verify(hash, point, compact), `verify ${n}`))
      assert.isFalse(same((curve) => curve.verify(hash, point, highS(compact)), `high S ${n}`))
      assert.isFalse(same((curve) => curve.verify(other, point, compact), `another hash ${n}`))
      same((curve) => curve.multiply(point, other), `multiply ${n}`)
      const xOnly = native.xOnly(key)
      same((curve) => curve.xOnly(key), `x-only ${n}`)
      const schnorr = native.signSchnorr(hash, key)
      same((curve) => curve.signSchnorr(hash, key), `sign Schnorr ${n}`)
      assert.isTrue(same((curve) => curve.verifySchnorr(hash, xOnly, schnorr), `verify Schnorr ${n}`))
      assert.isFalse(
        same((curve) => curve.verifySchnorr(other, xOnly, schnorr), `another hash, Schnorr ${n}`)
      )
    }
  })

  it("curve: WebAssembly and JavaScript reject the same keys, points and signatures", () => {
    const [key, hash] = [hashOf("key"), hashOf("hash")]
    const compact = native.sign(hash, key).subarray(0, 64)
    const point = Uint8Array.of(2, ...native.xOnly(key))
    const numbers = [0n, 1n, 5n, order - 1n, order, order + 1n, 2n ** 256n - 1n].map(bytesOf)
    for (const number of numbers) {
      same((curve) => curve.isSecretKey(number), `secret key ${hex.encode(number)}`)
      for (const first of [0, 2, 3, 4, 6])
        same(
          (curve) => curve.isPoint(Uint8Array.of(first, ...number)),
          `point ${first} ${hex.encode(number)}`
        )
      same((curve) => curve.verifySchnorr(hash, number, compact), `x-only ${hex.encode(number)}`)
      for (const signature of [
        Uint8Array.of(...number, ...compact.subarray(32)),
        Uint8Array.of(...compact.subarray(0, 32), ...number)
      ]) {
        for (const recoveryId of [0, 1, 2, 3] as const) {
          same(
            (curve) => curve.recover(hash, signature, recoveryId),
            `recover ${recoveryId} ${hex.encode(signature)}`
          )
        }
        assert.notStrictEqual(
          same((curve) => curve.verify(hash, point, signature) === true, `verify ${hex.encode(signature)}`),
          true
        )
      }
    }
    for (const length of [0, 31, 32, 34, 65])
      assert.isFalse(same((curve) => curve.isPoint(new Uint8Array(length)), `${length} bytes`))
  })
})
