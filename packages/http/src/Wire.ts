import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import { urlOf } from "@satrail/bitcoin/LightningAddressText"
import * as Lnurl from "@satrail/bitcoin/Lnurl"
import * as Msat from "@satrail/bitcoin/Msat"
import { Network } from "@satrail/bitcoin/Network"
import { Currency, isFiat } from "@satrail/core/base/Amount"
import * as Decimal from "@satrail/core/base/Decimal"
import * as Balances from "@satrail/core/ledger/Balance"
import { Rail, Status } from "@satrail/core/ledger/Rail"
import type { Quoted } from "@satrail/core/nodes/Prices"
import * as Fee from "@satrail/core/policy/Fee"
import type { Deposit as CoreDeposit } from "@satrail/core/receiving/Deposit"
import type { Callback, Invoice as CoreInvoice } from "@satrail/core/receiving/Invoice"
import * as Addresses from "@satrail/core/receiving/LightningAddress"
import type { OnChainAddress as CoreOnChainAddress } from "@satrail/core/receiving/OnChainAddress"
import type { Transaction as CoreTransaction } from "@satrail/core/reports/Transaction"
import * as Transactions from "@satrail/core/reports/Transaction"
import * as Destination from "@satrail/core/sending/Destination"
import * as Vouchers from "@satrail/core/sending/Voucher"
import * as Withdrawals from "@satrail/core/sending/Withdrawal"
import type { Estimate as CoreEstimate } from "@satrail/core/sending/Withdrawals"
import { Schema } from "effect"

const id = "018f3b1e-7c00-7a3b-9c1d-2f5e6a7b8c9d"
const at = "2026-01-31T12:00:00.123Z"
const nodeId = "02eec7245d6b7d2ccb30380bfbe2a3648cd7a942653f5aa340edcea1f283686619"

/** A UUID, as a customer sees it. */
export const Uuid = Schema.String.annotate({ format: "uuid", examples: [id] })
/** An instant: ISO 8601, UTC, three decimals. */
export const Instant = Schema.String.annotate({ format: "date-time", examples: [at] })
const Text = (...examples: readonly [string, ...Array<string>]) => Schema.String.annotate({ examples })
const Sats = Schema.Int.annotate({ description: "Whole satoshis, rounded down", examples: [21_000] })
/** Keys and values of the caller's own; `{}` when there are none. */
const Metadata = Schema.Record(Schema.String, Schema.String).annotate({ examples: [{ order: "1042" }] })

/** An instant in milliseconds, as a customer sees it. */
export const instant = (millis: number): string => new Date(millis).toISOString()
export const instantOrNull = (millis: number | null): string | null => (millis === null ? null : instant(millis))

/** 1 999 msat are 1 sat. All of bitcoin in sats is below 2^53, so the number is exact. */
const sats = (amount: Msat.Msat): number => Number(Msat.toSats(amount))

/** 6 500 msat are 6.5 sats: three decimals, exactly those. */
export const satsAndMsats = (amount: Msat.Msat): number => Number(amount) / 1000

export const satsOrNothing = (amount: Msat.Msat | null): number | null => (amount === null ? null : satsAndMsats(amount))

/** A request to be paid over Lightning. */
export const Invoice = Schema.Struct({
  id: Uuid,
  node_id: Text(nodeId).annotate({ description: "Public key of the node that issued it" }),
  memo: Text("Order 1042"),
  r_preimage: Schema.String.annotate({ description: "Hex; empty until it is settled" }),
  r_hash: Schema.String.annotate({ description: "Payment hash, hex" }),
  amount_sats: Sats,
  settled: Schema.Boolean,
  payment_request: Schema.String.annotate({ description: "BOLT 11" }),
  metadata: Metadata,
  lightning_address_id: Schema.NullOr(Uuid)
}).annotate({ identifier: "LightningInvoice" })

