import { Clock, Context, Effect, Layer, type Redacted } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import { Entropy } from "../base/Entropy.ts"
import { Invalid } from "../base/Invalid.ts"
import { awaitCacheExpiry } from "../base/ReadCache.ts"
import * as Answer from "../ledger/Answer.ts"
import * as Answers from "../ledger/Answers.ts"
import {
  type Conflict,
  found,
  type IdempotencyMismatch,
  Journal,
  NotFound,
  type StoreUnavailable
} from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import * as Page from "../ledger/Page.ts"
import { Installation } from "./Installation.ts"
import { AccountReads } from "./AccountReads.ts"
import * as ApiKey from "./ApiKey.ts"
import { checkName } from "./Companies.ts"
import * as KeyChecks from "./KeyChecks.ts"
import * as OwnKeys from "./OwnKeys.ts"
import type * as Limit from "../ledger/Limit.ts"
import * as AllowedFrom from "./AllowedFrom.ts"
import * as Limits from "./Limits.ts"
import * as Loosening from "./Loosening.ts"
import * as OperatorRequests from "./OperatorRequests.ts"
import * as NewCompany from "./NewCompany.ts"
import type { Operator, RequesterGone, SameOperator } from "./SecondOperator.ts"

/** A new key. `text` is the key itself, which is never shown again. */
export interface Issued {
  readonly apiKey: ApiKey.ApiKey
  readonly text: Redacted.Redacted
}

/** Maximum time that an old key stays valid after its rotation, in seconds. */
export const maxOverlapSeconds = 30 * 24 * 3600

/** Returns why a key cannot have these scopes; undefined if it can. */
export const scopesIssue = (scopes: ReadonlyArray<ApiKey.Scope>): string | undefined =>
  scopes.length === 0 ? `must contain at least one of ${ApiKey.Scope.literals.join(", ")}` : undefined

/** Returns why a new key cannot expire at this time; undefined if it can. */
export const expiryIssue = (expiresAtMillis: number, nowMillis: number): string | undefined =>
  expiresAtMillis <= nowMillis ? "must be in the future" : undefined

/** Checks ranges, because values from in-process callers have not been validated yet. */
export const checkRanges = (allowedFrom: AllowedFrom.AllowedFrom | null): Effect.Effect<void, Invalid> => {
  if (allowedFrom === null) return Effect.void
  const { length } = allowedFrom.ranges
  if (length < 1 || length > AllowedFrom.maxRanges)
    return Effect.fail(
      new Invalid({ path: "allowed_from.ranges", message: `must have 1 to ${AllowedFrom.maxRanges} ranges` })
    )
  const at = allowedFrom.ranges.findIndex((text) => AllowedFrom.rangeIssue(text) !== undefined)
  const message = AllowedFrom.rangeIssue(allowedFrom.ranges[at] ?? "")
  return at < 0 || message === undefined
    ? Effect.void
    : Effect.fail(new Invalid({ path: `allowed_from.ranges.${at}`, message }))
}

/** Permissions of a new key. */
interface Asked extends Pick<ApiKey.ApiKey, "scopes" | "expiresAtMillis" | "limits" | "allowedFrom"> {}

