import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as TxId from "@satrail/bitcoin/TxId"
import { type ApiKey, withoutSecret } from "@satrail/core/accounts/ApiKey"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Deposit from "@satrail/core/receiving/Deposit"
import type { Invoice } from "@satrail/core/receiving/Invoice"
import { pending, type Withdrawal } from "@satrail/core/sending/Withdrawal"
import * as Purpose from "@satrail/core/receiving/Purpose"

// Complete records for all tests. Each test sets only the fields that matter to it, so a new field is added
// here once.

export const withdrawal = (fields: Partial<Withdrawal> = {}): Withdrawal => ({
  ...pending({
    id: "w",
    companyId: CompanyId.make("payer"),
    ledgerTxId: "t",
    amount: Msat.make(1000n),
    serviceFee: Msat.make(5n),
    networkAllowance: Msat.make(10n),
    recipient: "lnbcrt1…",
    recipientType: "lightning_invoice",
    rail: "lightning",
    network: "regtest",
    metadata: {},
    rate: null,
    rateAtMillis: null,
    fiatCurrency: null,
    rateSource: null,
    createdAtMillis: fields.createdAtMillis ?? 1
  }),
  ...fields
})

export const deposit = (fields: Partial<Deposit.Deposit> = {}): Deposit.Deposit => ({
  id: "d",
  companyId: CompanyId.make("payee"),
  ledgerTxId: "t",
  recipient: "bcrt1…",
  amount: Msat.make(1000n),
  network: "regtest",
  rail: "on_chain",
  status: "pending",
  chainTxId: TxId.make("ab"),
  vout: 0,
  height: 7,
  lightningInvoiceId: null,
  ...Purpose.none,
  metadata: {},
  absorbed: Msat.zero,
  ...Deposit.unrefunded,
  paidAtMillis: null,
  revision: 0,
  createdAtMillis: 1,
  updatedAtMillis: 1,
  ...fields
})

export const invoice = (fields: Partial<Invoice> = {}): Invoice => ({
  id: "i",
  companyId: CompanyId.make("payee"),
  nodeId: "02",
  memo: "tea",
  amount: Msat.make(1000n),
  minAmount: null,
  maxAmount: null,
  paymentHash: PaymentHash.make("11".repeat(32)),
  paymentRequest: "lnbcrt1…",
  metadata: {},
  lightningAddressId: null,
  ...Purpose.none,
  apiKeyId: null,
  callback: null,
  rate: null,
  rateAtMillis: null,
  fiatCurrency: null,
  rateSource: null,
  status: "pending",
  received: null,
  preimage: null,
  hold: null,
  held: null,
  heldUntilMillis: null,
  claimedBy: null,
  createdAtMillis: 1,
  expiresAtMillis: 3_600_001,
  settledAtMillis: null,
  canceledAtMillis: null,
  ...fields
})

export const apiKey = (fields: Pick<ApiKey, "id" | "secretHash"> & Partial<ApiKey>): ApiKey => ({
  ...withoutSecret({
    id: fields.id,
    companyId: CompanyId.make("c"),
    name: "till",
    scopes: ["read"],
    createdAtMillis: 0
  }),
  ...fields
})