/** An invoice as its company sees it. Claimed and expired ones are simply not settled. */
export const invoice = (invoice: CoreInvoice): typeof Invoice.Type => {
  const settled = invoice.status === "settled"
  return {
    id: invoice.id,
    node_id: invoice.nodeId,
    memo: invoice.memo,
    r_preimage: settled ? (invoice.preimage ?? "") : "",
    r_hash: invoice.paymentHash,
    amount_sats: sats(invoice.amount),
    settled,
    payment_request: invoice.paymentRequest,
    metadata: invoice.metadata,
    lightning_address_id: invoice.lightningAddressId
  }
}

/** A Lightning address that was given out. */
export const LightningAddress = Schema.Struct({
  id: Uuid,
  handle: Text("satoshi"),
  domain: Text("pay.example.com"),
  address: Text("satoshi@pay.example.com"),
  metadata: Metadata,
  created_at: Instant,
  updated_at: Instant,
  last_used_at: Schema.NullOr(Instant).annotate({ description: "null when it was never used" }),
  deleted_at: Schema.NullOr(Instant).annotate({ description: "null when it was not deleted" })
}).annotate({ identifier: "LightningAddress" })

export const lightningAddress = (row: Addresses.LightningAddress): typeof LightningAddress.Type => ({
  id: row.id,
  handle: row.handle,
  domain: row.domain,
  address: Addresses.text(row),
  metadata: row.metadata,
  created_at: instant(row.createdAtMillis),
  updated_at: instant(row.updatedAtMillis),
  last_used_at: instantOrNull(row.lastUsedAtMillis),
  deleted_at: instantOrNull(row.deletedAtMillis)
})

/** The same for its owner, who decides what may be paid there, with everything that payers scan. */
export const OwnLightningAddress = Schema.Struct({
  ...LightningAddress.fields,
  min_sats: Schema.NullOr(Sats).annotate({ description: "The least that one payment may be; null: as the service has it" }),
  max_sats: Schema.NullOr(Sats).annotate({ description: "The most; null: as the service has it" }),
  success_message: Schema.NullOr(Schema.String).annotate({ description: "What a payer's wallet shows after a payment (LUD-09)" }),
  lnurl: Schema.String.annotate({ description: "The address as a bech32 LNURL (LUD-01)" }),
  lnurlp: Text("lnurlp://pay.example.com/.well-known/lnurlp/satoshi").annotate({ description: "The address as a link (LUD-17)" })
}).annotate({ identifier: "OwnLightningAddress" })

const satsOrNull = (amount: Msat.Msat | null): number | null => (amount === null ? null : sats(amount))

export const ownLightningAddress = (row: Addresses.LightningAddress): typeof OwnLightningAddress.Type => {
  const url = urlOf(row)
  return {
    ...lightningAddress(row),
    min_sats: satsOrNull(row.minSendable),
    max_sats: satsOrNull(row.maxSendable),
    success_message: row.successMessage,
    lnurl: Lnurl.encode(url),
    lnurlp: url.replace(/^https?:/, "lnurlp:")
  }
}

/** An on-chain address that was given out. Answered one level deeper, under `address`. */
export const OnChainAddress = Schema.Struct({
  id: Uuid,
  address: Text("bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr"),
  company_id: Uuid,
  node_id: Text("73c5da0a").annotate({ description: "Fingerprint of the wallet that can spend from it" }),
  bitcoin_address_type: BitcoinAddress.AddressType,
  metadata: Metadata,
  created_at: Instant
}).annotate({ identifier: "OnChainAddress" })

export const onChainAddress = (row: CoreOnChainAddress): typeof OnChainAddress.Type => ({
  id: row.id,
  address: row.address,
  company_id: row.companyId,
  node_id: row.nodeId,
  bitcoin_address_type: row.type,
  metadata: row.metadata,
  created_at: instant(row.createdAtMillis)
})

