export interface Alarm {
  readonly title: string
  /** The section of the guides that says what to do. */
  readonly guide: string
  /** The page of the operator's console that shows the cause. */
  readonly path: string
  /** Whether only Prometheus can evaluate it, because it depends on rates or on other processes. */
  readonly isRemote?: boolean
}

/** The alarms of deploy/prometheus/rules.yaml, in its order, except those that features declare. */
export const alarms = {
  SatrailBooksDiffer: {
    title: "The ledger differs from the node or the chain",
    guide: "reconcile",
    path: "reconciliation"
  },
  SatrailMoneyMissing: {
    title: "The node and the wallet hold less than is owed to companies",
    guide: "reconcile",
    path: "reconciliation"
  },
  SatrailReconciliationOld: {
    title: "The ledger has not been compared recently",
    guide: "reconcile",
    path: "reconciliation"
  },
  SatrailClocksDiffer: {
    title: "The clocks of two processes differ",
    guide: "monitor#what-to-do",
    path: "nodes",
    isRemote: true
  },
  SatrailWithdrawalsWait: {
    title: "A confirmed withdrawal has not been sent",
    guide: "incidents#pending-withdrawal",
    path: "backlog?kind=withdrawal_requested"
  },
  SatrailWithdrawalUndecided: {
    title: "A withdrawal has been in flight for more than a day",
    guide: "incidents#pending-withdrawal",
    path: "backlog?kind=withdrawal_dispatched"
  },
  SatrailPaymentsLost: {
    title: "The node has lost payments in flight, or their results",
    guide: "lnd#after-a-restore",
    path: "backlog?kind=withdrawal_lost"
  },
  SatrailHotWalletEmpty: {
    title: "A payout has not been broadcast",
    guide: "incidents#pending-withdrawal",
    path: "backlog?kind=payout_without_coins"
  },
  SatrailPayoutUnconfirmed: {
    title: "A payout has been unconfirmed for more than a day",
    guide: "monitor#a-payout-that-cannot-confirm",
    path: "backlog?kind=payout_without_block"
  },
  SatrailPaymentsFail: {
    title: "Most payments fail",
    guide: "monitor#what-to-do",
    path: "nodes",
    isRemote: true
  },
  SatrailAbsent: {
    title: "Prometheus can’t reach any process",
    guide: "monitor#set-up",
    path: "nodes",
    isRemote: true
  },
  SatrailProcessAway: {
    title: "Prometheus can’t reach a process",
    guide: "monitor#set-up",
    path: "nodes",
    isRemote: true
  },
  SatrailNotReady: {
    title: "A part of the service is not working",
    guide: "incidents#outages",
    path: "nodes"
  },
  SatrailNodeAway: {
    title: "The Lightning node does not respond",
    guide: "incidents#outages",
    path: "nodes"
  },
  SatrailNodeBehind: { title: "A node lacks blocks", guide: "monitor#a-node-that-is-behind", path: "nodes" },
  SatrailStoreAway: {
    title: "The database does not respond",
    guide: "incidents#outages",
    path: "nodes",
    isRemote: true
  },
  SatrailStoreOverloaded: {
    title: "Requests are rejected because the database can’t keep up",
    guide: "monitor#what-to-do",
    path: "nodes",
    isRemote: true
  },
  SatrailWorkOverdue: {
    title: "Jobs are due, and no process claims them",
    guide: "incidents#pending-withdrawal",
    path: "backlog"
  },
  SatrailRequestsFail: { title: "Requests fail", guide: "monitor#what-to-do", path: "nodes", isRemote: true },
  SatrailRequestsSlow: {
    title: "Requests are slow",
    guide: "monitor#what-to-do",
    path: "nodes",
    isRemote: true
  },
  SatrailEventsStuck: { title: "Events are delayed", guide: "monitor#what-to-do", path: "nodes" },
  SatrailNoChannel: { title: "The node has no active channel", guide: "operate#channels", path: "nodes" },
  SatrailInboundLow: { title: "The channels can receive little", guide: "operate#channels", path: "nodes" },
  SatrailOutboundLow: { title: "The channels can send little", guide: "operate#channels", path: "nodes" },
  SatrailChannelsInactive: { title: "Channels are inactive", guide: "operate#channels", path: "nodes" },
  SatrailForceClose: { title: "Channels are being force-closed", guide: "operate#channels", path: "nodes" },
  SatrailInvoicesBeyondInbound: {
    title: "Invoices exceed what the channels can receive",
    guide: "operate#channels",
    path: "nodes",
    isRemote: true
  }
} as const satisfies Readonly<Record<string, Alarm>>

export type AlarmName = keyof typeof alarms
