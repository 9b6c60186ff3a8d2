import { Clock, Context, Effect, Layer, type Redacted } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import { Invalid } from "../base/Invalid.ts"
import { everywhere } from "../base/Known.ts"
import * as Answer from "../ledger/Answer.ts"
import * as Answers from "../ledger/Answers.ts"
import { type Conflict, type IdempotencyMismatch, Journal, NotFound, type StoreUnavailable } from "../ledger/Journal.ts"
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
import { isNew } from "./NewCompany.ts"
import type { Operator, SameOperator } from "./SecondOperator.ts"

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

/** What a host gave in process was read by nobody yet. */
const checkRanges = (allowedFrom: AllowedFrom.AllowedFrom | null): Effect.Effect<void, Invalid> => {
  if (allowedFrom === null) return Effect.void
  const { length } = allowedFrom.ranges
  if (length < 1 || length > AllowedFrom.maxRanges)
    return Effect.fail(new Invalid({ path: "allowed_from.ranges", message: `From 1 to ${AllowedFrom.maxRanges} ranges` }))
  const at = allowedFrom.ranges.findIndex((text) => AllowedFrom.rangeIssue(text) !== undefined)
  const message = AllowedFrom.rangeIssue(allowedFrom.ranges[at] ?? "")
  return at < 0 || message === undefined ? Effect.void : Effect.fail(new Invalid({ path: `allowed_from.ranges.${at}`, message }))
}

/** What a new key may do. */
interface Asked extends Pick<ApiKey.ApiKey, "scopes" | "expiresAtMillis" | "limits" | "allowedFrom"> {}

/** Who may ask. */
export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    readonly issue: (ask: {
      readonly companyId: CompanyId.CompanyId
      readonly name: string
      readonly scopes: ReadonlyArray<ApiKey.Scope>
      readonly expiresAtMillis: number | null
      /** What it may send; null or absent: whatever its company may. */
      readonly limits?: Limits.Limits | null
      /** From where it may be used; null or absent: from anywhere. */
      readonly allowedFrom?: AllowedFrom.AllowedFrom | null
      /** The operator who asks: a key that can send then waits for a second one, unless the company is new. A host that issues keys itself leaves it out. */
      readonly by?: Operator
      /** What it renders is stored: the key in it must be sealed. */
      readonly request?: Answer.Request<Issued>
    }) => Effect.Effect<Answer.Outcome<Issued>, Invalid | NotFound | Conflict | IdempotencyMismatch | StoreUnavailable>
    /**
     * When this answers, every process accepts the key, and the key that it replaces ends after its overlap. The operator who requested the key is refused. Approving a key
     * that needs no approval changes nothing.
     */
    readonly approve: (id: string, by: Operator) => Effect.Effect<ApiKey.ApiKey, NotFound | SameOperator | StoreUnavailable>
    /** A key that a company's own key `by` makes, which has the scope `admin`: another one of the company's, with what `by` may hand on (OwnKeys.ts). */
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
    /** A key of any company, or of this one, and what it has sent within the windows of its limits. */
    readonly get: (
      id: string,
      of?: CompanyId.CompanyId
    ) => Effect.Effect<{ readonly apiKey: ApiKey.ApiKey; readonly spent: ReadonlyArray<Limit.Spent> }, NotFound | StoreUnavailable>
    /**
     * When this answers, every process goes by the new limits. What it sends is counted from when it first has limits. Where `by` loosens them for a company that holds
     * much, a second operator has to ask for the same. A host that changes limits itself leaves `by` out.
     */
    readonly limit: (
      id: string,
      limits: Limits.Limits | null,
      by?: Operator
    ) => Effect.Effect<ApiKey.ApiKey, NotFound | Loosening.SecondOperatorRequired | StoreUnavailable>
    /**
     * When this answers, every process goes by the new ranges; null: the key may be used from anywhere. They are for who lets callers in by the network: `check` knows
     * no address, and a call in process has none. A second operator is needed as for limits.
     */
    readonly allowFrom: (
      id: string,
      allowedFrom: AllowedFrom.AllowedFrom | null,
      by?: Operator
    ) => Effect.Effect<ApiKey.ApiKey, Invalid | NotFound | Loosening.SecondOperatorRequired | StoreUnavailable>
    /** Closes the key, of any company or of this one: when this answers, no process takes it any more. Closing a closed one changes nothing. */
    readonly revoke: (id: string, of?: CompanyId.CompanyId) => Effect.Effect<void, NotFound | StoreUnavailable>
    /** A new key with the same name, scopes, expiry, limits and ranges, counted on from what the old one sent; the old one ends `overlapSeconds` from now, or from when a second operator approves the new one. */
    readonly rotate: (
      id: string,
      overlapSeconds: number,
      request?: Answer.Request<Issued>,
      by?: Operator
    ) => Effect.Effect<Answer.Outcome<Issued>, Invalid | NotFound | Conflict | IdempotencyMismatch | StoreUnavailable>
    /** A page of a company's keys, revoked ones too, the newest first. */
    readonly list: (
      companyId: CompanyId.CompanyId,
      asked: { readonly limit: number; readonly before: Page.Position | null }
    ) => Effect.Effect<Page.Page<ApiKey.ApiKey>, Invalid | NotFound | StoreUnavailable>
    /** The key with this id, as of now, for a session that was begun with the key itself. */
    readonly standing: (id: string) => Effect.Effect<ApiKey.Holder, ApiKey.Unauthorized | StoreUnavailable>
    /** Whose key this is, as of now: a key whose revocation was answered opens nothing. */
    readonly check: (text: string) => Effect.Effect<ApiKey.Holder, ApiKey.Unauthorized | StoreUnavailable>
  }
