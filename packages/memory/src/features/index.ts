import { ApprovalReads } from "@satrail/core/features/approvals/ApprovalReads"
import { AdjustmentReads } from "@satrail/core/features/adjustments/AdjustmentReads"
import { CheckoutReads } from "@satrail/core/features/checkouts/CheckoutReads"
import { OfferReads } from "@satrail/core/features/offers/OfferReads"
import { RefundReads } from "@satrail/core/features/refunds/RefundReads"
import { StatementReads } from "@satrail/core/features/statements/StatementReads"
import { VoucherReads } from "@satrail/core/features/vouchers/VoucherReads"
import { WebhookReads } from "@satrail/core/features/webhooks/records/WebhookReads"
import { Context, type Ref } from "effect"
import type { Read } from "../Reading.ts"
import type * as State from "../State.ts"
import * as Approvals from "./Approvals.ts"
import * as Adjustments from "./Adjustments.ts"
import * as Checkouts from "./Checkouts.ts"
import * as Offers from "./Offers.ts"
import * as Refunds from "./Refunds.ts"
import * as Statements from "./Statements.ts"
import * as Vouchers from "./Vouchers.ts"
import * as Webhooks from "./Webhooks.ts"

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