/** Manages API keys and authenticates callers. */
export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    readonly issue: (ask: {
      readonly companyId: CompanyId.CompanyId
      readonly name: string
      readonly scopes: ReadonlyArray<ApiKey.Scope>
      readonly expiresAtMillis: number | null
      /** The key's sending limits. If null or absent, only the company's limits apply. */
      readonly limits?: Limits.Limits | null
      /** Addresses from which the key may be used. If null or absent, it may be used from any address. */
      readonly allowedFrom?: AllowedFrom.AllowedFrom | null
      /**
       * The requesting operator. If set, a key that can send needs approval by a second operator, unless the
       * company is new. Omit it if the host program issues the key itself.
       */
      readonly by?: Operator
      /** Its `render` must encrypt the key, because the output is stored. */
      readonly request?: Answer.Request<Issued>
    }) => Effect.Effect<
      Answer.Outcome<Issued>,
      Invalid | NotFound | Conflict | IdempotencyMismatch | StoreUnavailable
    >
    /**
     * Approves a key. By the time this returns, every process accepts the key. The key it replaces expires
     * after the overlap. If the new key's limits or ranges allow more than the old key's, it takes the old
     * key's. Fails if `by` is the operator who requested the key. Approving a key that needs no approval changes
     * nothing.
     */
    readonly approve: (
      id: string,
      by: Operator
    ) => Effect.Effect<ApiKey.ApiKey, NotFound | SameOperator | RequesterGone | StoreUnavailable>
    /**
     * Issues a key for the company of `by`, a key with the `admin` scope. The new key gets only permissions
     * that `by` may grant (OwnKeys.ts).
     */
    readonly issueOwn: (ask: {
      readonly by: ApiKey.ApiKey
      readonly name: string
      readonly scopes: ReadonlyArray<ApiKey.Scope>
      readonly expiresAtMillis: number | null
      readonly allowedFrom?: AllowedFrom.AllowedFrom | null
      readonly request?: Answer.Request<Issued>
    }) => Effect.Effect<
      Answer.Outcome<Issued>,
      Invalid | NotFound | OwnKeys.TooManyKeys | Conflict | IdempotencyMismatch | StoreUnavailable
    >
    /**
     * Returns a key and its spending within the windows of its limits. If `of` is given, the key must belong to
     * that company.
     */
    readonly get: (
      id: string,
      of?: CompanyId.CompanyId
    ) => Effect.Effect<
      { readonly apiKey: ApiKey.ApiKey; readonly spent: ReadonlyArray<Limit.Spent> },
      NotFound | StoreUnavailable
    >
    /** Returns the spending of a caller's key for its company, within the windows of its limits. */
    readonly spent: (
      key: Pick<ApiKey.ApiKey, "id" | "companyId" | "spendsAs">
    ) => Effect.Effect<ReadonlyArray<Limit.Spent>, StoreUnavailable>
    /**
     * Changes a key's limits. By the time this returns, every process applies them. Spending is counted from
     * the time the key first has limits. If `by` loosens limits for a company with a large balance, a second
     * operator must send the same request. Omit `by` if the host program changes limits itself.
     */
    readonly limit: (
      id: string,
      limits: Limits.Limits | null,
      by?: Loosening.Changer
    ) => Effect.Effect<ApiKey.ApiKey, NotFound | Loosening.Refused | StoreUnavailable>
    /**
     * Changes a key's limits, as `limit` does. If others are committed meanwhile, `update` runs again, so that a
     * change of one limit does not undo a change of another.
     */
    readonly updateLimits: (
      id: string,
      update: Limits.Update,
      by?: Loosening.Changer
    ) => Effect.Effect<ApiKey.ApiKey, NotFound | Loosening.Refused | StoreUnavailable>
    /**
     * Changes a key's address ranges; null allows any address. By the time this returns, every process applies
     * them. Code that accepts network requests must check the address itself; `check` does not, because
     * in-process calls have no address. Loosening may need a second operator, as for limits.
     */
    readonly allowFrom: (
      id: string,
      allowedFrom: AllowedFrom.AllowedFrom | null,
      by?: Loosening.Changer
    ) => Effect.Effect<ApiKey.ApiKey, Invalid | NotFound | Loosening.Refused | StoreUnavailable>
    /**
     * Revokes a key. If `of` is given, the key must belong to that company. By the time this returns, no
     * process accepts the key. Revoking it again changes nothing.
     */
    readonly revoke: (
      id: string,
      of?: CompanyId.CompanyId
    ) => Effect.Effect<void, NotFound | StoreUnavailable>
    /**
     * Issues a new key with the same name, scopes, expiry, limits and ranges. The old key's spending counts
     * toward the new key's limits. The old key expires `overlapSeconds` from now, or `overlapSeconds` after a
     * second operator approves the new key.
     */
    readonly rotate: (
      id: string,
      overlapSeconds: number,
      request?: Answer.Request<Issued>,
      by?: Operator
    ) => Effect.Effect<
      Answer.Outcome<Issued>,
      Invalid | NotFound | Conflict | IdempotencyMismatch | StoreUnavailable
    >
    /** Returns a page of a company's keys after a position, newest first, including revoked ones. */
    readonly list: (
      companyId: CompanyId.CompanyId,
      asked: { readonly limit: number; readonly after: Page.Position | null }
    ) => Effect.Effect<Page.Page<ApiKey.ApiKey>, Invalid | NotFound | StoreUnavailable>
    /** Returns the current state of the key with this id, for a session that was started with the key. */
    readonly standing: (id: string) => Effect.Effect<ApiKey.Holder, ApiKey.Unauthorized | StoreUnavailable>
    /** Authenticates a key. Once `revoke` has returned, the key is no longer accepted. */
    readonly check: (text: string) => Effect.Effect<ApiKey.Holder, ApiKey.Unauthorized | StoreUnavailable>
  }
