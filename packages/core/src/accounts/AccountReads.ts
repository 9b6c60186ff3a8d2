import { Context, type Effect, type Option } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type { Balance } from "../ledger/Balance.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { Spent } from "../ledger/Limit.ts"
import type { Found, Position } from "../ledger/Page.ts"
import type { ApiKey, Holder } from "./ApiKey.ts"
import type { Company, Query } from "./Company.ts"
import type { Domain } from "./Domain.ts"

/** Maximum number of keys counted per company. Larger counts are reported as this maximum. */
export const maxCounted = 1000

/** A company's status. */
export interface Standing {
  readonly companyId: CompanyId.CompanyId
  readonly balance: Balance
  /** Number of keys that are neither revoked nor expired. */
  readonly keys: number
  /** Time at which any of its keys was last used, to within a minute; null if never. */
  readonly lastSeenAtMillis: number | null
}

type Read<A> = Effect.Effect<A, StoreUnavailable>

/**
 * Reads companies, API keys, domains and limits. A method that takes a company id returns only that company's
 * records.
 */
export class AccountReads extends Context.Service<
  AccountReads,
  {
    readonly company: (id: CompanyId.CompanyId) => Read<Option.Option<Company>>
    /** Finds an API key, of any company, by the id in the key's text. Returns it with the company's plan and limits. */
    readonly apiKey: (id: string) => Read<Option.Option<Holder>>
    /**
     * Returns the running totals of a key or company, in any order. Includes every bucket that a window covers,
     * and may include older ones.
     */
    readonly spent: (companyId: CompanyId.CompanyId, subject: string) => Read<ReadonlyArray<Spent>>
    readonly domain: (domain: string) => Read<Option.Option<Domain>>
    /** Returns a company's domains, ordered by name. */
    readonly domainsOf: (companyId: CompanyId.CompanyId) => Read<ReadonlyArray<Domain>>
    /**
     * Returns domains verified by DNS and last checked before `beforeMillis`, ordered by name and starting
     * after `after`.
     */
    readonly domainsToCheck: (
      beforeMillis: number,
      after: string | null,
      limit: number
    ) => Read<ReadonlyArray<Domain>>
    /** Returns all companies, ordered by id and starting after `after`. */
    readonly companies: (after: string | null, limit: number) => Read<ReadonlyArray<Company>>
    /** Returns the companies that match the query. Scans at most `looks` companies. */
    readonly companiesAsked: (query: Query, looks: number) => Read<Found<Company>>
    /**
     * Returns the status of each of these companies at `nowMillis`, in any order. Omits companies that do not
     * exist.
     */
    readonly standings: (
      ids: ReadonlyArray<CompanyId.CompanyId>,
      nowMillis: number
    ) => Read<ReadonlyArray<Standing>>
    /**
     * Returns a company's keys before `before` (exclusive; null for the first page), newest first, including
     * revoked ones.
     */
    readonly keysOf: (
      companyId: CompanyId.CompanyId,
      before: Position | null,
      limit: number
    ) => Read<ReadonlyArray<ApiKey>>
  }
>()("@satrail/core/accounts/AccountReads") {}
