import { Effect, Layer } from "effect"
import { AccountReads } from "@satrail/core/accounts/AccountReads"
import * as Domains from "@satrail/core/accounts/Domains"
import * as OperatorTokens from "@satrail/core/accounts/OperatorTokens"
import type { Dns } from "@satrail/core/base/Dns"
import * as Traced from "@satrail/core/base/Traced"
import * as TraceContext from "@satrail/core/base/TraceContext"
import * as Events from "@satrail/core/events/Events"
import * as Feed from "@satrail/core/events/Feed"
import * as Retention from "@satrail/core/events/Retention"
import * as Tail from "@satrail/core/events/Tail"
import { EventStore } from "@satrail/core/ledger/EventStore"
import * as Audit from "@satrail/core/ledger/Audit"
import * as Expiry from "@satrail/core/ledger/Expiry"
import { Journal } from "@satrail/core/ledger/Journal"
import { LedgerReads } from "@satrail/core/ledger/LedgerReads"
import { NounReads } from "@satrail/core/ledger/NounReads"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Wakes from "@satrail/core/ledger/Wakes"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { ChainWallet } from "@satrail/core/nodes/ChainWallet"
import { ExchangeRates } from "@satrail/core/nodes/ExchangeRates"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender } from "@satrail/core/nodes/LightningSender"
import { Resolver } from "@satrail/core/nodes/Resolver"
import { Signer } from "@satrail/core/nodes/Signer"
import * as Holds from "@satrail/core/receiving/Holds"
import * as PayRequests from "@satrail/core/receiving/PayRequests"
import { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import * as Suspense from "@satrail/core/receiving/Suspense"
import * as Backlog from "@satrail/core/reports/reconciliation/Backlog"
import * as Liquidity from "@satrail/core/reports/reconciliation/Liquidity"
import * as Reconciliation from "@satrail/core/reports/reconciliation/Reconciliation"
import { ReportReads } from "@satrail/core/reports/ReportReads"
import * as Bookings from "@satrail/core/reports/Bookings"
import * as PaymentDetails from "@satrail/core/reports/PaymentDetails"
import * as Transactions from "@satrail/core/reports/Transactions"
import * as LostWithdrawals from "@satrail/core/sending/LostWithdrawals"
import { SendingReads } from "@satrail/core/sending/SendingReads"
// oxlint-disable-next-line import/no-unassigned-import -- registers the features' types for programs that import these declarations
import "../features/core.ts"
import { features, layerFeatures, own } from "../features/core.ts"
import * as FeatureReads from "@satrail/core/service/FeatureReads"
import type { AnyLayer, Feature } from "@satrail/core/ledger/Feature"
import * as Layers from "@satrail/core/ledger/Layers"
import * as Money from "@satrail/core/service/Money"
import * as Payments from "@satrail/core/service/Payments"
import * as Policy from "@satrail/core/service/Policy"
import type { Records } from "@satrail/core/service/Records"
import * as Status from "@satrail/core/service/Status"

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

/** Layers of the program's own features, which it provides in `Features`. Their services have no types here. */
const layerOwn = (of: (own: ReadonlyArray<Feature>) => AnyLayer): Layer.Layer<never> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- a program's own features need what the service provides
  Layer.unwrap(Effect.map(own, of)) as Layer.Layer<never>

/** All services, built on `Ports`, and those of the program's own features. */
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
    Events.layer,
    layerOwn(Layers.services)
  ).pipe(
    Layer.provideMerge(Layers.services(features)),
    Layer.provideMerge(Feed.layer),
    Layer.provideMerge(Money.services),
    Layer.provideMerge(layerOwn(Layers.extensions)),
    Layer.provideMerge(Layers.extensions(features)),
    Layer.provideMerge(Policy.layer(settings)),
    Layer.provide(tracedPorts),
    Layer.provide(Audit.layerJournal),
    Layer.provide(Layer.mergeAll(Wakes.layerJournal, Wakes.layerTasks)),
    Layer.provide(Payments.layerJournal),
    Layer.provideMerge(Tail.layer),
    Layer.provideMerge(Wakes.layer),
    Layer.provideMerge(layerFeatures)
  )

/**
 * Background workers that credit deposits and send confirmed withdrawals. At least one process that uses a
 * store must run them.
 */
export const layerWorkers = Layer.mergeAll(
  Money.layerWorkers,
  Holds.layerWorker,
  Layers.workers(features),
  layerOwn(Layers.workers),
  Domains.layerWorker,
  Expiry.layerWorker,
  Retention.layerWorker
)
