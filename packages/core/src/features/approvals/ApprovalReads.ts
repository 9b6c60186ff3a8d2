import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../../ledger/Journal.ts"
import type { Withdrawal } from "../../sending/Withdrawal.ts"

/** Reads withdrawals that wait for an approval. */
export class ApprovalReads extends Context.Service<
  ApprovalReads,
  {
    /** Withdrawals of all companies that wait to be approved, and do so until `untilMillis` at most; the first to expire first. */
    readonly unapproved: (untilMillis: number, limit: number) => Effect.Effect<ReadonlyArray<Withdrawal>, StoreUnavailable>
  }
>()("@satrail/core/features/approvals/ApprovalReads") {}
