import type { Msat } from "@satrail/bitcoin/Msat"
import { Context, type Effect, type Option } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type { Answer } from "./Answer.ts"
import type { Balance } from "./Balance.ts"
import type { Account } from "./Change.ts"
import type { Event } from "./Event.ts"
import type { StoreUnavailable } from "./Journal.ts"
import type { Tally } from "./Tally.ts"
import type * as Waiting from "./Waiting.ts"

/** A committed event. To a reader, `id` grows in commit order. */
export interface Published extends Event {
  readonly id: bigint
  readonly companyId: CompanyId.CompanyId
  readonly atMillis: number
}

type Read<A> = Effect.Effect<A, StoreUnavailable>

/**
 * Reads balances, stored responses, events, pending work, and totals of the ledger. A method that takes a
 * company id returns only that company's data.
 */
export class LedgerReads extends Context.Service<
  LedgerReads,
  {
    /** Returns a company's balance; zero if the company does not exist. */
    readonly balance: (companyId: CompanyId.CompanyId) => Read<Balance>
    readonly answer: (owner: CompanyId.CompanyId, key: string) => Read<Option.Option<Answer>>
    /** Returns whether any stored response has expired by this time. */
    readonly expiredAnswers: (atMillis: number) => Read<boolean>
    readonly cursor: (source: string) => Read<Option.Option<string>>
    /** Returns committed events after `after`, oldest first. */
    readonly events: (after: bigint, limit: number) => Read<ReadonlyArray<Published>>
    /** Returns the id of the newest event, even if it was deleted; 0 if there was none. */
    readonly lastEvent: Read<bigint>
    /**
     * Returns the totals of pending items of all companies. Tasks are overdue if they were due before
     * `overdueBeforeMillis`.
     */
    readonly waiting: (overdueBeforeMillis: number) => Read<Waiting.All>
    /** Lists pending items, oldest first. The cost grows with the number of pending items. */
    readonly backlog: (query: Waiting.Query) => Read<ReadonlyArray<Waiting.Item>>
    /**
     * Returns the pending job for a company's record. For a payout in a batch, returns the job of the payout
     * that leads the batch.
     */
    readonly job: (companyId: CompanyId.CompanyId, id: string) => Read<Option.Option<Waiting.Claimed>>
    /**
     * Sums all entries of all companies by account. The sum over all accounts is zero, and so are `internal` and
     * `transfers`. Recounts everything.
     */
    readonly trialBalance: Read<Readonly<Record<Account, Msat>>>
    /**
     * Returns the same totals, counted from an earlier tally, so only newer entries are read. null counts
     * everything.
     */
    readonly tally: (before: Tally | null) => Read<Tally>
  }
>()("@satrail/core/ledger/LedgerReads") {}
