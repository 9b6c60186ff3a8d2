import { Entropy } from "@satrail/core/base/Entropy"
import * as SecretHash from "@satrail/core/base/SecretHash"
import { Clock, Context, Effect, Redacted } from "effect"

/** How long a printed link signs in. */
export const lifeMillis = 15 * 60_000

/** Links that wait in a process. Of more, the oldest is forgotten. */
export const most = 16

/** Links that sign in once, each in the place of a key. They are this process's own: whoever prints one serves it. */
export interface Links {
  /** The secret of a new link: whatever has it signs in with the key, once. */
  readonly make: (key: Redacted.Redacted) => Effect.Effect<Redacted.Redacted>
  /** The key of a link that was not used yet, and is used now. */
  readonly take: (text: string) => Effect.Effect<Redacted.Redacted | undefined>
}

export const make = (): Links => {
  const waiting = new Map<string, { readonly key: Redacted.Redacted; readonly untilMillis: number }>()
  return {
    make: Effect.fnUntraced(function* (key) {
      const text = `link_${Buffer.from((yield* Entropy)(32)).toString("base64url")}`
      waiting.set(SecretHash.of(text), { key, untilMillis: (yield* Clock.currentTimeMillis) + lifeMillis })
      const [oldest] = waiting.keys()
      if (waiting.size > most && oldest !== undefined) waiting.delete(oldest)
      return Redacted.make(text, { label: "sign-in link" })
    }),
    take: Effect.fnUntraced(function* (text) {
      const nowMillis = yield* Clock.currentTimeMillis
      const hash = SecretHash.of(text)
      const found = waiting.get(hash)
      waiting.delete(hash)
      return found !== undefined && nowMillis < found.untilMillis ? found.key : undefined
    })
  }
}

/** The links of this process. None signs in unless given. */
export const SignInLinks = Context.Reference<Links>("@satrail/http/features/sessions/SignInLinks", { defaultValue: make })
