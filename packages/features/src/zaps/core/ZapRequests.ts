import * as Nostr from "@satrail/bitcoin/Nostr"
import { Effect, Layer } from "effect"
import { PublicReceipts } from "@satrail/core/receiving/PublicReceipts"
import * as Zap from "./Zap.ts"
import { ZapOptions } from "./ZapOptions.ts"

/** Lightning addresses accept zaps if the service has a Nostr key. */
export const layer: Layer.Layer<never> = Layer.effect(
  PublicReceipts,
  Effect.gen(function* () {
    const secretKey = yield* Nostr.SecretKey
    if (secretKey === undefined) return yield* PublicReceipts
    const options = yield* ZapOptions
    const signedBy = Nostr.publicKeyOf(secretKey)
    return { signedBy, check: (request, amount) => Zap.check(request, amount, signedBy, options) }
  })
)
