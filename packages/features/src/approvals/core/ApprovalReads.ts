import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "@satrail/core/ledger/Journal"
import type { Withdrawal } from "@satrail/core/sending/Withdrawal"

/** Reads withdrawals that wait for approval. */
export class ApprovalReads extends Context.Service<
  ApprovalReads,
  {
    /**
     * Returns all companies' waiting withdrawals whose approval expires by `untilMillis`, earliest first.
     */
    readonly unapproved: (
      untilMillis: number,
      limit: number
    ) => Effect.Effect<ReadonlyArray<Withdrawal>, StoreUnavailable>
  }
>()("@satrail/features/approvals/core/ApprovalReads") {}
