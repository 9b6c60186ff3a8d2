import { Context, Effect, Layer } from "effect"
import * as Traced from "../base/Traced.ts"
import { ApprovalReads } from "./approvals/ApprovalReads.ts"
import { AdjustmentReads } from "./adjustments/AdjustmentReads.ts"
import { CheckoutReads } from "./checkouts/CheckoutReads.ts"
import { OfferReads } from "./offers/OfferReads.ts"
import { RefundReads } from "./refunds/RefundReads.ts"
import { WebhookReads } from "./webhooks/records/WebhookReads.ts"

/** The ports of features that read: a storage adapter provides each. */
export const keys = [ApprovalReads, CheckoutReads, RefundReads, OfferReads, WebhookReads, AdjustmentReads] as const

/** Those ports. */
export type FeatureReads = (typeof keys)[number]["Identifier"]

/** All of them in one value. */
export const all = Effect.gen(function* () {
  return {
    ...(yield* ApprovalReads),
    ...(yield* CheckoutReads),
    ...(yield* RefundReads),
    ...(yield* OfferReads),
    ...(yield* WebhookReads),
    ...(yield* AdjustmentReads)
  }
})

/** One value as each of them. */
export const from = (reads: Effect.Success<typeof all>): Context.Context<FeatureReads> =>
  Context.empty().pipe(
    Context.add(ApprovalReads, reads),
    Context.add(CheckoutReads, reads),
    Context.add(RefundReads, reads),
    Context.add(OfferReads, reads),
    Context.add(WebhookReads, reads),
    Context.add(AdjustmentReads, reads)
  )

export const layerTraced = Layer.mergeAll(
  Traced.layer(ApprovalReads),
  Traced.layer(CheckoutReads),
  Traced.layer(RefundReads),
  Traced.layer(OfferReads),
  Traced.layer(WebhookReads),
  Traced.layer(AdjustmentReads)
)