>()("@satrail/core/accounts/ApiKeys") {}

/** That there is this company. */
const existing = (records: AccountReads["Service"]) =>
  Effect.fnUntraced(function* (companyId: CompanyId.CompanyId) {
    const company = Id.is(companyId) ? yield* records.company(companyId) : undefined
    if (company?._tag !== "Some") return yield* new NotFound({ what: "company", id: companyId })
  })

/** What a second operator has to approve of a key that `by` asks for: null for a host, for keys that move no money, and for companies that are new. */
const approvalOf = Effect.fnUntraced(function* (
  records: AccountReads["Service"],
  { companyId, scopes }: Pick<ApiKey.ApiKey, "companyId" | "scopes">,
  by: Operator | undefined,
  replaces: ApiKey.Approval["replaces"]
): Effect.fn.Return<ApiKey.Approval | null, StoreUnavailable> {
  if (by === undefined || !ApiKey.movesMoney(scopes) || (yield* isNew(records, companyId))) return null
  return { requestedById: by.id, requestedBy: by.name, replaces }
})

const makeIssue = Effect.gen(function* () {
  const [journal, ledger, entropy] = [yield* Journal, yield* LedgerReads, yield* Entropy]
  const records = yield* AccountReads
  const exists = existing(records)
  const { network } = yield* Installation

  /** `owner` has asked, and gets the same answer to the same request. What is asked for is first what `allowed` leaves of it. */
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
    const expiryMessage = ask.expiresAtMillis === null ? undefined : expiryIssue(ask.expiresAtMillis, createdAtMillis)
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
      approval: yield* approvalOf(records, { companyId, scopes }, by, null),
      approvedBy: null,
      approvedAtMillis: null
    }
    const issued = { apiKey, text }
    const once = Answer.once(owner, request, issued, createdAtMillis + Answer.keptMillis)
    return Answers.outcome(yield* journal.commit(ApiKey.issued(apiKey, null, once)), issued)
  })
})

