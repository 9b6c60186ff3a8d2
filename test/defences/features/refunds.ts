import { type Canary, core, coreTest } from "../Canary.ts"

export const refunds: ReadonlyArray<Canary> = [
  {
    name: "refunded-of-what-was",
    rows: [],
    bug: "a refund takes its part of a deposit whatever other refunds took meanwhile",
    file: core("features/refunds/Refund"),
    find: `    expects: ["refunded"],
`,
    replace: "",
    test: coreTest("Refunds"),
    titles: "of 64 at once"
  },
  {
    name: "refund-kept-its-room",
    rows: [],
    bug: "a refund that ends unpaid gives the deposit nothing back",
    file: core("features/refunds/Refund"),
    find: "refundedMore(companyId, depositId, -amount)",
    replace: "refundedMore(companyId, depositId, -amount + amount)",
    test: coreTest("Refunds"),
    titles: "may be refunded again"
  },
  {
    name: "refund-shown-when-it-ended",
    rows: [],
    bug: "the page of a checkout shows the link of a refund that has ended",
    file: core("features/refunds/Refund"),
    find: `  return status === "open" && atMillis < expiresAtMillis ? { refund, expiresAtMillis } : undefined`,
    replace: "  return { refund, expiresAtMillis }",
    test: coreTest("Refunds"),
    titles: "the page of its checkout"
  },
  {
    name: "refund-shown-though-told-apart",
    rows: [],
    bug: "the page of a checkout shows the link of a refund that its company tells the payer itself",
    file: "packages/http/src/features/refunds/Refunds.ts",
    find: "on_checkout === false ? undefined : {",
    replace: "{",
    test: "packages/http/test/checkoutPage.test.ts",
    titles: "its company tells the payer itself"
  },
  {
    name: "frozen-company-refunds",
    rows: [],
    bug: "a company that is frozen refunds",
    file: core("features/refunds/Refund"),
    find: `    unlessFrozen: true,
`,
    replace: "",
    test: coreTest("Stops"),
    titles: "freeze:"
  }
]
