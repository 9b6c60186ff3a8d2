import { Clock, Effect, FiberSet, Redacted } from "effect"
import { cacheMillis, isYoung } from "../base/ReadCache.ts"
import { Journal } from "../ledger/Journal.ts"
import { AccountReads } from "./AccountReads.ts"
import * as ApiKey from "./ApiKey.ts"
import { Installation } from "./Installation.ts"

// The time of last use is stored to the minute. Storing it to the second would cost a write per request.
const usedAgainMillis = 60_000

// Maximum number of cached keys. When it is reached, the cache is cleared.
const maxKnown = 10_000

/**
 * A key as last read, and its verified secret. Comparing the secret takes a tenth of the time of hashing it.
 */
interface Known {
  readonly holder: ApiKey.Holder
  readonly readAtMillis: number
  readonly secret: Redacted.Redacted
}

/** Authenticates the key of a request. Uses data read from the store at most `cacheMillis` ago. */
export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const records = yield* AccountReads
  const { network } = yield* Installation
  const touching = new Set<string>()
  const known = new Map<string, Known>()
  const background = yield* FiberSet.makeRuntime<never>()

  /** Returns a cached key while it may be used. Setting the clock back does not extend its life. */
  const remembered = (id: string, nowMillis: number): Known | undefined => {
    const before = known.get(id)
    return before !== undefined && isYoung(before.readAtMillis, nowMillis, cacheMillis) ? before : undefined
  }

  /** Reads a key from the store. Only a correct secret is cached, so guessing uses no memory. */
  const look = Effect.fnUntraced(function* (id: string, secret: string, nowMillis: number) {
    const found = yield* records.apiKey(id)
    if (found._tag === "None") return yield* new ApiKey.Unauthorized({ reason: "unknown" })
    if (!ApiKey.matches(found.value.apiKey, secret))
      return yield* ApiKey.closed(found.value.apiKey, "unknown")
    if (known.size >= maxKnown) known.clear()
    known.set(id, {
      holder: found.value,
      readAtMillis: nowMillis,
      secret: Redacted.make(secret, { label: "api key secret" })
    })
    return found.value
  })

  /** Records the use in the background. If the store is too busy, nothing important is lost. */
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
    /**
     * Returns the key with this id, for a caller who has already presented it. Reads the store each time,
     * because such callers are human users, who make few requests.
     */
    standing: Effect.fnUntraced(function* (id: string) {
      const found = yield* records.apiKey(id)
      if (found._tag === "None") return yield* new ApiKey.Unauthorized({ reason: "unknown" })
      return yield* open(found.value, yield* Clock.currentTimeMillis)
    }),
    check: (text: string) => {
      const parsed = ApiKey.parse(text)
      if (parsed === undefined || parsed.network !== network)
        return Effect.fail(ApiKey.stranger(text, network))
      const { id, secret } = parsed
      // Every request runs this, mostly with a cached key, so keep it short.
      return Effect.clockWith((clock) => {
        const nowMillis = clock.currentTimeMillisUnsafe()
        const before = remembered(id, nowMillis)
        if (before === undefined)
          return Effect.flatMap(look(id, secret, nowMillis), (holder) => open(holder, nowMillis))
        return ApiKey.isSame(secret, Redacted.value(before.secret))
          ? open(before.holder, nowMillis)
          : Effect.fail(ApiKey.closed(before.holder.apiKey, "unknown"))
      })
    }
  }
})
