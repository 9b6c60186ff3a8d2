// Company sections that combine operations of several resources.
import * as Deposits from "@satrail/http/resources/Deposits"
import * as Exports from "@satrail/http/resources/Exports"
import * as Found from "@satrail/http/resources/Found"
import * as Invoices from "@satrail/http/resources/Invoices"
import * as LightningAddresses from "@satrail/http/resources/LightningAddresses"
import * as OnChainAddresses from "@satrail/http/resources/OnChainAddresses"
import * as Transactions from "@satrail/http/resources/Transactions"
import * as Withdrawals from "@satrail/http/resources/Withdrawals"
import * as Feature from "@satrail/http/api/Feature"
import { features } from "../features/http.ts"
import * as Section from "@satrail/http/api/Section"
import * as List from "./Transactions.ts"

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

export const read = Section.make(
  "read",
  { title: "Read", description: "Balance, deposits and withdrawals" },
  [
    Transactions.balance,
    List.list,
    Exports.transactions,
    Found.search,
    Withdrawals.get,
    Deposits.get,
    Deposits.getPayer,
    ...Feature.joined(features, "read")
  ]
)
