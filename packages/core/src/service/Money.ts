import { Layer } from "effect"
import * as ApiKeys from "../accounts/ApiKeys.ts"
import * as Companies from "../accounts/Companies.ts"
import * as Fees from "../accounts/Fees.ts"
import * as Stops from "../accounts/Stops.ts"
import * as Traced from "../base/Traced.ts"
import * as Audit from "../ledger/Audit.ts"
import * as Duties from "../ledger/Duties.ts"
import * as Wakes from "../ledger/Wakes.ts"
import * as Channels from "../nodes/Channels.ts"
import * as Prices from "../nodes/Prices.ts"
import * as Cancellations from "../receiving/Cancellations.ts"
import * as ChainDeposits from "../receiving/ChainDeposits.ts"
import * as Invoices from "../receiving/Invoices.ts"
import * as LightningAddresses from "../receiving/LightningAddresses.ts"
import * as OnChainAddresses from "../receiving/OnChainAddresses.ts"
import * as Settlements from "../receiving/Settlements.ts"
import * as PaymentWorker from "../sending/PaymentWorker.ts"
import * as Recipients from "../sending/Recipients.ts"
import * as SettledPayouts from "../sending/SettledPayouts.ts"
import * as Withdrawals from "../sending/Withdrawals.ts"
import * as Policy from "./Policy.ts"

/** The services of the money path, which need its ports and a policy. */
export const services = Layer.mergeAll(
  Traced.over(Companies.Companies, Companies.layer),
  Traced.over(ApiKeys.ApiKeys, ApiKeys.layer),
  Traced.over(LightningAddresses.LightningAddresses, LightningAddresses.layer),
  Settlements.layer,
  Cancellations.layer,
  ChainDeposits.layer,
  SettledPayouts.layer,
  PaymentWorker.layer
).pipe(
  Layer.provideMerge(
    Layer.mergeAll(
      Traced.over(Withdrawals.Withdrawals, Withdrawals.layer),
      Traced.over(Invoices.Invoices, Invoices.layer),
      Traced.over(OnChainAddresses.OnChainAddresses, OnChainAddresses.layer)
    )
  ),
  Layer.provideMerge(
    Layer.mergeAll(
      Traced.over(Prices.Prices, Prices.layer),
      Traced.over(Recipients.Recipients, Recipients.layer),
      Traced.over(Fees.Fees, Fees.layer)
    )
  ),
  Layer.provideMerge(Layer.mergeAll(Stops.layer, Traced.over(Channels.Channels, Channels.layer))),
  Layer.provideMerge(Duties.layer)
)

/**
 * The money path alone: companies, keys, invoices, addresses, deposits and withdrawals over the ledger. It has
 * no features, events or reports; `Satrail.layer` adds those. Both require the same ports.
 */
export const layer = (settings: Policy.Settings) =>
  services.pipe(
    Layer.provideMerge(Policy.layer(settings)),
    Layer.provide(Audit.layerJournal),
    Layer.provide(Layer.mergeAll(Wakes.layerJournal, Wakes.layerTasks)),
    Layer.provideMerge(Wakes.layer)
  )

/**
 * Workers that credit deposits and send confirmed withdrawals. At least one process on a store must run them.
 */
export const layerWorkers = Layer.mergeAll(
  Settlements.layerWorker,
  Cancellations.layerWorker,
  ChainDeposits.layerWorker,
  SettledPayouts.layerWorker,
  PaymentWorker.layerWorker
)
