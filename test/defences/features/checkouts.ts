import { type Canary, core, coreTest } from "../Canary.ts"

export const checkouts: ReadonlyArray<Canary> = [
  {
    name: "rest-rounded-down",
    rows: [],
    bug: "who pays the rest of a checkout has not paid it",
    file: core("features/checkouts/Checkout"),
    find: "((missing + 999n) / 1000n)",
    replace: "(missing / 1000n)",
    test: coreTest("Checkouts"),
    titles: "checkout: the rest is rounded up"
  },
  {
    name: "expired-and-canceled",
    rows: [],
    bug: "an expired checkout can be canceled",
    file: core("features/checkouts/CheckoutCancel"),
    find: 'status !== "open" && status !== "underpaid"',
    replace: 'status !== "open" && status !== "underpaid" && status !== "expired"',
    test: coreTest("Checkouts"),
    titles: "checkout: an expired one cannot be canceled"
  },
  {
    name: "checkout-unfollowed",
    rows: [],
    bug: "what pays a checkout is credited, and nobody looks at the checkout",
    file: core("features/checkouts/CheckoutJobs"),
    find: `checkoutId === null ? [] :`,
    replace: `checkoutId === null || atMillis > 0 ? [] :`,
    test: "packages/http/test/checkouts.test.ts",
    titles: "checkout:",
    isInStories: true
  },
  {
    name: "checkout-rest-of-nobody",
    rows: [],
    bug: "the invoice of a checkout's rest does not say whose it is: what is paid to it is not counted",
    file: core("features/checkouts/CheckoutSteps"),
    find: `      checkoutId: checkout.id`,
    replace: `      checkoutId: null`,
    test: coreTest("Checkouts"),
    titles: "checkout:"
  },
  {
    name: "checkout-half-canceled",
    rows: [],
    bug: "a crash between the cancellation of a checkout's invoice and its own leaves it open with an invoice that nobody can pay",
    file: core("receiving/Invoices"),
    find: `next === undefined ? [] : [next(nowMillis)]`,
    replace: `[]`,
    test: coreTest("Checkouts"),
    titles: "checkout:"
  },
  {
    name: "checkout-paid-by-less",
    rows: [],
    bug: "a part pays a checkout",
    file: core("features/checkouts/Checkout"),
    find: `  if (status === "paid" || received >= enough) return "paid"`,
    replace: `  if (status === "paid" || (received > 0n && received * 2n >= enough)) return "paid"`,
    test: "packages/http/test/checkouts.test.ts",
    titles: "checkout:"
  },
  {
    name: "page-streams-without-end",
    rows: [],
    bug: "whoever has a checkout's link may have as many streams of it as he likes",
    file: "packages/http/src/features/checkouts/CheckoutPage.ts",
    find: "for (const other of open.take({ caller, of }, lost))",
    replace: "for (const other of open.take({ caller, of }, lost).slice(1))",
    test: "packages/http/test/checkoutPage.test.ts",
    titles: "page stream: beyond a checkout's share"
  },
  {
    name: "page-in-any-frame",
    rows: [],
    bug: "an origin that is written with more than an origin becomes part of the page's policy",
    file: core("features/checkouts/Checkouts"),
    find: "URL.parse(text)?.origin === text && !/[;,'*\\s]/.test(text)",
    replace: "URL.canParse(text)",
    test: "packages/http/test/checkouts.test.ts",
    titles: "checkout: says which member"
  },
  {
    name: "page-asks-for-what-is-on-its-way",
    rows: [],
    bug: "a page asks to be paid again while enough is on its way",
    file: "packages/http/src/features/checkouts/CheckoutState.ts",
    find: "!isAsking || Checkout.isSeen(checkout)",
    replace: "!isAsking",
    test: "packages/http/test/checkoutPage.test.ts",
    titles: "page: seen, underpaid, paid"
  }
]
