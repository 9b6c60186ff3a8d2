import { Effect, Layer } from "effect"
import { AccountReads } from "../accounts/AccountReads.ts"
import * as Domains from "../accounts/Domains.ts"
import * as OperatorTokens from "../accounts/OperatorTokens.ts"
import type { Dns } from "../base/Dns.ts"
import * as Traced from "../base/Traced.ts"
import * as TraceContext from "../base/TraceContext.ts"
import * as Events from "../events/Events.ts"
import * as Feed from "../events/Feed.ts"
import * as Retention from "../events/Retention.ts"
import * as Tail from "../events/Tail.ts"
import { EventStore } from "../ledger/EventStore.ts"
import * as Audit from "../ledger/Audit.ts"
import * as Expiry from "../ledger/Expiry.ts"
import { Journal } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import { NounReads } from "../ledger/NounReads.ts"
import type { Tasks } from "../ledger/Tasks.ts"
import * as Wakes from "../ledger/Wakes.ts"
import { ChainSource } from "../nodes/ChainSource.ts"
import { ChainWallet } from "../nodes/ChainWallet.ts"
import { ExchangeRates } from "../nodes/ExchangeRates.ts"
import { LightningReceiver } from "../nodes/LightningReceiver.ts"
import { LightningSender } from "../nodes/LightningSender.ts"
import { Resolver } from "../nodes/Resolver.ts"
import { Signer } from "../nodes/Signer.ts"
import * as Holds from "../receiving/Holds.ts"
import * as PayRequests from "../receiving/PayRequests.ts"
import { ReceivingReads } from "../receiving/ReceivingReads.ts"
import * as Suspense from "../receiving/Suspense.ts"
import * as Backlog from "../reports/reconciliation/Backlog.ts"
import * as Liquidity from "../reports/reconciliation/Liquidity.ts"
import * as Reconciliation from "../reports/reconciliation/Reconciliation.ts"
import { ReportReads } from "../reports/ReportReads.ts"
import * as Bookings from "../reports/Bookings.ts"
import * as PaymentDetails from "../reports/PaymentDetails.ts"
import * as Transactions from "../reports/Transactions.ts"
import * as LostWithdrawals from "../sending/LostWithdrawals.ts"
import { SendingReads } from "../sending/SendingReads.ts"
import { features, given } from "../features/index.ts"
import * as FeatureReads from "./FeatureReads.ts"
import * as Layers from "../ledger/Layers.ts"
import { Features } from "../ledger/Features.ts"
import * as Money from "./Money.ts"
import * as Payments from "./Payments.ts"
import * as Policy from "./Policy.ts"
import type { Records } from "./Records.ts"
import * as Status from "./Status.ts"

/** Ports that a host provides: storage, node, wallet, and external systems. */
export type Ports =
  | Journal
  | Records
  | Tasks
  | LightningReceiver
  | LightningSender
  | ChainSource
  | ChainWallet
  | Signer
  | ExchangeRates
  | Resolver
  | Dns

/** A Journal that remembers the trace in which each record was first committed. */
const layerTrail = Layer.effect(
  Journal,
  Effect.gen(function* () {
    const service = yield* Journal
    if (!(yield* TraceContext.isTraced)) return service
    return Journal.of({ commit: (change) => TraceContext.remembered(change.id)(service.commit(change)) })
  })
)

/**
 * The ports, with a trace span around each call. `Tasks` is left out because it is polled every second, even
 * when there is no work.
 */
const tracedPorts = Layer.mergeAll(
  Layer.provide(Traced.layer(Journal), layerTrail),
  Traced.layer(NounReads),
  Traced.layer(LedgerReads),
  Traced.layer(EventStore),
  Traced.layer(Audit.AuditStore),
  Traced.layer(AccountReads),
  Traced.layer(ReceivingReads),
  Traced.layer(SendingReads),
  FeatureReads.layerTraced,
  Traced.layer(ReportReads),
  Traced.layer(LightningReceiver),
  Traced.layer(LightningSender),
  Traced.layer(ChainSource),
  Traced.layer(ChainWallet),
  Traced.layer(Signer),
  Traced.layer(ExchangeRates),
  Traced.layer(Resolver)
)

/** All services, built on `Ports`. */
export const layer = (settings: Policy.Settings) =>
  Layer.mergeAll(
    Traced.over(OperatorTokens.OperatorTokens, OperatorTokens.layer),
    Traced.over(Domains.Domains, Domains.layer),
    Traced.over(PayRequests.PayRequests, PayRequests.layer),
    Traced.over(Transactions.Transactions, Transactions.layer),
    Traced.over(Bookings.Bookings, Bookings.layer),
    Traced.over(PaymentDetails.PaymentDetails, PaymentDetails.layer),
    Traced.over(Backlog.Backlog, Backlog.layer),
    Traced.over(Reconciliation.Reconciliation, Reconciliation.layer),
    Traced.over(Liquidity.Liquidity, Liquidity.layer),
    Traced.over(Status.Status, Status.layer),
    Traced.over(Suspense.Suspense, Suspense.layer),
    Traced.over(LostWithdrawals.LostWithdrawals, LostWithdrawals.layer),
    Holds.layer,
    Events.layer
  ).pipe(
    Layer.provideMerge(Layers.services(features)),
    Layer.provideMerge(Feed.layer),
    Layer.provideMerge(Money.services),
    Layer.provideMerge(Layers.extensions(features)),
    Layer.provideMerge(Policy.layer(settings)),
    Layer.provideMerge(Layer.effect(Features, given)),
    Layer.provide(tracedPorts),
    Layer.provide(Audit.layerJournal),
    Layer.provide(Layer.mergeAll(Wakes.layerJournal, Wakes.layerTasks)),
    Layer.provide(Payments.layerJournal),
    Layer.provideMerge(Tail.layer),
    Layer.provideMerge(Wakes.layer)
  )

/**
 * Background workers that credit deposits and send confirmed withdrawals. At least one process that uses a
 * store must run them.
 */
export const layerWorkers = Layer.mergeAll(
  Money.layerWorkers,
  Holds.layerWorker,
  Layers.workers(features),
  Domains.layerWorker,
  Expiry.layerWorker,
  Retention.layerWorker
)
