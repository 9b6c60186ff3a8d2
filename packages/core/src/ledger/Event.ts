import { Schema } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"

/**
 * Types of events published outside features (see Feature.ts), with the kind of record that `subject`
 * identifies.
 */
export const subjects = {
  "company.opened": "companies",
  "company.plan_changed": "companies",
  // Earlier types of domain events, whose subject is the company.
  "company.domain_verified": "companies",
  "company.domain_found": "companies",
  "company.domain_lost": "companies",
  "domain.verified": "domains",
  "domain.found": "domains",
  "domain.lost": "domains",
  "api_key.issued": "api_keys",
  "api_key.requested": "api_keys",
  "api_key.approved": "api_keys",
  "api_key.revoked": "api_keys",
  "invoice.created": "invoices",
  "invoice.held": "invoices",
  "invoice.settled": "invoices",
  "invoice.expired": "invoices",
  "invoice.canceled": "invoices",
  "payment.unmatched": "unmatched",
  "lightning_address.created": "lightning_addresses",
  "lightning_address.changed": "lightning_addresses",
  "lightning_address.deleted": "lightning_addresses",
  "on_chain_address.created": "on_chain_addresses",
  "deposit.pending": "deposits",
  "deposit.too_small": "deposits",
  "deposit.settled": "deposits",
  "deposit.reversed": "deposits",
  "deposit.failed": "deposits",
  "withdrawal.requested": "withdrawals",
  "withdrawal.dispatched": "withdrawals",
  "withdrawal.replaced": "withdrawals",
  "withdrawal.settled": "withdrawals",
  "withdrawal.failed": "withdrawals"
} as const

export type Type = keyof typeof subjects

/**
 * An event published when its Change is committed. A Change's type lists the events it may publish.
 * `service/Catalogue.ts` lists all of them.
 */
export const Event = Schema.Struct({ type: Schema.String, subject: Schema.String })
export interface Event extends Schema.Schema.Type<typeof Event> {}

/** An event with one of these types. */
export interface Of<T extends string> extends Event {
  readonly type: T
}

/** An event for a company other than the one whose record the Change changes. */
export interface ForOther<T extends string> extends Of<T> {
  readonly companyId: CompanyId.CompanyId
}

/** The most events for other companies that one Change can publish. Stores number the events of a commit with twelve bits. */
export const maxForOthers = 2048
