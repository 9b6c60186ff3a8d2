import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as TxId from "@satrail/bitcoin/TxId"
import * as CompanyId from "../src/base/CompanyId.ts"
import type { Change } from "../src/Changes.ts"
import type { Balance } from "../src/ledger/Balance.ts"
import type { Account } from "../src/ledger/Change.ts"
import type { Offer } from "../src/nodes/Resolver.ts"
import type { Settings } from "../src/Policy.ts"
import { defaults } from "../src/Policy.ts"
import type { Deposit } from "../src/receiving/Deposit.ts"
import type { Invoice } from "../src/receiving/Invoice.ts"
import { pending, type Withdrawal } from "../src/sending/Withdrawal.ts"

// Rows for tests that need no store: whatever a test does not name is the same in all of them.

export const settings: Settings = { ...defaults, network: "regtest", domain: "pay.example" }

export const fence = { taskId: "w", token: 1 } as const

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
    createdAtMillis: 1
  }),
  ...fields
})

export const deposit = (fields: Partial<Deposit> = {}): Deposit => ({
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
  absorbed: Msat.zero,
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
  paymentHash: PaymentHash.make("11".repeat(32)),
  paymentRequest: "lnbcrt1…",
  metadata: {},
  lightningAddressId: null,
  callback: null,
  rate: null,
  rateAtMillis: null,
  status: "pending",
  received: null,
  preimage: null,
  claimedBy: null,
  createdAtMillis: 1,
  expiresAtMillis: 3_600_001,
  settledAtMillis: null,
  ...fields
})

export const offer = (fields: Partial<Offer> = {}): Offer => ({
  callback: "https://wallet.example/pay",
  min: Msat.fromSats(10),
  max: Msat.fromSats(1000),
  metadata: '[["text/plain","tea"]]',
  ...fields
})

/** What a Change takes from each account and gives to it: only those that it moves. */
export const moved = (change: Change): Partial<Record<Account, bigint>> => {
  const sums: Partial<Record<Account, bigint>> = {}
  for (const { from, to, amount } of change.legs.flatMap(({ postings }) => postings)) {
    sums[from] = (sums[from] ?? 0n) - amount
    sums[to] = (sums[to] ?? 0n) + amount
  }
  return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0n))
}

/** A balance in plain numbers, to compare with. */
export const plain = ({ posted, held }: Balance) => ({ posted: Number(posted), held: Number(held) })
