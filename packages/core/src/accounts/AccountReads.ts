import { Context, type Effect, type Option } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import type { Holder } from "./ApiKey.ts"
import type { Company } from "./Company.ts"
import type { Domain } from "./Domain.ts"

type Read<A> = Effect.Effect<A, StoreUnavailable>

/** Companies, and what opens their doors. A method that takes a company's id answers only what is that company's. */
export class AccountReads extends Context.Service<
  AccountReads,
  {
    readonly company: (id: CompanyId.CompanyId) => Read<Option.Option<Company>>
    /** A key by the id in its text, of any company, and its company's plan. */
    readonly apiKey: (id: string) => Read<Option.Option<Holder>>
    readonly domain: (domain: string) => Read<Option.Option<Domain>>
    /** A company's domains, by name. */
    readonly domainsOf: (companyId: CompanyId.CompanyId) => Read<ReadonlyArray<Domain>>
    /** Domains that DNS shows, looked for last before `beforeMillis`, by name, after `after`. */
    readonly domainsToCheck: (beforeMillis: number, after: string | null, limit: number) => Read<ReadonlyArray<Domain>>
    /** Every company, by id, after `after`. */
    readonly companies: (after: string | null, limit: number) => Read<ReadonlyArray<Company>>
  }
>()("@satrail/core/accounts/AccountReads") {}
