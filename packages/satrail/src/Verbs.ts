import * as Invoice from "@satrail/core/receiving/Invoice"
import * as Features from "./features/index.ts"
import type { Noun, Services } from "./Nouns.ts"
import { after, page } from "./Pages.ts"

/** Methods whose name differs from the core's. */
export const renamed = { companies: { create: "open" }, apiKeys: { create: "issue" } } as const satisfies {
  readonly [N in Noun]?: { readonly [verb: string]: keyof Services[N] }
}

/**
 * Methods that need services of the runtime, such as a scope. Effect programs call them through
 * `pay.runtime`.
 */
export const hidden = { withdrawals: ["handOver", "confirmed"] } as const satisfies {
  readonly [N in Noun]?: ReadonlyArray<keyof Services[N]>
}

/** Default members of the requests, for each argument of a method. */
export const defaults = {
  ...Features.defaults,
  apiKeys: { create: [{ expiresAtMillis: null }], list: [undefined, page] },
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

/** Methods whose `amount` is in msat in the core. A test of types fails if there is another. */
export const inMsat = { ...Features.inMsat, "fees.quote": true, "invoices.issue": true } as const

/** Methods of the core that take a company's record, for which a host passes its id. A type test fails if the core has another. */
export const ofCompany = {
  ...Features.ofCompany,
  "domains.verify": true,
  "fees.quote": true,
  "fees.terms": true,
  "lightningAddresses.create": true,
  "withdrawals.confirm": true,
  "withdrawals.estimate": true
} as const
