import * as Invoice from "@satrail/core/receiving/Invoice"
import * as Features from "./features/index.ts"
import type { Noun, Services } from "./Nouns.ts"
import { after, listed, page } from "./Pages.ts"

/** Methods whose public name differs from the core's. */
export const renamed = { companies: { create: "open" }, apiKeys: { create: "issue" } } as const satisfies {
  readonly [N in Noun]?: { readonly [verb: string]: keyof Services[N] }
}

/**
 * Methods that are not exposed because they need the runtime's services, such as a scope. Effect programs call
 * them through `pay.runtime`.
 */
export const hidden = { withdrawals: ["handOver", "confirmed"] } as const satisfies {
  readonly [N in Noun]?: ReadonlyArray<keyof Services[N]>
}

/** Default fields of requests, for each argument of a method. */
export const defaults = {
  ...Features.defaults,
  apiKeys: { create: [{ expiresAtMillis: null }], list: [undefined, after] },
  backlog: { deposits: [after], withdrawals: [after] },
  companies: { create: [{ plan: "free" }], list: [page] },
  invoices: {
    create: [
      { amount: null, minAmount: null, maxAmount: null, description: "", expirySeconds: Invoice.expirySeconds.default, metadata: {} }
    ],
    list: [undefined, page]
  },
  lightningAddresses: { create: [{ handle: null, domain: null, metadata: {} }], list: [undefined, page] },
  onChainAddresses: { create: [{ type: "taproot", metadata: {} }], list: [undefined, page] },
  operatorTokens: { list: [page] },
  suspense: { list: [after] },
  transactions: { list: [undefined, { limit: page.limit }] },
  withdrawals: { estimate: [{ asked: undefined }], confirm: [{ asked: undefined, metadata: {} }] }
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
    unfreeze: [undefined, "*"],
    verifyDomain: [undefined, undefined, "idempotencyKey"]
  },
  domains: { verify: [undefined, undefined, "idempotencyKey"] },
  fees: { quote: ["amount company way"] },
  invoices: {
    issue: [
      "amount apiKeyId callback checkoutId company description expirySeconds idempotencyKey lightningAddressId maxAmount memo metadata minAmount rate rateAt"
    ],
    create: ["amount apiKeyId checkoutId company description expirySeconds hold idempotencyKey maxAmount metadata minAmount"],
    list: [undefined, `${listed} from lightningAddressId metadataKey metadataValue paymentHash paymentRequest status until`]
  },
  lightningAddresses: {
    create: ["company domain handle idempotencyKey metadata"],
    change: [undefined, undefined, "maxSendable metadata minSendable successMessage"],
    list: [undefined, listed]
  },
  onChainAddresses: { create: ["checkoutId company idempotencyKey metadata type"], list: [undefined, listed] },
  operatorTokens: { issue: ["idempotencyKey name scopes"], list: [listed] },
  payRequests: {
    offer: ["domain host user"],
    invoice: ["domain host user", "amount caller comment nostr payerData"],
    verify: ["domain host user"]
  },
  prices: { price: ["amount"] },
  reconciliation: { stateOwnFunds: ["chain node"] },
  suspense: { list: [listed], assign: ["company id"] },
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
  "domains.verify": true,
  "fees.quote": true,
  "fees.terms": true,
  "lightningAddresses.create": true,
  "withdrawals.confirm": true,
  "withdrawals.estimate": true
} as const
