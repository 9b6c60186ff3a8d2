// Made by `npm run docs` from the OpenAPI documents and Routes.ts. Don't edit.
import type { CallOptions, CompanyRef, CreateOptions, List } from "./Calls.ts"
import type { Amount, EventOf, Metadata, Money, Sats } from "./Plain.ts"
import type { Read, Written } from "./Schemas.ts"

/** The codes of the service's errors. */
export type ErrorCode = "malformed" | "idempotency_not_supported" | "unauthorized" | "scope_required" | "address_not_allowed" | "step_up_required" | "plan_required" | "company_frozen" | "another_operator_required" | "requester_gone" | "second_operator_required" | "not_found" | "method_not_allowed" | "request_timeout" | "conflict" | "answer_not_readable" | "handle_taken" | "domain_taken" | "invoice_not_open" | "already_assigned" | "withdrawal_not_lost" | "invoice_not_held" | "too_many_held" | "too_many_api_keys" | "cursor_too_old" | "body_too_large" | "unsupported_media_type" | "expectation_failed" | "insufficient_balance" | "limit_exceeded" | "fee_changed" | "idempotency_mismatch" | "domain_not_verified" | "domain_not_shown" | "wrong_network" | "unsupported" | "amount_mismatch" | "amount_required" | "amount_out_of_range" | "dust" | "invoice_expired" | "invoice_not_payable" | "payment_hash_used" | "recipient_not_found" | "final_cltv_too_long" | "recipient_refused" | "sandbox_refused" | "rate_limited" | "headers_too_large" | "internal" | "store_unavailable" | "overloaded" | "paused" | "node_unavailable" | "chain_unavailable" | "names_unavailable" | "rate_unavailable" | "recipient_unreachable" | "timeout" | "stopping" | "not_ready" | "approval_over" | "approval_by_asker" | "approval_fee_risen" | "checkout_not_open" | "voucher_not_open" | "refund_not_open" | "not_refundable" | "refund_too_large" | "return_too_large" | "too_many_endpoints" | "webhook_endpoint_disabled" | "adjustment_decided" | "person_required" | "own_access" | "person_changed" | "too_many_people"
export interface Account {
  readonly id: string
  readonly name: string
  readonly plan: "free" | "paid"
  readonly network: "mainnet" | "testnet" | "signet" | "regtest"
  /** Whether the operator has frozen this company. A frozen company cannot send */
  readonly frozen: boolean
  /** Fees for sending. On-chain payments also cost the current miner fee; see an estimate */
  readonly fees: Fees
  readonly limits: Limits | null
  readonly remaining: LimitsRemaining | null
  /** API key that made this request */
  readonly apiKey: { readonly id: string; readonly limits: Limits | null; readonly remaining: LimitsRemaining | null }
}
/** Fees for sending. On-chain payments also cost the current miner fee; see an estimate */
export interface Fees {
  readonly lightning: FeeRate
  readonly onChain: FeeRate
  /** Payments to a company of this service */
  readonly internal: FeeRate_1
  /** Maximum routing fee of a Lightning payment, held on top of the amount */
  readonly routingAllowance: FeeRate_2
}
export interface FeeRate {
  /** Fixed fee per payment, in satoshis with up to three decimals */
  readonly base: Money
  /** Fee proportional to the amount, rounded up to a millisatoshi */
  readonly partsPerMillion: number
}
/** Payments to a company of this service */
export interface FeeRate_1 {
  /** Fixed fee per payment, in satoshis with up to three decimals */
  readonly base: Money
  /** Fee proportional to the amount, rounded up to a millisatoshi */
  readonly partsPerMillion: number
}
/** Maximum routing fee of a Lightning payment, held on top of the amount */
export interface FeeRate_2 {
  /** Fixed fee per payment, in satoshis with up to three decimals */
  readonly base: Money
  /** Fee proportional to the amount, rounded up to a millisatoshi */
  readonly partsPerMillion: number
}
export interface Limits {
  readonly perWithdrawal: Money | null
  readonly hour: Money | null
  readonly day: Money | null
  readonly month: Money | null
  readonly dayCount: number | null
  readonly approvalAbove: Money | null
  readonly recipientTypes: ReadonlyArray<"lightning_address" | "lightning_invoice" | "chain_address" | "lnurl" | "bolt12_offer" | "account"> | null
  readonly recipients: ReadonlyArray<string> | null
}
export interface LimitsRemaining {
  readonly hour: Money | null
  readonly day: Money | null
  readonly month: Money | null
  readonly dayCount: number | null
}
export interface CreateApiKey {
  /** 1 to 200 characters, not all of them blank */
  readonly name: string
  readonly scopes: ReadonlyArray<"read" | "receive" | "webhooks">
  /** RFC 3339 timestamp with a time zone */
  readonly expiresAt?: Date | null | undefined
  /** IP addresses from which the key can be used. If the service is behind reverse proxies, this requires `SATRAIL_PROXIES` */
  readonly allowedFrom?: GivenAllowedFrom | null | undefined
}
/** IP addresses from which the key can be used. If the service is behind reverse proxies, this requires `SATRAIL_PROXIES` */
export interface GivenAllowedFrom {
  /** `sending`: only sending and approving are restricted to these addresses. From other addresses the key keeps its other scopes */
  readonly for: "sending" | "everything"
  /** IPv4 and IPv6 addresses and ranges (CIDR), at most 50. An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) counts as its IPv4 address, and IPv6 ranges match no IPv4 addresses */
  readonly ranges: ReadonlyArray<string>
}
export interface IssuedApiKey {
  /** Public part of the key, to identify it */
  readonly id: string
  /** The API key itself. Only this response contains it */
  readonly key: string
  readonly companyId: string
  readonly name: string
  readonly scopes: ReadonlyArray<"read" | "receive" | "send" | "approve" | "webhooks" | "admin">
  readonly expiresAt: Date | null
  readonly limits: Limits | null
  /** IP addresses from which the key can be used. If the service is behind reverse proxies, this requires `SATRAIL_PROXIES` */
  readonly allowedFrom: AllowedFrom | null
  /** `pending`: the key cannot be used until a second operator approves it. `approved`: a second operator approved it. null: no approval needed */
  readonly approval: KeyApproval
  readonly createdAt: Date
}
/** IP addresses from which the key can be used. If the service is behind reverse proxies, this requires `SATRAIL_PROXIES` */
export interface AllowedFrom {
  /** `sending`: only sending and approving are restricted to these addresses. From other addresses the key keeps its other scopes */
  readonly for: "sending" | "everything"
  /** IPv4 and IPv6 addresses and ranges (CIDR), at most 50. An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) counts as its IPv4 address, and IPv6 ranges match no IPv4 addresses */
  readonly ranges: ReadonlyArray<string>
}
/** `pending`: the key cannot be used until a second operator approves it. `approved`: a second operator approved it. null: no approval needed */
export type KeyApproval = "pending" | "approved" | null
export interface LimitedApiKey {
  /** Public part of the key, to identify it */
  readonly id: string
  readonly companyId: string
  readonly name: string
  readonly scopes: ReadonlyArray<"read" | "receive" | "send" | "approve" | "webhooks" | "admin">
  readonly limits: Limits | null
  /** IP addresses from which the key can be used. If the service is behind reverse proxies, this requires `SATRAIL_PROXIES` */
  readonly allowedFrom: AllowedFrom | null
  /** `pending`: the key cannot be used until a second operator approves it. `approved`: a second operator approved it. null: no approval needed */
  readonly approval: KeyApproval
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
  /** Time of the last use, accurate to a minute; null if never used */
  readonly lastUsedAt: Date | null
  readonly remaining: LimitsRemaining | null
}
/** The fields that select a page of a list. */
export interface PageQuery {
  /** Maximum rows per page, 1 to 1000. Default: 100. Pages of large records are shorter */
  readonly limit?: number | undefined
  /** Start of the page, from a `Link` header */
  readonly cursor?: string | undefined
}
/** API key without its secret, which is not stored */
export interface ApiKey {
  /** Public part of the key, to identify it */
  readonly id: string
  readonly companyId: string
  readonly name: string
  readonly scopes: ReadonlyArray<"read" | "receive" | "send" | "approve" | "webhooks" | "admin">
  readonly limits: Limits | null
  /** IP addresses from which the key can be used. If the service is behind reverse proxies, this requires `SATRAIL_PROXIES` */
  readonly allowedFrom: AllowedFrom | null
  /** `pending`: the key cannot be used until a second operator approves it. `approved`: a second operator approved it. null: no approval needed */
  readonly approval: KeyApproval
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
  /** Time of the last use, accurate to a minute; null if never used */
  readonly lastUsedAt: Date | null
}
export interface ApiKeysRevokeQuery {
  /** `void` also cancels the open vouchers and refund links that the key or person created, and releases their funds */
  readonly links?: "void" | undefined
}
export interface AuditListQuery extends PageQuery {
  /** Selects entries by this key, token or person */
  readonly actorId?: string | undefined
  /** Selects entries of this operation */
  readonly verb?: string | undefined
  /** Selects entries about this record */
  readonly subject?: string | undefined
  /** Selects entries with this outcome: `done` or an error code */
  readonly outcome?: string | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly from?: Date | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly until?: Date | undefined
}
export interface AuditEntry {
  readonly id: string
  readonly companyId: string
  /** `unknown` if the entry cannot be read because something other than the service wrote or changed it */
  readonly actor: "key" | "person" | "operator" | "service" | "unknown"
  /** Id of the key, token or person; `root` for the configured token */
  readonly actorId: string
  readonly actorName: string
  /** Operation, by its `operationId` */
  readonly verb: string
  /** Record that the operation changed; null if the request was rejected */
  readonly subject: string | null
  /** `done`, or the error code. If `unreadable`, run `satrail verify` */
  readonly outcome: string
  /** Number of occurrences. Identical rejected requests within a minute are counted in one entry, written a minute after the first */
  readonly count: number
  /** IP address of the caller (first half for IPv6). Empty if unknown or the operator's */
  readonly ipAddress: string
  readonly requestId: string
  /** Changed values of keys, tokens, companies, webhook endpoints and apps. A secret is shown as the SHA-256 of its stored form */
  readonly changes: ReadonlyArray<{ readonly record: string; readonly id: string; readonly field: string; readonly before: string | null; readonly after: string | null }>
  /** Position in the company's hash chain; null until the entry is chained */
  readonly seq: number | null
  /** Hash of the company's audit log up to this entry */
  readonly hash: string | null
  readonly createdAt: Date
}
export interface CreateCheckout<M = Metadata> {
  /** null if the payer decides */
  readonly amount?: Amount | null | undefined
  /** Text shown to the payer, at most 639 bytes of UTF-8 */
  readonly description?: string | null | undefined
  /** Your order id, shown to the payer */
  readonly orderId?: string | null | undefined
  /** Lifetime in seconds. Default: 3600 */
  readonly expirySeconds?: number | null | undefined
  /** Accepted underpayment, in percent of the amount. Default: 0 */
  readonly tolerancePercent?: number | null | undefined
  /** URL to link to after payment. Must use https, or http on localhost */
  readonly returnUrl?: string | null | undefined
  /** URL to link to if the payer cancels. Default: once the checkout has ended unpaid, the origin of `return_url`. Must use https, or http on localhost */
  readonly cancelUrl?: string | null | undefined
  /** Origin allowed to embed the checkout with `/pay/embed.js` and to receive its `paid` message. Default: none */
  readonly embedOrigin?: string | null | undefined
  /** Button color, as `#rrggbb`. Text is black or white, whichever contrasts more */
  readonly color?: string | null | undefined
  /** Email address or https URL where payers can reach you, shown when they may need help */
  readonly contact?: string | null | undefined
  /** Lets the payer get a `new_quote` after expiry, add a `tip`, or leave an `email` address for a receipt, which you send. Default: none */
  readonly options?: ReadonlyArray<"new_quote" | "tip" | "email"> | null | undefined
  /** Language of the page, as a language tag or a POSIX locale: `pt-BR`, `de_DE.UTF-8`. The region is ignored. `auto`, or a language in which the page is not available: the language of the payer's browser, or else English. Default: `auto` */
  readonly locale?: string | null | undefined
  /** Other accounts that get a share of what is received, at most 10. You keep the rest */
  readonly splits?: ReadonlyArray<GivenSplit> | null | undefined
  /** Your own data, returned with the record: at most 50 keys of up to 40 characters, values of up to 500 */
  readonly metadata?: M | null | undefined
}
export interface GivenSplit {
  readonly companyId: string
  readonly share: string
}
export interface Checkout<M = Metadata> {
  readonly id: string
  readonly companyId: string
  /** URL of the payment page. Anyone with this URL can see the amount and the description */
  readonly url: string
  /** Reference on the payment page and the receipt, which payers quote. `GET /v1/search` finds it */
  readonly reference: string
  /** `open`: can be paid. `underpaid`: part was credited, and the rest can be paid. `paid`: enough was credited; final. `expired`: not paid in time. `canceled`: canceled by you. Payments that arrive after `expired` or `canceled` are credited. The status becomes `paid` with `late: true` if enough is credited and not refunded */
  readonly status: "open" | "underpaid" | "paid" | "expired" | "canceled"
  /** Whether the payment arrived after the checkout expired, or was credited after you canceled it. An on-chain payment arrives when it is first seen */
  readonly late: boolean
  /** Requested amount; null if the payer decides */
  readonly amount: Money | null
  /** Amount in fiat, as requested; null if requested in bitcoin */
  readonly fiatAmount: string | null
  readonly fiatCurrency: string | null
  /** Exchange rate in fiat per bitcoin, fixed when the checkout is created */
  readonly rate: string | null
  readonly tolerancePercent: number
  /** Credited amount, including refunded payments, in whole satoshis, rounded down */
  readonly received: Money
  /** Unconfirmed on-chain amount, in whole satoshis. `payment_request` does not ask for it */
  readonly pending: Money
  readonly description: string
  readonly orderId: string | null
  readonly metadata: M
  readonly returnUrl: string | null
  readonly cancelUrl: string | null
  readonly embedOrigin: string | null
  readonly color: string | null
  /** Language of the page; `auto` if the payer's browser decides */
  readonly locale: "en" | "de" | "es" | "fr" | "pt" | "ar" | "auto"
  readonly contact: string | null
  readonly options: ReadonlyArray<"new_quote" | "tip" | "email">
  /** Tip that the payer chose, in addition to `amount_sats` */
  readonly tip: Money | null
  /** Email address that the payer left */
  readonly payerEmail: string | null
  /** Deposits toward it, pending or credited, newest first, at most 10; null in events */
  readonly depositIds: ReadonlyArray<string> | null
  /** Lightning invoice for the amount neither credited nor pending. Canceled once payments cover the checkout */
  readonly invoiceId: string
  /** Lightning invoice (BOLT 11) */
  readonly paymentRequest: string
  /** On-chain address */
  readonly address: string
  /** URI for the page's QR code, with amount, address and invoice (BIP 321). If the amount due is too small on-chain, a `lightning:` URI. Null if nothing can be paid now, and in events. It contains no BOLT 12 offer, because an offer cannot be revoked when the checkout ends */
  readonly bip21: string | null
  readonly createdAt: Date
  readonly expiresAt: Date
  /** Time of payment; null until recorded as paid */
  readonly paidAt: Date | null
  readonly splits: ReadonlyArray<Split> | null
  /** Value in the given currency; null if the amount was in bitcoin */
  readonly fiat: FiatValue | null
}
export interface Split {
  readonly companyId: string
  readonly share: string
}
export interface FiatValue {
  /** Such as `eur`; null in older records, which did not store it */
  readonly currency: string | null
  /** The amount at `rate`, with the currency's decimals */
  readonly amount: string
  /** Price of one bitcoin */
  readonly rate: string
  /** Time of the rate */
  readonly rateAt: Date | null
  /** Sources of the rate; null if unknown */
  readonly source: string | null
}
export interface CheckoutsListQuery extends PageQuery {
  /** Exact `order_id`, such as that of a request whose response was lost */
  readonly orderId?: string | undefined
  readonly status?: "open" | "underpaid" | "paid" | "expired" | "canceled" | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly from?: Date | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly until?: Date | undefined
}
export interface OpenCompany {
  /** 1 to 200 characters, not all of them blank */
  readonly name: string
  readonly plan?: "free" | "paid" | undefined
}
export interface Company {
  readonly id: string
  readonly name: string
  readonly plan: "free" | "paid"
  readonly frozen: Frozen | null
  readonly createdAt: Date
}
export interface Frozen {
  /** Reason, which the company sees in its console */
  readonly reason: string
  /** How to handle confirmed withdrawals that have not started */
  readonly pending: "wait" | "go_on"
  readonly since: Date
}
export interface CompanyOverview {
  readonly id: string
  readonly name: string
  readonly plan: "free" | "paid"
  readonly frozen: Frozen | null
  readonly createdAt: Date
  /** Total balance, in satoshis with up to three decimals */
  readonly posted: Money
  /** Part of the balance held for pending withdrawals and open vouchers */
  readonly held: Money
  /** Part of the balance that can be withdrawn */
  readonly available: Money
  /** Number of active API keys. 1000 means 1000 or more */
  readonly apiKeys: number
  /** Last use of any of the company's keys, accurate to a minute; null if never used */
  readonly lastSeenAt: Date | null
}
export interface CompaniesListQuery extends PageQuery {
  /** Start of an id, or part of a name (case-insensitive) */
  readonly search?: string | undefined
  readonly plan?: "free" | "paid" | undefined
  readonly status?: "frozen" | undefined
}
export interface UpdateCompany {
  readonly plan?: "free" | "paid" | undefined
}
export interface Freeze {
  /** Reason, 1 to 500 characters. The company sees it in its console */
  readonly reason: string
  /** How to handle confirmed withdrawals that have not started */
  readonly pending: "wait" | "go_on"
}
export interface CompanyFreeze {
  readonly id: string
  readonly frozen: Frozen | null
}
export interface IssueApiKey {
  /** 1 to 200 characters, not all of them blank */
  readonly name: string
  readonly scopes: ReadonlyArray<"read" | "receive" | "send" | "approve" | "webhooks" | "admin">
  /** RFC 3339 timestamp with a time zone */
  readonly expiresAt?: Date | null | undefined
  readonly limits?: GivenLimits | null | undefined
  /** IP addresses from which the key can be used. If the service is behind reverse proxies, this requires `SATRAIL_PROXIES` */
  readonly allowedFrom?: GivenAllowedFrom | null | undefined
}
export interface GivenLimits {
  /** Maximum of one withdrawal or voucher, including fees */
  readonly perWithdrawal?: Sats | null | undefined
  /** Maximum within any hour, including fees */
  readonly hour?: Sats | null | undefined
  /** Maximum within any 24 hours, including fees */
  readonly day?: Sats | null | undefined
  /** Maximum within any 30 days, including fees */
  readonly month?: Sats | null | undefined
  /** Maximum number of withdrawals, vouchers and transfers within any 24 hours */
  readonly dayCount?: number | null | undefined
  /** Approval threshold. A withdrawal above it, including fees, needs approval by another key with the `approve` scope. A voucher or transfer above it is rejected */
  readonly approvalAbove?: Sats | null | undefined
  /** Allowed destination types. A voucher counts as a Lightning invoice, and a transfer as `account` */
  readonly recipientTypes?: ReadonlyArray<"lightning_address" | "lightning_invoice" | "chain_address" | "lnurl" | "bolt12_offer" | "account"> | null | undefined
  readonly recipients?: ReadonlyArray<string> | null | undefined
}
export interface ClaimDomain {
  readonly domain: string
}
export interface Domain {
  readonly domain: string
  /** `dns`: verified by the TXT record, which must stay in place. `operator`: confirmed by the operator */
  readonly shownBy: "operator" | "dns"
  readonly verifiedAt: Date
  readonly checkedAt: Date
  /** Time at which the TXT record was first found missing; null while it is present */
  readonly lostAt: Date | null
  readonly txtName: string
  readonly txtValue: string
}
export type Event<M = Metadata> = DepositEvent<Read<M, "deposit">> | WithdrawalEvent<Read<M, "withdrawal">> | InvoiceEvent<Read<M, "invoice">> | UnmatchedEvent | ApiKeyEvent | LightningAddressEvent<Read<M, "lightning_address">> | OnChainAddressEvent<Read<M, "on_chain_address">> | DomainEvent | CheckoutEvent<Read<M, "checkout">> | VoucherEvent<Read<M, "voucher">> | RefundEvent<Read<M, "refund">> | TransferEvent<Read<M, "transfer">> | SplitsEvent | OfferEvent<Read<M, "offer">> | WebhookEndpointEvent | AdjustmentEvent | AuditHeadEvent
export interface DepositEvent<M = Metadata> extends EventOf<"deposit.settled" | "deposit.pending" | "deposit.failed" | "deposit.reversed", Deposit<M>> {}
export interface Deposit<M = Metadata> {
  readonly id: string
  readonly companyId: string
  readonly ledgerTxId: string
  /** Invoice or address that was paid */
  readonly recipient: string
  /** Amount in whole satoshis, rounded down */
  readonly amount: Money
  readonly network: "mainnet" | "testnet" | "signet" | "regtest"
  readonly rail: "lightning" | "on_chain"
  readonly status: "pending" | "settled" | "failed"
  /** On-chain transaction; null for a Lightning deposit */
  readonly chainTxId: string | null
  readonly lightningInvoiceId: string | null
  /** Always 0. Receiving is free */
  readonly fee: Money
  /** Total amount of the deposit's open, pending and completed refunds */
  readonly refunded: Money
  /** Metadata of the invoice or address at the time of payment */
  readonly metadata: M
  readonly createdAt: Date
  readonly updatedAt: Date
}
export interface WithdrawalEvent<M = Metadata> extends EventOf<"withdrawal.pending_approval" | "withdrawal.pending" | "withdrawal.settled" | "withdrawal.failed" | "withdrawal.replaced", Withdrawal<M>> {}
export interface Withdrawal<M = Metadata> {
  readonly id: string
  readonly companyId: string
  readonly ledgerTxId: string
  /** Amount in whole satoshis, rounded down */
  readonly amount: Money
  readonly recipient: string
  /** Total fee on top of the amount, in satoshis with up to three decimals */
  readonly fee: Money
  readonly network: "mainnet" | "testnet" | "signet" | "regtest"
  readonly rail: "lightning" | "on_chain"
  readonly status: "pending_approval" | "pending" | "settled" | "failed"
  /** Lightning payment details. null while pending and for on-chain withdrawals */
  readonly lightningPayment: LightningPayment | null
  /** Transaction id of an on-chain withdrawal; null until there is a transaction */
  readonly chainTxId: string | null
  /** Refund that this withdrawal pays; null if none */
  readonly refundId: string | null
  readonly metadata: M
  readonly createdAt: Date
  readonly updatedAt: Date
  /** Reason for the failure. `lightning_payment` has the node's own reason */
  readonly failure: WithdrawalFailure | null
  readonly destination: WithdrawalDestination
  /** Approval by another key; null if not required */
  readonly approval: WithdrawalApproval | null
  /** Value in the given currency; null if the amount was in bitcoin */
  readonly fiat: FiatValue | null
}
export interface LightningPayment {
  readonly paymentHash: string
  /** Payment preimage, in hex. Empty unless the payment succeeded */
  readonly paymentPreimage: string
  /** Invoice or BOLT 12 offer that was paid */
  readonly paymentRequest: string
  readonly status: "SUCCEEDED" | "FAILED"
  readonly failureReason: "FAILURE_REASON_NONE" | "FAILURE_REASON_TIMEOUT" | "FAILURE_REASON_NO_ROUTE" | "FAILURE_REASON_ERROR" | "FAILURE_REASON_INCORRECT_PAYMENT_DETAILS" | "FAILURE_REASON_INSUFFICIENT_BALANCE" | "FAILURE_REASON_CANCELED"
  readonly value: string
  readonly valueSat: string
  readonly valueMsat: string
  readonly fee: string
  readonly feeSat: string
  /** Fee charged on top of the amount, in millisatoshis. Same as the withdrawal's `fee_sats`. 0 if the payment failed */
  readonly feeMsat: string
  /** Unix time in seconds */
  readonly creationDate: string
  readonly creationTimeNs: string
  readonly paymentIndex: string
  /** Always empty */
  readonly htlcs: ReadonlyArray<unknown>
}
export interface WithdrawalFailure {
  /** Stable code for programs */
  readonly code: "no_route" | "timeout" | "incorrect_payment_details" | "insufficient_liquidity" | "canceled" | "node_error" | "channel_closed" | "invoice_expired" | "invoice_not_payable" | "payment_hash_used" | "recipient_refused" | "recipient_unreachable" | "approval_rejected" | "approval_expired"
  /** Human-readable text. May change */
  readonly message: string
}
export interface WithdrawalDestination {
  readonly type: "lightning_address" | "lightning_invoice" | "chain_address" | "lnurl" | "bolt12_offer"
  readonly lightningAddress: string | null
  /** BIP 353 name with its ₿, if the domain's DNS record determines the payment; otherwise null */
  readonly bip353Name: string | null
  /** On-chain address that is paid; for a BIP 353 name, the address in its record when the payment was sent */
  readonly bitcoinAddress: string | null
  /** Domain that issues the invoice for a Lightning address or LNURL */
  readonly domain: string | null
  /** Payment hash of the invoice, in hex, once the invoice is known; for an offer, after payment */
  readonly paymentHash: string | null
  /** Text or link from the payee's server to show after settlement (LUD-09, LUD-10). The preimage decrypts `aes` */
  readonly successAction: { readonly tag: "message"; readonly message: string } | { readonly tag: "url"; readonly description: string; readonly url: string } | { readonly tag: "aes"; readonly description: string; readonly ciphertext: string; readonly iv: string } | null
}
export interface WithdrawalApproval {
  readonly state: "waiting" | "approved" | "rejected" | "expired"
  /** Id of the key that requested the withdrawal and cannot approve it. If that key replaced an earlier one, the id of the original key */
  readonly askedBy: string | null
  /** Id of the key that approved or rejected it, or `operator`. If that key replaced an earlier one, the id of the original key */
  readonly decidedBy: string | null
  readonly decidedAt: Date | null
  readonly expiresAt: Date | null
}
export interface InvoiceEvent<M = Metadata> extends EventOf<"invoice.created" | "invoice.held" | "invoice.settled" | "invoice.expired" | "invoice.canceled", Invoice<M>> {}
export interface Invoice<M = Metadata> {
  readonly id: string
  /** Public key of the node that issued the invoice */
  readonly nodeId: string
  readonly memo: string
  /** Payment preimage, in hex. Empty until settled */
  readonly preimage: string
  /** Payment hash, in hex */
  readonly paymentHash: string
  /** Invoice amount; null if the payer decides */
  readonly amount: Money | null
  /** The least you expect when the payer chooses the amount; null if not set */
  readonly minAmount: Money | null
  /** The most you expect when the payer chooses the amount; null if not set */
  readonly maxAmount: Money | null
  /** Whether the payment is held until you settle or cancel the invoice */
  readonly hold: boolean
  /** Amount currently held, in satoshis; null if none */
  readonly held: Money | null
  /** Time when the held amount is returned unless you settle first: 24 blocks before the payer's node would close the channel. Estimated at ten minutes per block */
  readonly heldUntil: Date | null
  readonly settled: boolean
  /** Lightning invoice (BOLT 11) */
  readonly paymentRequest: string
  readonly metadata: M
  readonly lightningAddressId: string | null
  /** `open`: can be paid. `accepted`: a payment is in flight, or held until you settle or cancel; not credited yet. `settled`: paid; final. `expired`: not paid in time. `canceled`: canceled by you, or a held payment was not settled in time. A payment already in flight can still settle an expired or canceled invoice */
  readonly status: "open" | "accepted" | "settled" | "expired" | "canceled"
  /** Credited amount, in whole satoshis, rounded down. 0 until settled. Can exceed `amount_sats`, or be less if the payer took back a part on-chain while the node was down */
  readonly received: Money
  readonly createdAt: Date
  readonly expiresAt: Date
  /** Time of settlement; null until settled */
  readonly settledAt: Date | null
  /** Time when you canceled the invoice or the held amount was returned; null otherwise. A settled invoice can also have this time, if a payment was already in flight */
  readonly canceledAt: Date | null
  /** Deposit that credited the payment; null until settled */
  readonly depositId: string | null
  readonly splits: ReadonlyArray<Split> | null
  /** Value in the given currency; null if the amount was in bitcoin */
  readonly fiat: FiatValue | null
}
export interface UnmatchedEvent extends EventOf<"payment.unmatched", UnmatchedPayment> {}
export interface UnmatchedPayment {
  readonly id: string
  readonly companyId: string
  readonly paymentHash: string
  /** Amount in whole satoshis, rounded down */
  readonly received: Money
  readonly reason: string
  readonly createdAt: Date
}
export interface ApiKeyEvent extends EventOf<"api_key.requested" | "api_key.approved", RequestedApiKey> {}
/** API key that an operator requested for the company */
export interface RequestedApiKey {
  readonly id: string
  readonly companyId: string
  readonly name: string
  readonly scopes: ReadonlyArray<"read" | "receive" | "send" | "approve" | "webhooks" | "admin">
  /** `pending`: the key cannot be used until a second operator approves it. `approved`: a second operator approved it. null: no approval needed */
  readonly approval: KeyApproval
  readonly createdAt: Date
}
export interface LightningAddressEvent<M = Metadata> extends EventOf<"lightning_address.created" | "lightning_address.updated" | "lightning_address.deleted", LightningAddress<M>> {}
export interface LightningAddress<M = Metadata> {
  readonly id: string
  readonly handle: string
  readonly domain: string
  readonly address: string
  readonly metadata: M
  readonly createdAt: Date
  readonly updatedAt: Date
  /** Time of the last use; null if never used */
  readonly lastUsedAt: Date | null
  /** Time of deletion; null if not deleted */
  readonly deletedAt: Date | null
  /** Minimum payment; null for the service's limit */
  readonly minAmount: Money | null
  /** Maximum payment; null for the service's limit */
  readonly maxAmount: Money | null
  /** Text shown by the payer's wallet after a payment (LUD-09) */
  readonly successMessage: string | null
  readonly splits: ReadonlyArray<Split> | null
  /** The address as a bech32 LNURL (LUD-01) */
  readonly lnurl: string
  /** The address as a link (LUD-17) */
  readonly lnurlp: string
}
export interface OnChainAddressEvent<M = Metadata> extends EventOf<"on_chain_address.created", OnChainAddress<M>> {}
export interface OnChainAddress<M = Metadata> {
  readonly id: string
  readonly address: string
  readonly companyId: string
  /** Fingerprint of the wallet that can spend from the address */
  readonly nodeId: string
  readonly bitcoinAddressType: "taproot" | "segwit" | "nested_segwit"
  readonly metadata: M
  readonly createdAt: Date
}
export interface DomainEvent extends EventOf<"domain.verified" | "domain.lost", Domain> {}
export interface CheckoutEvent<M = Metadata> extends EventOf<"checkout.paid" | "checkout.underpaid" | "checkout.expired" | "checkout.canceled", Checkout<M>> {}
export interface VoucherEvent<M = Metadata> extends EventOf<"voucher.created" | "voucher.claimed" | "voucher.expired" | "voucher.canceled", Voucher<M>> {}
export interface Voucher<M = Metadata> {
  readonly id: string
  readonly companyId: string
  readonly ledgerTxId: string
  /** Amount in whole satoshis, rounded down */
  readonly amount: Money
  /** Total fee on top of the amount, in satoshis with up to three decimals */
  readonly fee: Money
  /** Text shown by the wallet that claims the voucher */
  readonly description: string
  readonly status: "open" | "claimed" | "expired" | "canceled"
  /** Withdrawal created by the claim; null until claimed */
  readonly withdrawalId: string | null
  /** Refund that this voucher pays; null if none */
  readonly refundId: string | null
  readonly metadata: M
  /** Id of the API key or person that created it; null if another program or an older version did */
  readonly createdBy: string | null
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly updatedAt: Date
  /** Value in the given currency; null if the amount was in bitcoin */
  readonly fiat: FiatValue | null
}
export interface RefundEvent<M = Metadata> extends EventOf<"refund.created" | "refund.completed" | "refund.failed" | "refund.expired" | "refund.canceled", Refund<M>> {}
export interface Refund<M = Metadata> {
  readonly id: string
  readonly companyId: string
  readonly depositId: string
  /** Amount in whole satoshis, rounded down */
  readonly amount: Money
  readonly description: string
  readonly status: "open" | "pending" | "completed" | "failed" | "expired" | "canceled"
  /** Voucher behind the refund link; null if the refund has a destination */
  readonly voucherId: string | null
  /** Withdrawal that pays the refund; null until its link is claimed */
  readonly withdrawalId: string | null
  /** Checkout whose page shows the refund to the payer; null if none */
  readonly checkoutId: string | null
  readonly metadata: M
  /** Id of the API key or person that created it; null if another program or an older version did */
  readonly createdBy: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
  /** Value in the given currency; null if the amount was in bitcoin */
  readonly fiat: FiatValue | null
}
export interface TransferEvent<M = Metadata> extends EventOf<"transfer.sent" | "transfer.received" | "transfer.returned", Transfer<M>> {}
export interface Transfer<M = Metadata> {
  readonly id: string
  /** Its sender */
  readonly companyId: string
  /** Its recipient */
  readonly to: string
  readonly ledgerTxId: string
  readonly amount: Money
  /** Returned part */
  readonly returned: Money
  readonly status: "completed"
  /** The transfer that this one returns, if any */
  readonly returnOf: string | null
  /** The sender's deposit of which this is a share, if any */
  readonly depositId: string | null
  readonly description: string
  readonly metadata: M
  readonly createdAt: Date
  /** Value in the given currency; null if the amount was in bitcoin */
  readonly fiat: FiatValue | null
}
export interface SplitsEvent extends EventOf<"split.skipped", DepositSplits> {}
export interface DepositSplits {
  /** The deposit's id */
  readonly id: string
  readonly companyId: string
  readonly splits: ReadonlyArray<DepositSplit>
}
export interface DepositSplit {
  readonly companyId: string
  readonly share: string
  /** Amount that it received */
  readonly amount: Money
  /** Its transfer; null if the deposit is not credited, the account was frozen, or the share is below 1 msat */
  readonly transferId: string | null
}
export interface OfferEvent<M = Metadata> extends EventOf<"offer.created", Offer<M>> {}
export interface Offer<M = Metadata> {
  readonly id: string
  readonly companyId: string
  /** Public key of the node that issued the offer */
  readonly nodeId: string
  /** Offer (BOLT 12). Wallets can pay it any number of times */
  readonly offer: string
  /** Minimum amount of each payment; null if the payer decides */
  readonly amount: Money | null
  readonly memo: string
  readonly lightningAddressId: string | null
  readonly lightningAddress: string | null
  /** Record to add to your domain's DNS zone, so that wallets find the offer by the Lightning address (BIP 353); null without an address */
  readonly dnsRecord: string | null
  readonly metadata: M
  readonly createdAt: Date
}
export interface WebhookEndpointEvent extends EventOf<"webhook_endpoint.disabled" | "webhook_endpoint.test", WebhookEndpoint> {}
export interface WebhookEndpoint {
  readonly id: string
  readonly url: string
  readonly description: string
  /** Event types that are sent; all if empty */
  readonly types: ReadonlyArray<string>
  /** Header that contains the additional signature; null if none */
  readonly signatureHeader: string | null
  readonly status: "enabled" | "disabled" | "deleted"
  /** Reason it is disabled: `owner`, `gone` (it responded with 410) or `failing` (every attempt failed for five days). null while enabled */
  readonly disabledReason: "owner" | "gone" | "failing" | null
  /** Start of the current series of failed attempts; null if the last attempt succeeded */
  readonly failingSince: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}