/** How a Lightning payment ended: lnd's payment record, whichever node paid. Every number is a string, as lnd writes them. */
export const LightningPayment = Schema.Struct({
  payment_hash: Schema.String,
  payment_preimage: Schema.String.annotate({ description: "Hex; empty unless it succeeded" }),
  payment_request: Schema.String,
  status: Schema.Literals(["SUCCEEDED", "FAILED"]),
  failure_reason: Schema.Literals([
    "FAILURE_REASON_NONE",
    "FAILURE_REASON_TIMEOUT",
    "FAILURE_REASON_NO_ROUTE",
    "FAILURE_REASON_ERROR",
    "FAILURE_REASON_INCORRECT_PAYMENT_DETAILS",
    "FAILURE_REASON_INSUFFICIENT_BALANCE",
    "FAILURE_REASON_CANCELED"
  ]),
  value: Schema.String,
  value_sat: Schema.String,
  value_msat: Schema.String,
  fee: Schema.String,
  fee_sat: Schema.String,
  fee_msat: Schema.String.annotate({
    description: "What routing did cost. The customer was charged `fee_sats` of the withdrawal, neither more nor less"
  }),
  creation_date: Schema.String.annotate({ description: "Unix time in seconds" }),
  creation_time_ns: Schema.String,
  payment_index: Schema.String,
  htlcs: Schema.Array(Schema.Never).annotate({ description: "Always empty" })
}).annotate({ identifier: "LightningPayment" })

/** lnd has six words for what can go wrong. What ended before the node was asked has none there, and is its `ERROR`. */
const failureReasons: { readonly [failure in Withdrawals.Failure]: (typeof LightningPayment.Type)["failure_reason"] } = {
  no_route: "FAILURE_REASON_NO_ROUTE",
  timeout: "FAILURE_REASON_TIMEOUT",
  incorrect_payment_details: "FAILURE_REASON_INCORRECT_PAYMENT_DETAILS",
  insufficient_liquidity: "FAILURE_REASON_INSUFFICIENT_BALANCE",
  canceled: "FAILURE_REASON_CANCELED",
  node_error: "FAILURE_REASON_ERROR",
  invoice_expired: "FAILURE_REASON_INCORRECT_PAYMENT_DETAILS",
  invoice_not_payable: "FAILURE_REASON_INCORRECT_PAYMENT_DETAILS",
  payment_hash_used: "FAILURE_REASON_ERROR",
  recipient_refused: "FAILURE_REASON_ERROR",
  recipient_unreachable: "FAILURE_REASON_ERROR",
  address_not_payable: "FAILURE_REASON_ERROR"
}

const lightningPayment = (withdrawal: Withdrawals.Withdrawal): typeof LightningPayment.Type | null => {
  if (withdrawal.rail !== "lightning" || withdrawal.status === "pending") return null
  const value = Msat.toSats(withdrawal.amount).toString()
  const cost = withdrawal.networkFee ?? Msat.zero
  const fee = Msat.toSats(cost).toString()
  const startedAtMillis = withdrawal.dispatchedAtMillis ?? withdrawal.createdAtMillis
  return {
    payment_hash: withdrawal.paymentHash ?? "",
    payment_preimage: withdrawal.preimage ?? "",
    payment_request: withdrawal.paymentRequest ?? "",
    status: withdrawal.status === "settled" ? "SUCCEEDED" : "FAILED",
    failure_reason: withdrawal.failure === null ? "FAILURE_REASON_NONE" : failureReasons[withdrawal.failure],
    value,
    value_sat: value,
    value_msat: withdrawal.amount.toString(),
    fee,
    fee_sat: fee,
    fee_msat: cost.toString(),
    creation_date: Math.floor(startedAtMillis / 1000).toString(),
    creation_time_ns: (BigInt(startedAtMillis) * 1_000_000n).toString(),
    payment_index: withdrawal.paymentIndex ?? "0",
    htlcs: []
  }
}

const shared = {
  id: Uuid,
  amount_sats: Sats,
  recipient: Text("satoshi@wallet.example"),
  network_type: Network,
  rail_type: Rail,
  status: Status,
  lightning_payment: Schema.NullOr(LightningPayment).annotate({
    description: "null until the outcome is known, and for an on-chain withdrawal"
  }),
  chain_tx_id: Schema.NullOr(Schema.String).annotate({ description: "The transaction of an on-chain withdrawal, once there is one" }),
  created_at: Instant
}