>()("@satrail/core/accounts/ApiKeys") {}

/** Fails if the company does not exist. */
const existing = (records: AccountReads["Service"]) => (companyId: CompanyId.CompanyId) =>
  Effect.asVoid(found("company", companyId, records.company(companyId)))

const makeApprovals = Effect.gen(function* () {
  return { isNew: yield* NewCompany.make, stored: (yield* OperatorRequests.makeRequesters).stored }
})

/**
 * Returns the approval that a key needs; null if no operator requests the key, if it moves no money, or if the
 * company is new.
 */
const approvalOf = Effect.fnUntraced(function* (
  { isNew, stored }: Effect.Success<typeof makeApprovals>,
  { companyId, scopes }: Pick<ApiKey.ApiKey, "companyId" | "scopes">,
  by: Operator | undefined,
  replaces: ApiKey.Approval["replaces"]
): Effect.fn.Return<ApiKey.Approval | null, StoreUnavailable> {
  if (by === undefined || !ApiKey.movesMoney(scopes) || (yield* isNew(companyId))) return null
  const { id, name } = stored(by)
  return { requestedById: id, requestedBy: name, replaces }
})

const makeIssue = Effect.gen(function* () {
  const [journal, ledger, entropy] = [yield* Journal, yield* LedgerReads, yield* Entropy]
  const records = yield* AccountReads
  const exists = existing(records)
  const approvals = yield* makeApprovals
  const { network } = yield* Installation

  /**
   * Issues a key, once per idempotency key of `owner`. First, `allowed` checks and limits the requested
   * permissions.
   */
  return Effect.fnUntraced(function* <E>(
    owner: CompanyId.CompanyId,
    ask: Parameters<ApiKeys["Service"]["issue"]>[0],
    allowed: (asked: Asked) => Effect.Effect<Asked, E>
  ) {
    const { companyId, name, request, by } = ask
    const before = yield* Answers.earlier(ledger, owner, request)
    if (before !== undefined) return before
    yield* checkName(name)
    const scopesMessage = scopesIssue(ask.scopes)
    if (scopesMessage !== undefined) return yield* new Invalid({ path: "scopes", message: scopesMessage })
    const createdAtMillis = yield* Clock.currentTimeMillis
    const expiryMessage =
      ask.expiresAtMillis === null ? undefined : expiryIssue(ask.expiresAtMillis, createdAtMillis)
    if (expiryMessage !== undefined) return yield* new Invalid({ path: "expires_at", message: expiryMessage })
    yield* checkRanges(ask.allowedFrom ?? null)
    yield* exists(companyId)
    const { scopes, expiresAtMillis, limits, allowedFrom } = yield* allowed({
      scopes: ask.scopes,
      expiresAtMillis: ask.expiresAtMillis,
      limits: ask.limits ?? null,
      allowedFrom: ask.allowedFrom ?? null
    })
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
      lastUsedAtMillis: null,
      limits,
      spendsAs: null,
      allowedFrom,
      loosening: null,
      approval: yield* approvalOf(approvals, { companyId, scopes }, by, null),
      approvedBy: null,
      approvedAtMillis: null
    }
    const issued = { apiKey, text }
    const once = Answer.once(owner, request, issued, createdAtMillis + Answer.keptMillis)
    // Only a rotation can be refused because of another key's restrictions.
    const applied = yield* Effect.catchTag(
      journal.commit(ApiKey.issued(apiKey, null, once)),
      "ProtectionMoved",
      Effect.die
    )
    return Answers.outcome(applied, issued)
  })
})

