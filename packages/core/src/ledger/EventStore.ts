import { Context, type Effect, type Option } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type { StoreUnavailable } from "./Journal.ts"
import type { Published } from "./LedgerReads.ts"

/** One public event as it is told everywhere: its type, the id of the record that it is about, and its bytes. */
export interface Telling {
  readonly type: string
  readonly subject: string
  readonly body: string
}

/** What a committed event is told as: nothing, once, or several times, in order. */
export interface Told {
  readonly id: bigint
  readonly companyId: CompanyId.CompanyId
  readonly tellings: ReadonlyArray<Telling>
}

type Read<A> = Effect.Effect<A, StoreUnavailable>

/** Committed events in the order of their ids, what they are told as, and how long they are kept. */
export class EventStore extends Context.Service<
  EventStore,
  {
    /**
     * Committed events of a company (null: of all) after `after`, oldest first. Never one before which another may still turn up: whoever goes on
     * after the last of them misses nothing. What a page costs does not grow with what there is.
     */
    readonly eventsOf: (companyId: CompanyId.CompanyId | null, after: bigint, limit: number) => Read<ReadonlyArray<Published>>
    readonly event: (id: bigint) => Read<Option.Option<Published>>
    /** What was kept of these events before; nothing of those of which nothing was. */
    readonly told: (ids: ReadonlyArray<bigint>) => Read<ReadonlyArray<Told>>
    /** Keeps what these events are told as. Whoever is first decides: answers what is kept of them from here on. */
    readonly keepTold: (told: ReadonlyArray<Told>) => Read<ReadonlyArray<Told>>
    /** Deletes those of the `limit` oldest events that are from before `beforeMillis`, and what they were told as. Answers how many. */
    readonly forgetEvents: (beforeMillis: number, limit: number) => Read<number>
    /** The id of the last event of a company (null: of any) that was deleted; 0 where none was. */
    readonly forgottenUntil: (companyId: CompanyId.CompanyId | null) => Read<bigint>
    /** When the oldest event was published that no reader is shown yet, because a transaction is still running that may precede it; null where there is none. */
    readonly unreadableSinceMillis: Read<number | null>
  }
>()("@satrail/core/ledger/EventStore") {}
