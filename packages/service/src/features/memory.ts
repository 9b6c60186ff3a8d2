import { ApprovalReads } from "@satrail/features/approvals/core/ApprovalReads"
import { AdjustmentReads } from "@satrail/features/adjustments/core/AdjustmentReads"
import { CheckoutReads } from "@satrail/features/checkouts/core/CheckoutReads"
import { OfferReads } from "@satrail/features/offers/core/OfferReads"
import { RefundReads } from "@satrail/features/refunds/core/RefundReads"
import { StatementReads } from "@satrail/features/statements/core/StatementReads"
import { VoucherReads } from "@satrail/features/vouchers/core/VoucherReads"
import { WebhookReads } from "@satrail/features/webhooks/core/records/WebhookReads"
import { Context, type Ref } from "effect"
import type { Read } from "@satrail/memory/Reading"
import type * as State from "@satrail/memory/State"
import * as Approvals from "@satrail/features/approvals/memory"
import * as Adjustments from "@satrail/features/adjustments/memory"
import * as Checkouts from "@satrail/features/checkouts/memory"
import * as Offers from "@satrail/features/offers/memory"
import * as Refunds from "@satrail/features/refunds/memory"
import * as Statements from "@satrail/features/statements/memory"
import * as Vouchers from "@satrail/features/vouchers/memory"
import * as Webhooks from "@satrail/features/webhooks/memory"

/** The features' read ports. */
export const reads = (read: Read, state: Ref.Ref<State.State>) =>
  Context.empty().pipe(
    Context.add(ApprovalReads, Approvals.make(read)),
    Context.add(CheckoutReads, Checkouts.make(read)),
    Context.add(RefundReads, Refunds.make(read)),
    Context.add(VoucherReads, Vouchers.make(read)),
    Context.add(OfferReads, Offers.make(read)),
    Context.add(WebhookReads, Webhooks.make(read, state)),
    Context.add(AdjustmentReads, Adjustments.make(read)),
    Context.add(StatementReads, Statements.make(read))
  )
