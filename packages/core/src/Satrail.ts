import { Layer } from "effect"
import * as ApiKeys from "./accounts/ApiKeys.ts"
import * as Companies from "./accounts/Companies.ts"
import * as Domains from "./accounts/Domains.ts"
import * as Fees from "./accounts/Fees.ts"
import * as Expiry from "./ledger/Expiry.ts"
import * as Prices from "./nodes/Prices.ts"
import * as Policy from "./policy/Policy.ts"
import * as ChainDeposits from "./receiving/ChainDeposits.ts"
import * as Invoices from "./receiving/Invoices.ts"
import * as LightningAddresses from "./receiving/LightningAddresses.ts"
import * as OnChainAddresses from "./receiving/OnChainAddresses.ts"
import * as PayRequests from "./receiving/PayRequests.ts"
import * as Settlements from "./receiving/Settlements.ts"
import * as Reconciliation from "./reconciliation/Reconciliation.ts"
import * as Transactions from "./reports/Transactions.ts"
import * as PaymentWorker from "./sending/PaymentWorker.ts"
import * as Recipients from "./sending/Recipients.ts"
import * as SettledPayouts from "./sending/SettledPayouts.ts"
import * as Vouchers from "./sending/Vouchers.ts"
import * as Withdrawals from "./sending/Withdrawals.ts"

/** Every service, over the ports: the storage (`Journal`, `Records`, `Tasks`), the nodes, `ExchangeRates`, `Resolver` and `Names`. */
export const layer = (settings: Policy.Settings) =>
  Layer.mergeAll(
    Companies.layer,
    ApiKeys.layer,
    Domains.layer,
    PayRequests.layer,
    LightningAddresses.layer,
    OnChainAddresses.layer,
    Transactions.layer,
    Reconciliation.layer,
    Settlements.layer,
    ChainDeposits.layer,
    SettledPayouts.layer,
    PaymentWorker.layer,
    Vouchers.layer
  ).pipe(
    Layer.provideMerge(Layer.merge(Withdrawals.layer, Invoices.layer)),
    Layer.provideMerge(Layer.mergeAll(Prices.layer, Recipients.layer, Fees.layer)),
    Layer.provideMerge(Layer.succeed(Policy.Policy, settings))
  )

/** The work that nobody asks for: credits what arrives, sends what was confirmed. One or more processes on a store need it. */
export const layerWorkers = Layer.mergeAll(
  Settlements.layerWorker,
  ChainDeposits.layerWorker,
  SettledPayouts.layerWorker,
  PaymentWorker.layerWorker,
  Vouchers.layerWorker,
  Domains.layerWorker,
  Expiry.layerWorker
)
