import { Context, type Effect, type Option } from "effect"
import type * as CompanyId from "../base/CompanyId.ts"
import type { StoreUnavailable } from "./Journal.ts"
import type { Noun, Row } from "./Noun.ts"

type Read<A> = Effect.Effect<A, StoreUnavailable>

/**
 * Reads records of any declared type, including types that other packages declare. A method that takes a
 * company id returns only that company's records, and those shared with it (`Noun.sharedWith`).
 */
export class NounReads extends Context.Service<
  NounReads,
  {
    readonly get: <A extends Row>(
      noun: Noun<A>,
      companyId: CompanyId.CompanyId,
      id: string
    ) => Read<Option.Option<A>>
    /**
     * Returns the record with this unique name, whichever company owns it. `name` contains all fields of one of
     * the record type's unique names.
     */
    readonly named: <A extends Row>(noun: Noun<A>, name: Partial<NoInfer<A>>) => Read<Option.Option<A>>
    /**
     * Returns a company's records before `before` (exclusive; null for the first page), newest first by id.
     */
    readonly newestFirst: <A extends Row>(
      noun: Noun<A>,
      companyId: CompanyId.CompanyId,
      before: string | null,
      limit: number
    ) => Read<ReadonlyArray<A>>
  }
>()("@satrail/core/ledger/NounReads") {}
