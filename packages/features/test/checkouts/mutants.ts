import { type Canary, core, feature, featureTest } from "../../../../test/defences/Canary.ts"

export const checkouts: ReadonlyArray<Canary> = [
  {
    name: "rest-rounded-down",
    bug: "paying a checkout's remaining amount does not complete it",
    file: feature("checkouts/core/Checkout"),
    in: "rest",
    find: "((missing + 999n) / 1000n)",
    replace: "(missing / 1000n)",
    test: featureTest("checkouts/core/Checkouts"),
    titles: "checkout: the remaining amount is rounded up"
  },
  {
    name: "expired-and-canceled",
    bug: "an expired checkout can be canceled",
    file: feature("checkouts/core/CheckoutCancel"),
    in: "make",
    find: 'status !== "open" && status !== "underpaid"',
    replace: 'status !== "open" && status !== "underpaid" && status !== "expired"',
    test: featureTest("checkouts/core/Checkouts"),
    titles: "checkout: an expired checkout cannot be canceled"
  },
  {
    name: "checkout-unfollowed",
    bug: "a payment of a checkout is credited, but the checkout is not updated",
    file: feature("checkouts/core/CheckoutJobs"),
    in: "ofDeposit",
    find: `checkoutId === null ? [] :`,
    replace: `checkoutId === null || atMillis > 0 ? [] :`,
    test: "packages/features/test/checkouts/http/checkouts.test.ts",
    titles: "checkout:",
    isInStories: true
  },
  {
    name: "checkout-rest-of-nobody",
    bug: "the invoice for a checkout's remaining amount has no checkout, so its payment is not counted",
    file: feature("checkouts/core/CheckoutAsking"),
    in: "make",
    find: `      checkoutId: checkout.id`,
    replace: `      checkoutId: null`,
    test: featureTest("checkouts/core/Checkouts"),
    titles: "checkout:"
  },
  {
    name: "checkout-half-canceled",
    bug: "a crash after canceling a checkout's invoice leaves the checkout open with an unpayable invoice",
    file: core("receiving/Invoices"),
    in: "make",
    find: `next === undefined ? [] : [next(nowMillis)]`,
    replace: `[]`,
    test: featureTest("checkouts/core/Checkouts"),
    titles: "checkout:"
  },
  {
    name: "checkout-covered-and-payable",
    bug: "the Lightning invoice of a checkout that was paid on-chain can still be paid",
    file: feature("checkouts/core/CheckoutFollow"),
    in: "make",
    find: `isNewlyCovered && (yield* closeCovered(checkout))`,
    replace: `isNewlyCovered && checkout.amount === null`,
    test: featureTest("checkouts/core/CheckoutInvoices"),
    titles: "checkout invoices:"
  },
  {
    name: "cancellation-without-job",
    bug: "an invoice that was canceled while the node was away stays payable for up to an hour",
    file: core("receiving/Invoice"),
    in: "canceled",
    find: `invoice.hold === null ? [cancels(invoice.id, atMillis)] : []`,
    replace: `invoice.hold === "node" ? [cancels(invoice.id, atMillis)] : []`,
    test: featureTest("checkouts/core/CheckoutInvoices"),
    titles: "checkout invoices:"
  },
  {
    name: "checkout-paid-by-less",
    bug: "a partial payment completes a checkout",
    file: feature("checkouts/core/Checkout"),
    in: "standing",
    find: `  if (status === "paid" || kept >= enough) return "paid"`,
    replace: `  if (status === "paid" || (kept > 0n && kept * 2n >= enough)) return "paid"`,
    test: "packages/features/test/checkouts/http/checkouts.test.ts",
    titles: "checkout:"
  },
  {
    name: "checkout-paid-by-refunded",
    bug: "a refunded payment and the rest pay a checkout that was canceled",
    file: feature("checkouts/core/Checkout"),
    in: "standing",
    find: `  const kept = hasEnded ? received - refunded : received`,
    replace: `  const kept = received`,
    test: "packages/features/test/refunds/core/Refunds.test.ts",
    titles: "refund:"
  },
  {
    name: "page-streams-without-end",
    bug: "a checkout page can open any number of streams",
    file: "packages/features/src/checkouts/http/CheckoutPage.ts",
    in: "states",
    find: "for (const other of open.take({ caller, of }, lost))",
    replace: "for (const other of open.take({ caller, of }, lost).slice(1))",
    test: "packages/features/test/checkouts/http/checkoutPage.test.ts",
    titles: "page stream: a checkout that exceeds its share"
  },
  {
    name: "page-in-any-frame",
    bug: "an origin with extra text becomes part of the page's policy",
    file: feature("checkouts/core/Checkouts"),
    in: "originIssue",
    find: "URL.parse(text)?.origin === text && !/[;,'*\\s]/.test(text)",
    replace: "URL.canParse(text)",
    test: "packages/features/test/checkouts/http/checkouts.test.ts",
    titles: "checkout: an error names the invalid field"
  },
  {
    name: "page-asks-for-a-pending-part-again",
    bug: "a page asks for the whole price while a part of it is pending",
    file: "packages/features/src/checkouts/core/Checkout.ts",
    in: "unsent",
    find: "rest(checkout, sent(checkout))",
    replace: "rest(checkout, checkout.received)",
    test: "packages/features/test/checkouts/http/checkoutPage.test.ts",
    titles: "page: the checkout page says whether a payment is unconfirmed"
  },
  {
    name: "page-asks-for-what-is-on-its-way",
    bug: "a page asks for payment again while enough money is pending",
    file: feature("checkouts/core/Checkout"),
    in: "isDue",
    find: " && !isCovered(checkout, checkout)",
    replace: "",
    test: "packages/features/test/checkouts/http/checkoutPage.test.ts",
    titles: "page: the checkout page says whether a payment is unconfirmed"
  },
  {
    name: "replaced-by-any-amount",
    bug: "a late payment counts as in time, because an earlier one of another amount is gone",
    file: core("receiving/EarlierProof"),
    in: "earlierProofs",
    find: "deposit.amount !== amount ||",
    replace: "",
    test: featureTest("checkouts/core/Checkouts"),
    titles: "checkout: a replacement of another amount after the deadline"
  }
]
