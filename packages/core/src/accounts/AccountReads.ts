import { Context, type Effect, type Option } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type { Balance } from "../ledger/Balance.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { Spent } from "../ledger/Limit.ts"
import type { Found, Position } from "../ledger/Page.ts"
import type { ApiKey, Holder } from "./ApiKey.ts"
import type { Company, Query } from "./Company.ts"
import type { Domain } from "./Domain.ts"

/** How many keys of one company are counted: more are that many. */
export const maxCounted = 1000

/** How a company stands. */
export interface Standing {
  readonly companyId: CompanyId.CompanyId
  readonly balance: Balance
  /** Keys that are not revoked and have not expired. */
  readonly keys: number
  /** When one of its keys was used last, to within a minute; null: never. */
  readonly lastSeenAtMillis: number | null
}

type Read<A> = Effect.Effect<A, StoreUnavailable>

/** Companies, and what opens their doors. A method that takes a company's id answers only what is that company's. */
export class AccountReads extends Context.Service<
  AccountReads,
  {
    readonly company: (id: CompanyId.CompanyId) => Read<Option.Option<Company>>
    /** A key by the id in its text, of any company, and its company's plan and limits. */
    readonly apiKey: (id: string) => Read<Option.Option<Holder>>
    /** What was counted for a key or a company, in any order: as much as windows need, and what is older as far as it is still there. */
    readonly spent: (companyId: CompanyId.CompanyId, subject: string) => Read<ReadonlyArray<Spent>>
    readonly domain: (domain: string) => Read<Option.Option<Domain>>
    /** A company's domains, by name. */
    readonly domainsOf: (companyId: CompanyId.CompanyId) => Read<ReadonlyArray<Domain>>
    /** Domains that DNS shows, looked for last before `beforeMillis`, by name, after `after`. */
    readonly domainsToCheck: (beforeMillis: number, after: string | null, limit: number) => Read<ReadonlyArray<Domain>>
    /** Every company, by id, after `after`. */
    readonly companies: (after: string | null, limit: number) => Read<ReadonlyArray<Company>>
    /** Companies that were asked for. Looks at no more than `looks` of them. */
    readonly companiesAsked: (query: Query, looks: number) => Read<Found<Company>>
    /** How each of these companies stands at `nowMillis`; in no order, and without those that were not opened. */
    readonly standings: (ids: ReadonlyArray<CompanyId.CompanyId>, nowMillis: number) => Read<ReadonlyArray<Standing>>
    /** A company's keys, revoked ones too, the newest first, before `before` (exclusive; null for the first page). */
    readonly keysOf: (companyId: CompanyId.CompanyId, before: Position | null, limit: number) => Read<ReadonlyArray<ApiKey>>
  }
>()("@satrail/core/accounts/AccountReads") {}
