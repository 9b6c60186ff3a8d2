import { ApprovalReads } from "@satrail/core/features/approvals/ApprovalReads"
import { AdjustmentReads } from "@satrail/core/features/adjustments/AdjustmentReads"
import { CheckoutReads } from "@satrail/core/features/checkouts/CheckoutReads"
import { OfferReads } from "@satrail/core/features/offers/OfferReads"
import { RefundReads } from "@satrail/core/features/refunds/RefundReads"
import { StatementReads } from "@satrail/core/features/statements/StatementReads"
import { WebhookReads } from "@satrail/core/features/webhooks/records/WebhookReads"
import { Context, Effect } from "effect"
import * as Approvals from "./approvals/Reads.ts"
import * as Adjustments from "./adjustments/Reads.ts"
import * as Checkouts from "./checkouts/Reads.ts"
import * as Offers from "./offers/Reads.ts"
import * as Refunds from "./refunds/Reads.ts"
import * as Statements from "./statements/Reads.ts"
import * as Webhooks from "./webhooks/Reads.ts"

/** What features read. */
export const make = Effect.gen(function* () {
  return Context.empty().pipe(
    Context.add(ApprovalReads, yield* Approvals.make),
    Context.add(CheckoutReads, yield* Checkouts.make),
    Context.add(RefundReads, yield* Refunds.make),
    Context.add(OfferReads, yield* Offers.make),
    Context.add(WebhookReads, yield* Webhooks.make),
    Context.add(AdjustmentReads, yield* Adjustments.make),
    Context.add(StatementReads, yield* Statements.make)
  )
})
