import { type Canary, coreTest, feature, featureTest } from "../../../../test/defences/Canary.ts"

export const refunds: ReadonlyArray<Canary> = [
  {
    name: "refunded-of-what-was",
    bug: "a refund ignores the amounts of concurrent refunds from the same deposit",
    file: feature("refunds/core/Refund"),
    in: "depositLife",
    find: `    expects: ["refunded"],
`,
    replace: "",
    test: featureTest("refunds/core/Refunds"),
    titles: "of 64 concurrent refunds"
  },
  {
    name: "refund-kept-its-room",
    bug: "an unpaid refund that expires or is canceled returns nothing to the deposit",
    file: feature("refunds/core/Refund"),
    in: "givenBack",
    find: "refundedMore(companyId, depositId, -amount)",
    replace: "refundedMore(companyId, depositId, -amount + amount)",
    test: featureTest("refunds/core/Refunds"),
    titles: "can be refunded again"
  },
  {
    name: "refund-shown-when-it-ended",
    bug: "the checkout page shows the link of a refund that was claimed, expired or canceled",
    file: feature("refunds/core/Refund"),
    in: "shownAt",
    find: `  return status === "open" && atMillis < expiresAtMillis ? { refund, expiresAtMillis } : undefined`,
    replace: "  return { refund, expiresAtMillis }",
    test: featureTest("refunds/core/Refunds"),
    titles: "the checkout page shows the refund"
  },
  {
    name: "refund-shown-though-told-apart",
    bug: "the checkout page shows the link of a refund with on_checkout false",
    file: "packages/features/src/refunds/http/Refunds.ts",
    in: "create",
    find: "isOnCheckout = on_checkout !== false",
    replace: "isOnCheckout = true",
    test: "packages/features/test/checkouts/http/checkoutPage.test.ts",
    titles: "a refund with on_checkout false"
  },
  {
    name: "frozen-company-refunds",
    bug: "a frozen company can refund",
    file: feature("refunds/core/Refund"),
    in: "created",
    find: `    unlessFrozen: true,
`,
    replace: "",
    test: coreTest("Stops"),
    titles: "freeze:"
  },
  {
    name: "refund-of-removed-deposit",
    bug: "the link of a refund can be claimed after a reorganization removed its deposit",
    file: feature("refunds/core/RefundHook"),
    in: "layer",
    find: `status !== "settled"`,
    replace: `status === "failed"`,
    test: "packages/features/test/refunds/core/Refunds.test.ts",
    titles: "C45: refund:"
  },
  {
    name: "queued-refund-of-removed-deposit",
    bug: "a queued refund is sent after a reorganization removed its deposit",
    file: feature("refunds/core/RefundHook"),
    in: "layer",
    find: `status === "pending" ? "later"`,
    replace: `status === undefined ? "later"`,
    test: "packages/features/test/refunds/core/Refunds.test.ts",
    titles: "C45: refund:"
  }
]