/** A withdrawal as confirm answers it. */
export const ConfirmedWithdrawal = Schema.Struct({
  ...shared,
  fee_sats: Schema.Finite.annotate({ description: "The whole fee on top of the amount, to three decimals", examples: [6.5] }),
  metadata: Metadata
}).annotate({ identifier: "ConfirmedWithdrawal" })

/** A withdrawal as it is fetched. */
export const Withdrawal = Schema.Struct({
  ...shared,
  company_id: Uuid,
  ledger_tx_id: Uuid,
  updated_at: Instant
}).annotate({ identifier: "Withdrawal" })

const sharedOf = (withdrawal: Withdrawals.Withdrawal) => ({
  id: withdrawal.id,
  amount_sats: sats(withdrawal.amount),
  recipient: withdrawal.recipient,
  network_type: withdrawal.network,
  rail_type: withdrawal.rail,
  status: withdrawal.status,
  lightning_payment: lightningPayment(withdrawal),
  chain_tx_id: withdrawal.chainTxId,
  created_at: instant(withdrawal.createdAtMillis)
})

/** The confirm column: 1 006 000 msat are 1006 sats, 6 500 msat of fee are 6.5. */
export const confirmedWithdrawal = (withdrawal: Withdrawals.Withdrawal): typeof ConfirmedWithdrawal.Type => ({
  ...sharedOf(withdrawal),
  fee_sats: satsAndMsats(Withdrawals.fee(withdrawal)),
  metadata: withdrawal.metadata
})

/** The get column. */
export const withdrawal = (withdrawal: Withdrawals.Withdrawal): typeof Withdrawal.Type => ({
  ...sharedOf(withdrawal),
  company_id: withdrawal.companyId,
  ledger_tx_id: withdrawal.ledgerTxId,
  updated_at: instant(withdrawal.updatedAtMillis)
})

/** Money that is held for whoever claims it first. */
export const Voucher = Schema.Struct({
  id: Uuid,
  company_id: Uuid,
  ledger_tx_id: Uuid,
  amount_sats: Sats,
  fee_sats: Schema.Finite.annotate({ description: "The whole fee on top of the amount, to three decimals", examples: [6.5] }),
  description: Schema.String.annotate({ description: "What a claimer's wallet shows" }),
  status: Vouchers.Status,
  withdrawal_id: Schema.NullOr(Uuid).annotate({ description: "The withdrawal that it became when it was claimed" }),
  metadata: Metadata,
  created_at: Instant,
  expires_at: Instant,
  updated_at: Instant
}).annotate({ identifier: "Voucher" })

export const voucher = (row: Vouchers.Voucher): typeof Voucher.Type => ({
  id: row.id,
  company_id: row.companyId,
  ledger_tx_id: row.ledgerTxId,
  amount_sats: sats(row.amount),
  fee_sats: satsAndMsats(Vouchers.fee(row)),
  description: row.description,
  status: row.status,
  withdrawal_id: row.withdrawalId,
  metadata: row.metadata,
  created_at: instant(row.createdAtMillis),
  expires_at: instant(row.expiresAtMillis),
  updated_at: instant(row.updatedAtMillis)
})

/** Money that came in. */
export const Deposit = Schema.Struct({
  id: Uuid,
  company_id: Uuid,
  ledger_tx_id: Uuid,
  recipient: Schema.String.annotate({ description: "The invoice or address that was paid" }),
  amount_sats: Sats,
  network_type: Network,
  rail_type: Rail,
  status: Status,
  chain_tx_id: Schema.NullOr(Schema.String).annotate({ description: "null for a Lightning deposit" }),
  lightning_invoice_id: Schema.NullOr(Uuid),
  created_at: Instant,
  updated_at: Instant
}).annotate({ identifier: "Deposit" })

