// The sections of companies whose operations are those of several resources.
import * as Adjustments from "./features/adjustments/Adjustments.ts"
import * as Approvals from "./features/approvals/Approvals.ts"
import * as Deposits from "./resources/Deposits.ts"
import * as Exports from "./resources/Exports.ts"
import * as Invoices from "./resources/Invoices.ts"
import * as LightningAddresses from "./resources/LightningAddresses.ts"
import * as OnChainAddresses from "./resources/OnChainAddresses.ts"
import * as Statements from "./features/statements/Statements.ts"
import * as Transactions from "./resources/Transactions.ts"
import * as Withdrawals from "./resources/Withdrawals.ts"
import * as Offers from "./features/offers/Offers.ts"
import * as Section from "./api/Section.ts"

export const receive = Section.make(
  "receive",
  { title: "Receive", description: "Lightning invoices, Lightning addresses, offers and on-chain addresses" },
  [
    Invoices.create,
    Invoices.get,
    Invoices.list,
    Invoices.cancel,
    Invoices.settle,
    LightningAddresses.create,
    OnChainAddresses.create,
    OnChainAddresses.get,
    OnChainAddresses.list,
    ...Offers.operations
  ]
)

export const send = Section.make("send", { title: "Send", description: "Estimates and withdrawals" }, [
  Withdrawals.estimate,
  Withdrawals.confirm,
  Withdrawals.confirmSend,
  ...Approvals.operations
])

export const read = Section.make("read", { title: "Read", description: "Balance, deposits, withdrawals" }, [
  Transactions.balance,
  Transactions.list,
  Exports.transactions,
  Statements.get,
  Withdrawals.get,
  Deposits.get,
  Deposits.getPayer,
  Adjustments.ofCompany
])
