import { Clock, Context, Effect, Layer, Option, type Redacted } from "effect"
import { AccountReads } from "@satrail/core/accounts/AccountReads"
import type { AllowedFrom } from "@satrail/core/accounts/AllowedFrom"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import { checkRanges, expiryIssue, scopesIssue } from "@satrail/core/accounts/ApiKeys"
import { checkName } from "@satrail/core/accounts/Companies"
import { Installation } from "@satrail/core/accounts/Installation"
import type { Limits } from "@satrail/core/accounts/Limits"
import * as OperatorRequests from "@satrail/core/accounts/OperatorRequests"
import type { Operator, RequesterGone, SameOperator } from "@satrail/core/accounts/SecondOperator"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import { Invalid } from "@satrail/core/base/Invalid"
import { awaitCacheExpiry, cached } from "@satrail/core/base/ReadCache"
import * as SecretHash from "@satrail/core/base/SecretHash"
import * as Answer from "@satrail/core/ledger/Answer"
import * as Answers from "@satrail/core/ledger/Answers"
import {
  type Conflict,
  found,
  type IdempotencyMismatch,
  Journal,
  type NotFound,
  type StoreUnavailable
} from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as Page from "@satrail/core/ledger/Page"
import * as PlatformKey from "./PlatformKey.ts"

/** A new key. `text` is the key itself, which is never shown again. */
export interface Issued {
  readonly key: PlatformKey.PlatformKey
  readonly text: Redacted.Redacted
}

/** Manages platform keys, and authenticates their callers. */
export class PlatformKeys extends Context.Service<
  PlatformKeys,
  {
    /**
     * Issues a key. If `by` is set, a key that can send needs a second operator's approval. Omit it if the host
     * program issues the key itself.
     */
    readonly issue: (ask: {
      readonly name: string
      readonly scopes: ReadonlyArray<ApiKey.Scope>
      readonly expiresAtMillis: number | null
      /** Sending limits, which count for each account separately. */
      readonly limits?: Limits | null
      readonly allowedFrom?: AllowedFrom | null
      readonly by?: Operator
      /** Its `render` must encrypt the key, because the output is stored. */
      readonly request?: Answer.Request<Issued>
    }) => Effect.Effect<Answer.Outcome<Issued>, Invalid | Conflict | IdempotencyMismatch | StoreUnavailable>
    /**
     * Approves a key, which is then valid in every process. Fails for the operator who requested it, and once that
     * operator has no access. Approving it again changes nothing.
     */
    readonly approve: (
      id: string,
      by: Operator
    ) => Effect.Effect<PlatformKey.PlatformKey, NotFound | SameOperator | RequesterGone | StoreUnavailable>
    readonly get: (id: string) => Effect.Effect<PlatformKey.PlatformKey, NotFound | StoreUnavailable>
    /** Returns a page of keys, newest first, including revoked ones. */
    readonly list: (
      query: Page.Asked
    ) => Effect.Effect<Page.Page<PlatformKey.PlatformKey>, Invalid | StoreUnavailable>
    /** Revokes a key. By the time this returns, no process accepts it. Revoking it again changes nothing. */
    readonly revoke: (id: string) => Effect.Effect<void, NotFound | StoreUnavailable>
    /** Authenticates a key. */
    readonly check: (
      text: string
    ) => Effect.Effect<PlatformKey.PlatformKey, ApiKey.Unauthorized | StoreUnavailable>
    /** Returns the key as it acts for a company of this installation. */
    readonly actingFor: (
      key: PlatformKey.PlatformKey,
      companyId: CompanyId.CompanyId
    ) => Effect.Effect<ApiKey.Holder, NotFound | StoreUnavailable>
  }
>()("@satrail/features/platform/core/PlatformKeys") {}

const { noun } = PlatformKey

