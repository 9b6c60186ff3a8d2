import { Context, Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import type * as Change from "../ledger/Change.ts"
import type { IdempotencyMismatch } from "../ledger/Journal.ts"
import * as Noun from "../ledger/Noun.ts"

/** A domain whose Lightning addresses belong to one company. */
export const Domain = Schema.Struct({
  domain: Schema.String,
  companyId: CompanyId.CompanyId,
  /** Who says that it is the company's: the operator, or a record in the domain's own DNS, which is looked for again and again. */
  shownBy: Schema.Literals(["operator", "dns"]),
  verifiedAtMillis: Schema.Int,
  checkedAtMillis: Schema.Int,
  /** Since when the record has been missing; null while it is there. */
  lostAtMillis: Schema.NullOr(Schema.Int)
})
export interface Domain extends Schema.Schema.Type<typeof Domain> {}

export const members = Noun.members("domains", Domain, ["companyId", "shownBy", "verifiedAtMillis", "checkedAtMillis", "lostAtMillis"])

export class Options extends Context.Service<
  Options,
  {
    /** How often the record of a company's domain is looked for. */
    readonly domainCheckMillis: number
    /** How long addresses at a domain answer whose record is missing. Then they stop, and the domain may be shown to be another company's. */
    readonly domainGraceMillis: number
  }
>()("@satrail/core/accounts/Domain/Options") {}

export const defaults: Options["Service"] = { domainCheckMillis: 24 * 3600 * 1000, domainGraceMillis: 3 * 24 * 3600 * 1000 }

/** Another company has this domain. It stays theirs. */
export class DomainTaken extends Schema.TaggedError<DomainTaken>()("DomainTaken", { domain: Schema.String }) {}

/** Applies when no company has the domain; when `replaces` has it and lost it, then; and when the operator vouches for what DNS showed. */
export interface DomainVerified extends Change.Parts<"DomainVerified", DomainTaken | IdempotencyMismatch> {
  readonly domain: Domain
  readonly replaces: { readonly companyId: CompanyId.CompanyId; readonly lostAtMillis: number } | null
}
/** Applies while the domain is this company's by DNS. */
export interface DomainChecked extends Change.Parts<"DomainChecked"> {
  readonly domain: string
  readonly isShown: boolean
}

/** Whether addresses there answer: a record that has been missing for less than `graceMillis` may be a mistake in the owner's DNS. */
export const isInForce = ({ lostAtMillis }: Domain, nowMillis: number, graceMillis: number): boolean =>
  lostAtMillis === null || nowMillis - lostAtMillis < graceMillis

/** The TXT record that verifies a domain as a company's. It names the company, so that no other company can use it. */
export const record = ({ domain, companyId }: Pick<Domain, "domain" | "companyId">) => ({
  name: `_satrail-verify.${domain}`,
  value: `satrail-verify=${companyId}`
})

/** The domain is this company's from here on. Verifying it again changes nothing. */
export const verified = (domain: Domain, replaces: DomainVerified["replaces"] = null, once?: Change.Once): DomainVerified => ({
  _tag: "DomainVerified",
  id: domain.companyId,
  companyId: domain.companyId,
  atMillis: domain.verifiedAtMillis,
  legs: [],
  domain,
  replaces,
  event: { type: "domain.verified", subject: domain.domain },
  ...(once && { once })
})

/** The record was looked for: it is there, or it is missing since now or since before. */
export const checked = ({ domain, companyId, lostAtMillis }: Domain, isShown: boolean, atMillis: number): DomainChecked => ({
  _tag: "DomainChecked",
  id: companyId,
  companyId,
  atMillis,
  legs: [],
  domain,
  isShown,
  ...(isShown === (lostAtMillis === null) ? {} : { event: { type: isShown ? "domain.found" : "domain.lost", subject: domain } })
})
