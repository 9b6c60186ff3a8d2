import * as Invoice from "@satrail/core/receiving/Invoice"
import * as Features from "./features/index.ts"
import type { Noun, Services } from "./Nouns.ts"
import { after, listed, page } from "./Pages.ts"

/** Methods whose public name differs from the core's. */
export const renamed = { companies: { create: "open" }, apiKeys: { create: "issue" } } as const satisfies {
  readonly [N in Noun]?: { readonly [verb: string]: keyof Services[N] }
}

/** The core's name of a method. */
export type CoreName<N, K> = N extends keyof typeof renamed ? (K extends keyof (typeof renamed)[N] ? (typeof renamed)[N][K] : K) : K

/**
 * Methods that are not exposed because they need the runtime's services, such as a scope, or because a method in
 * Shared.ts takes their place. Effect programs call them through `pay.runtime`.
 */
export const hidden = {
  ...Features.hidden,
  companies: ["changePlan", "overview"],
  domains: ["verify"],
  lightningAddresses: ["change", "remove"],
  transactions: ["callback"],
  withdrawals: ["handOver", "confirmed"]
} as const satisfies {
  readonly [N in Noun]?: ReadonlyArray<keyof Services[N]>
}

/** Default fields of requests, for each argument of a method. */
export const defaults = {
  ...Features.defaults,
  apiKeys: { create: [{ expiresAtMillis: null }], list: [undefined, after] },
  backlog: { deposits: [after], withdrawals: [after] },
  domains: { claim: [{}] },
  companies: { create: [{ plan: "free" }], issueKey: [undefined, { expiresAtMillis: null }], list: [page], update: [undefined, {}] },
  invoices: {
    create: [
      { asked: null, minAmount: null, maxAmount: null, description: "", expirySeconds: Invoice.expirySeconds.default, metadata: {} }
    ],
    list: [undefined, page],
    settle: [undefined, undefined, { preimage: null }]
  },
  lightningAddresses: {
    create: [{ handle: null, domain: null, metadata: {} }],
    list: [undefined, page],
    update: [undefined, undefined, {}]
  },
  onChainAddresses: { create: [{ addressType: "taproot", metadata: {} }], list: [undefined, page] },
  operatorTokens: { list: [page] },
  suspense: { list: [after] },
  transactions: { list: [undefined, { limit: page.limit }] },
  withdrawals: { estimate: [{ asked: undefined }], confirm: [{ asked: undefined, maxFee: undefined, metadata: {} }] }
} as const satisfies { readonly [N in Noun]?: { readonly [verb: string]: ReadonlyArray<object | undefined> } }

const limits = "approvalAbove day dayCount hour month perWithdrawal recipientTypes recipients"
const payment = "amount apiKey company destination maxFee otherwise"

/**
 * The options of each method, by argument. `*` stands for a record, which may have other fields. A type test
 * fails if the core has another option.
 */
export const options = {
  ...Features.options,
  apiKeys: {
    approve: [undefined, "*"],
    issueOwn: ["allowedFrom by expiresAt idempotencyKey name scopes"],
    limit: [undefined, limits, "*"],
    allowFrom: [undefined, "for ranges", "*"],
    rotate: [undefined, undefined, "idempotencyKey", "*"],
    list: [undefined, listed],
    create: ["allowedFrom by company expiresAt idempotencyKey limits name scopes"]
  },
  backlog: { deposits: [`${listed} olderThanMillis`], withdrawals: [`${listed} olderThanMillis`] },
  bookings: { lines: [undefined, "from until"], linesOfAll: ["from until"] },
  companies: {
    create: ["idempotencyKey name plan"],
    list: [`${listed} plan search status`],
    limit: [undefined, limits, "*"],
    charge: [undefined, "internal lightning onChain"],
    freeze: [undefined, "pending reason", "*"],
    issueKey: [undefined, "allowedFrom expiresAt idempotencyKey limits name scopes"],
    update: [undefined, "plan"],
    verifyDomain: [undefined, undefined, "idempotencyKey"]
  },
  domains: { claim: ["company domain idempotencyKey"] },
  fees: { quote: ["amount company way"] },
  invoices: {
    issue: [
      "amount apiKeyId callback checkoutId company description expirySeconds idempotencyKey lightningAddressId maxAmount memo metadata minAmount rate rateAt"
    ],
    create: ["amount checkoutId company description expirySeconds hold idempotencyKey maxAmount metadata minAmount paymentHash"],
    settle: [undefined, undefined, "preimage"],
    list: [undefined, `${listed} from lightningAddressId metadataKey metadataValue paymentHash paymentRequest status until`]
  },
  lightningAddresses: {
    create: ["company domain handle idempotencyKey metadata"],
    update: [undefined, undefined, "maxAmount metadata minAmount successMessage"],
    list: [undefined, listed]
  },
  onChainAddresses: { create: ["addressType checkoutId company idempotencyKey metadata"], list: [undefined, listed] },
  operatorTokens: { issue: ["idempotencyKey name scopes"], list: [listed] },
  payRequests: {
    offer: ["domain host user"],
    invoice: ["domain host user", "amount caller comment nostr payerData"],
    verify: ["domain host user"]
  },
  prices: { price: ["amount"] },
  reconciliation: { stateOwnFunds: ["chain node"] },
  suspense: { list: [`${listed} status`], assign: ["company id"] },
  transactions: {
    list: [
      undefined,
      `${listed} chainTxId from lightningInvoiceId metadataKey metadataValue paymentHash paymentRequest rail status type until`
    ]
  },
  withdrawals: { estimate: [payment], confirm: [`${payment} idempotencyKey metadata`] }
} as const satisfies { readonly [N in Noun]?: { readonly [verb: string]: ReadonlyArray<string | undefined> } }

/** Methods whose `amount` is in msat in the core. A type test fails if there is another such method. */
export const inMsat = { ...Features.inMsat, "fees.quote": true, "invoices.issue": true } as const

/**
 * Core methods that take a company's record. The host program passes the company's id instead. A type test
 * fails if the core has another such method.
 */
export const ofCompany = {
  ...Features.ofCompany,
  "domains.claim": true,
  "fees.quote": true,
  "fees.terms": true,
  "lightningAddresses.create": true,
  "withdrawals.confirm": true,
  "withdrawals.estimate": true
} as const
