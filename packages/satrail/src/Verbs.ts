import { Scope } from "@satrail/core/accounts/ApiKey"
import { CompanyFees } from "@satrail/core/accounts/CompanyFees"
import { Scope as OperatorScope } from "@satrail/core/accounts/OperatorToken"
import { What } from "@satrail/core/accounts/Stops"
import { Freeze } from "@satrail/core/ledger/Freeze"
import { Rail, Standing as Status } from "@satrail/core/ledger/Rail"
import * as Transaction from "@satrail/core/reports/Transaction"
import { all as features } from "@satrail/service/features/core"
import { Record, Schema } from "effect"
import * as Bookings from "@satrail/core/reports/Bookings"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as Purpose from "@satrail/core/receiving/Purpose"
import {
  type Parameter,
  addressType,
  allowedFrom,
  amount,
  anyAmount,
  apiKey,
  by,
  company,
  fields,
  flag,
  id,
  idempotencyKey,
  ids,
  instant,
  labels,
  limits,
  listed,
  listOf,
  maybe,
  metadata,
  named,
  number,
  operator,
  orNull,
  paged,
  period,
  plan,
  request,
  restrictions,
  sats,
  text,
  texts
} from "./Fields.ts"
import * as Features from "./features/index.ts"
import type { Noun, Services } from "./Nouns.ts"
import { after, page } from "./Pages.ts"

/** Methods whose public name differs from the core's. */
export const renamed = { companies: { create: "open" }, apiKeys: { create: "issue" } } as const satisfies {
  readonly [N in Noun]?: { readonly [verb: string]: keyof Services[N] }
}

/** The core's name of a method. */
export type CoreName<N, K> = N extends keyof typeof renamed
  ? K extends keyof (typeof renamed)[N]
    ? (typeof renamed)[N][K]
    : K
  : K

/**
 * Methods that are not exposed because they need the runtime's services, such as a scope, take a record of the
 * core, or have their counterpart in Shared.ts. Effect programs call them through `pay.runtime`.
 */
export const hidden = {
  ...Features.hidden,
  apiKeys: ["issueOwn", "updateLimits"],
  companies: ["changePlan", "overview", "updateFees", "updateLimits"],
  bookings: ["linesOfAll", "page"],
  domains: ["verify"],
  invoices: ["issue"],
  lightningAddresses: ["change", "remove", "updateSettings"],
  transactions: ["callback"],
  withdrawals: ["handOver", "confirmed"]
} as const satisfies {
  readonly [N in Noun]?: ReadonlyArray<keyof Services[N]>
}

