import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { Position } from "@satrail/core/ledger/Page"
import type { Adjustment, Status } from "./Adjustment.ts"

/** Reads adjustments of all companies. */
export class AdjustmentReads extends Context.Service<
  AdjustmentReads,
  {
    readonly adjustment: (id: string) => Effect.Effect<Option.Option<Adjustment>, StoreUnavailable>
    /**
     * Returns the page after `after`, newest first by (`createdAtMillis`, `id`). A null `after` starts the
     * list, and a null `status` matches every status.
     */
    readonly adjustments: (query: {
      readonly after: Position | null
      readonly limit: number
      readonly status: Status | null
    }) => Effect.Effect<ReadonlyArray<Adjustment>, StoreUnavailable>
  }
>()("@satrail/features/adjustments/core/AdjustmentReads") {}
