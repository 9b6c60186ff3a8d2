import { Clock, Context, Effect, FiberSet, Layer, Redacted } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import { Invalid } from "../base/Invalid.ts"
import { everywhere, knownMillis } from "../base/Known.ts"
import { type Conflict, Journal, NotFound, type StoreUnavailable } from "../ledger/Journal.ts"
import { Policy } from "../policy/Policy.ts"
import { AccountReads } from "./AccountReads.ts"
import * as ApiKey from "./ApiKey.ts"
import { checkName } from "./Companies.ts"

/** A new key. `text` is the key itself: shown now, and never again. */
export interface Issued {
  readonly apiKey: ApiKey.ApiKey
  readonly text: Redacted.Redacted
}

/** How long an old key may live on beside the one that replaces it, in seconds. */
export const maxOverlapSeconds = 30 * 24 * 3600

/** Why a key cannot have these scopes, undefined when it can. */
export const scopesIssue = (scopes: ReadonlyArray<ApiKey.Scope>): string | undefined =>
  scopes.length === 0 ? `At least one of ${ApiKey.Scope.literals.join(", ")}` : undefined

/** Why a key that is made now cannot end then, undefined when it can. */
export const expiryIssue = (expiresAtMillis: number, nowMillis: number): string | undefined =>
  expiresAtMillis <= nowMillis ? "A key must expire in the future" : undefined

// Knowing the minute in which a key was used is enough; knowing the second would cost a write for each request.
const usedAgainMillis = 60_000

// More keys than this in use at once, and each is asked for now and then.
const maxKnown = 10_000

/** Who may ask. */
export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    readonly issue: (ask: {
      readonly companyId: CompanyId.CompanyId
      readonly name: string
      readonly scopes: ReadonlyArray<ApiKey.Scope>
      readonly expiresAtMillis: number | null
    }) => Effect.Effect<Issued, Invalid | NotFound | Conflict | StoreUnavailable>
    /** Closes the key: when this answers, no process takes it any more. Closing a closed one changes nothing. */
    readonly revoke: (id: string) => Effect.Effect<void, NotFound | StoreUnavailable>
    /** A new key with the same name, scopes and expiry; the old one ends `overlapSeconds` from now. */
    readonly rotate: (id: string, overlapSeconds: number) => Effect.Effect<Issued, Invalid | NotFound | Conflict | StoreUnavailable>
    /** Whose key this is, as of now: a key whose revocation was answered opens nothing. */
    readonly check: (text: string) => Effect.Effect<ApiKey.Holder, ApiKey.Unauthorized | StoreUnavailable>
  }
>()("@satrail/core/accounts/ApiKeys") {}

const missing = Effect.fail(new ApiKey.Unauthorized({ reason: "missing" }))
const unknown = Effect.fail(new ApiKey.Unauthorized({ reason: "unknown" }))

/** What the store said about a key, when it was asked, and the secret that was right then: comparing it costs a tenth of hashing it again. */
interface Known {
  readonly holder: ApiKey.Holder
  readonly readAtMillis: number
  readonly secret: Redacted.Redacted
}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const records = yield* AccountReads
  const { network } = yield* Policy
  const entropy = yield* Entropy
  const touching = new Set<string>()
  const known = new Map<string, Known>()
  const background = yield* FiberSet.makeRuntime<never>()

  const get = Effect.fnUntraced(function* (id: string) {
    const found = yield* records.apiKey(id)
    return found._tag === "Some" ? found.value.apiKey : yield* new NotFound({ what: "API key", id })
  })

  /** What is known of a key, while it may be gone by. A clock that was put back makes nothing younger. */
  const remembered = (id: string, nowMillis: number): Known | undefined => {
    const before = known.get(id)
    return before !== undefined && nowMillis >= before.readAtMillis && nowMillis < before.readAtMillis + knownMillis ? before : undefined
  }

  /** Whose key this is, as the store says. Only what is right is kept: who guesses costs no memory. */
  const look = Effect.fnUntraced(function* (id: string, secret: string, nowMillis: number) {
    const found = yield* records.apiKey(id)
    if (found._tag === "None" || !ApiKey.matches(found.value.apiKey, secret)) return yield* unknown
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

  return ApiKeys.of({
    issue: Effect.fnUntraced(function* ({ companyId, name, scopes, expiresAtMillis }) {
      yield* checkName(name)
      const scopesMessage = scopesIssue(scopes)
      if (scopesMessage !== undefined) return yield* new Invalid({ path: "scopes", message: scopesMessage })
      const createdAtMillis = yield* Clock.currentTimeMillis
      const expiryMessage = expiresAtMillis === null ? undefined : expiryIssue(expiresAtMillis, createdAtMillis)
      if (expiryMessage !== undefined) return yield* new Invalid({ path: "expires_at", message: expiryMessage })
      const company = Id.is(companyId) ? yield* records.company(companyId) : undefined
      if (company?._tag !== "Some") return yield* new NotFound({ what: "company", id: companyId })
      const { id, secretHash, text } = ApiKey.generate(network, entropy)
      const apiKey: ApiKey.ApiKey = {
        id,
        companyId,
        name,
        secretHash,
        scopes: [...new Set(scopes)],
        createdAtMillis,
        expiresAtMillis,
        revokedAtMillis: null,
        lastUsedAtMillis: null
      }
      yield* journal.commit(ApiKey.issued(apiKey))
      return { apiKey, text }
    }),
    revoke: Effect.fnUntraced(function* (id) {
      yield* journal.commit(ApiKey.revoked(yield* get(id), yield* Clock.currentTimeMillis))
      yield* everywhere
    }),
    rotate: Effect.fnUntraced(function* (id, overlapSeconds) {
      if (!Number.isInteger(overlapSeconds) || overlapSeconds < 0 || overlapSeconds > maxOverlapSeconds) {
        return yield* new Invalid({ path: "overlap_seconds", message: `A whole number from 0 to ${maxOverlapSeconds}` })
      }
      const old = yield* get(id)
      const nowMillis = yield* Clock.currentTimeMillis
      // A key that opens nothing any more has nothing to hand over.
      if (ApiKey.refusal(old, nowMillis) !== undefined) return yield* new NotFound({ what: "API key", id })
      const { secretHash, text, ...fresh } = ApiKey.generate(network, entropy)
      const apiKey: ApiKey.ApiKey = { ...old, id: fresh.id, secretHash, createdAtMillis: nowMillis, lastUsedAtMillis: null }
      yield* journal.commit(ApiKey.issued(apiKey, { id, expiresAtMillis: nowMillis + overlapSeconds * 1000 }))
      yield* everywhere
      return { apiKey, text }
    }),
    check: (text) => {
      const parsed = ApiKey.parse(text)
      if (parsed === undefined || parsed.network !== network) return text === "" ? missing : unknown
      const { id, secret } = parsed
      const open = (holder: ApiKey.Holder, nowMillis: number) => {
        const refusal = ApiKey.refusal(holder.apiKey, nowMillis)
        if (refusal !== undefined) return Effect.fail(refusal)
        touch(holder.apiKey, nowMillis)
        return Effect.succeed(holder)
      }
      // Every request comes by here, most of them with a key that is known: no step more than it takes.
      return Effect.flatMap(Clock.currentTimeMillis, (nowMillis) => {
        const before = remembered(id, nowMillis)
        if (before === undefined) return Effect.flatMap(look(id, secret, nowMillis), (holder) => open(holder, nowMillis))
        return ApiKey.isSame(secret, Redacted.value(before.secret)) ? open(before.holder, nowMillis) : unknown
      })
    }
  })
})

export const layer = Layer.effect(ApiKeys, make)
