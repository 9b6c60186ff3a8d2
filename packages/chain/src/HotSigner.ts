import type { Network } from "@satrail/bitcoin/Network"
import { Signer, SignerUnavailable } from "@satrail/core/nodes/Signer"
import * as Payout from "@satrail/core/sending/Payout"
import type { HDKey } from "@scure/bip32"
import { Effect, Layer, type Redacted } from "effect"
import * as Seed from "./Seed.ts"

/** Runs code that may throw. The resulting error keeps only the message, because the original may contain a key. */
const attempt = <A>(run: () => A) =>
  Effect.try({
    try: run,
    catch: (cause) =>
      new SignerUnavailable({
        cause: new Error(cause instanceof Error ? cause.message : "it cannot be signed")
      })
  })

/** Signs with the keys of this seed, which stay in this process's memory. */
export const make = (words: Redacted.Redacted, network: Network) => {
  const master = Seed.master(words, network)
  // All keys of a branch have the same parent, and each derivation takes milliseconds.
  const parents = new Map<string, HDKey>()
  const privateKey = (path: ReadonlyArray<number>) => {
    const name = Seed.written(path.slice(0, -1))
    const parent = parents.get(name) ?? master.derive(name)
    parents.set(name, parent)
    return Seed.present(parent.deriveChild(path.at(-1) ?? 0).privateKey)
  }
  return Signer.of({
    sign: Effect.fnUntraced(function* (psbt) {
      const tx = yield* attempt(() => Payout.fromPsbt(psbt))
      for (let at = 0; at < tx.inputsLength; at++) {
        yield* attempt(() => Payout.signInput(tx, at, master.fingerprint, privateKey))
        yield* attempt(() => tx.finalizeIdx(at))
        // A signature blocks the process for milliseconds, so make one per event-loop turn.
        yield* Effect.yieldNow
      }
      return yield* attempt(() => Payout.serialised(tx))
    })
  })
}

export const layer = (words: Redacted.Redacted, network: Network) =>
  Layer.sync(Signer, () => make(words, network))
