import { Layer } from "effect"
import * as ApiKeys from "./ApiKeys.ts"
import * as ChainDeposits from "./ChainDeposits.ts"
import * as Companies from "./Companies.ts"
import * as PaymentWorker from "./PaymentWorker.ts"
import * as Domains from "./Domains.ts"
import * as Expiry from "./Expiry.ts"
import * as Invoices from "./Invoices.ts"
import * as LightningAddresses from "./LightningAddresses.ts"
import * as OnChainAddresses from "./OnChainAddresses.ts"
import * as PayRequests from "./PayRequests.ts"
import * as Policy from "./Policy.ts"
import * as Prices from "./Prices.ts"
import * as Recipients from "./Recipients.ts"
import * as Reconciliation from "./Reconciliation.ts"
import * as SettledPayouts from "./SettledPayouts.ts"
import * as Settlements from "./Settlements.ts"
import * as Transactions from "./Transactions.ts"
import * as Vouchers from "./Vouchers.ts"
import * as Withdrawals from "./Withdrawals.ts"

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
    Layer.provideMerge(Layer.mergeAll(Prices.layer, Recipients.layer)),
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
