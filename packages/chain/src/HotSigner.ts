import type { Network } from "@satrail/bitcoin/Network"
import { Signer, SignerUnavailable } from "@satrail/core/nodes/Signer"
import * as Payout from "@satrail/core/sending/Payout"
import type { HDKey } from "@scure/bip32"
import { Effect, Layer, type Redacted } from "effect"
import * as Seed from "./Seed.ts"

/** Runs what may throw, with the reason in words alone: what was thrown may have a key in it. */
const attempt = <A>(run: () => A) =>
  Effect.try({
    try: run,
    catch: (cause) => new SignerUnavailable({ cause: new Error(cause instanceof Error ? cause.message : "it cannot be signed") })
  })

/** Signs with the keys of these words, which stay in the memory of this process. */
export const make = (words: Redacted.Redacted, network: Network) => {
  const master = Seed.master(words, network)
  // Every key of a branch has the same parent, and each step down costs milliseconds.
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
        // A signature costs milliseconds that everybody waits: one in a turn.
        yield* Effect.yieldNow
      }
      return yield* attempt(() => Payout.serialised(tx))
    })
  })
}

export const layer = (words: Redacted.Redacted, network: Network) => Layer.sync(Signer, () => make(words, network))