/** Default fields of requests, for each argument of a method. */
export const defaults = {
  ...Features.defaults,
  apiKeys: {
    create: [{ expiresAtMillis: null }],
    list: [undefined, after],
    revoke: [undefined, undefined, {}]
  },
  backlog: { deposits: [after], withdrawals: [after] },
  bookings: { lines: [undefined, after] },
  domains: { claim: [{}] },
  companies: {
    create: [{ plan: "free" }],
    issueKey: [undefined, { expiresAtMillis: null }],
    list: [page],
    update: [undefined, {}]
  },
  invoices: {
    create: [
      {
        asked: null,
        minAmount: null,
        maxAmount: null,
        description: "",
        expirySeconds: Invoice.expirySeconds.default,
        metadata: {}
      }
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
  withdrawals: {
    estimate: [{ asked: undefined }],
    confirm: [{ asked: undefined, maxFee: undefined, metadata: {} }]
  }
} as const satisfies { readonly [N in Noun]?: { readonly [verb: string]: ReadonlyArray<object | undefined> } }

const overlapSeconds = named("overlapSeconds", number)
const place = fields({ domain: Schema.NullOr(text), host: text, user: text })
/** The ids of features' records that an invoice or address is created for. */
const purpose = Record.map(Purpose.members, () => text)
const payable = { paymentHash: text, paymentRequest: text }
const payment = { ...restrictions({ apiKey, maxFee: sats }), ...maybe({ amount, otherwise: sats }) }
const keyAsk = { idempotencyKey, ...restrictions({ allowedFrom, expiresAt: instant, limits }) }
const scopes = Schema.Array(Scope)
const older = [fields({ olderThanMillis: number, ...paged })] as const
const what = [named("what", What)] as const

/** The parameters of each method. A type test fails if one differs from the method's type. */
export const parameters = {
  ...Features.parameters,
  apiKeys: {
    list: [company, listed],
    create: [fields({ company, name: text, scopes, ...keyAsk, ...maybe({ by: operator }) })],
    get: ids,
    limit: [id, Schema.NullOr(limits), by],
    allowFrom: [id, Schema.NullOr(allowedFrom), by],
    revoke: [...ids, Schema.optional(fields(maybe({ links: Schema.Literal("void") })))],
    approve: [id, operator],
    rotate: [id, overlapSeconds, request, by],
    check: [named("text", text)],
    standing: [id]
  },
  backlog: {
    all: [],
    withdrawals: older,
    deposits: older,
    withdrawal: [id],
    deposit: [id]
  },
  bookings: { lines: [company, listOf(period)] },
  companies: {
    get: [company],
    list: [listOf({ plan, search: text, status: Schema.Literal("frozen") })],
    create: [fields({ name: text, idempotencyKey, ...maybe({ plan }) })],
    charge: [company, Schema.NullOr(CompanyFees)],
    limit: [company, Schema.NullOr(limits), by],
    freeze: [company, fields({ pending: Freeze.fields.pending, reason: text }), by],
    unfreeze: [company],
    spent: [company],
    verifyDomain: [company, named("domain", text), request],
    update: [company, Schema.optional(fields(maybe({ plan })))],
    issueKey: [company, fields({ name: text, scopes, ...keyAsk })]
  },
  domains: {
    list: [company],
    isServed: [named("domain", text)],
    check: [],
    claim: [fields({ company, domain: text, idempotencyKey })]
  },
  fees: {
    terms: [company],
    quote: [fields({ amount: sats, company, way: Schema.Literals(["internal", ...Rail.literals]) })]
  },
  invoices: {
    create: [
      fields({
        company,
        amount: anyAmount,
        idempotencyKey,
        ...maybe({ ...purpose, description: text, expirySeconds: number, hold: flag }),
        ...maybe({ maxAmount: sats, metadata, minAmount: sats, paymentHash: text })
      })
    ],
    get: ids,
    cancel: ids,
    settle: [...ids, Schema.optional(fields(maybe({ preimage: text })))],
    list: [
      company,
      listOf({ ...period, ...labels, lightningAddressId: text, ...payable, status: Invoice.Standing })
    ]
  },
  lightningAddresses: {
    get: ids,
    list: [company, listOf(period)],
    create: [fields({ company, idempotencyKey, ...maybe({ domain: text, handle: text, metadata }) })],
    update: [
      ...ids,
      Schema.optional(fields(maybe({ maxAmount: sats, metadata, minAmount: sats, successMessage: text })))
    ],
    delete: ids,
    qr: ids
  },
  liquidity: { now: [] },
  onChainAddresses: {
    get: ids,
    list: [company, listOf(period)],
    create: [fields({ company, idempotencyKey, ...maybe({ addressType, ...purpose, metadata }) })]
  },
  operatorTokens: {
    issue: [fields({ idempotencyKey, name: text, scopes: Schema.Array(OperatorScope) })],
    list: [listed],
    revoke: [id],
    standing: [id],
    check: [named("text", text)]
  },
  lostWithdrawals: {
    settle: [id, fields({ networkFee: sats, preimage: text })],
    release: [id, named("spentBy", Schema.optional(text)), by],
    book: [named("txId", text), named("ids", texts)]
  },
  payRequests: {
    offer: [place],
    invoice: [
      place,
      fields({ caller: text, ...orNull({ amount: text, comment: text, nostr: text, payerData: text }) })
    ],
    verify: [place, named("paymentHash", text)]
  },
  prices: { price: [fields({ amount })], current: [] },
  rates: { list: [named("company", Schema.optional(company))] },
  reconciliation: { last: [], waiting: [], stateOwnFunds: [fields(orNull({ chain: sats, node: sats }))] },
  status: { now: [] },
  stops: { standing: [], check: what, waits: [company], pause: what, resume: what },
  suspense: {
    list: [listOf({ status: Schema.Literals(["open", "assigned"]) })],
    assign: [fields({ by: operator, company, id: text })]
  },
  transactions: {
    adjustment: ids,
    balance: [company],
    deposit: ids,
    withdrawal: ids,
    payer: ids,
    list: [
      company,
      listOf({
        ...period,
        ...labels,
        ...payable,
        chainTxId: text,
        lightningInvoiceId: text,
        rail: Rail,
        status: Status,
        type: Schema.Literals(Transaction.types(features))
      })
    ]
  },
  withdrawals: {
    estimate: [fields({ company, destination: text, ...payment })],
    confirm: [fields({ company, destination: text, idempotencyKey, ...payment, ...maybe({ metadata }) })],
    get: ids
  }
} as const satisfies { readonly [N in Noun]: { readonly [verb: string]: ReadonlyArray<Parameter> } }

/** Lists whose cursors contain something other than a record's id. */
export const cursorIds = { "bookings.lines": Bookings.isPlace } as const

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
