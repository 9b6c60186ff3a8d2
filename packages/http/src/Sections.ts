// Company sections that combine operations of several resources.
import * as Deposits from "./resources/Deposits.ts"
import * as Exports from "./resources/Exports.ts"
import * as Invoices from "./resources/Invoices.ts"
import * as LightningAddresses from "./resources/LightningAddresses.ts"
import * as OnChainAddresses from "./resources/OnChainAddresses.ts"
import * as Transactions from "./resources/Transactions.ts"
import * as Withdrawals from "./resources/Withdrawals.ts"
import * as Feature from "./features/Feature.ts"
import { features } from "./features/index.ts"
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
    ...Feature.joined(features, "receive")
  ]
)

export const send = Section.make("send", { title: "Send", description: "Estimates and withdrawals" }, [
  Withdrawals.estimate,
  Withdrawals.confirm,
  Withdrawals.confirmSend,
  ...Feature.joined(features, "send")
])

export const read = Section.make("read", { title: "Read", description: "Balance, deposits and withdrawals" }, [
  Transactions.balance,
  Transactions.list,
  Exports.transactions,
  Withdrawals.get,
  Deposits.get,
  Deposits.getPayer,
  ...Feature.joined(features, "read")
])
