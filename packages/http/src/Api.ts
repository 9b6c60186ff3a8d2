import { base } from "./Base.ts"
import * as Account from "./resources/Account.ts"
import * as Adjustments from "./resources/Adjustments.ts"
import * as ApiKeys from "./resources/ApiKeys.ts"
import * as Approvals from "./resources/Approvals.ts"
import * as Audit from "./resources/Audit.ts"
import * as Checkouts from "./resources/Checkouts.ts"
import * as Companies from "./resources/Companies.ts"
import * as CompanyFees from "./resources/CompanyFees.ts"
import * as Deposits from "./resources/Deposits.ts"
import * as Domains from "./resources/Domains.ts"
import * as Events from "./resources/Events.ts"
import * as Exports from "./resources/Exports.ts"
import * as Health from "./resources/Health.ts"
import * as Invoices from "./resources/Invoices.ts"
import * as LightningAddresses from "./resources/LightningAddresses.ts"
import * as Logo from "./resources/Logo.ts"
import * as Metrics from "./resources/Metrics.ts"
import * as Offers from "./resources/Offers.ts"
import * as OnChainAddresses from "./resources/OnChainAddresses.ts"
import * as OperatorBacklog from "./resources/OperatorBacklog.ts"
import * as OperatorCompanies from "./resources/OperatorCompanies.ts"
import * as OperatorTokens from "./resources/OperatorTokens.ts"
import * as OwnApiKeys from "./resources/OwnApiKeys.ts"
import * as Rates from "./resources/Rates.ts"
import * as Reconciliation from "./resources/Reconciliation.ts"
import * as Statements from "./resources/Statements.ts"
import * as Status from "./resources/Status.ts"
import * as Stops from "./resources/Stops.ts"
import * as Suspense from "./resources/Suspense.ts"
import * as Transactions from "./resources/Transactions.ts"
import * as Refunds from "./resources/Refunds.ts"
import * as Vouchers from "./resources/Vouchers.ts"
import * as WalletConnections from "./resources/WalletConnections.ts"
import * as WebhookEndpoints from "./resources/WebhookEndpoints.ts"
import * as Withdrawals from "./resources/Withdrawals.ts"
import * as Section from "./Section.ts"

const receive = Section.make(
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
    Offers.create,
    Offers.get,
    Offers.list
  ]
)

const send = Section.make("send", { title: "Send", description: "Estimates and withdrawals" }, [
  Withdrawals.estimate,
  Withdrawals.confirm,
  Withdrawals.confirmSend,
  Approvals.approve,
  Approvals.reject
])

const read = Section.make("read", { title: "Read", description: "Balance, deposits, withdrawals" }, [
  Transactions.balance,
  Transactions.list,
  Exports.transactions,
  Statements.get,
  Withdrawals.get,
  Deposits.get,
  Deposits.getPayer,
  Adjustments.ofCompany
])

const operator = Section.make(
  "operator",
  { title: "Operator", description: "Companies, their keys, plans and domains: with the operator's token, never with an API key" },
  [
    Companies.open,
    ApiKeys.issue,
    ApiKeys.get,
    ApiKeys.limit,
    ApiKeys.updateLimits,
    ApiKeys.allowFrom,
    ApiKeys.revoke,
    ApiKeys.rotate,
    WalletConnections.create,
    WalletConnections.get,
    Companies.update,
    Companies.getLimits,
    Companies.limit,
    Companies.updateLimits,
    CompanyFees.get,
    CompanyFees.put,
    CompanyFees.patch,
    Domains.vouch,
    LightningAddresses.handOver
  ]
)

const together = Section.together([
  receive,
  Checkouts.section,
  Logo.section,
  LightningAddresses.section,
  Domains.section,
  send,
  Vouchers.section,
  Refunds.section,
  read,
  Events.section,
  WebhookEndpoints.section,
  Audit.section,
  Rates.section,
  Account.section,
  OwnApiKeys.section,
  operator,
  Status.section,
  Stops.section,
  OperatorCompanies.section,
  OperatorBacklog.section,
  OperatorTokens.section,
  Audit.operatorSection,
  Exports.operatorSection,
  WebhookEndpoints.operatorSection,
  Reconciliation.section,
  Suspense.section,
  Adjustments.section,
  Domains.tls,
  Health.section,
  Metrics.section
])

/** Everything that can be asked over HTTP. A host adds groups of its own by `Api.add(group)`. */
export const Api = base.add(...together.groups)

/** What answers it. */
export const layerHandlers = together.layer