export interface AdjustmentEvent extends EventOf<"adjustment.booked", Adjustment> {}
export interface Adjustment {
  readonly id: string
  readonly companyId: string
  readonly ledgerTxId: string
  /** Amount in satoshis, with up to three decimals. Positive amounts are credited to the company, negative ones debited */
  readonly amount: Money
  readonly reason: string
  /** Time of booking */
  readonly createdAt: Date
}
export interface AuditHeadEvent extends EventOf<"audit_head.updated", AuditHead> {}
export interface AuditHead {
  /** Signed head of the audit log. Store it outside the database and pass it to `satrail verify --audit-head` */
  readonly head: string
}
export interface EventsListQuery {
  /** Start of the page, from a `Link` header: the page begins after this event. Any event id is a valid cursor */
  readonly cursor?: string | undefined
  /** Event types, separated by commas. `deposit.*` selects all types with that prefix */
  readonly types?: ReadonlyArray<string> | undefined
  /** Selects events of one record, by its id (for a domain, by its name) */
  readonly subject?: string | undefined
  /** Maximum events per page, 1 to 1000. Default: 100. Pages of large events are shorter */
  readonly limit?: number | undefined
}
export interface CreateInvoice<M = Metadata> {
  /** null if the payer decides */
  readonly amount?: Amount | null | undefined
  /** Only with `amount: null`: the least you expect the payer to send. Wallets do not see it, and any amount that arrives is credited */
  readonly minAmount?: Sats | null | undefined
  /** Only with `amount: null`: the most you expect the payer to send. Wallets do not see it, and any amount that arrives is credited */
  readonly maxAmount?: Sats | null | undefined
  /** Text shown to the payer, at most 639 bytes of UTF-8 */
  readonly description?: string | null | undefined
  /** Lifetime in seconds. Default: 3600 */
  readonly expirySeconds?: number | null | undefined
  /** Whether to hold the payment at the node until you settle or cancel the invoice. It is credited when you settle */
  readonly hold?: boolean | null | undefined
  /** SHA-256 of your own preimage, only with `hold: true`. You reveal the preimage to settle. Default: the node generates one */
  readonly paymentHash?: string | null | undefined
  /** Other accounts that get a share of what is received, at most 10. You keep the rest */
  readonly splits?: ReadonlyArray<GivenSplit> | null | undefined
  /** Your own data, returned with the record: at most 50 keys of up to 40 characters, values of up to 500 */
  readonly metadata?: M | null | undefined
}
export interface InvoicesListQuery extends PageQuery {
  readonly status?: "open" | "accepted" | "settled" | "expired" | "canceled" | undefined
  /** Selects invoices that wallets requested for this Lightning address */
  readonly lightningAddressId?: string | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly from?: Date | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly until?: Date | undefined
  /** Filters by metadata. Use with `metadata_value` */
  readonly metadataKey?: string | undefined
  /** Exact value of `metadata_key` */
  readonly metadataValue?: string | undefined
  /** Payment hash of the invoice, in hex */
  readonly paymentHash?: string | undefined
  /** Lightning invoice (BOLT 11), instead of its `payment_hash` */
  readonly paymentRequest?: string | undefined
}
export interface SettleInvoice {
  /** Preimage. Send it only if you created the invoice with your own `payment_hash` */
  readonly preimage?: string | null | undefined
}
export interface CreateLightningAddress<M = Metadata> {
  /** Custom handle, only on paid plans. Default: a random handle */
  readonly handle?: string | null | undefined
  /** Verified custom domain, only on paid plans. Default: the service's domain */
  readonly domain?: string | null | undefined
  /** Other accounts that get a share of what is received, at most 10. You keep the rest */
  readonly splits?: ReadonlyArray<GivenSplit> | null | undefined
  /** Your own data, returned with the record: at most 50 keys of up to 40 characters, values of up to 500 */
  readonly metadata?: M | null | undefined
}
export interface LightningAddressesListQuery extends PageQuery {
  /** RFC 3339 timestamp with a time zone */
  readonly from?: Date | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly until?: Date | undefined
}
export interface ChangeLightningAddress<M = Metadata> {
  /** Minimum payment, within the service's limits */
  readonly minAmount?: Sats | null | undefined
  /** Maximum payment, at least `min_sats` and within the service's limits */
  readonly maxAmount?: Sats | null | undefined
  /** Text shown by the payer's wallet after a payment, at most 144 characters. Default: none */
  readonly successMessage?: string | null | undefined
  /** Other accounts that get a share of what is received, at most 10. You keep the rest */
  readonly splits?: ReadonlyArray<GivenSplit> | null | undefined
  /** Your own data, returned with the record: at most 50 keys of up to 40 characters, values of up to 500 */
  readonly metadata?: M | null | undefined
}
export interface QrCode {
  /** Content of the QR code: the LNURL in upper case, which makes the code smaller */
  readonly text: string
  /** QR code, as an SVG document */
  readonly svg: string
}
export interface CreateOffer<M = Metadata> {
  /** null if the payer decides */
  readonly amount?: Amount | null | undefined
  /** Text shown to the payer, at most 639 bytes of UTF-8 */
  readonly description?: string | null | undefined
  /** One of your Lightning addresses that has no offer yet. The response contains the DNS record to publish for it */
  readonly lightningAddressId?: string | null | undefined
  /** Your own data, returned with the record: at most 50 keys of up to 40 characters, values of up to 500 */
  readonly metadata?: M | null | undefined
}
export interface OffersListQuery extends PageQuery {
  /** RFC 3339 timestamp with a time zone */
  readonly from?: Date | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly until?: Date | undefined
}
export interface CreateOnChainAddress<M = Metadata> {
  /** Address type. Default: `taproot` */
  readonly addressType?: "taproot" | "segwit" | "nested_segwit" | null | undefined
  /** Your own data, returned with the record: at most 50 keys of up to 40 characters, values of up to 500 */
  readonly metadata?: M | null | undefined
}
export interface OnChainAddressesListQuery extends PageQuery {
  /** RFC 3339 timestamp with a time zone */
  readonly from?: Date | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly until?: Date | undefined
}
export interface Rate {
  readonly currency: "usd" | "eur" | "gbp" | "jpy" | "cny" | "cad" | "aud" | "chf" | "hkd" | "nzd"
  /** Price of one bitcoin in the currency, as an exact decimal */
  readonly price: string
  /** Time of the price */
  readonly updatedAt: Date
}
export interface CreateRefund<M = Metadata> {
  /** Deposit to refund. Set this, `invoice_id` or `checkout_id` */
  readonly depositId?: string | null | undefined
  /** Settled invoice whose deposit is refunded */
  readonly invoiceId?: string | null | undefined
  /** Checkout whose deposit is refunded, if it was paid by one deposit */
  readonly checkoutId?: string | null | undefined
  /** null if the payer decides */
  readonly amount?: Amount | null | undefined
  /** Lightning invoice, Lightning address, BIP 353 name such as ₿satoshi@wallet.example, LNURL, BOLT 12 offer, bitcoin address or bitcoin: URI */
  readonly destination?: string | null | undefined
  /** Description of a refund link, shown by the payer's wallet */
  readonly description?: string | null | undefined
  /** Lifetime in seconds. Default: 86400 */
  readonly expirySeconds?: number | null | undefined
  /** Whether the page of the paid checkout shows the refund and its link. Anyone with the page's URL can then see the link. Default: true */
  readonly onCheckout?: boolean | null | undefined
  /** Your own data, returned with the record: at most 50 keys of up to 40 characters, values of up to 500 */
  readonly metadata?: M | null | undefined
}
export interface CreatedRefund<M = Metadata> {
  readonly id: string
  readonly companyId: string
  readonly depositId: string
  /** Amount in whole satoshis, rounded down */
  readonly amount: Money
  readonly description: string
  readonly status: "open" | "pending" | "completed" | "failed" | "expired" | "canceled"
  /** Voucher behind the refund link; null if the refund has a destination */
  readonly voucherId: string | null
  /** Withdrawal that pays the refund; null until its link is claimed */
  readonly withdrawalId: string | null
  /** Checkout whose page shows the refund to the payer; null if none */
  readonly checkoutId: string | null
  readonly metadata: M
  /** Id of the API key or person that created it; null if another program or an older version did */
  readonly createdBy: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
  /** Value in the given currency; null if the amount was in bitcoin */
  readonly fiat: FiatValue | null
  /** LNURL for the payer (LUD-01), only in this response; null if the refund has a destination */
  readonly lnurl: string | null
  /** The LNURL as an lnurlw: link (LUD-17) */
  readonly lnurlw: string | null
}
export interface RefundsListQuery extends PageQuery {
  /** RFC 3339 timestamp with a time zone */
  readonly from?: Date | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly until?: Date | undefined
  /** Only refunds of this deposit */
  readonly depositId?: string | undefined
}
export interface Statement {
  readonly companyId: string
  readonly companyName: string
  readonly month: string
  /** Start of the month, in UTC */
  readonly from: Date
  /** Start of the next month, in UTC */
  readonly to: Date
  /** Whether this month is closed. A closed statement no longer changes. A month can be closed from 5 minutes after its end. Entries posted later with a time in a closed month appear in the first open month, in `late_…` */
  readonly isFinal: boolean
  /** Balance at the start of the month, in satoshis with up to three decimals */
  readonly opening: Money
  /** Total received: deposits, credits, transfers and `late_in_sats`, in satoshis with up to three decimals */
  readonly in: Money
  /** Credited deposits, in satoshis with up to three decimals */
  readonly depositsSats: Money
  /** Number of deposits */
  readonly deposits: number
  /** Credits by the operator, in satoshis with up to three decimals */
  readonly credits: Money
  /** Transfers from other companies, in satoshis with up to three decimals */
  readonly transfersIn: Money
  /** Total sent, without fees: withdrawals, reversals, debits, transfers and `late_out_sats`, in satoshis with up to three decimals */
  readonly out: Money
  /** Amounts that payees received, in satoshis with up to three decimals */
  readonly withdrawalsSats: Money
  /** Number of withdrawals */
  readonly withdrawals: number
  /** Deposits removed by chain reorganizations, in satoshis with up to three decimals */
  readonly reversalsSats: Money
  /** Number of reversals */
  readonly reversals: number
  /** Debits by the operator, in satoshis with up to three decimals */
  readonly debits: Money
  /** Transfers to other companies, in satoshis with up to three decimals */
  readonly transfersOut: Money
  /** Total fees: service fees, network fees and `late_fees_sats`, in satoshis with up to three decimals */
  readonly fees: Money
  /** Service fees, in satoshis with up to three decimals */
  readonly serviceFees: Money
  /** Fees charged for routing and mining, in satoshis with up to three decimals */
  readonly networkFees: Money
  /** Number of late entries: entries dated in a month that was already closed when they were posted */
  readonly late: number
  /** Received in late entries, in satoshis with up to three decimals */
  readonly lateIn: Money
  /** Sent in late entries, without fees, in satoshis with up to three decimals */
  readonly lateOut: Money
  /** Fees of late entries, in satoshis with up to three decimals */
  readonly lateFees: Money
  /** Earliest time of a late entry; null if none */
  readonly lateFrom: Date | null
  /** Latest time of a late entry; null if none */
  readonly lateTo: Date | null
  /** Balance at the end of the month: `opening_sats + in_sats - out_sats - fees_sats`, in satoshis with up to three decimals */
  readonly closing: Money
  /** Part of the closing balance held for pending withdrawals and open vouchers, in satoshis with up to three decimals */
  readonly closingHeld: Money
}
export interface CreateTransfer<M = Metadata> {
  readonly to: string
  readonly amount: Amount
  /** Text shown to the payer, at most 639 bytes of UTF-8 */
  readonly description?: string | null | undefined
  /** Your own data, returned with the record: at most 50 keys of up to 40 characters, values of up to 500 */
  readonly metadata?: M | null | undefined
}
export interface TransfersListQuery extends PageQuery {
  /** RFC 3339 timestamp with a time zone */
  readonly from?: Date | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly until?: Date | undefined
  /** Only those sent, or received */
  readonly direction?: "sent" | "received" | undefined
  readonly accountId?: string | undefined
}
export interface ReturnTransfer {
  /** null if the payer decides */
  readonly amount?: Amount | null | undefined
}
export interface Balance {
  /** Available balance, without amounts held for pending withdrawals, in whole satoshis, rounded down */
  readonly available: Money
  /** Amount held for pending withdrawals and open vouchers, including fees, in satoshis with up to three decimals */
  readonly held: Money
  /** On-chain deposits that are credited once they have enough confirmations, in satoshis with up to three decimals */
  readonly pendingDeposits: Money
}
export interface TransactionsListQuery extends PageQuery {
  readonly type?: "withdrawal" | "deposit" | "transfer" | "adjustment" | undefined
  readonly status?: "pending_approval" | "pending" | "settled" | "failed" | undefined
  readonly rail?: "lightning" | "on_chain" | "internal" | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly from?: Date | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly until?: Date | undefined
  /** Filters by metadata. Use with `metadata_value` */
  readonly metadataKey?: string | undefined
  /** Exact value of `metadata_key` */
  readonly metadataValue?: string | undefined
  /** Payment hash of the invoice, in hex */
  readonly paymentHash?: string | undefined
  /** Lightning invoice (BOLT 11), instead of its `payment_hash` */
  readonly paymentRequest?: string | undefined
  /** Transaction id of an on-chain row, in hex */
  readonly chainTxId?: string | undefined
  /** Selects the deposit of this invoice, by the invoice's `id` */
  readonly lightningInvoiceId?: string | undefined
}
export interface Transaction<M = Metadata> {
  readonly id: string
  readonly companyId: string
  /** Amount in whole satoshis, truncated. Negative for an adjustment or transfer that debits */
  readonly amount: Money
  /** For a transfer, the id of the other company */
  readonly recipient: string
  /** Payment rail; `internal` for a transfer, null for an adjustment */
  readonly rail: "lightning" | "on_chain" | "internal" | null
  readonly type: "withdrawal" | "deposit" | "transfer" | "adjustment"
  /** Same fee as `fee_sats`, in millisatoshis (1000 per satoshi) */
  readonly feeMicrosats: number
  /** Total fee on top of the amount, in satoshis with up to three decimals */
  readonly fee: Money
  readonly status: "pending_approval" | "pending" | "settled" | "failed"
  /** Reason for an adjustment; null for other transactions */
  readonly reason: string | null
  /** Its description, or that of its checkout, invoice or refund; empty if there is none */
  readonly description: string
  readonly metadata: M
  readonly failure: WithdrawalFailure | null
  readonly createdAt: Date
}
export interface Payer {
  readonly comment: string | null
  /** LUD-18 payer data: JSON, byte for byte as received */
  readonly payerData: string | null
  /** Signed zap request (NIP-57): JSON, byte for byte as received */
  readonly zapRequest: string | null
}
export interface CreateVoucher<M = Metadata> {
  readonly amount: Amount
  /** Text shown by the wallet that claims the voucher */
  readonly description?: string | null | undefined
  /** Lifetime in seconds. Default: 86400 */
  readonly expirySeconds?: number | null | undefined
  /** Your own data, returned with the record: at most 50 keys of up to 40 characters, values of up to 500 */
  readonly metadata?: M | null | undefined
}
export interface IssuedVoucher<M = Metadata> {
  readonly id: string
  readonly companyId: string
  readonly ledgerTxId: string
  /** Amount in whole satoshis, rounded down */
  readonly amount: Money
  /** Total fee on top of the amount, in satoshis with up to three decimals */
  readonly fee: Money
  /** Text shown by the wallet that claims the voucher */
  readonly description: string
  readonly status: "open" | "claimed" | "expired" | "canceled"
  /** Withdrawal created by the claim; null until claimed */
  readonly withdrawalId: string | null
  /** Refund that this voucher pays; null if none */
  readonly refundId: string | null
  readonly metadata: M
  /** Id of the API key or person that created it; null if another program or an older version did */
  readonly createdBy: string | null
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly updatedAt: Date
  /** Value in the given currency; null if the amount was in bitcoin */
  readonly fiat: FiatValue | null
  /** LNURL (LUD-01). Anyone with this link can claim the money. Only this response contains it */
  readonly lnurl: string
  /** The LNURL as an lnurlw: link (LUD-17) */
  readonly lnurlw: string
}
export interface VouchersListQuery extends PageQuery {
  /** RFC 3339 timestamp with a time zone */
  readonly from?: Date | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly until?: Date | undefined
  /** Only vouchers created by this API key or person */
  readonly createdBy?: string | undefined
  /** Only vouchers with this status */
  readonly status?: "open" | "claimed" | "expired" | "canceled" | undefined
}
export interface WebhookEndpointSettings {
  /** URL that receives events. Must be https on a public host */
  readonly url: string
  readonly description?: string | null | undefined
  /** Event types, or prefixes such as `deposit.*`. Omit or leave empty for all */
  readonly types?: ReadonlyArray<string> | null | undefined
  /** Optional header for an additional signature: lowercase hex HMAC-SHA256 of the body, keyed with the secret string itself */
  readonly signatureHeader?: string | null | undefined
}
export interface IssuedWebhookEndpoint {
  readonly id: string
  readonly url: string
  readonly description: string
  /** Event types that are sent; all if empty */
  readonly types: ReadonlyArray<string>
  /** Header that contains the additional signature; null if none */
  readonly signatureHeader: string | null
  readonly status: "enabled" | "disabled" | "deleted"
  /** Reason it is disabled: `owner`, `gone` (it responded with 410) or `failing` (every attempt failed for five days). null while enabled */
  readonly disabledReason: "owner" | "gone" | "failing" | null
  /** Start of the current series of failed attempts; null if the last attempt succeeded */
  readonly failingSince: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
  /** Secret that signs every request. Only this response contains it */
  readonly secret: string
}
export interface UpdateWebhookEndpoint {
  /** URL that receives events. Must be https on a public host */
  readonly url?: string | undefined
  readonly description?: string | null | undefined
  /** Event types, or prefixes such as `deposit.*`. Omit or leave empty for all */
  readonly types?: ReadonlyArray<string> | null | undefined
  /** Optional header for an additional signature: lowercase hex HMAC-SHA256 of the body, keyed with the secret string itself */
  readonly signatureHeader?: string | null | undefined
}
export interface EnableWebhookEndpoint {
  /** Event id, or the `cursor` of the next page of events. All later events are sent, even if they were sent before */
  readonly replayFrom?: string | null | undefined
}
export interface ReplayWebhookEndpoint {
  /** Event id, or the `cursor` of the next page of events. All later events are sent, even if they were sent before */
  readonly replayFrom: string
}
export interface RotateWebhookSecret {
  /** Time during which the old secret also signs, in seconds. Default: 86400 */
  readonly overlapSeconds?: number | null | undefined
}
export interface WebhookDelivery {
  readonly id: string
  readonly endpointId: string
  readonly eventId: string
  readonly eventType: string
  /** The record this event refers to */
  readonly subject: string
  readonly status: "pending" | "delivered" | "failed"
  readonly attempts: number
  /** HTTP status of the last response; null if there was none */
  readonly responseStatus: number | null
  /** Beginning of the last response's body, or the reason there was no response */
  readonly response: string | null
  readonly durationMs: number | null
  /** The attempts before the last one, newest first; at most 24 */
  readonly earlierAttempts: ReadonlyArray<{ readonly at: Date; readonly responseStatus: number | null; readonly response: string | null; readonly durationMs: number | null }>
  readonly lastAttemptAt: Date | null
  /** Time of the next attempt; null if no attempt is scheduled */
  readonly nextAttemptAt: Date | null
  readonly createdAt: Date
}
export interface EstimateWithdrawal {
  /** Satoshis, or `max`: the most that the balance covers with its fee */
  readonly amount?: Amount | "max" | null | undefined
  /** Lightning invoice, Lightning address, BIP 353 name such as ₿satoshi@wallet.example, LNURL, BOLT 12 offer, bitcoin address or bitcoin: URI */
  readonly destination: string
}
export interface WithdrawalEstimate {
  readonly recipient: string
  readonly recipientType: "lightning_address" | "lightning_invoice" | "chain_address" | "lnurl" | "bolt12_offer"
  /** Payment target of a BIP 353 name, from its domain's DNS record. The confirm request reads the record again */
  readonly bip353: Bip353Record | null
  /** Amount in whole satoshis, rounded down */
  readonly amount: Money
  /** Total fee that a withdrawal would be charged on top of its amount. Same as `fee_sats` */
  readonly serviceFee: Money
  /** Total fee on top of the amount, in satoshis with up to three decimals */
  readonly fee: Money
  /** Probability from 0 (no route) to 1 (certain) */
  readonly successProbability: number
}
export interface Bip353Record {
  readonly recipientType: "lightning_address" | "lightning_invoice" | "chain_address" | "lnurl" | "bolt12_offer"
  /** Invoice or bitcoin address in the record */
  readonly recipient: string
}
export interface ConfirmWithdrawal<M = Metadata> {
  /** Satoshis, or `max`: the most that the balance covers with its fee */
  readonly amount?: Amount | "max" | null | undefined
  /** Lightning invoice, Lightning address, BIP 353 name such as ₿satoshi@wallet.example, LNURL, BOLT 12 offer, bitcoin address or bitcoin: URI */
  readonly destination: string
  /** Amount in satoshis, with up to three decimals */
  readonly maxFee?: Sats | null | undefined
  /** Your own data, returned with the record: at most 50 keys of up to 40 characters, values of up to 500 */
  readonly metadata?: M | null | undefined
}
export interface AdjustmentsListQuery extends PageQuery {
  readonly status?: "pending" | "booked" | "rejected" | undefined
}
export interface OperatorAdjustment {
  readonly id: string
  readonly companyId: string
  readonly ledgerTxId: string
  /** Amount in satoshis, with up to three decimals. Positive amounts are credited to the company, negative ones debited */
  readonly amount: Money
  readonly reason: string
  readonly createdAt: Date
  /** `pending` while a second operator must approve it. `booked` and `rejected` are final */
  readonly status: "pending" | "booked" | "rejected"
  /** Note for operators. The company does not see it */
  readonly note: string | null
  readonly requestedBy: string
  /** Operator who booked or rejected it */
  readonly decidedBy: string | null
  readonly decidedAt: Date | null
}
export interface ApiKeysOperatorRevokeQuery {
  /** `void` also cancels the open vouchers and refund links that the key or person created, and releases their funds */
  readonly links?: "void" | undefined
}
export interface AllowKeyFrom {
  /** IP addresses from which the key can be used. If the service is behind reverse proxies, this requires `SATRAIL_PROXIES` */
  readonly allowedFrom: GivenAllowedFrom | null
}
export interface RotateApiKey {
  /** Time for which the old key stays valid, in seconds */
  readonly overlapSeconds: number
}
export interface NewWalletConnection {
  readonly id: string
  readonly companyId: string
  readonly apiKeyId: string
  /** Nostr public key, x-only in hex */
  readonly appKey: string
  /** Nostr public key, x-only in hex */
  readonly walletKey: string
  readonly relays: ReadonlyArray<string>
  readonly createdAt: Date
  /** Connection link for the app, `nostr+walletconnect://…`. It contains the app's secret key. Only this response contains it */
  readonly connection: string
}
/** An app that uses an API key over Nostr Wallet Connect (NIP-47) */
export interface WalletConnection {
  readonly id: string
  readonly companyId: string
  readonly apiKeyId: string
  /** Nostr public key, x-only in hex */
  readonly appKey: string
  /** Nostr public key, x-only in hex */
  readonly walletKey: string
  readonly relays: ReadonlyArray<string>
  readonly createdAt: Date
}
export interface Waiting {
  readonly count: number
  readonly oldestAt: Date | null
  /** Amount including fees, in satoshis with up to three decimals */
  readonly amount: Money
  /** The 10 oldest items */
  readonly oldest: ReadonlyArray<WaitingRecord>
}
export interface WaitingRecord {
  readonly id: string
  readonly companyId: string
  readonly since: Date
  /** Amount including fees, in satoshis with up to three decimals */
  readonly amount: Money
  /** Number of attempts; null if the only work is to watch the chain */
  readonly attempts: number | null
  /** Time of the next check, or end of the lease of the process that is checking now */
  readonly nextLookAt: Date | null
  readonly waitsFor: string
}
export interface BacklogWithdrawalsQuery extends PageQuery {
  /** Status. Settled and failed withdrawals and deposits are in the company's transactions */
  readonly status?: "pending" | undefined
  /** Minimum age, in seconds */
  readonly olderThan?: number | undefined
}
export interface FollowedWithdrawal<M = Metadata> {
  readonly id: string
  readonly companyId: string
  readonly ledgerTxId: string
  /** Amount in whole satoshis, rounded down */
  readonly amount: Money
  readonly recipient: string
  /** Total fee on top of the amount, in satoshis with up to three decimals */
  readonly fee: Money
  readonly network: "mainnet" | "testnet" | "signet" | "regtest"
  readonly rail: "lightning" | "on_chain"
  readonly status: "pending_approval" | "pending" | "settled" | "failed"
  /** Lightning payment details. null while pending and for on-chain withdrawals */
  readonly lightningPayment: LightningPayment | null
  /** Transaction id of an on-chain withdrawal; null until there is a transaction */
  readonly chainTxId: string | null
  /** Refund that this withdrawal pays; null if none */
  readonly refundId: string | null
  readonly metadata: M
  readonly createdAt: Date
  readonly updatedAt: Date
  /** Reason for the failure. `lightning_payment` has the node's own reason */
  readonly failure: WithdrawalFailure | null
  readonly destination: WithdrawalDestination
  /** Approval by another key; null if not required */
  readonly approval: WithdrawalApproval | null
  /** Value in the given currency; null if the amount was in bitcoin */
  readonly fiat: FiatValue | null
  /** Kind, as in `GET /operator/backlog`; null once final */
  readonly kind: "withdrawal_unapproved" | "withdrawal_requested" | "withdrawal_dispatched" | "withdrawal_lost" | "payout_without_coins" | "payout_without_block" | "deposit_without_block" | "deposit_unconfirmed" | "voucher_open" | "record_open" | "task_overdue" | null
  /** What the service is waiting for; null once final */
  readonly waitsFor: string | null
  /** Number of attempts; null if the only work is to watch the chain */
  readonly attempts: number | null
  /** Time of the next check, or end of the lease of the process that is checking now */
  readonly nextLookAt: Date | null
  readonly timeline: ReadonlyArray<Step>
  /** Current status reported by the node or the chain; null in lists, and when neither was queried */
  readonly answer: string | null
}
export interface Step {
  readonly at: Date
  readonly what: "requested" | "approved" | "rejected" | "expired" | "dispatched" | "seen" | "settled" | "failed"
  /** Details of the step, such as the payee, the key that approved it, its payment hash or transaction, or why it failed */
  readonly detail: string | null
}
export interface BacklogDepositsQuery extends PageQuery {
  /** Status. Settled and failed withdrawals and deposits are in the company's transactions */
  readonly status?: "pending" | undefined
  /** Minimum age, in seconds */
  readonly olderThan?: number | undefined
}
export interface FollowedDeposit<M = Metadata> {
  readonly id: string
  readonly companyId: string
  readonly ledgerTxId: string
  /** Invoice or address that was paid */
  readonly recipient: string
  /** Amount in whole satoshis, rounded down */
  readonly amount: Money
  readonly network: "mainnet" | "testnet" | "signet" | "regtest"
  readonly rail: "lightning" | "on_chain"
  readonly status: "pending" | "settled" | "failed"
  /** On-chain transaction; null for a Lightning deposit */
  readonly chainTxId: string | null
  readonly lightningInvoiceId: string | null
  /** Always 0. Receiving is free */
  readonly fee: Money
  /** Total amount of the deposit's open, pending and completed refunds */
  readonly refunded: Money
  /** Metadata of the invoice or address at the time of payment */
  readonly metadata: M
  readonly createdAt: Date
  readonly updatedAt: Date
  /** Kind, as in `GET /operator/backlog`; null once final */
  readonly kind: "withdrawal_unapproved" | "withdrawal_requested" | "withdrawal_dispatched" | "withdrawal_lost" | "payout_without_coins" | "payout_without_block" | "deposit_without_block" | "deposit_unconfirmed" | "voucher_open" | "record_open" | "task_overdue" | null
  /** What the service is waiting for; null once final */
  readonly waitsFor: string | null
  /** Number of attempts; null if the only work is to watch the chain */
  readonly attempts: number | null
  /** Time of the next check, or end of the lease of the process that is checking now */
  readonly nextLookAt: Date | null
  readonly timeline: ReadonlyArray<Step>
  /** Current status reported by the node or the chain; null in lists, and when neither was queried */
  readonly answer: string | null
}
export interface CompanyLimits {
  readonly id: string
  readonly limits: Limits | null
  readonly remaining: LimitsRemaining | null
}
export interface CompanyFees {
  readonly id: string
  readonly plan: "free" | "paid"
  /** Fees for sending. On-chain payments also cost the current miner fee; see an estimate */
  readonly fees: Fees
  /** Custom fee that replaces the plan's; null if the plan's applies */
  readonly own: OwnFees
}
/** Custom fee that replaces the plan's; null if the plan's applies */
export interface OwnFees {
  readonly lightning: FeeRate | null
  readonly onChain: FeeRate | null
  readonly internal: FeeRate | null
}
export interface GivenFees {
  /** Lightning payments */
  readonly lightning?: GivenFeeRate | null | undefined
  /** On-chain payments */
  readonly onChain?: GivenFeeRate_1 | null | undefined
  /** Payments to a company of this service */
  readonly internal?: GivenFeeRate_2 | null | undefined
}
/** Lightning payments */
export interface GivenFeeRate {
  /** Amount in satoshis, with up to three decimals */
  readonly base?: Sats | null | undefined
  /** Fee proportional to the amount, rounded up to a millisatoshi. Default: 0 */
  readonly partsPerMillion?: number | null | undefined
}
/** On-chain payments */
export interface GivenFeeRate_1 {
  /** Amount in satoshis, with up to three decimals */
  readonly base?: Sats | null | undefined
  /** Fee proportional to the amount, rounded up to a millisatoshi. Default: 0 */
  readonly partsPerMillion?: number | null | undefined
}
/** Payments to a company of this service */
export interface GivenFeeRate_2 {
  /** Amount in satoshis, with up to three decimals */
  readonly base?: Sats | null | undefined
  /** Fee proportional to the amount, rounded up to a millisatoshi. Default: 0 */
  readonly partsPerMillion?: number | null | undefined
}
export interface VerifyDomain {
  readonly domain: string
}
export interface CancelVouchers {
  /** The API key or person */
  readonly createdBy: string
}
export interface CompaniesTransactionsQuery extends PageQuery {
  readonly type?: "withdrawal" | "deposit" | "transfer" | "adjustment" | undefined
  readonly status?: "pending_approval" | "pending" | "settled" | "failed" | undefined
  readonly rail?: "lightning" | "on_chain" | "internal" | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly from?: Date | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly until?: Date | undefined
  /** Filters by metadata. Use with `metadata_value` */
  readonly metadataKey?: string | undefined
  /** Exact value of `metadata_key` */
  readonly metadataValue?: string | undefined
  /** Payment hash of the invoice, in hex */
  readonly paymentHash?: string | undefined
  /** Lightning invoice (BOLT 11), instead of its `payment_hash` */
  readonly paymentRequest?: string | undefined
  /** Transaction id of an on-chain row, in hex */
  readonly chainTxId?: string | undefined
  /** Selects the deposit of this invoice, by the invoice's `id` */
  readonly lightningInvoiceId?: string | undefined
}
export interface CompaniesInvoicesQuery extends PageQuery {
  readonly status?: "open" | "accepted" | "settled" | "expired" | "canceled" | undefined
  /** Selects invoices that wallets requested for this Lightning address */
  readonly lightningAddressId?: string | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly from?: Date | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly until?: Date | undefined
  /** Filters by metadata. Use with `metadata_value` */
  readonly metadataKey?: string | undefined
  /** Exact value of `metadata_key` */
  readonly metadataValue?: string | undefined
  /** Payment hash of the invoice, in hex */
  readonly paymentHash?: string | undefined
  /** Lightning invoice (BOLT 11), instead of its `payment_hash` */
  readonly paymentRequest?: string | undefined
}
export interface CompaniesLightningAddressesQuery extends PageQuery {
  /** RFC 3339 timestamp with a time zone */
  readonly from?: Date | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly until?: Date | undefined
}
export interface CompaniesOnChainAddressesQuery extends PageQuery {
  /** RFC 3339 timestamp with a time zone */
  readonly from?: Date | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly until?: Date | undefined
}
export interface CompaniesVouchersQuery extends PageQuery {
  /** RFC 3339 timestamp with a time zone */
  readonly from?: Date | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly until?: Date | undefined
  /** Only vouchers created by this API key or person */
  readonly createdBy?: string | undefined
  /** Only vouchers with this status */
  readonly status?: "open" | "claimed" | "expired" | "canceled" | undefined
}
export interface CompaniesTransfersQuery extends PageQuery {
  /** RFC 3339 timestamp with a time zone */
  readonly from?: Date | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly until?: Date | undefined
  /** Only those sent, or received */
  readonly direction?: "sent" | "received" | undefined
  readonly accountId?: string | undefined
}
export interface CompaniesEventsQuery {
  /** Start of the page, from a `Link` header: the page begins after this event. Any event id is a valid cursor */
  readonly cursor?: string | undefined
  /** Event types, separated by commas. `deposit.*` selects all types with that prefix */
  readonly types?: ReadonlyArray<string> | undefined
  /** Selects events of one record, by its id (for a domain, by its name) */
  readonly subject?: string | undefined
  /** Maximum events per page, 1 to 1000. Default: 100. Pages of large events are shorter */
  readonly limit?: number | undefined
}
export interface Liquidity {
  /** The node's public key */
  readonly nodeId: string
  /** Current local balance of all channels, including reserves */
  readonly outgoing: Money | null
  /** Current remote balance of all channels */
  readonly incoming: Money | null
  /** Number of channels by state */
  readonly channels: { readonly active: number; readonly inactive: number; readonly opening: number; readonly closing: number; readonly forceClosing: number } | null
  /** Balance of the hot wallet at the last reconciliation */
  readonly wallet: Money | null
  readonly walletAt: Date | null
  /** Amount sent from the hot wallet since `spent_since`, including fees */
  readonly spent: Money | null
  /** Start of the measured period: 30 days ago, or the first reconciliation if later */
  readonly spentSince: Date | null
  /** Days until the hot wallet is empty at the current rate of spending; null if nothing was spent, or if the measured period is shorter than a day */
  readonly daysLeft: number | null
}
export interface SettleLostWithdrawal {
  /** Preimage of the withdrawal's payment hash, which proves that the payee was paid */
  readonly preimage: string
  /** Amount in satoshis, with up to three decimals */
  readonly fee: Sats
}
export interface ReleaseLostWithdrawal {
  /** Id of another wallet's transaction that spent the coins of an on-chain withdrawal, with at least 100 confirmations */
  readonly spentBy?: string | undefined
}
export interface BookLostPayout {
  /** Id of the transaction that paid the withdrawal. It must be in a block */
  readonly txId: string
  /** All other withdrawals that it pays. Default: none */
  readonly with?: ReadonlyArray<string> | undefined
}
export interface OperatorAuditListQuery extends PageQuery {
  /** Selects entries by this key, token or person */
  readonly actorId?: string | undefined
  /** Selects entries of this operation */
  readonly verb?: string | undefined
  /** Selects entries about this record */
  readonly subject?: string | undefined
  /** Selects entries with this outcome: `done` or an error code */
  readonly outcome?: string | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly from?: Date | undefined
  /** RFC 3339 timestamp with a time zone */
  readonly until?: Date | undefined
  readonly companyId?: string | undefined
}
export interface OperatorAuditEntry {
  readonly id: string
  readonly companyId: string
  /** `unknown` if the entry cannot be read because something other than the service wrote or changed it */
  readonly actor: "key" | "person" | "operator" | "service" | "unknown"
  /** Id of the key, token or person; `root` for the configured token */
  readonly actorId: string
  readonly actorName: string
  /** Operation, by its `operationId` */
  readonly verb: string
  /** Record that the operation changed; null if the request was rejected */
  readonly subject: string | null
  /** `done`, or the error code. If `unreadable`, run `satrail verify` */
  readonly outcome: string
  /** Number of occurrences. Identical rejected requests within a minute are counted in one entry, written a minute after the first */
  readonly count: number
  /** IP address of the caller (first half for IPv6). Empty if unknown */
  readonly ipAddress: string
  readonly requestId: string
  /** Changed values of keys, tokens, companies, webhook endpoints and apps. A secret is shown as the SHA-256 of its stored form */
  readonly changes: ReadonlyArray<{ readonly record: string; readonly id: string; readonly field: string; readonly before: string | null; readonly after: string | null }>
  /** Position in the company's hash chain; null until the entry is chained */
  readonly seq: number | null
  /** Hash of the company's audit log up to this entry */
  readonly hash: string | null
  readonly createdAt: Date
  /** Head of all chains at this entry, in the form that `satrail verify --audit-head` accepts */
  readonly head: string | null
}
export interface OperatorInvitePerson {
  /** The person's company. Omit it for an operator */
  readonly companyId?: string | null | undefined
  /** 1 to 200 characters, not all of them blank */
  readonly name: string
  /** `viewer` reads; `bookkeeper` also receives; `operator` also sends, approves and manages webhooks; `admin` can do everything, including managing people */
  readonly role: PersonRole
}
/** `viewer` reads; `bookkeeper` also receives; `operator` also sends, approves and manages webhooks; `admin` can do everything, including managing people */
export type PersonRole = "viewer" | "bookkeeper" | "operator" | "admin"
export interface OperatorInvitedPerson {
  readonly id: string
  readonly name: string
  /** `viewer` reads; `bookkeeper` also receives; `operator` also sends, approves and manages webhooks; `admin` can do everything, including managing people */
  readonly role: PersonRole
  /** `invited` until the person adds a passkey, `active`, or `removed`, which is final */
  readonly status: "invited" | "active" | "removed"
  readonly passkeys: ReadonlyArray<Passkey>
  /** Expiry of the open invitation; null if there is none */
  readonly invitedUntil: Date | null
  /** `pending` if a second operator must approve the invitation before it can be used */
  readonly approval: "pending" | null
  readonly createdAt: Date
  /** The person's company; null for an operator */
  readonly companyId: string | null
  /** Operator who made the invitation; null unless it awaits approval */
  readonly requestedBy: string | null
  /** Single-use link with which the person adds a passkey. Only this response contains it. Anyone who has it can use it */
  readonly link: string
}
export interface Passkey {
  readonly name: string
  readonly createdAt: Date
  readonly lastUsedAt: Date | null
}
export interface OperatorPeopleListQuery extends PageQuery {
  /** The person's company. Omit it for an operator */
  readonly companyId?: string | undefined
}
export interface OperatorPerson {
  readonly id: string
  readonly name: string
  /** `viewer` reads; `bookkeeper` also receives; `operator` also sends, approves and manages webhooks; `admin` can do everything, including managing people */
  readonly role: PersonRole
  /** `invited` until the person adds a passkey, `active`, or `removed`, which is final */
  readonly status: "invited" | "active" | "removed"
  readonly passkeys: ReadonlyArray<Passkey>
  /** Expiry of the open invitation; null if there is none */
  readonly invitedUntil: Date | null
  /** `pending` if a second operator must approve the invitation before it can be used */
  readonly approval: "pending" | null
  readonly createdAt: Date
  /** The person's company; null for an operator */
  readonly companyId: string | null
  /** Operator who made the invitation; null unless it awaits approval */
  readonly requestedBy: string | null
}
export interface OperatorPeopleRemoveQuery {
  /** `void` also cancels the open vouchers and refund links that the key or person created, and releases their funds */
  readonly links?: "void" | undefined
}
export interface IssueOperatorToken {
  /** 1 to 200 characters, not all of them blank */
  readonly name: string
  readonly scopes: ReadonlyArray<"read" | "stop" | "loosen" | "mend" | "companies" | "all">
}
export interface IssuedOperatorToken {
  readonly id: string
  /** Owner of the token, recorded in the audit log */
  readonly name: string
  readonly scopes: ReadonlyArray<"read" | "stop" | "loosen" | "mend" | "companies" | "all">
  readonly createdAt: Date
  readonly revokedAt: Date | null
  /** The operator token itself. Only this response contains it */
  readonly token: string
}
export interface OperatorToken {
  readonly id: string
  /** Owner of the token, recorded in the audit log */
  readonly name: string
  readonly scopes: ReadonlyArray<"read" | "stop" | "loosen" | "mend" | "companies" | "all">
  readonly createdAt: Date
  readonly revokedAt: Date | null
}
export interface InvitePerson {
  /** 1 to 200 characters, not all of them blank */
  readonly name: string
  /** `viewer` reads; `bookkeeper` also receives; `operator` also sends, approves and manages webhooks; `admin` can do everything, including managing people */
  readonly role: PersonRole
}
export interface InvitedPerson {
  readonly id: string
  readonly name: string
  /** `viewer` reads; `bookkeeper` also receives; `operator` also sends, approves and manages webhooks; `admin` can do everything, including managing people */
  readonly role: PersonRole
  /** `invited` until the person adds a passkey, `active`, or `removed`, which is final */
  readonly status: "invited" | "active" | "removed"
  readonly passkeys: ReadonlyArray<Passkey>
  /** Expiry of the open invitation; null if there is none */
  readonly invitedUntil: Date | null
  /** `pending` if a second operator must approve the invitation before it can be used */
  readonly approval: "pending" | null
  readonly createdAt: Date
  /** Single-use link with which the person adds a passkey. Only this response contains it. Anyone who has it can use it */
  readonly link: string
}
export interface Person {
  readonly id: string
  readonly name: string
  /** `viewer` reads; `bookkeeper` also receives; `operator` also sends, approves and manages webhooks; `admin` can do everything, including managing people */
  readonly role: PersonRole
  /** `invited` until the person adds a passkey, `active`, or `removed`, which is final */
  readonly status: "invited" | "active" | "removed"
  readonly passkeys: ReadonlyArray<Passkey>
  /** Expiry of the open invitation; null if there is none */
  readonly invitedUntil: Date | null
  /** `pending` if a second operator must approve the invitation before it can be used */
  readonly approval: "pending" | null
  readonly createdAt: Date
}
export interface SetPersonRole {
  /** `viewer` reads; `bookkeeper` also receives; `operator` also sends, approves and manages webhooks; `admin` can do everything, including managing people */
  readonly role: PersonRole
}
export interface PeopleRemoveQuery {
  /** `void` also cancels the open vouchers and refund links that the key or person created, and releases their funds */
  readonly links?: "void" | undefined
}
export interface IssuedPlatformKey {
  readonly id: string
  /** `pending`: the key cannot be used until a second operator approves it. `approved`: a second operator approved it. null: no approval needed */
  readonly approval: KeyApproval
  /** The key itself. Only this response contains it */
  readonly key: string
}
export interface PlatformKey {
  readonly id: string
  readonly name: string
  readonly scopes: ReadonlyArray<"read" | "receive" | "send" | "approve" | "webhooks" | "admin">
  readonly limits: Limits | null
  /** IP addresses from which the key can be used. If the service is behind reverse proxies, this requires `SATRAIL_PROXIES` */
  readonly allowedFrom: AllowedFrom | null
  /** `pending`: the key cannot be used until a second operator approves it. `approved`: a second operator approved it. null: no approval needed */
  readonly approval: KeyApproval
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly revokedAt: Date | null
}
export interface PlatformKeysRevokeQuery {
  /** `void` also cancels the open vouchers and refund links that the key or person created, and releases their funds */
  readonly links?: "void" | undefined
}
export interface SearchFindQuery {
  /** Text to look for. The newest 2000 descriptions, payees and fiat amounts are compared */
  readonly text: string
}
export interface SearchResult {
  /** Type of the record: `deposits`, `withdrawals`, `invoices`, `checkouts` and others */
  readonly kind: string
  readonly id: string
  /** What matched. If several match, the first */
  readonly by: "order" | "reference" | "text" | "id" | "hash" | "transaction" | "recipient" | "link" | "email" | "value" | "amount"
}
export interface SearchAllQuery {
  /** Text to look for. The newest 2000 descriptions, payees and fiat amounts are compared */
  readonly text: string
}
export interface CompanySearchResult {
  readonly companyId: string
  /** Name of the company */
  readonly company: string
  /** Type of the record: `deposits`, `withdrawals`, `invoices`, `checkouts` and others */
  readonly kind: string
  readonly id: string
  /** What matched. If several match, the first */
  readonly by: "order" | "reference" | "text" | "id" | "hash" | "transaction" | "recipient" | "link" | "email" | "value" | "amount"
}
export interface Status {
  /** Version of this process */
  readonly version: string | null
  readonly network: "mainnet" | "testnet" | "signet" | "regtest"
  /** Type and location of the database, without the password */
  readonly database: string | null
  /** Type and location of the node */
  readonly node: string | null
  /** The node's public key */
  readonly nodeId: string
  /** Source of blocks, and the wallet file */
  readonly chain: string | null
  /** Source of exchange rates */
  readonly rates: string | null
  /** Time of the oldest rate in use; null if none */
  readonly ratesAt: Date | null
  readonly checks: ReadonlyArray<StatusCheck>
  /** Problems with the Lightning channels; empty if none are known */
  readonly warnings: ReadonlyArray<ChannelWarning>
  readonly roles: ReadonlyArray<StatusRole>
  /** Age of the oldest event that is not visible yet because an earlier transaction is still running, in seconds; 0 if none */
  readonly eventsLagSeconds: number
  /** Delays of features */
  readonly lags: ReadonlyArray<StatusLag>
}
export interface StatusCheck {
  readonly name: string
  /** Reason for the failure; null if none */
  readonly reason: string | null
}
export interface ChannelWarning {
  /** Code: `no_active_channel`, `inbound_low`, `outbound_low`, `channels_inactive`, `channels_force_closing`, or in `/readyz` `sender_not_ready` */
  readonly code: string
  /** Human-readable text. May change */
  readonly message: string
}
export interface StatusRole {
  /** Leader role, held by one process at a time */
  readonly role: string
  /** End of the current lease, which its holder renews; null if no process holds it */
  readonly heldUntil: Date | null
  /** Number of times a process claimed the lease */
  readonly claims: number
}
export interface StatusLag {
  /** The feature. `webhooks`: age of the oldest event not delivered to an enabled webhook endpoint, measured twice per minute */
  readonly feature: string
  /** Age of its oldest waiting work, in seconds; 0 if none */
  readonly lagSeconds: number
}
export interface Pauses {
  /** Time of the pause; null if not paused */
  readonly sending: Date | null
  /** Time of the pause; null if not paused */
  readonly receiving: Date | null
}
export interface Pause {
  readonly what: "sending" | "receiving"
}
export interface SuspenseListQuery extends PageQuery {
  readonly status?: "open" | "assigned" | undefined
}
export interface SuspendedPayment {
  readonly id: string
  readonly companyId: string
  readonly paymentHash: string
  /** Amount in whole satoshis, rounded down */
  readonly received: Money
  readonly reason: string
  readonly createdAt: Date
  /** Company that an operator requested */
  readonly requestedFor: string | null
  /** Operator who requested it */
  readonly requestedBy: string | null
  /** Company it was assigned to */
  readonly assignedTo: string | null
  /** Deposit that it became */
  readonly depositId: string | null
  readonly assignedAt: Date | null
}
export interface AssignSuspendedPayment {
  /** Company to assign the payment to */
  readonly companyId: string
}
export interface AccountVerbs {
  /** Returns the key's company, its network, the fees for sending, and the remaining limits of the company and the key. */
  readonly get: { (ask?: CallOptions): Promise<Account>; (company: CompanyRef, ask?: CallOptions): Promise<Account> }
}
export interface ApiKeysVerbs {
  /**
   * Creates an API key that cannot send, with any of the scopes `read`, `receive`, `webhooks`.
   *
   * @example
   * await client.apiKeys.create({ name: "till 3", scopes: ["receive", "read"] })
   */
  readonly create: (ask: CreateApiKey & CreateOptions) => Promise<IssuedApiKey>
  /** Returns an API key without its secret, with its limits and what remains of them. */
  readonly get: { (id: string, ask?: CallOptions): Promise<LimitedApiKey>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<LimitedApiKey> }
  /** Returns the company's API keys without their secrets, newest first, including revoked ones. */
  readonly list: { (ask?: PageQuery & CallOptions): List<ApiKey>; (company: CompanyRef, ask?: PageQuery & CallOptions): List<ApiKey> }
  /** Revokes any API key of the company immediately, including the one that makes this request. */
  readonly revoke: { (id: string, ask?: ApiKeysRevokeQuery & CallOptions): Promise<{ readonly id: string; readonly revoked: true; readonly voidedLinks?: number }>; (company: CompanyRef, id: string, ask?: ApiKeysRevokeQuery & CallOptions): Promise<{ readonly id: string; readonly revoked: true; readonly voidedLinks?: number }> }
}
export interface AuditVerbs {
  /** Returns who did what, newest first: changes to keys, companies, settings and webhook endpoints, withdrawals, vouchers, every action of the operator, and rejected requests. */
  readonly list: { (ask?: AuditListQuery & CallOptions): List<AuditEntry>; (company: CompanyRef, ask?: AuditListQuery & CallOptions): List<AuditEntry> }
}
export interface CheckoutsVerbs<M = Metadata, W = M> {
  /**
   * Creates a payment page at `url`.
   *
   * @example
   * await client.checkouts.create({ amount: 21000, description: "Order 1042", orderId: "1042", returnUrl: "https://shop.example/orders/1042", metadata: { order: "1042" } })
   */
  readonly create: (ask: CreateCheckout<W> & CreateOptions) => Promise<Checkout<M>>
  /** Returns the current state of a checkout. */
  readonly get: { (id: string, ask?: CallOptions): Promise<Checkout<M>>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<Checkout<M>> }
  /** Returns checkouts, newest first. */
  readonly list: { (ask?: CheckoutsListQuery & CallOptions): List<Checkout<M>>; (company: CompanyRef, ask?: CheckoutsListQuery & CallOptions): List<Checkout<M>> }
  /** Cancels an open checkout and its invoice. */
  readonly cancel: { (id: string, ask?: CallOptions): Promise<Checkout<M>>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<Checkout<M>> }
}
export interface CompaniesVerbs {
  /**
   * Creates a company with an empty balance.
   *
   * @example
   * await client.companies.create({ name: "Example Ltd", plan: "paid" })
   */
  readonly create: (ask: OpenCompany & CreateOptions) => Promise<Company>
  /** Returns a company with its balance and its last use. */
  readonly get: (id: string, ask?: CallOptions) => Promise<CompanyOverview>
  /** Returns companies with their balances and keys, newest first. */
  readonly list: (ask?: CompaniesListQuery & CallOptions) => List<CompanyOverview>
  /**
   * Changes a company's plan.
   *
   * @example
   * await client.companies.update(id, { plan: "paid" })
   */
  readonly update: (id: string, ask?: UpdateCompany & CallOptions) => Promise<Company>
  /**
   * Freezes a company: it can read and receive, but not send.
   *
   * @example
   * await client.companies.freeze(id, { reason: "reported key theft", pending: "wait" })
   */
  readonly freeze: (id: string, ask: Freeze & CallOptions) => Promise<CompanyFreeze>
  /** Unfreezes a company. */
  readonly unfreeze: (id: string, ask?: CallOptions) => Promise<CompanyFreeze>
  /**
   * Issue an API key. Only this response contains the key.
   *
   * @example
   * await client.companies.issueKey(id, { name: "till 3", scopes: ["receive", "read"] })
   */
  readonly issueKey: (id: string, ask: IssueApiKey & CreateOptions) => Promise<IssuedApiKey>
}
export interface DomainsVerbs {
  /**
   * Verifies that the domain belongs to the company, by its TXT record.
   *
   * @example
   * await client.domains.claim({ domain: "shop.example" })
   */
  readonly claim: (ask: ClaimDomain & CreateOptions) => Promise<Domain>
  /** Returns the company's verified domains. */
  readonly list: { (ask?: CallOptions): Promise<ReadonlyArray<Domain>>; (company: CompanyRef, ask?: CallOptions): Promise<ReadonlyArray<Domain>> }
}
export interface EventsVerbs<M = Metadata> {
  /** Returns an event, byte for byte as in the list, the stream and webhooks. */
  readonly get: { (id: string, ask?: CallOptions): Promise<Event<M>>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<Event<M>> }
  /** Returns events of the last 90 days, oldest first. */
  readonly list: { (ask?: EventsListQuery & CallOptions): List<Event<M>>; (company: CompanyRef, ask?: EventsListQuery & CallOptions): List<Event<M>> }
}
export interface InvoicesVerbs<M = Metadata, W = M> {
  /**
   * Creates a Lightning invoice.
   *
   * @example
   * await client.invoices.create({ amount: 21000, description: "Order 1042", expirySeconds: 3600, metadata: { order: "1042" } })
   */
  readonly create: (ask: CreateInvoice<W> & CreateOptions) => Promise<Invoice<M>>
  /** Returns an invoice. */
  readonly get: { (id: string, ask?: CallOptions): Promise<Invoice<M>>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<Invoice<M>> }
  /** Returns invoices, newest first. */
  readonly list: { (ask?: InvoicesListQuery & CallOptions): List<Invoice<M>>; (company: CompanyRef, ask?: InvoicesListQuery & CallOptions): List<Invoice<M>> }
  /** Cancels an unpaid invoice. */
  readonly cancel: { (id: string, ask?: CallOptions): Promise<Invoice<M>>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<Invoice<M>> }
  /** Settles a hold invoice and claims the held funds. */
  readonly settle: { (id: string, ask?: SettleInvoice & CallOptions): Promise<Invoice<M>>; (company: CompanyRef, id: string, ask?: SettleInvoice & CallOptions): Promise<Invoice<M>> }
}
export interface LightningAddressesVerbs<M = Metadata, W = M> {
  /**
   * Creates a Lightning address.
   *
   * @example
   * await client.lightningAddresses.create({ metadata: { order: "1042" } })
   */
  readonly create: (ask?: CreateLightningAddress<W> & CreateOptions) => Promise<LightningAddress<M>>
  /** Returns a Lightning address with its limits, success message and LNURL forms. */
  readonly get: { (id: string, ask?: CallOptions): Promise<LightningAddress<M>>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<LightningAddress<M>> }
  /** Returns Lightning addresses, newest first. */
  readonly list: { (ask?: LightningAddressesListQuery & CallOptions): List<LightningAddress<M>>; (company: CompanyRef, ask?: LightningAddressesListQuery & CallOptions): List<LightningAddress<M>> }
  /**
   * Changes the fields you send.
   *
   * @example
   * await client.lightningAddresses.update(id, { minAmount: 1000 })
   */
  readonly update: { (id: string, ask?: ChangeLightningAddress<W> & CallOptions): Promise<LightningAddress<M>>; (company: CompanyRef, id: string, ask?: ChangeLightningAddress<W> & CallOptions): Promise<LightningAddress<M>> }
  /** Deletes a Lightning address. */
  readonly delete: { (id: string, ask?: CallOptions): Promise<LightningAddress<M>>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<LightningAddress<M>> }
  /** Returns a QR code that any LNURL wallet can scan. */
  readonly qr: { (id: string, ask?: CallOptions): Promise<QrCode>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<QrCode> }
}
export interface OffersVerbs<M = Metadata, W = M> {
  /**
   * Creates a BOLT 12 offer.
   *
   * @example
   * await client.offers.create({ description: "Order 1042", metadata: { order: "1042" } })
   */
  readonly create: (ask?: CreateOffer<W> & CreateOptions) => Promise<Offer<M>>
  /** Returns an offer. */
  readonly get: { (id: string, ask?: CallOptions): Promise<Offer<M>>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<Offer<M>> }
  /** Returns offers, newest first. */
  readonly list: { (ask?: OffersListQuery & CallOptions): List<Offer<M>>; (company: CompanyRef, ask?: OffersListQuery & CallOptions): List<Offer<M>> }
}
export interface OnChainAddressesVerbs<M = Metadata, W = M> {
  /**
   * Creates an on-chain address.
   *
   * @example
   * await client.onChainAddresses.create({ addressType: "taproot", metadata: { order: "1042" } })
   */
  readonly create: (ask?: CreateOnChainAddress<W> & CreateOptions) => Promise<OnChainAddress<M>>
  /** Returns an on-chain address. */
  readonly get: { (id: string, ask?: CallOptions): Promise<OnChainAddress<M>>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<OnChainAddress<M>> }
  /** Returns on-chain addresses, newest first. */
  readonly list: { (ask?: OnChainAddressesListQuery & CallOptions): List<OnChainAddress<M>>; (company: CompanyRef, ask?: OnChainAddressesListQuery & CallOptions): List<OnChainAddress<M>> }
}
export interface RatesVerbs {
  /** Returns the rates at which fiat amounts are currently converted. */
  readonly list: { (ask?: CallOptions): Promise<ReadonlyArray<Rate>>; (company: CompanyRef, ask?: CallOptions): Promise<ReadonlyArray<Rate>> }
}
export interface RefundsVerbs<M = Metadata, W = M> {
  /**
   * Refunds a deposit.
   *
   * @example
   * await client.refunds.create({ depositId: "019c13ec-c1a3-70cd-9390-21dd5b66c7fc", description: "Order 1042", metadata: { order: "1042" } })
   */
  readonly create: (ask?: CreateRefund<W> & CreateOptions) => Promise<CreatedRefund<M>>
  /** Returns a refund. */
  readonly get: { (id: string, ask?: CallOptions): Promise<Refund<M>>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<Refund<M>> }
  /** Returns refunds without their links, newest first. */
  readonly list: { (ask?: RefundsListQuery & CallOptions): List<Refund<M>>; (company: CompanyRef, ask?: RefundsListQuery & CallOptions): List<Refund<M>> }
  /** Cancels a refund link that is not claimed yet. */
  readonly cancel: { (id: string, ask?: CallOptions): Promise<Refund<M>>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<Refund<M>> }
}
export interface StatementsVerbs {
  /** Returns the opening balance, receipts, payments, fees and closing balance of a month, exact to the millisatoshi. */
  readonly get: { (month: string, ask?: CallOptions): Promise<Statement>; (company: CompanyRef, month: string, ask?: CallOptions): Promise<Statement> }
}
export interface TransfersVerbs<M = Metadata, W = M> {
  /**
   * Sends an amount to another account of this service, at once and without a fee.
   *
   * @example
   * await client.transfers.create({ amount: 1000, to: "0197a1b2-7c00-7a3b-9c1d-2f5e6a7b8c9d", description: "Share of order 1042", metadata: { order: "1042" } })
   */
  readonly create: (ask: CreateTransfer<W> & CreateOptions) => Promise<Transfer<M>>
  /** Returns a transfer that the account sent or received. */
  readonly get: { (id: string, ask?: CallOptions): Promise<Transfer<M>>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<Transfer<M>> }
  /** Returns transfers that the account sent or received, newest first. */
  readonly list: { (ask?: TransfersListQuery & CallOptions): List<Transfer<M>>; (company: CompanyRef, ask?: TransfersListQuery & CallOptions): List<Transfer<M>> }
  /**
   * Sends a received transfer back, or a part of it.
   *
   * @example
   * await client.transfers.return(id, { amount: 500 })
   */
  readonly return: (id: string, ask?: ReturnTransfer & CreateOptions) => Promise<Transfer<M>>
}
export interface TransactionsVerbs<M = Metadata> {
  /** Returns the available balance in whole satoshis, with held and pending amounts. */
  readonly balance: { (ask?: CallOptions): Promise<Balance>; (company: CompanyRef, ask?: CallOptions): Promise<Balance> }
  /** Returns deposits, withdrawals, transfers between companies and manual adjustments (`adjustment`), newest first. */
  readonly list: { (ask?: TransactionsListQuery & CallOptions): List<Transaction<M>>; (company: CompanyRef, ask?: TransactionsListQuery & CallOptions): List<Transaction<M>> }
  /** Returns a deposit. */
  readonly deposit: { (id: string, ask?: CallOptions): Promise<Deposit<M>>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<Deposit<M>> }
  /** Returns the comment, payer data and zap request of a payment to a Lightning address; each is null if the payer did not send it. */
  readonly payer: { (id: string, ask?: CallOptions): Promise<Payer>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<Payer> }
  /** Returns the shares of a deposit, with the transfers that credited them. */
  readonly splits: { (id: string, ask?: CallOptions): Promise<DepositSplits>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<DepositSplits> }
  /** Returns a withdrawal. */
  readonly withdrawal: { (id: string, ask?: CallOptions): Promise<Withdrawal<M>>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<Withdrawal<M>> }
  /** Returns an adjustment that the operator booked manually, with its reason. */
  readonly adjustment: { (id: string, ask?: CallOptions): Promise<Adjustment>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<Adjustment> }
}
export interface VouchersVerbs<M = Metadata, W = M> {
  /**
   * Creates a voucher (LUD-03) and holds its amount and fee.
   *
   * @example
   * await client.vouchers.create({ amount: 1000, description: "A coffee on us", expirySeconds: 86400, metadata: { order: "1042" } })
   */
  readonly create: (ask: CreateVoucher<W> & CreateOptions) => Promise<IssuedVoucher<M>>
  /** Returns a voucher. */
  readonly get: { (id: string, ask?: CallOptions): Promise<Voucher<M>>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<Voucher<M>> }
  /** Returns vouchers without their links, newest first. */
  readonly list: { (ask?: VouchersListQuery & CallOptions): List<Voucher<M>>; (company: CompanyRef, ask?: VouchersListQuery & CallOptions): List<Voucher<M>> }
  /** Cancels an unclaimed voucher and releases its funds. */
  readonly cancel: { (id: string, ask?: CallOptions): Promise<Voucher<M>>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<Voucher<M>> }
}
export interface WebhooksVerbs {
  /**
   * Sends new events to a URL, signed according to Standard Webhooks.
   *
   * @example
   * await client.webhooks.create({ url: "https://shop.example/webhooks", description: "Orders", types: ["deposit.*", "invoice.settled"] })
   */
  readonly create: (ask: WebhookEndpointSettings & CreateOptions) => Promise<IssuedWebhookEndpoint>
  /** Returns a webhook endpoint. */
  readonly get: { (id: string, ask?: CallOptions): Promise<WebhookEndpoint>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<WebhookEndpoint> }
  /** Returns all webhook endpoints without their secrets. */
  readonly list: { (ask?: CallOptions): Promise<ReadonlyArray<WebhookEndpoint>>; (company: CompanyRef, ask?: CallOptions): Promise<ReadonlyArray<WebhookEndpoint>> }
  /**
   * Changes the fields you send.
   *
   * @example
   * await client.webhooks.update(id, { description: "Orders" })
   */
  readonly update: { (id: string, ask?: UpdateWebhookEndpoint & CallOptions): Promise<WebhookEndpoint>; (company: CompanyRef, id: string, ask?: UpdateWebhookEndpoint & CallOptions): Promise<WebhookEndpoint> }
  /** Deletes a webhook endpoint. */
  readonly delete: { (id: string, ask?: CallOptions): Promise<WebhookEndpoint>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<WebhookEndpoint> }
  /** Sends a `webhook_endpoint.test` event, regardless of the endpoint's types. */
  readonly test: { (id: string, ask?: CallOptions): Promise<WebhookEndpoint>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<WebhookEndpoint> }
  /** Enable a webhook endpoint. Re-enables an endpoint. */
  readonly enable: { (id: string, ask?: EnableWebhookEndpoint & CallOptions): Promise<WebhookEndpoint>; (company: CompanyRef, id: string, ask?: EnableWebhookEndpoint & CallOptions): Promise<WebhookEndpoint> }
  /** Disables a webhook endpoint. */
  readonly disable: { (id: string, ask?: CallOptions): Promise<WebhookEndpoint>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<WebhookEndpoint> }
  /**
   * Sends all events after `replay_from` again, for up to 90 days back.
   *
   * @example
   * await client.webhooks.replay(id, { replayFrom: "evt_JD9HVFdAEDYutzxV7b_7RQ" })
   */
  readonly replay: { (id: string, ask: ReplayWebhookEndpoint & CallOptions): Promise<WebhookEndpoint>; (company: CompanyRef, id: string, ask: ReplayWebhookEndpoint & CallOptions): Promise<WebhookEndpoint> }
  /**
   * Creates a new secret.
   *
   * @example
   * await client.webhooks.rotateSecret(id, { overlapSeconds: 3600 })
   */
  readonly rotateSecret: { (id: string, ask?: RotateWebhookSecret & CallOptions): Promise<IssuedWebhookEndpoint>; (company: CompanyRef, id: string, ask?: RotateWebhookSecret & CallOptions): Promise<IssuedWebhookEndpoint> }
  /** Returns the deliveries to an endpoint of the last 30 days, newest first. */
  readonly deliveries: { (id: string, ask?: PageQuery & CallOptions): List<WebhookDelivery>; (company: CompanyRef, id: string, ask?: PageQuery & CallOptions): List<WebhookDelivery> }
  /** Sends a delivery now: again, or before `next_attempt_at`. */
  readonly resend: { (id: string, ask?: CallOptions): Promise<WebhookDelivery>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<WebhookDelivery> }
}
export interface WithdrawalsVerbs<M = Metadata, W = M> {
  /**
   * Validates a destination and returns the fee and probability of success.
   *
   * @example
   * await client.withdrawals.estimate({ amount: 3000, destination: "satoshi@wallet.example" })
   */
  readonly estimate: { (ask: EstimateWithdrawal & CallOptions): Promise<WithdrawalEstimate>; (company: CompanyRef, ask: EstimateWithdrawal & CallOptions): Promise<WithdrawalEstimate> }
  /**
   * Holds the amount and the fee, and queues the payment.
   *
   * @example
   * await client.withdrawals.confirm({ amount: 3000, destination: "satoshi@wallet.example", metadata: { order: "1042" } })
   */
  readonly confirm: (ask: ConfirmWithdrawal<W> & CreateOptions) => Promise<Withdrawal<M>>
  /** Returns a withdrawal. */
  readonly get: { (id: string, ask?: CallOptions): Promise<Withdrawal<M>>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<Withdrawal<M>> }
  /** Approves a withdrawal that is `pending_approval` and queues its payment. */
  readonly approve: { (id: string, ask?: CallOptions): Promise<Withdrawal<M>>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<Withdrawal<M>> }
  /** Rejects a withdrawal that is `pending_approval`. */
  readonly reject: { (id: string, ask?: CallOptions): Promise<Withdrawal<M>>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<Withdrawal<M>> }
}
export interface OperatorsAdjustmentsVerbs {
  /** Returns adjustments of all companies, newest first. */
  readonly list: (ask?: AdjustmentsListQuery & CallOptions) => List<OperatorAdjustment>
  /** Returns an adjustment of any company. */
  readonly get: (id: string, ask?: CallOptions) => Promise<OperatorAdjustment>
  /** Books the adjustment against the account `adjustments`. */
  readonly approve: (id: string, ask?: CallOptions) => Promise<OperatorAdjustment>
  /** Rejects a pending adjustment without booking it. */
  readonly reject: (id: string, ask?: CallOptions) => Promise<OperatorAdjustment>
}
export interface OperatorsApiKeysVerbs {
  /** Returns an API key without its secret, with its limits and what remains of them. */
  readonly operatorGet: (id: string, ask?: CallOptions) => Promise<LimitedApiKey>
  /** Revokes an API key immediately. */
  readonly operatorRevoke: (id: string, ask?: ApiKeysOperatorRevokeQuery & CallOptions) => Promise<{ readonly id: string; readonly revoked: true; readonly voidedLinks?: number }>
  /** Approves an API key. */
  readonly approve: (id: string, ask?: CallOptions) => Promise<LimitedApiKey>
  /**
   * Replaces all limits of an API key; `{}` removes them.
   *
   * @example
   * await client.apiKeys.limit(id, { perWithdrawal: 2000, day: 10000, recipientTypes: ["lightning_invoice"] })
   */
  readonly limit: (id: string, ask?: GivenLimits & CallOptions) => Promise<LimitedApiKey>
  /**
   * Changes the limits you send.
   *
   * @example
   * await client.apiKeys.updateLimits(id, { perWithdrawal: 2000, day: 10000, recipientTypes: ["lightning_invoice"] })
   */
  readonly updateLimits: (id: string, ask?: GivenLimits & CallOptions) => Promise<LimitedApiKey>
  /**
   * Replaces the IP ranges from which an API key can be used; `null` allows all addresses.
   *
   * @example
   * await client.apiKeys.allowFrom(id, { allowedFrom: { for: "sending", ranges: ["203.0.113.0/24", "2001:db8::/32"] } })
   */
  readonly allowFrom: (id: string, ask: AllowKeyFrom & CallOptions) => Promise<LimitedApiKey>
  /**
   * Creates a key with the same name, scopes, expiry, limits and `allowed_from`.
   *
   * @example
   * await client.apiKeys.rotate(id, { overlapSeconds: 3600 })
   */
  readonly rotate: (id: string, ask: RotateApiKey & CreateOptions) => Promise<IssuedApiKey>
  /** Connects an app to an API key over Nostr Wallet Connect (NIP-47), through the relays in `SATRAIL_NWC_RELAYS`. */
  readonly connect: (id: string, ask?: CreateOptions) => Promise<NewWalletConnection>
  /** Returns the connected app. */
  readonly walletConnection: (id: string, ask?: CallOptions) => Promise<WalletConnection>
}
export interface OperatorsBacklogVerbs<M = Metadata> {
  /** Returns the pending money and work of all companies: totals, ages, and the 10 oldest items of each kind. */
  readonly all: (ask?: CallOptions) => Promise<{ readonly withdrawalUnapproved: Waiting; readonly withdrawalRequested: Waiting; readonly withdrawalDispatched: Waiting; readonly withdrawalLost: Waiting; readonly payoutWithoutCoins: Waiting; readonly payoutWithoutBlock: Waiting; readonly depositWithoutBlock: Waiting; readonly depositUnconfirmed: Waiting; readonly voucherOpen: Waiting; readonly recordOpen: Waiting; readonly taskOverdue: Waiting }>
  /** Returns pending withdrawals of all companies, oldest first, each with its history and what the service is waiting for. */
  readonly withdrawals: (ask?: BacklogWithdrawalsQuery & CallOptions) => List<FollowedWithdrawal<M>>
  /** Returns a withdrawal of any company: its history, what the service is waiting for, and its current status at the node or on the chain. */
  readonly withdrawal: (id: string, ask?: CallOptions) => Promise<FollowedWithdrawal<M>>
  /** Returns on-chain deposits of all companies that are not credited yet, oldest first. */
  readonly deposits: (ask?: BacklogDepositsQuery & CallOptions) => List<FollowedDeposit<M>>
  /** Returns a deposit of any company: its history, what the service is waiting for, and its current status on the chain. */
  readonly deposit: (id: string, ask?: CallOptions) => Promise<FollowedDeposit<M>>
}
export interface OperatorsCompaniesVerbs<M = Metadata> {
  /** Returns a company's API keys, newest first, including revoked ones. */
  readonly keys: (id: string, ask?: PageQuery & CallOptions) => List<ApiKey>
  /** Returns the sending limits for all keys of a company together, and what remains of them. */
  readonly limits: (id: string, ask?: CallOptions) => Promise<CompanyLimits>
  /**
   * Replaces all limits of a company, which apply to all of its keys together; `{}` removes them.
   *
   * @example
   * await client.companies.limit(id, { day: 1000000 })
   */
  readonly limit: (id: string, ask?: GivenLimits & CallOptions) => Promise<CompanyLimits>
  /**
   * Changes the limits you send.
   *
   * @example
   * await client.companies.updateLimits(id, { day: 1000000 })
   */
  readonly updateLimits: (id: string, ask?: GivenLimits & CallOptions) => Promise<CompanyLimits>
  /** Returns a company's fees, and which of them differ from its plan. */
  readonly fees: (id: string, ask?: CallOptions) => Promise<CompanyFees>
  /**
   * Replaces all custom fees of a company; `{}` removes them, so that its plan's fees apply.
   *
   * @example
   * await client.companies.charge(id, { lightning: { partsPerMillion: 1000 } })
   */
  readonly charge: (id: string, ask?: GivenFees & CallOptions) => Promise<CompanyFees>
  /**
   * Changes the custom fees you send.
   *
   * @example
   * await client.companies.updateFees(id, { lightning: { partsPerMillion: 1000 } })
   */
  readonly updateFees: (id: string, ask?: GivenFees & CallOptions) => Promise<CompanyFees>
  /** List domains of a company. Same as `GET /v1/domains`, for the company in the path. */
  readonly domains: (id: string, ask?: CallOptions) => Promise<ReadonlyArray<Domain>>
  /**
   * Confirms that the domain belongs to the company, without checking a TXT record.
   *
   * @example
   * await client.companies.verifyDomain(id, { domain: "shop.example" })
   */
  readonly verifyDomain: (id: string, ask: VerifyDomain & CreateOptions) => Promise<Domain>
  /**
   * Cancels every open voucher that an API key or person created, including those of refund links, and releases their funds.
   *
   * @example
   * await client.companies.cancelVouchers(id, { createdBy: "UMhWoEGNQytf" })
   */
  readonly cancelVouchers: (id: string, ask: CancelVouchers & CallOptions) => Promise<{ readonly canceled: number }>
  /** Get the balance of a company. Same as `GET /v1/transactions/balance`, for the company in the path. */
  readonly balance: (id: string, ask?: CallOptions) => Promise<Balance>
  /** List transactions of a company. Same as `GET /v1/transactions`, for the company in the path. */
  readonly transactions: (id: string, ask?: CompaniesTransactionsQuery & CallOptions) => List<Transaction<M>>
  /** Get a withdrawal of a company. Same as `GET /v1/transactions/withdrawals/{withdrawalID}`, for the company in the path. */
  readonly withdrawal: (company: CompanyRef, id: string, ask?: CallOptions) => Promise<Withdrawal<M>>
  /** Get a deposit of a company. Same as `GET /v1/transactions/deposits/{depositID}`, for the company in the path. */
  readonly deposit: (company: CompanyRef, id: string, ask?: CallOptions) => Promise<Deposit<M>>
  /** Get payer data of a company. Same as `GET /v1/transactions/deposits/{depositID}/payer`, for the company in the path. */
  readonly payer: (company: CompanyRef, id: string, ask?: CallOptions) => Promise<Payer>
  /** List Lightning invoices of a company. Same as `GET /v1/bitcoin/deposit/lightning-invoice`, for the company in the path. */
  readonly invoices: (id: string, ask?: CompaniesInvoicesQuery & CallOptions) => List<Invoice<M>>
  /** Get a Lightning invoice of a company. Same as `GET /v1/bitcoin/deposit/lightning-invoice/{invoiceID}`, for the company in the path. */
  readonly invoice: (company: CompanyRef, id: string, ask?: CallOptions) => Promise<Invoice<M>>
  /** List Lightning addresses of a company. Same as `GET /v1/bitcoin/deposit/lightning-address`, for the company in the path. */
  readonly lightningAddresses: (id: string, ask?: CompaniesLightningAddressesQuery & CallOptions) => List<LightningAddress<M>>
  /** Get a Lightning address of a company. Same as `GET /v1/bitcoin/deposit/lightning-address/{id}`, for the company in the path. */
  readonly lightningAddress: (company: CompanyRef, id: string, ask?: CallOptions) => Promise<LightningAddress<M>>
  /** List on-chain addresses of a company. Same as `GET /v1/bitcoin/deposit/on-chain`, for the company in the path. */
  readonly onChainAddresses: (id: string, ask?: CompaniesOnChainAddressesQuery & CallOptions) => List<OnChainAddress<M>>
  /** Get an on-chain address of a company. Same as `GET /v1/bitcoin/deposit/on-chain/{id}`, for the company in the path. */
  readonly onChainAddress: (company: CompanyRef, id: string, ask?: CallOptions) => Promise<OnChainAddress<M>>
  /** List vouchers of a company. Same as `GET /v1/vouchers`, for the company in the path. */
  readonly vouchers: (id: string, ask?: CompaniesVouchersQuery & CallOptions) => List<Voucher<M>>
  /** Get a voucher of a company. Same as `GET /v1/vouchers/{id}`, for the company in the path. */
  readonly voucher: (company: CompanyRef, id: string, ask?: CallOptions) => Promise<Voucher<M>>
  /** Get a monthly statement of a company. Same as `GET /v1/statements/{month}`, for the company in the path. */
  readonly statement: (company: CompanyRef, month: string, ask?: CallOptions) => Promise<Statement>
  /** List webhook endpoints of a company. Same as `GET /v1/webhook-endpoints`, for the company in the path. */
  readonly webhooks: (id: string, ask?: CallOptions) => Promise<ReadonlyArray<WebhookEndpoint>>
  /** Get a webhook endpoint of a company. Same as `GET /v1/webhook-endpoints/{id}`, for the company in the path. */
  readonly webhook: (company: CompanyRef, id: string, ask?: CallOptions) => Promise<WebhookEndpoint>
  /** List deliveries of a company. Same as `GET /v1/webhook-endpoints/{id}/deliveries`, for the company in the path. */
  readonly deliveries: (company: CompanyRef, id: string, ask?: PageQuery & CallOptions) => List<WebhookDelivery>
  /** List transfers of a company. Same as `GET /v1/transfers`, for the company in the path. */
  readonly transfers: (id: string, ask?: CompaniesTransfersQuery & CallOptions) => List<Transfer<M>>
  /** List events of a company. Same as `GET /v1/events`, for the company in the path. */
  readonly events: (id: string, ask?: CompaniesEventsQuery & CallOptions) => List<Event<M>>
  /** Get an event of a company. Same as `GET /v1/events/{id}`, for the company in the path. */
  readonly event: (company: CompanyRef, id: string, ask?: CallOptions) => Promise<Event<M>>
}
export interface OperatorsLiquidityVerbs {
  /** Returns how much can be sent and received. */
  readonly now: (ask?: CallOptions) => Promise<Liquidity>
}
export interface OperatorsLostWithdrawalsVerbs<M = Metadata> {
  /**
   * Settles a withdrawal of kind `withdrawal_lost` whose payee was paid.
   *
   * @example
   * await client.lostWithdrawals.settle(id, { preimage: "fef5c9e9d226022b4633811b24d4d214ef888b359f0fed40cd11417152f510b5", fee: 2.001 })
   */
  readonly settle: (id: string, ask: SettleLostWithdrawal & CallOptions) => Promise<Withdrawal<M>>
  /** Fails a withdrawal of kind `withdrawal_lost` whose payee was not paid, and returns its money to the company. */
  readonly release: (id: string, ask?: ReleaseLostWithdrawal & CallOptions) => Promise<Withdrawal<M>>
  /**
   * Books a transaction of the wallet as the payout of a pending on-chain withdrawal, after a restored database has lost that it was sent.
   *
   * @example
   * await client.lostWithdrawals.book(id, { txId: "abababababababababababababababababababababababababababababababab" })
   */
  readonly book: (id: string, ask: BookLostPayout & CallOptions) => Promise<Withdrawal<M>>
}
export interface OperatorsOperatorAuditVerbs {
  /** Returns who did what, newest first: changes to keys, companies, settings and webhook endpoints, withdrawals, vouchers, every action of the operator, and rejected requests. */
  readonly list: (ask?: OperatorAuditListQuery & CallOptions) => List<OperatorAuditEntry>
}
export interface OperatorsOperatorPeopleVerbs {
  /**
   * Invites a person to join a company or the operators, and returns a single-use link for adding a passkey.
   *
   * @example
   * await client.operatorPeople.invite({ name: "Mara K.", role: "bookkeeper" })
   */
  readonly invite: (ask: OperatorInvitePerson & CreateOptions) => Promise<OperatorInvitedPerson>
  /** Returns a company's people, or the operators, newest first, including removed ones. */
  readonly list: (ask?: OperatorPeopleListQuery & CallOptions) => List<OperatorPerson>
  /** Approves an invitation that another operator made, so that its link can be used. */
  readonly approve: (id: string, ask?: CallOptions) => Promise<OperatorPerson>
  /** Revokes all passkeys of a person, ends their sessions, and returns a one-time link for adding a new passkey. */
  readonly recover: (id: string, ask?: CallOptions) => Promise<OperatorInvitedPerson>
  /** Revokes a person's passkeys and invitation and ends their sessions immediately. */
  readonly remove: (id: string, ask?: OperatorPeopleRemoveQuery & CallOptions) => Promise<OperatorPerson>
}
export interface OperatorsOperatorTokensVerbs {
  /**
   * Issues a token for one person or program that operates the service.
   *
   * @example
   * await client.operatorTokens.issue({ name: "on call", scopes: ["read", "stop"] })
   */
  readonly issue: (ask: IssueOperatorToken & CreateOptions) => Promise<IssuedOperatorToken>
  /** Returns operator tokens without their secrets, newest first, including revoked ones. */
  readonly list: (ask?: PageQuery & CallOptions) => List<OperatorToken>
  /** Revokes an operator token immediately. */
  readonly revoke: (id: string, ask?: CallOptions) => Promise<{ readonly id: string; readonly revoked: true }>
}
export interface OperatorsOperatorWebhooksVerbs {
  /**
   * Sends new events to a URL, signed according to Standard Webhooks.
   *
   * @example
   * await client.operatorWebhooks.create({ url: "https://shop.example/webhooks", description: "Orders", types: ["deposit.*", "invoice.settled"] })
   */
  readonly create: (ask: WebhookEndpointSettings & CreateOptions) => Promise<IssuedWebhookEndpoint>
  /** Returns a webhook endpoint. */
  readonly get: (id: string, ask?: CallOptions) => Promise<WebhookEndpoint>
  /** Returns all webhook endpoints without their secrets. */
  readonly list: (ask?: CallOptions) => Promise<ReadonlyArray<WebhookEndpoint>>
  /**
   * Changes the fields you send.
   *
   * @example
   * await client.operatorWebhooks.update(id, { description: "Orders" })
   */
  readonly update: (id: string, ask?: UpdateWebhookEndpoint & CallOptions) => Promise<WebhookEndpoint>
  /** Deletes a webhook endpoint. */
  readonly delete: (id: string, ask?: CallOptions) => Promise<WebhookEndpoint>
  /** Sends a `webhook_endpoint.test` event, regardless of the endpoint's types. */
  readonly test: (id: string, ask?: CallOptions) => Promise<WebhookEndpoint>
  /** Enable a webhook endpoint. Re-enables an endpoint. */
  readonly enable: (id: string, ask?: EnableWebhookEndpoint & CallOptions) => Promise<WebhookEndpoint>
  /** Disables a webhook endpoint. */
  readonly disable: (id: string, ask?: CallOptions) => Promise<WebhookEndpoint>
  /**
   * Sends all events after `replay_from` again, for up to 90 days back.
   *
   * @example
   * await client.operatorWebhooks.replay(id, { replayFrom: "evt_JD9HVFdAEDYutzxV7b_7RQ" })
   */
  readonly replay: (id: string, ask: ReplayWebhookEndpoint & CallOptions) => Promise<WebhookEndpoint>
  /**
   * Creates a new secret.
   *
   * @example
   * await client.operatorWebhooks.rotateSecret(id, { overlapSeconds: 3600 })
   */
  readonly rotateSecret: (id: string, ask?: RotateWebhookSecret & CallOptions) => Promise<IssuedWebhookEndpoint>
  /** Returns the deliveries to an endpoint of the last 30 days, newest first. */
  readonly deliveries: (id: string, ask?: PageQuery & CallOptions) => List<WebhookDelivery>
  /** Sends a delivery now: again, or before `next_attempt_at`. */
  readonly resend: (id: string, ask?: CallOptions) => Promise<WebhookDelivery>
}
export interface OperatorsPeopleVerbs {
  /**
   * Creates a person and returns a single-use link for adding a passkey within 3 days.
   *
   * @example
   * await client.people.invite({ name: "Mara K.", role: "bookkeeper" })
   */
  readonly invite: (ask: InvitePerson & CreateOptions) => Promise<InvitedPerson>
  /** Returns the people who sign in to the console for this company, newest first, including removed ones. */
  readonly list: { (ask?: PageQuery & CallOptions): List<Person>; (company: CompanyRef, ask?: PageQuery & CallOptions): List<Person> }
  /** Revokes all passkeys of a person, ends their sessions, and returns a one-time link for adding a new passkey. */
  readonly recover: { (id: string, ask?: CallOptions): Promise<InvitedPerson>; (company: CompanyRef, id: string, ask?: CallOptions): Promise<InvitedPerson> }
  /**
   * Changes another person's role immediately, and voids their open invitation or recovery link; recover the person for a new one.
   *
   * @example
   * await client.people.setRole(id, { role: "viewer" })
   */
  readonly setRole: { (id: string, ask: SetPersonRole & CallOptions): Promise<Person>; (company: CompanyRef, id: string, ask: SetPersonRole & CallOptions): Promise<Person> }
  /** Revokes a person's passkeys and invitation and ends their sessions immediately. */
  readonly remove: { (id: string, ask?: PeopleRemoveQuery & CallOptions): Promise<Person>; (company: CompanyRef, id: string, ask?: PeopleRemoveQuery & CallOptions): Promise<Person> }
}
export interface OperatorsPlatformKeysVerbs {
  /**
   * Issues a key that acts for any company, which each request names in the header `Satrail-Account`.
   *
   * @example
   * await client.platformKeys.issue({ name: "marketplace", scopes: ["receive", "read"] })
   */
  readonly issue: (ask: IssueApiKey & CreateOptions) => Promise<IssuedPlatformKey>
  /** Returns platform keys without their secrets, newest first, including revoked ones. */
  readonly list: (ask?: PageQuery & CallOptions) => List<PlatformKey>
  /** Approves a key that another operator requested. */
  readonly approve: (id: string, ask?: CallOptions) => Promise<PlatformKey>
  /** Revokes a platform key immediately, in every process. */
  readonly revoke: (id: string, ask?: PlatformKeysRevokeQuery & CallOptions) => Promise<PlatformKey>
}
export interface OperatorsSearchVerbs {
  /** Returns the records that match a text, at most 20 for each way of matching: an order id, a reference or an email address and their beginnings, an id or hash and its beginning, a transaction, an invoice, an address, a link, an amount, a metadata value, or part of a description. */
  readonly find: { (ask?: SearchFindQuery & CallOptions): Promise<ReadonlyArray<SearchResult>>; (company: CompanyRef, ask?: SearchFindQuery & CallOptions): Promise<ReadonlyArray<SearchResult>> }
  /** Returns the records of all companies that match a text, like a company's search but without amounts, descriptions and payees. */
  readonly all: (ask?: SearchAllQuery & CallOptions) => Promise<ReadonlyArray<CompanySearchResult>>
}
export interface OperatorsStatusVerbs {
  /** Returns the backends of this process, the `/readyz` checks, problems with the channels, the holder of each leader role, and the delays of events and features. */
  readonly now: (ask?: CallOptions) => Promise<Status>
}
export interface OperatorsStopsVerbs {
  /** Returns the pauses that apply to all companies. */
  readonly standing: (ask?: CallOptions) => Promise<Pauses>
  /**
   * Pauses sending or receiving for all companies, in every process.
   *
   * @example
   * await client.stops.pause({ what: "sending" })
   */
  readonly pause: (ask: Pause & CallOptions) => Promise<Pauses>
  /**
   * Resumes sending or receiving.
   *
   * @example
   * await client.stops.resume({ what: "sending" })
   */
  readonly resume: (ask: Pause & CallOptions) => Promise<Pauses>
}
export interface OperatorsSuspenseVerbs {
  /** Returns payments of invoices that another payment had already settled, newest first. */
  readonly list: (ask?: SuspenseListQuery & CallOptions) => List<SuspendedPayment>
  /**
   * Requests the assignment.
   *
   * @example
   * await client.suspense.assign(id, { companyId: "019c0ec6-427b-78ab-add1-a8a8cf0bc356" })
   */
  readonly assign: (id: string, ask: AssignSuspendedPayment & CallOptions) => Promise<SuspendedPayment>
}
export interface OperatorsVouchersVerbs {
  /**
   * Cancels every open voucher that an API key or person created, including those of refund links, and releases their funds.
   *
   * @example
   * await client.vouchers.cancelCreatedBy({ createdBy: "UMhWoEGNQytf" })
   */
  readonly cancelCreatedBy: { (ask: CancelVouchers & CallOptions): Promise<{ readonly canceled: number }>; (company: CompanyRef, ask: CancelVouchers & CallOptions): Promise<{ readonly canceled: number }> }
}
export interface OperatorsWithdrawalsVerbs<M = Metadata> {
  /** Rejects a company's withdrawal that is `pending_approval`. */
  readonly operatorReject: (id: string, ask?: CallOptions) => Promise<Withdrawal<M>>
}
/** All operations of the API for companies, and those for operators that create companies. */
export interface Nouns<M = Metadata> {
  readonly account: AccountVerbs
  readonly apiKeys: ApiKeysVerbs
  readonly audit: AuditVerbs
  readonly checkouts: CheckoutsVerbs<Read<M, "checkouts">, Written<M, "checkouts">>
  readonly companies: CompaniesVerbs
  readonly domains: DomainsVerbs
  readonly events: EventsVerbs<M>
  readonly invoices: InvoicesVerbs<Read<M, "invoices">, Written<M, "invoices">>
  readonly lightningAddresses: LightningAddressesVerbs<Read<M, "lightningAddresses">, Written<M, "lightningAddresses">>
  readonly offers: OffersVerbs<Read<M, "offers">, Written<M, "offers">>
  readonly onChainAddresses: OnChainAddressesVerbs<Read<M, "onChainAddresses">, Written<M, "onChainAddresses">>
  readonly rates: RatesVerbs
  readonly refunds: RefundsVerbs<Read<M, "refunds">, Written<M, "refunds">>
  readonly statements: StatementsVerbs
  readonly transfers: TransfersVerbs<Read<M, "transfers">, Written<M, "transfers">>
  readonly transactions: TransactionsVerbs<Read<M, "transactions">>
  readonly vouchers: VouchersVerbs<Read<M, "vouchers">, Written<M, "vouchers">>
  readonly webhooks: WebhooksVerbs
  readonly withdrawals: WithdrawalsVerbs<Read<M, "withdrawals">, Written<M, "withdrawals">>
}
/** The other operations for operators. */
export interface OperatorNouns<M = Metadata> {
  readonly adjustments: OperatorsAdjustmentsVerbs
  readonly apiKeys: OperatorsApiKeysVerbs
  readonly backlog: OperatorsBacklogVerbs<Read<M, "backlog">>
  readonly companies: OperatorsCompaniesVerbs<Read<M, "companies">>
  readonly liquidity: OperatorsLiquidityVerbs
  readonly lostWithdrawals: OperatorsLostWithdrawalsVerbs<Read<M, "lostWithdrawals">>
  readonly operatorAudit: OperatorsOperatorAuditVerbs
  readonly operatorPeople: OperatorsOperatorPeopleVerbs
  readonly operatorTokens: OperatorsOperatorTokensVerbs
  readonly operatorWebhooks: OperatorsOperatorWebhooksVerbs
  readonly people: OperatorsPeopleVerbs
  readonly platformKeys: OperatorsPlatformKeysVerbs
  readonly search: OperatorsSearchVerbs
  readonly status: OperatorsStatusVerbs
  readonly stops: OperatorsStopsVerbs
  readonly suspense: OperatorsSuspenseVerbs
  readonly vouchers: OperatorsVouchersVerbs
  readonly withdrawals: OperatorsWithdrawalsVerbs<Read<M, "withdrawals">>
}
