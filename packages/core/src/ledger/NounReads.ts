import { Context, type Effect, type Option } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type { StoreUnavailable } from "./Journal.ts"
import type { Noun, Row } from "./Noun.ts"

type Read<A> = Effect.Effect<A, StoreUnavailable>

/**
 * Reads the records of any noun, as its declaration says: of those of this package, and of those that another one declares. A method that takes a company's
 * id answers only what is that company's.
 */
export class NounReads extends Context.Service<
  NounReads,
  {
    readonly get: <A extends Row>(noun: Noun<A>, companyId: CompanyId.CompanyId, id: string) => Read<Option.Option<A>>
    /** The record, of whichever company, that has this name: all members of one of its noun's unique names. */
    readonly named: <A extends Row>(noun: Noun<A>, name: Partial<NoInfer<A>>) => Read<Option.Option<A>>
    /** A company's records, the newest first by id, before `before` (exclusive; null for the first page). */
    readonly newestFirst: <A extends Row>(
      noun: Noun<A>,
      companyId: CompanyId.CompanyId,
      before: string | null,
      limit: number
    ) => Read<ReadonlyArray<A>>
  }
>()("@satrail/core/ledger/NounReads") {}