/** Checks whether a key's limits or ranges may be changed. Loosening them may need a second operator. */
const loosening = Effect.gen(function* () {
  const journal = yield* Journal
  const check = yield* Loosening.checkOf(yield* AccountReads, yield* OperatorRequests.makeRequesters)
  return (
    apiKey: ApiKey.ApiKey,
    by: Loosening.Changer | undefined,
    loosens: boolean,
    wanted: Loosening.Wanted
  ) =>
    check({
      companyId: apiKey.companyId,
      loosening: apiKey.loosening,
      loosens,
      wanted,
      by,
      keep: (loosening, nowMillis) => journal.commit(ApiKey.looseningRequested(apiKey, loosening, nowMillis))
    })
})

/** Finds a key. If `of` is given, the key must belong to that company. */
const finding = (records: AccountReads["Service"]) =>
  Effect.fnUntraced(function* (id: string, of?: CompanyId.CompanyId) {
    const found = yield* records.apiKey(id)
    const apiKey = found._tag === "Some" ? found.value.apiKey : undefined
    return apiKey === undefined || (of !== undefined && apiKey.companyId !== of)
      ? yield* new NotFound({ what: "API key", id })
      : apiKey
  })

/** Approves keys. */
const makeApprove = Effect.gen(function* () {
  const [journal, requesters] = [yield* Journal, yield* OperatorRequests.makeRequesters]
  const get = finding(yield* AccountReads)

  /**
   * Applies the old key's restrictions, because they may be newer than the rotation, which copied them. The caller repeats
   * it while it is refused.
   */
  const inherit = Effect.fnUntraced(function* (id: string, from: string) {
    const [apiKey, { limits, allowedFrom }] = [yield* get(id), yield* get(from)]
    const nowMillis = yield* Clock.currentTimeMillis
    if (Limits.loosens(limits, apiKey.limits))
      yield* journal.commit(ApiKey.limited(apiKey, Limits.both(limits, apiKey.limits), nowMillis))
    if (AllowedFrom.loosens(allowedFrom, apiKey.allowedFrom))
      yield* journal.commit(ApiKey.confined(apiKey, allowedFrom, nowMillis))
  })

  const approved = Effect.fnUntraced(function* (id: string, by: Operator) {
    const apiKey = yield* get(id)
    const nowMillis = yield* Clock.currentTimeMillis
    if (!ApiKey.isWaiting(apiKey)) return
    // Approving a revoked or expired key would end the key it replaces and leave no valid key.
    if (ApiKey.refusal(apiKey, nowMillis)?.reason !== "waiting")
      return yield* new NotFound({ what: "API key", id })
    // A refused approval must not change the key.
    yield* Effect.fromResult(ApiKey.approved(apiKey, by, nowMillis))
    if (apiKey.approval !== null) yield* requesters.current(id, apiKey.approval, "companies")
    const replaced = apiKey.approval?.replaces
    const old = replaced ? yield* get(replaced.id) : undefined
    if (old !== undefined) yield* inherit(id, old.id)
    yield* journal.commit(yield* Effect.fromResult(ApiKey.approved(yield* get(id), by, nowMillis, old)))
  })

  // If the old key is restricted in the meantime, the new key takes its restrictions again.
  return (id: string, by: Operator) =>
    Effect.andThen(Loosening.untilUnmoved(approved(id, by)), Effect.andThen(awaitCacheExpiry, get(id)))
})