export const make = Effect.gen(function* () {
  const [journal, ledger, nouns, entropy] = [
    yield* Journal,
    yield* LedgerReads,
    yield* NounReads,
    yield* Entropy
  ]
  const [accounts, requesters] = [yield* AccountReads, yield* OperatorRequests.makeRequesters]
  const { network } = yield* Installation
  const get = (id: string) => found("platform key", id, nouns.get(noun, CompanyId.operator, id))
  const byHash = cached(
    (secretHash: SecretHash.SecretHash) => nouns.named(noun, { secretHash }),
    Option.isSome
  )
  const companyOf = cached((id: CompanyId.CompanyId) => accounts.company(id), Option.isSome)

  return PlatformKeys.of({
    issue: Effect.fnUntraced(function* (ask) {
      const { name, by, request } = ask
      const before = yield* Answers.earlier(ledger, CompanyId.operator, request)
      if (before !== undefined) return before
      yield* checkName(name)
      const message = scopesIssue(ask.scopes)
      if (message !== undefined) return yield* new Invalid({ path: "scopes", message })
      const createdAtMillis = yield* Clock.currentTimeMillis
      const late =
        ask.expiresAtMillis === null ? undefined : expiryIssue(ask.expiresAtMillis, createdAtMillis)
      if (late !== undefined) return yield* new Invalid({ path: "expires_at", message: late })
      yield* checkRanges(ask.allowedFrom ?? null)
      const { secretHash, text } = PlatformKey.generate(network, entropy)
      const requester = by && ApiKey.movesMoney(ask.scopes) ? requesters.stored(by) : undefined
      const key: PlatformKey.PlatformKey = {
        id: Id.fromMillis(createdAtMillis, entropy),
        companyId: CompanyId.operator,
        name,
        secretHash,
        scopes: [...new Set(ask.scopes)],
        limits: ask.limits ?? null,
        allowedFrom: ask.allowedFrom ?? null,
        createdAtMillis,
        expiresAtMillis: ask.expiresAtMillis,
        revokedAtMillis: null,
        requestedById: requester?.id ?? null,
        requestedBy: requester?.name ?? null,
        approvedBy: null,
        approvedAtMillis: null
      }
      const issued = { key, text }
      const once = Answer.once(CompanyId.operator, request, issued, createdAtMillis + Answer.keptMillis)
      return Answers.outcome(yield* journal.commit(PlatformKey.issued(key, once)), issued)
    }),
    approve: Effect.fnUntraced(function* (id, by) {
      const key = yield* get(id)
      if (PlatformKey.isWaiting(key)) {
        const change = PlatformKey.approved(key, by, yield* Clock.currentTimeMillis)
        const approved = yield* Effect.fromResult(change)
        const { requestedById } = key
        if (requestedById !== null) yield* requesters.current(id, { requestedById }, "all")
        yield* journal.commit(approved)
        yield* awaitCacheExpiry
      }
      return yield* get(id)
    }),
    get,
    list: (query) =>
      Page.read(query, (before, limit) => nouns.newestFirst(noun, CompanyId.operator, before, limit)),
    revoke: Effect.fnUntraced(function* (id) {
      yield* journal.commit(PlatformKey.revoked(yield* get(id), yield* Clock.currentTimeMillis))
      yield* awaitCacheExpiry
    }),
    check: Effect.fnUntraced(function* (text) {
      if (!PlatformKey.isKey(text, network)) return yield* new ApiKey.Unauthorized({ reason: "unknown" })
      const key = yield* byHash(SecretHash.of(text))
      if (Option.isNone(key)) return yield* new ApiKey.Unauthorized({ reason: "unknown" })
      const refusal = PlatformKey.refusal(key.value, yield* Clock.currentTimeMillis)
      return refusal === undefined ? key.value : yield* refusal
    }),
    actingFor: Effect.fnUntraced(function* (key, companyId) {
      return PlatformKey.holder(key, yield* found("company", companyId, companyOf(companyId)))
    })
  })
})

export const layer = Layer.effect(PlatformKeys, make)
