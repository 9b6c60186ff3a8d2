import { normaliseDomain } from "@satrail/bitcoin/LightningAddressText"
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import { Invalid } from "../base/Invalid.ts"
import { Dns, type DnsUnavailable } from "../base/Dns.ts"
import * as Pages from "../base/Pages.ts"
import * as Worker from "../base/Worker.ts"
import * as Answer from "../ledger/Answer.ts"
import * as Answers from "../ledger/Answers.ts"
import * as Duties from "../ledger/Duties.ts"
import { type IdempotencyMismatch, Journal, type StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import { Installation } from "./Installation.ts"
import { PlanRequired } from "./Plan.ts"
import * as ServedDomains from "./ServedDomains.ts"
import { AccountReads } from "./AccountReads.ts"
import type { Company } from "./Company.ts"
import * as Domain from "./Domain.ts"

/**
 * Maximum number of domains that a company can verify itself. All are listed at once and checked daily, and with a
 * wildcard record, one domain would verify any number of subdomains.
 */
export const maxDomains = 1000

const pageSize = 200
const lookupsAtOnce = 8

/**
 * The domain's DNS does not prove that it belongs to this company. It needs a TXT record `value` at `name`.
 */
export class DomainNotShown extends Schema.TaggedError<DomainNotShown>()("DomainNotShown", {
  domain: Schema.String,
  name: Schema.String,
  value: Schema.String
}) {}

/** Manages custom domains of companies. */
export class Domains extends Context.Service<
  Domains,
  {
    /**
     * Verifies a domain by its DNS record. Requires a paid plan. A domain of another company stays with that
     * company until the domain's record has been missing for longer than the grace period.
     */
    readonly verify: (
      company: Pick<Company, "id" | "plan">,
      domain: string,
      request?: Answer.Request<Domain.Domain>
    ) => Effect.Effect<
      Answer.Outcome<Domain.Domain>,
      | Invalid
      | PlanRequired
      | Domain.DomainTaken
      | DomainNotShown
      | DnsUnavailable
      | IdempotencyMismatch
      | StoreUnavailable
    >
    readonly list: (
      companyId: CompanyId.CompanyId
    ) => Effect.Effect<ReadonlyArray<Domain.Domain>, StoreUnavailable>
    /**
     * Returns whether the domain's Lightning addresses work. True for the service's own domain, and for every
     * verified domain that has not been lost.
     */
    readonly isServed: (domain: string) => Effect.Effect<boolean, StoreUnavailable>
    /** Checks every record that has not been checked in the last day. Failed lookups are retried the next time. */
    readonly check: Effect.Effect<void, StoreUnavailable>
  }
>()("@satrail/core/accounts/Domains") {}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const records = yield* AccountReads
  const names = yield* Dns
  const installation = yield* Installation
  const servedAt = yield* ServedDomains.make

  const isShown = Effect.fnUntraced(function* (of: Pick<Domain.Domain, "domain" | "companyId">) {
    const { name, value } = Domain.record(of)
    return (yield* names.txt(name)).some((text) => text.trim() === value)
  })

  const look = Effect.fnUntraced(function* (domain: Domain.Domain) {
    const found = yield* Effect.option(isShown(domain))
    if (Option.isNone(found))
      return yield* Effect.logWarning("domain: DNS lookup failed", { domain: domain.domain })
    if (!found.value && domain.lostAtMillis === null)
      yield* Effect.logWarning("domain: DNS record missing", { domain: domain.domain })
    yield* journal.commit(Domain.checked(domain, found.value, yield* Clock.currentTimeMillis))
  })

  return Domains.of({
    verify: Effect.fnUntraced(function* ({ id: companyId, plan }, text, request) {
      const before = yield* Answers.earlier(ledger, companyId, request)
      if (before !== undefined) return before
      if (plan === "free") return yield* new PlanRequired({ plan: "paid", feature: "a custom domain" })
      const name = yield* Domain.named(text)
      if (name === installation.domain) return yield* new Domain.DomainTaken({ domain: name })
      const known = Option.getOrUndefined(yield* records.domain(name))
      const mine = known?.companyId === companyId ? known : undefined
      if (mine?.shownBy === "operator") return yield* Answers.keep(journal, companyId, request, mine)
      if (mine === undefined && (yield* records.domainsOf(companyId)).length >= maxDomains) {
        const message = `must be verified by the operator, because the company already has ${maxDomains} domains, the maximum`
        return yield* new Invalid({ path: "domain", message })
      }
      const shown = yield* isShown({ domain: name, companyId })
      const nowMillis = yield* Clock.currentTimeMillis
      if (!shown)
        return yield* new DomainNotShown({ domain: name, ...Domain.record({ domain: name, companyId }) })
      if (mine === undefined) {
        if (known !== undefined && Domain.isInForce(known, nowMillis, Domain.graceMillis))
          return yield* new Domain.DomainTaken({ domain: name })
        const domain = Domain.proven(name, { companyId, shownBy: "dns" }, nowMillis)
        const { lostAtMillis = null } = known ?? {}
        const replaces =
          known === undefined || lostAtMillis === null ? null : { companyId: known.companyId, lostAtMillis }
        const once = Answer.once(companyId, request, domain, nowMillis + Answer.keptMillis)
        const applied = yield* journal.commit(Domain.verified(domain, replaces, once))
        if (applied._tag === "Replayed") return applied
      } else yield* journal.commit(Domain.checked(mine, true, nowMillis))
      // Read the domain again, because another company may since have taken it over.
      const now = yield* records.domain(name)
      if (now._tag === "None" || now.value.companyId !== companyId)
        return yield* new Domain.DomainTaken({ domain: name })
      return yield* Answers.keep(journal, companyId, request, now.value)
    }),
    list: records.domainsOf,
    isServed: Effect.fnUntraced(function* (text) {
      const name = normaliseDomain(text)
      return name._tag === "Success" && (yield* servedAt(name.success)).isServed
    }),
    check: Effect.gen(function* () {
      const beforeMillis = (yield* Clock.currentTimeMillis) - Domain.checkMillis
      yield* Pages.each(
        pageSize,
        (after: Domain.Domain | null) =>
          records.domainsToCheck(beforeMillis, after?.domain ?? null, pageSize),
        (page) => Effect.forEach(page, look, { concurrency: lookupsAtOnce, discard: true })
      )
    })
  })
})

export const layer = Layer.effect(Domains, make)

/**
 * Checks domains in one process at a time, until the scope closes. Checks may be up to 15 minutes late.
 */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const domains = yield* Domains
    yield* Duties.run("domains", () => Worker.run("domain checks", domains.check, Effect.sleep("15 minutes")))
  })
)
