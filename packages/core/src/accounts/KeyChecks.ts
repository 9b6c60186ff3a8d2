import { Clock, Effect, FiberSet, Redacted } from "effect"
import { knownMillis } from "../base/Known.ts"
import { Journal } from "../ledger/Journal.ts"
import { AccountReads } from "./AccountReads.ts"
import * as ApiKey from "./ApiKey.ts"
import { Installation } from "./Installation.ts"

// Knowing the minute in which a key was used is enough; knowing the second would cost a write for each request.
const usedAgainMillis = 60_000

// More keys than this in use at once, and each is asked for now and then.
const maxKnown = 10_000

/** The store's last answer about a key, and the secret that was right then: comparing it costs a tenth of hashing it again. */
interface Known {
  readonly holder: ApiKey.Holder
  readonly readAtMillis: number
  readonly secret: Redacted.Redacted
}

/** Identifies the key of a request, by what was read from the store at most `knownMillis` ago. */
export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const records = yield* AccountReads
  const { network } = yield* Installation
  const touching = new Set<string>()
  const known = new Map<string, Known>()
  const background = yield* FiberSet.makeRuntime<never>()

  /** What is known of a key, while it may be gone by. A clock that was put back makes nothing younger. */
  const remembered = (id: string, nowMillis: number): Known | undefined => {
    const before = known.get(id)
    return before !== undefined && nowMillis >= before.readAtMillis && nowMillis < before.readAtMillis + knownMillis ? before : undefined
  }

  /** Whose key this is, as the store says. Only what is right is kept: who guesses costs no memory. */
  const look = Effect.fnUntraced(function* (id: string, secret: string, nowMillis: number) {
    const found = yield* records.apiKey(id)
    if (found._tag === "None") return yield* new ApiKey.Unauthorized({ reason: "unknown" })
    if (!ApiKey.matches(found.value.apiKey, secret)) return yield* ApiKey.closed(found.value.apiKey, "unknown")
    if (known.size >= maxKnown) known.clear()
    known.set(id, { holder: found.value, readAtMillis: nowMillis, secret: Redacted.make(secret, { label: "api key secret" }) })
    return found.value
  })

  /** Notes the use, beside the request: a store that is too busy for it loses nothing that matters. */
  const touch = (apiKey: ApiKey.ApiKey, nowMillis: number) => {
    if (nowMillis - (apiKey.lastUsedAtMillis ?? 0) < usedAgainMillis || touching.has(apiKey.id)) return
    touching.add(apiKey.id)
    background(
      journal.commit(ApiKey.used(apiKey, nowMillis)).pipe(
        Effect.andThen(Effect.sync(() => known.delete(apiKey.id))),
        Effect.catch((error) => Effect.logWarning("API key: last use not stored", error)),
        Effect.ensuring(Effect.sync(() => touching.delete(apiKey.id)))
      )
    )
  }

  const open = (holder: ApiKey.Holder, nowMillis: number) => {
    const refusal = ApiKey.refusal(holder.apiKey, nowMillis)
    if (refusal !== undefined) return Effect.fail(refusal)
    touch(holder.apiKey, nowMillis)
    return Effect.succeed(holder)
  }

  return {
    /** The key with this id, for who has shown it before. Read every time: people ask seldom. */
    standing: Effect.fnUntraced(function* (id: string) {
      const found = yield* records.apiKey(id)
      if (found._tag === "None") return yield* new ApiKey.Unauthorized({ reason: "unknown" })
      return yield* open(found.value, yield* Clock.currentTimeMillis)
    }),
    check: (text: string) => {
      const parsed = ApiKey.parse(text)
      if (parsed === undefined || parsed.network !== network) return Effect.fail(ApiKey.stranger(text, network))
      const { id, secret } = parsed
      // Every request comes by here, most of them with a key that is known: no step more than it takes.
      return Effect.flatMap(Clock.currentTimeMillis, (nowMillis) => {
        const before = remembered(id, nowMillis)
        if (before === undefined) return Effect.flatMap(look(id, secret, nowMillis), (holder) => open(holder, nowMillis))
        return ApiKey.isSame(secret, Redacted.value(before.secret))
          ? open(before.holder, nowMillis)
          : Effect.fail(ApiKey.closed(before.holder.apiKey, "unknown"))
      })
    }
  }
})
