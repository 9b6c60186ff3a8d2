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

/** A committed event. `id` grows in the order of commits as one reader sees them. */
export interface Published extends Event {
  readonly id: bigint
  readonly companyId: CompanyId.CompanyId
  readonly atMillis: number
}

type Read<A> = Effect.Effect<A, StoreUnavailable>

/** What a company has, and how far the ledger and what feeds it are. A method that takes a company's id answers only what is that company's. */
export class LedgerReads extends Context.Service<
  LedgerReads,
  {
    /** A company that was not opened has nothing. */
    readonly balance: (companyId: CompanyId.CompanyId) => Read<Balance>
    readonly answer: (owner: CompanyId.CompanyId, key: string) => Read<Option.Option<Answer>>
    readonly cursor: (source: string) => Read<Option.Option<string>>
    /** Committed events after `after`, oldest first. */
    readonly events: (after: bigint, limit: number) => Read<ReadonlyArray<Published>>
    /** The id of the newest of them; 0 where there is none. */
    readonly lastEvent: Read<bigint>
    /** What waits, of all companies, and since when. Tasks are overdue that were due before `overdueBeforeMillis`. */
    readonly waiting: (overdueBeforeMillis: number) => Read<Waiting.All>
    /** Those that wait one by one, the oldest first. Costs as much as there is waiting. */
    readonly backlog: (query: Waiting.Query) => Read<ReadonlyArray<Waiting.Item>>
    /** The work that is still to be done about a record of a company: of a payout that another one leads, the other's. */
    readonly job: (companyId: CompanyId.CompanyId, id: string) => Read<Option.Option<Waiting.Job>>
    /** What all entries of all companies come to, by account: they sum to zero, and `internal` is zero. Recounts everything. */
    readonly trialBalance: Read<Readonly<Record<Account, Msat>>>
    /** The same, counted on from a tally that was made before: only what was booked since is read. null counts everything. */
    readonly tally: (before: Tally | null) => Read<Tally>
  }
>()("@satrail/core/ledger/LedgerReads") {}