/** Rotates keys. */
const makeRotate = Effect.gen(function* () {
  const [journal, ledger, entropy] = [yield* Journal, yield* LedgerReads, yield* Entropy]
  const get = finding(yield* AccountReads)
  const approvals = yield* makeApprovals
  const { network } = yield* Installation

  const rotated = Effect.fnUntraced(function* (
    ...[id, overlapSeconds, request, by]: Parameters<ApiKeys["Service"]["rotate"]>
  ) {
    const before = yield* Answers.earlier(ledger, CompanyId.operator, request)
    if (before !== undefined) return before
    if (!Number.isInteger(overlapSeconds) || overlapSeconds < 0 || overlapSeconds > maxOverlapSeconds) {
      return yield* new Invalid({
        path: "overlap_seconds",
        message: `must be a whole number from 0 to ${maxOverlapSeconds}`
      })
    }
    const old = yield* get(id)
    const nowMillis = yield* Clock.currentTimeMillis
    // A key that is no longer valid cannot be rotated.
    if (ApiKey.refusal(old, nowMillis) !== undefined) return yield* new NotFound({ what: "API key", id })
    const { secretHash, text, ...fresh } = ApiKey.generate(network, entropy)
    const apiKey: ApiKey.ApiKey = {
      ...old,
      id: fresh.id,
      secretHash,
      createdAtMillis: nowMillis,
      lastUsedAtMillis: null,
      spendsAs: old.spendsAs ?? id,
      loosening: null,
      approval: yield* approvalOf(approvals, old, by, { id, overlapSeconds }),
      approvedBy: null,
      approvedAtMillis: null
    }
    const issued = { apiKey, text }
    const once = Answer.once(CompanyId.operator, request, issued, nowMillis + Answer.keptMillis)
    const replaces = ApiKey.isWaiting(apiKey)
      ? null
      : { id, expiresAtMillis: nowMillis + overlapSeconds * 1000 }
    return Answers.outcome(yield* journal.commit(ApiKey.issued(apiKey, replaces, once, old)), issued)
  })

  // If the old key is restricted in the meantime, the new key copies its restrictions again.
  return (...asked: Parameters<typeof rotated>) =>
    Effect.tap(Loosening.untilUnmoved(rotated(...asked)), awaitCacheExpiry)
})

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const records = yield* AccountReads
  const { check, standing } = yield* KeyChecks.make

  const get = finding(records)
  const exists = existing(records)
  const issue = yield* makeIssue
  const mayLoosen = yield* loosening
  const approve = yield* makeApprove
  const rotate = yield* makeRotate

  const updateLimits: ApiKeys["Service"]["updateLimits"] = Effect.fnUntraced(function* (id, update, by) {
    const change = Effect.gen(function* () {
      const apiKey = yield* get(id)
      const limits = update(apiKey.limits)
      yield* mayLoosen(apiKey, by, Limits.loosens(apiKey.limits, limits), { limits })
      yield* journal.commit(ApiKey.limited(apiKey, limits, yield* Clock.currentTimeMillis))
    })
    yield* Loosening.untilUnmoved(change)
    yield* awaitCacheExpiry
    return yield* get(id)
  })

  return ApiKeys.of({
    list: Effect.fnUntraced(function* (companyId, { limit: size, after }) {
      yield* exists(companyId)
      return yield* Page.pick(size, (limit, from) =>
        Effect.map(records.keysOf(companyId, from ?? after, limit), (rows) => ({ rows, lookedTo: null }))
      )
    }),
    issue: (ask) => issue(CompanyId.operator, ask, Effect.succeed),
    issueOwn: ({ by, ...ask }) =>
      issue(by.companyId, { ...ask, companyId: by.companyId }, (asked) =>
        Effect.gen(function* () {
          const handed = yield* OwnKeys.handedOn(by, asked)
          const [standing] = yield* records.standings([by.companyId], yield* Clock.currentTimeMillis)
          if ((standing?.keys ?? 0) >= OwnKeys.maxOpen)
            return yield* new OwnKeys.TooManyKeys({ maximum: OwnKeys.maxOpen })
          return { ...asked, ...handed }
        })
      ),
    get: Effect.fnUntraced(function* (id, of) {
      const apiKey = yield* get(id, of)
      return { apiKey, spent: yield* records.spent(apiKey.companyId, Limits.countedAs(apiKey)) }
    }),
    spent: (key) => records.spent(key.companyId, Limits.countedAs(key)),
    limit: (id, limits, by) => updateLimits(id, () => limits, by),
    updateLimits,
    allowFrom: Effect.fnUntraced(function* (id, allowedFrom, by) {
      yield* checkRanges(allowedFrom)
      const change = Effect.gen(function* () {
        const apiKey = yield* get(id)
        yield* mayLoosen(apiKey, by, AllowedFrom.loosens(apiKey.allowedFrom, allowedFrom), { allowedFrom })
        yield* journal.commit(ApiKey.confined(apiKey, allowedFrom, yield* Clock.currentTimeMillis))
      })
      yield* Loosening.untilUnmoved(change)
      yield* awaitCacheExpiry
      return yield* get(id)
    }),
    revoke: Effect.fnUntraced(function* (id, of) {
      yield* journal.commit(ApiKey.revoked(yield* get(id, of), yield* Clock.currentTimeMillis))
      yield* awaitCacheExpiry
    }),
    approve,
    rotate,
    check,
    standing
  })
})

export const layer = Layer.effect(ApiKeys, make)