/** Passes where the limits or ranges of a key can be changed: whoever loosens them may need a second operator. */
const loosening = Effect.gen(function* () {
  const journal = yield* Journal
  const check = yield* Loosening.checkOf(yield* AccountReads)
  return (apiKey: ApiKey.ApiKey, by: Operator | undefined, loosens: boolean, wanted: Loosening.Wanted) =>
    check({
      companyId: apiKey.companyId,
      loosening: apiKey.loosening,
      loosens,
      wanted,
      by,
      keep: (loosening, nowMillis) => journal.commit(ApiKey.looseningRequested(apiKey, loosening, nowMillis))
    })
})

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const records = yield* AccountReads
  const { network } = yield* Installation
  const entropy = yield* Entropy
  const { check, standing } = yield* KeyChecks.make

  const get = Effect.fnUntraced(function* (id: string, of?: CompanyId.CompanyId) {
    const found = yield* records.apiKey(id)
    const apiKey = found._tag === "Some" ? found.value.apiKey : undefined
    return apiKey === undefined || (of !== undefined && apiKey.companyId !== of) ? yield* new NotFound({ what: "API key", id }) : apiKey
  })

  const exists = existing(records)
  const issue = yield* makeIssue
  const mayLoosen = yield* loosening

  return ApiKeys.of({
    list: Effect.fnUntraced(function* (companyId, { limit: size, before }) {
      yield* exists(companyId)
      return yield* Page.pick(size, (limit) => Effect.map(records.keysOf(companyId, before, limit), (rows) => ({ rows, lookedTo: null })))
    }),
    issue: (ask) => issue(CompanyId.operator, ask, Effect.succeed),
    issueOwn: ({ by, ...ask }) =>
      issue(by.companyId, { ...ask, companyId: by.companyId }, (asked) =>
        Effect.gen(function* () {
          const handed = yield* OwnKeys.handedOn(by, asked)
          const [standing] = yield* records.standings([by.companyId], yield* Clock.currentTimeMillis)
          if ((standing?.keys ?? 0) >= OwnKeys.maxOpen) return yield* new OwnKeys.TooManyKeys({ maximum: OwnKeys.maxOpen })
          return { ...asked, ...handed }
        })
      ),
    get: Effect.fnUntraced(function* (id, of) {
      const apiKey = yield* get(id, of)
      return { apiKey, spent: yield* records.spent(apiKey.companyId, apiKey.spendsAs ?? id) }
    }),
    limit: Effect.fnUntraced(function* (id, limits, by) {
      const apiKey = yield* get(id)
      yield* mayLoosen(apiKey, by, Limits.loosens(apiKey.limits, limits), { limits })
      yield* journal.commit(ApiKey.limited(apiKey, limits, yield* Clock.currentTimeMillis))
      yield* everywhere
      return yield* get(id)
    }),
    allowFrom: Effect.fnUntraced(function* (id, allowedFrom, by) {
      yield* checkRanges(allowedFrom)
      const apiKey = yield* get(id)
      yield* mayLoosen(apiKey, by, AllowedFrom.loosens(apiKey.allowedFrom, allowedFrom), { allowedFrom })
      yield* journal.commit(ApiKey.confined(apiKey, allowedFrom, yield* Clock.currentTimeMillis))
      yield* everywhere
      return yield* get(id)
    }),
    revoke: Effect.fnUntraced(function* (id, of) {
      yield* journal.commit(ApiKey.revoked(yield* get(id, of), yield* Clock.currentTimeMillis))
      yield* everywhere
    }),
    approve: Effect.fnUntraced(function* (id, by) {
      const apiKey = yield* get(id)
      const nowMillis = yield* Clock.currentTimeMillis
      if (!ApiKey.isWaiting(apiKey)) return apiKey
      // Approved after it was revoked or has expired, it would end the key that it replaces and open nothing.
      if (ApiKey.refusal(apiKey, nowMillis)?.reason !== "waiting") return yield* new NotFound({ what: "API key", id })
      const replaced = apiKey.approval?.replaces
      const old = replaced && (yield* get(replaced.id))
      yield* journal.commit(yield* Effect.fromResult(ApiKey.approved(apiKey, by, nowMillis, old ?? undefined)))
      yield* everywhere
      return yield* get(id)
    }),
    rotate: Effect.fnUntraced(function* (id, overlapSeconds, request, by) {
      const before = yield* Answers.earlier(ledger, CompanyId.operator, request)
      if (before !== undefined) return before
      if (!Number.isInteger(overlapSeconds) || overlapSeconds < 0 || overlapSeconds > maxOverlapSeconds) {
        return yield* new Invalid({ path: "overlap_seconds", message: `A whole number from 0 to ${maxOverlapSeconds}` })
      }
      const old = yield* get(id)
      const nowMillis = yield* Clock.currentTimeMillis
      // A key that opens nothing any more has nothing to hand over.
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
        approval: yield* approvalOf(records, old, by, { id, overlapSeconds }),
        approvedBy: null,
        approvedAtMillis: null
      }
      const issued = { apiKey, text }
      const once = Answer.once(CompanyId.operator, request, issued, nowMillis + Answer.keptMillis)
      const replaces = ApiKey.isWaiting(apiKey) ? null : { id, expiresAtMillis: nowMillis + overlapSeconds * 1000 }
      const applied = yield* journal.commit(ApiKey.issued(apiKey, replaces, once, old))
      yield* everywhere
      return Answers.outcome(applied, issued)
    }),
    check,
    standing
  })
})

export const layer = Layer.effect(ApiKeys, make)
