import { Clock, Context, Effect, Layer } from "effect"
import * as Characters from "../base/Characters.ts"
import * as CompanyId from "../base/CompanyId.ts"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import { Invalid } from "../base/Invalid.ts"
import { awaitCacheExpiry } from "../base/ReadCache.ts"
import { isText } from "../base/Metadata.ts"
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
import { AccountReads, type Standing } from "./AccountReads.ts"
import * as Company from "./Company.ts"
import type { CompanyFees } from "./CompanyFees.ts"
import * as Domain from "./Domain.ts"
import { Installation } from "./Installation.ts"
import { type Freeze, loosens as loosensFreeze } from "../ledger/Freeze.ts"
import type * as Limit from "../ledger/Limit.ts"
import type { NounReads } from "../ledger/NounReads.ts"
import * as Limits from "./Limits.ts"
import * as Loosening from "./Loosening.ts"
import * as OperatorRequests from "./OperatorRequests.ts"
import type { Plan } from "./Plan.ts"

/** Maximum length of the name of a company or key. */
export const maxNameCharacters = 200

/** Returns why a name is invalid; undefined if it is valid. */
export const nameIssue = (name: string): string | undefined =>
  name.trim() !== "" && Characters.count(name) <= maxNameCharacters && isText(name)
    ? undefined
    : `must have 1 to ${maxNameCharacters} characters that are not all blank`

/** Fails if a name is invalid. */
export const checkName = (name: string): Effect.Effect<void, Invalid> => {
  const message = nameIssue(name)
  return message === undefined ? Effect.void : Effect.fail(new Invalid({ path: "name", message }))
}

/** A company and its status. */
export interface Overview extends Omit<Standing, "companyId"> {
  readonly company: Company.Company
}

/** Maximum length of the reason for a freeze. */
export const maxReasonCharacters = 500

/** Returns why a reason is invalid; undefined if it is valid. */
export const reasonIssue = (reason: string): string | undefined =>
  reason.trim() !== "" && Characters.count(reason) <= maxReasonCharacters && isText(reason)
    ? undefined
    : `must have 1 to ${maxReasonCharacters} characters that are not all blank`

/** Manages account holders. Only the operator creates and changes them. */
export class Companies extends Context.Service<
  Companies,
  {
    readonly open: (ask: {
      readonly name: string
      readonly plan: Plan
      readonly request?: Answer.Request<Company.Company>
    }) => Effect.Effect<
      Answer.Outcome<Company.Company>,
      Invalid | Conflict | IdempotencyMismatch | StoreUnavailable
    >
    readonly get: (id: CompanyId.CompanyId) => Effect.Effect<Company.Company, NotFound | StoreUnavailable>
    readonly overview: (id: CompanyId.CompanyId) => Effect.Effect<Overview, NotFound | StoreUnavailable>
    /**
     * Returns a page of companies, newest first. With filters, a page may have fewer than `limit` rows, or
     * none, and still have a `next`.
     */
    readonly list: (query: Company.Query) => Effect.Effect<Page.Page<Overview>, Invalid | StoreUnavailable>
    /** Changes a company's plan. By the time this returns, every process applies the new plan. */
    readonly changePlan: (
      id: CompanyId.CompanyId,
      plan: Plan
    ) => Effect.Effect<Company.Company, NotFound | StoreUnavailable>
    /**
     * Replaces a company's limits: a limit that is left out no longer applies. By the time this returns, every
     * process applies the new limits. Spending is counted from the time the company first has limits. If `by`
     * loosens limits for a company with a large balance, a second operator must send the same request. Omit `by`
     * if the host program changes limits itself.
     */
    readonly limit: (
      id: CompanyId.CompanyId,
      limits: Limits.Limits | null,
      by?: Loosening.Changer
    ) => Effect.Effect<Company.Company, NotFound | Loosening.Refused | StoreUnavailable>
    /**
     * Changes a company's limits, as `limit` does. If others are committed meanwhile, `update` runs again, so that
     * a change of one limit does not undo a change of another.
     */
    readonly updateLimits: (
      id: CompanyId.CompanyId,
      update: Limits.Update,
      by?: Loosening.Changer
    ) => Effect.Effect<Company.Company, NotFound | Loosening.Refused | StoreUnavailable>
    /**
     * Replaces all custom fees of a company; null removes them. Every hold committed afterwards, in any
     * process, uses the new fees. By the time this returns, every process shows them. Confirmed withdrawals
     * keep their fees.
     */
    readonly charge: (
      id: CompanyId.CompanyId,
      fees: CompanyFees | null
    ) => Effect.Effect<Company.Company, NotFound | StoreUnavailable>
    /** Changes a company's custom fees, as `charge` does. If others are committed meanwhile, `update` runs again. */
    readonly updateFees: (
      id: CompanyId.CompanyId,
      update: (fees: CompanyFees | null) => Effect.Effect<CompanyFees | null, Invalid>
    ) => Effect.Effect<Company.Company, Invalid | NotFound | StoreUnavailable>
    /**
     * Freezes a company. Once this returns, no new withdrawal or voucher can hold the company's funds, and none
     * of its vouchers can be claimed. `pending` determines whether withdrawals that are already confirmed
     * continue or wait. Freezing the company again replaces `reason` and `pending`.
     */
    readonly freeze: (
      id: CompanyId.CompanyId,
      how: Pick<Freeze, "reason" | "pending">,
      by?: Loosening.Changer
    ) => Effect.Effect<Company.Company, Invalid | NotFound | Loosening.Refused | StoreUnavailable>
    readonly unfreeze: (
      id: CompanyId.CompanyId,
      by?: Loosening.Changer
    ) => Effect.Effect<Company.Company, NotFound | Loosening.Refused | StoreUnavailable>
    /** Returns the company's spending within the windows of its limits. */
    readonly spent: (id: CompanyId.CompanyId) => Effect.Effect<ReadonlyArray<Limit.Spent>, StoreUnavailable>
    /** Marks a domain as verified by the operator, without a TXT record. */
    readonly verifyDomain: (
      id: CompanyId.CompanyId,
      domain: string,
      request?: Answer.Request<Domain.Domain>
    ) => Effect.Effect<
      Answer.Outcome<Domain.Domain>,
      Invalid | NotFound | Domain.DomainTaken | IdempotencyMismatch | StoreUnavailable
    >
  }
