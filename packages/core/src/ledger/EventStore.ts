import { Context, type Effect, type Option } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type { StoreUnavailable } from "./Journal.ts"
import type { Published } from "./LedgerReads.ts"

/** A public event, identical for all recipients: its type, the id of its record, and its bytes. */
export interface PublicEvent {
  readonly type: string
  readonly subject: string
  readonly body: string
}

/** The public events of a committed event: none, one, or several in order. */
export interface PublicEvents {
  readonly id: bigint
  readonly companyId: CompanyId.CompanyId
  readonly events: ReadonlyArray<PublicEvent>
}

type Read<A> = Effect.Effect<A, StoreUnavailable>

/** Stores committed events ordered by id, with their public events, and deletes old ones. */
export class EventStore extends Context.Service<
  EventStore,
  {
    /**
     * Returns committed events of a company (null: all companies) after `after`, oldest first. Never returns
     * an event while one with a lower id may still be committed, so a reader that resumes after the last one
     * misses none. The cost of a page does not depend on the total number of events.
     */
    readonly eventsOf: (
      companyId: CompanyId.CompanyId | null,
      after: bigint,
      limit: number
    ) => Read<ReadonlyArray<Published>>
    /** Returns committed events of a company before `before`, newest first. */
    readonly eventsBefore: (
      companyId: CompanyId.CompanyId,
      before: bigint,
      limit: number
    ) => Read<ReadonlyArray<Published>>
    readonly event: (id: bigint) => Read<Option.Option<Published>>
    /** Returns the stored public events for these ids, and omits ids without any. */
    readonly publicEvents: (ids: ReadonlyArray<bigint>) => Read<ReadonlyArray<PublicEvents>>
    /**
     * Stores public events. If some are already stored, the first version is kept. Returns the stored
     * version.
     */
    readonly storePublicEvents: (events: ReadonlyArray<PublicEvents>) => Read<ReadonlyArray<PublicEvents>>
    /**
     * Checks the `limit` oldest events, and deletes those from before `beforeMillis` together with their public
     * events. Returns the number deleted.
     */
    readonly forgetEvents: (beforeMillis: number, limit: number) => Read<number>
    /** Returns the id of the last deleted event of a company (null: any company); 0 if none was deleted. */
    readonly forgottenUntil: (companyId: CompanyId.CompanyId | null) => Read<bigint>
    /**
     * Returns the publication time of the oldest event that readers can't see yet because a transaction that
     * may precede it is still running; null if there is none.
     */
    readonly unreadableSinceMillis: Read<number | null>
  }
>()("@satrail/core/ledger/EventStore") {}
