import { Entropy } from "@satrail/core/base/Entropy"
import * as SecretHash from "@satrail/core/base/SecretHash"
import { Clock, Context, Effect, Redacted } from "effect"

/** Lifetime of a printed sign-in link. */
export const lifeMillis = 15 * 60_000

/** Maximum number of unused links per process. Beyond it, the oldest is dropped. */
export const most = 16

/** Single-use links, each of which signs a user in with a key. Only the process that made a link accepts it. */
export interface Links {
  /** Returns the secret of a new link. Anyone with it can sign in with the key once. */
  readonly make: (key: Redacted.Redacted) => Effect.Effect<Redacted.Redacted>
  /** Returns the key of an unused link and marks the link as used. */
  readonly take: (text: string) => Effect.Effect<Redacted.Redacted | undefined>
}

export const make = (): Links => {
  const waiting = new Map<string, { readonly key: Redacted.Redacted; readonly untilNanos: bigint }>()
  return {
    make: Effect.fnUntraced(function* (key) {
      const text = `link_${Buffer.from((yield* Entropy)(32)).toString("base64url")}`
      waiting.set(SecretHash.of(text), {
        key,
        untilNanos: (yield* Clock.monotonicTimeNanos) + BigInt(lifeMillis) * 1_000_000n
      })
      const [oldest] = waiting.keys()
      if (waiting.size > most && oldest !== undefined) waiting.delete(oldest)
      return Redacted.make(text, { label: "sign-in link" })
    }),
    take: Effect.fnUntraced(function* (text) {
      // The link is printed for a person, whose time an advance of a sandbox's clock does not change.
      const nowNanos = yield* Clock.monotonicTimeNanos
      const hash = SecretHash.of(text)
      const found = waiting.get(hash)
      waiting.delete(hash)
      return found !== undefined && nowNanos < found.untilNanos ? found.key : undefined
    })
  }
}

/** This process's links. Default: no link is accepted. */
export const SignInLinks = Context.Reference<Links>("@satrail/http/api/SignInLinks", { defaultValue: make })