>()("@satrail/core/accounts/Companies") {}

/** Methods that change the protection of a company's funds. Loosening it may need a second operator. */
const protecting = Effect.fnUntraced(function* (
  get: Companies["Service"]["get"]
): Effect.fn.Return<
  Pick<Companies["Service"], "limit" | "updateLimits" | "freeze" | "unfreeze">,
  never,
  Journal | AccountReads | NounReads
> {
  const journal = yield* Journal
  const mayLoosen = yield* Loosening.checkOf(yield* AccountReads, yield* OperatorRequests.makeRequesters)

  /** Makes a change that `by` wants, if `by` may. The change expects the protection that was read. */
  const change = Effect.fnUntraced(function* (
    id: CompanyId.CompanyId,
    by: Loosening.Changer | undefined,
    changed: (
      found: Company.Company,
      nowMillis: number
    ) => {
      readonly wanted: Loosening.Wanted
      readonly loosens: boolean
      readonly change: Company.CompanyLimited | Company.FreezeChanged
    }
  ) {
    const once = Effect.gen(function* () {
      const found = yield* get(id)
      const { wanted, loosens, change } = changed(found, yield* Clock.currentTimeMillis)
      yield* mayLoosen({
        companyId: id,
        loosening: found.loosening,
        loosens,
        wanted,
        by,
        keep: (loosening, nowMillis) =>
          journal.commit(Company.looseningRequested(found, loosening, nowMillis))
      })
      yield* journal.commit({ ...change, expects: found })
    })
    yield* Loosening.untilUnmoved(once)
    yield* awaitCacheExpiry
    return yield* get(id)
  })

  const updateLimits: Companies["Service"]["updateLimits"] = (id, update, by) =>
    change(id, by, (found, nowMillis) => {
      const limits = update(found.limits)
      return {
        wanted: { limits },
        loosens: Limits.loosens(found.limits, limits),
        change: Company.limited(id, limits, nowMillis, found)
      }
    })

  return {
    limit: (id, limits, by) => updateLimits(id, () => limits, by),
    updateLimits,
    freeze: Effect.fnUntraced(function* (id, { reason, pending }, by) {
      const message = reasonIssue(reason)
      if (message !== undefined) return yield* new Invalid({ path: "reason", message })
      return yield* change(id, by, (found, nowMillis) => ({
        wanted: { frozen: pending },
        loosens: loosensFreeze(found.frozen, pending),
        change: Company.freezeChanged(
          id,
          { reason, pending, sinceMillis: found.frozen?.sinceMillis ?? nowMillis },
          nowMillis,
          found
        )
      }))
    }),
    unfreeze: (id, by) =>
      change(id, by, (found, nowMillis) => ({
        wanted: { frozen: null },
        loosens: found.frozen !== null,
        change: Company.freezeChanged(id, null, nowMillis, found)
      }))
  }
})

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const records = yield* AccountReads
  const installation = yield* Installation
  const entropy = yield* Entropy

  const get = (id: CompanyId.CompanyId) => found("company", id, records.company(id))

  const overviews = Effect.fnUntraced(function* (companies: ReadonlyArray<Company.Company>) {
    const ids = companies.map(({ id }) => id)
    const standings = new Map(
      (yield* records.standings(ids, yield* Clock.currentTimeMillis)).map(({ companyId, ...standing }) => [
        companyId,
        standing
      ])
    )
    return companies.flatMap((company): ReadonlyArray<Overview> => {
      const standing = standings.get(company.id)
      return standing === undefined ? [] : [{ company, ...standing }]
    })
  })

  /** Waits until every process applies a committed change of a company, and returns the company. */
  const applied = (id: CompanyId.CompanyId) => Effect.andThen(awaitCacheExpiry, get(id))

  const updateFees = Effect.fnUntraced(function* <E>(
    id: CompanyId.CompanyId,
    update: (fees: CompanyFees | null) => Effect.Effect<CompanyFees | null, E>
  ) {
    const once = Effect.gen(function* () {
      const found = yield* get(id)
      const fees = yield* update(found.fees)
      yield* journal.commit({
        ...Company.feesChanged(id, fees, yield* Clock.currentTimeMillis, found),
        expects: found
      })
    })
    yield* Loosening.untilUnmoved(once)
    return yield* applied(id)
  })

  return Companies.of({
    get,
    overview: Effect.fnUntraced(function* (id) {
      const [found] = yield* overviews([yield* get(id)])
      return found ?? (yield* new NotFound({ what: "company", id }))
    }),
    list: Effect.fnUntraced(function* (query) {
      if (query.text !== undefined && !isText(query.text))
        return yield* new Invalid({ path: "search", message: "must be text without control characters" })
      const { rows, next } = yield* Page.pick(query.limit, (limit, after) =>
        records.companiesAsked({ ...query, limit, before: after?.id ?? query.before }, Page.looks)
      )
      return { rows: yield* overviews(rows), next }
    }),
    open: Effect.fnUntraced(function* ({ name, plan, request }) {
      const before = yield* Answers.earlier(ledger, CompanyId.operator, request)
      if (before !== undefined) return before
      yield* checkName(name)
      const createdAtMillis = yield* Clock.currentTimeMillis
      const company: Company.Company = {
        id: CompanyId.make(Id.fromMillis(createdAtMillis, entropy)),
        name,
        plan,
        createdAtMillis,
        limits: null,
        frozen: null,
        loosening: null,
        fees: null,
        feesRevision: 0
      }
      const once = Answer.once(CompanyId.operator, request, company, createdAtMillis + Answer.keptMillis)
      return Answers.outcome(yield* journal.commit(Company.opened(company, once)), company)
    }),
    changePlan: Effect.fnUntraced(function* (id, plan) {
      const found = yield* get(id)
      yield* journal.commit(Company.planChanged(id, plan, yield* Clock.currentTimeMillis, found))
      return yield* applied(id)
    }),
    charge: (id, fees) => updateFees(id, () => Effect.succeed(fees)),
    updateFees,
    ...(yield* protecting(get)),
    spent: (id) => records.spent(id, id),
    verifyDomain: Effect.fnUntraced(function* (id, text, request) {
      const before = yield* Answers.earlier(ledger, CompanyId.operator, request)
      if (before !== undefined) return before
      const name = yield* Domain.named(text)
      if (name === installation.domain) return yield* new Domain.DomainTaken({ domain: name })
      const company = yield* get(id)
      const nowMillis = yield* Clock.currentTimeMillis
      const domain = Domain.proven(name, { companyId: company.id, shownBy: "operator" }, nowMillis)
      const once = Answer.once(CompanyId.operator, request, domain, nowMillis + Answer.keptMillis)
      const applied = yield* journal.commit(Domain.verified(domain, null, once))
      return applied._tag === "Replayed"
        ? applied
        : yield* Answers.keep(journal, CompanyId.operator, request, domain)
    })
  })
})

export const layer = Layer.effect(Companies, make)
