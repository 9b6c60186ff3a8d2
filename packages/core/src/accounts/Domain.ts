import { normaliseDomain } from "@satrail/bitcoin/LightningAddressText"
import { Effect, Schema } from "effect"
import * as CompanyId from "../base/CompanyId.ts"
import { Invalid } from "../base/Invalid.ts"
import * as Change from "../ledger/Change.ts"
import type { IdempotencyMismatch } from "../ledger/Journal.ts"
import * as Noun from "../ledger/Noun.ts"

/** A domain whose Lightning addresses belong to one company. */
export const Domain = Schema.Struct({
  domain: Schema.String,
  companyId: CompanyId.CompanyId,
  /**
   * Proof of ownership: the operator's word, or a record in the domain's DNS, which is checked repeatedly.
   */
  shownBy: Schema.Literals(["operator", "dns"]),
  verifiedAtMillis: Schema.Int,
  checkedAtMillis: Schema.Int,
  /** Time at which the record was first found missing; null if it is present. */
  lostAtMillis: Schema.NullOr(Schema.Int)
})
export interface Domain extends Schema.Schema.Type<typeof Domain> {}

export const members = Noun.members("domains", Domain, [
  "companyId",
  "shownBy",
  "verifiedAtMillis",
  "checkedAtMillis",
  "lostAtMillis"
])

/** Interval between checks of a domain's DNS record. */
export const checkMillis = 24 * 3600 * 1000

/**
 * Time for which a domain's addresses keep working while its record is missing. Afterwards they stop, and another
 * company can verify the domain.
 */
export const graceMillis = 3 * 24 * 3600 * 1000

/** Parses the name of a domain. */
export const named = (text: string): Effect.Effect<string, Invalid> =>
  Effect.mapError(
    Effect.fromResult(normaliseDomain(text)),
    ({ message }) => new Invalid({ path: "domain", message })
  )

/** Returns a domain whose ownership was just proven. */
export const proven = (
  domain: string,
  { companyId, shownBy }: Pick<Domain, "companyId" | "shownBy">,
  atMillis: number
): Domain => ({
  domain,
  companyId,
  shownBy,
  verifiedAtMillis: atMillis,
  checkedAtMillis: atMillis,
  lostAtMillis: null
})

/** The domain belongs to another company. Nothing was changed. */
export class DomainTaken extends Schema.TaggedError<DomainTaken>()("DomainTaken", {
  domain: Schema.String
}) {}

/**
 * Applies if no company has the domain, if `replaces` has it and its record is missing, or if the operator
 * verifies a domain that the same company has verified by DNS.
 */
export interface DomainVerified extends Change.Parts<"DomainVerified", DomainTaken | IdempotencyMismatch> {
  readonly domain: Domain
  readonly replaces: { readonly companyId: CompanyId.CompanyId; readonly lostAtMillis: number } | null
}
/** Applies while the company holds the domain because of its DNS record. */
export interface DomainChecked extends Change.Parts<"DomainChecked"> {
  readonly domain: string
  readonly isShown: boolean
}

/**
 * Returns whether the domain's addresses work. A record missing for less than `graceMillis` may be a mistake
 * in the owner's DNS.
 */
export const isInForce = ({ lostAtMillis }: Domain, nowMillis: number, graceMillis: number): boolean =>
  lostAtMillis === null || nowMillis - lostAtMillis < graceMillis

/**
 * Returns the TXT record that verifies a company's domain. It contains the company's id, so no other company
 * can use it.
 */
export const record = ({ domain, companyId }: Pick<Domain, "domain" | "companyId">) => ({
  name: `_satrail-verify.${domain}`,
  value: `satrail-verify=${companyId}`
})

/** Assigns a domain to a company. Verifying it again changes nothing. */
export const verified = (
  domain: Domain,
  replaces: DomainVerified["replaces"] = null,
  once?: Change.Once
): DomainVerified => ({
  _tag: "DomainVerified",
  ...Change.on({ id: domain.companyId, companyId: domain.companyId }, domain.verifiedAtMillis),
  domain,
  replaces,
  event: { type: "domain.verified", subject: domain.domain },
  ...(once && { once })
})

/**
 * Records the result of a check: the record is present, is newly missing, or has been missing since an earlier
 * check.
 */
export const checked = (
  { domain, companyId, lostAtMillis }: Domain,
  isShown: boolean,
  atMillis: number
): DomainChecked => ({
  _tag: "DomainChecked",
  ...Change.on({ id: companyId, companyId }, atMillis),
  domain,
  isShown,
  ...(isShown === (lostAtMillis === null)
    ? {}
    : { event: { type: isShown ? "domain.found" : "domain.lost", subject: domain } })
})