export const deposit = (row: CoreDeposit): typeof Deposit.Type => ({
  id: row.id,
  company_id: row.companyId,
  ledger_tx_id: row.ledgerTxId,
  recipient: row.recipient,
  amount_sats: sats(row.amount),
  network_type: row.network,
  rail_type: row.rail,
  status: row.status,
  chain_tx_id: row.chainTxId,
  lightning_invoice_id: row.lightningInvoiceId,
  created_at: instant(row.createdAtMillis),
  updated_at: instant(row.updatedAtMillis)
})

/** What a payer's wallet said when it asked to pay (LUD-12, LUD-18, NIP-57). Each as it came, and checked by nobody. */
export const Payer = Schema.Struct({
  comment: Schema.NullOr(Schema.String).annotate({ examples: ["For the coffee"] }),
  payer_data: Schema.NullOr(Schema.String).annotate({
    description: "Who pays, by his own account: JSON as it came, to the byte",
    examples: ['{"name":"Satoshi"}']
  }),
  zap_request: Schema.NullOr(Schema.String).annotate({ description: "The signed request of a zap: JSON as it came, to the byte" })
}).annotate({ identifier: "Payer" })

export const payer = (callback: Callback | undefined): typeof Payer.Type => ({
  comment: callback?.comment ?? null,
  payer_data: callback?.payerData ?? null,
  zap_request: callback?.zapRequest ?? null
})

/** A deposit or a withdrawal, as a line in the list. */
export const Transaction = Schema.Struct({
  id: Uuid,
  company_id: Uuid,
  amount_sats: Sats,
  recipient: Schema.String,
  rail_type: Rail,
  type: Transactions.Type,
  fee_microsats: Schema.Int.annotate({ description: "The fee in thousandths of a satoshi: 1 sat is 1000", examples: [6500] }),
  status: Status,
  created_at: Instant
}).annotate({ identifier: "Transaction" })

export const transaction = (row: CoreTransaction): typeof Transaction.Type => ({
  id: row.id,
  company_id: row.companyId,
  amount_sats: sats(row.amount),
  recipient: row.recipient,
  rail_type: row.rail,
  type: row.type,
  fee_microsats: Number(row.fee),
  status: row.status,
  created_at: instant(row.createdAtMillis)
})

/** What a withdrawal would come to. */
export const Estimate = Schema.Struct({
  recipient: Text("satoshi@wallet.example"),
  recipient_type: Destination.RecipientType,
  amount_sats: Sats,
  service_fee_sats: Schema.Finite.annotate({
    description: "The whole fee on top of the amount: what confirm would charge",
    examples: [6.5]
  }),
  success_probability: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })).annotate({
    description: "1 is certain, 0 is no route",
    examples: [0.98]
  })
}).annotate({ identifier: "WithdrawalEstimate" })

export const estimate = (estimate: CoreEstimate): typeof Estimate.Type => ({
  recipient: estimate.recipient,
  recipient_type: estimate.recipientType,
  amount_sats: sats(estimate.amount),
  service_fee_sats: satsAndMsats(Fee.total(estimate.fee)),
  success_probability: estimate.successProbability
})

/** What one bitcoin costs in a currency. A string, because a JSON number is read by most as a float. */
export const Rate = Schema.Struct({
  currency: Schema.Literals(Currency.literals.filter(isFiat)),
  price: Text("97123.45").annotate({ description: "Units of the currency for one bitcoin: an exact decimal" }),
  updated_at: Instant.annotate({ description: "When that was the price" })
}).annotate({ identifier: "Rate" })

export const rate = ({ currency, price, atMillis }: Quoted): typeof Rate.Type => ({
  currency,
  price: Decimal.format(price),
  updated_at: instant(atMillis)
})

/** What can be withdrawn now. */
export const Balance = Schema.Struct({
  balance: Schema.Int.annotate({
    description: "Satoshis that can be withdrawn now: what pending withdrawals hold is not in it. Rounded down",
    examples: [21_000]
  })
}).annotate({ identifier: "Balance" })

/** Of 1 000 999 msat posted with 300 000 held, 700 sats. */
export const balance = (balance: Balances.Balance): typeof Balance.Type => ({ balance: sats(Balances.available(balance)) })
