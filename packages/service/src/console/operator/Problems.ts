import type { AlarmName } from "@satrail/ui/console/Alarm"
import * as Formats from "@satrail/ui/console/Format"
import { applying, lateNotices, type Problem } from "@satrail/ui/console/Feature"
import { features } from "../../features/console.ts"
import type { OperatorVisit } from "@satrail/ui/console/Page"
import type {
  Company,
  CompanyOverview,
  Liquidity,
  Reconciliation,
  ReconciliationReport,
  Status,
  SuspendedPayment
} from "@satrail/ui/console/wire"
import {
  checkName,
  roleName,
  count,
  countOf,
  type Listed,
  most,
  oldestOf,
  since,
  sumOf,
  totalsOf
} from "@satrail/ui/console/operator/Common"
import { isLate, type Kind, lateKinds, withdrawalKinds } from "./Waiting.ts"

export interface Facts {
  readonly status: Status
  readonly liquidity: Liquidity
  readonly reconciliation: Reconciliation
  readonly suspense: Listed<SuspendedPayment>
  /** The problems reported by features. */
  readonly others: ReadonlyArray<Problem>
  /** The newest frozen companies. */
  readonly frozen: ReadonlyArray<CompanyOverview>
  readonly areMoreFrozen: boolean
  /** The companies of the listed backlog, by id. */
  readonly companies: ReadonlyMap<string, Company>
}

export const mostFrozen = most

export const factsOf = async (visit: OperatorVisit): Promise<Facts> => {
  const { api } = visit
  const [status, liquidity, reconciliation, suspense, others, frozen] = await Promise.all([
    api.call("GET /operator/status"),
    api.call("GET /operator/liquidity"),
    api.call("GET /operator/reconciliation"),
    api.page("GET /operator/suspense", { query: { status: "open", limit: most } }),
    Promise.all(features.map(({ troubles }) => troubles?.problems?.(visit) ?? [])),
    api.page("GET /operator/companies", { query: { status: "frozen", limit: mostFrozen } })
  ])
  const waiting = Object.values(reconciliation.waiting).flatMap(({ oldest }) => oldest)
  return {
    status,
    liquidity,
    reconciliation,
    suspense,
    others: others.flat(),
    frozen: frozen.data,
    areMoreFrozen: frozen.next !== undefined,
    companies: await visit.companies(waiting.map(({ company_id: id }) => id))
  }
}

const sides = [
  ["node", "Lightning node"],
  ["on_chain", "on-chain wallet"]
] as const

const causeWords = (report: ReconciliationReport): string =>
  Object.entries(report.differences_by_cause)
    .map(([cause, many]) => `${cause.replaceAll("_", " ")}${many > 1 ? ` (${many})` : ""}`)
    .join(", ")

const ofReconciliation = (
  { reconciliation: { report } }: Facts,
  { say, to }: OperatorVisit
): ReadonlyArray<Problem> => {
  const row = {
    tone: "bad",
    glyph: "scales",
    href: to("reconciliation"),
    action: "See the difference",
    guide: "reconcile",
    alarms: ["SatrailBooksDiffer"]
  } as const
  if (report === null)
    return [
      {
        ...row,
        alarms: ["SatrailReconciliationOld"],
        tone: "warn",
        title: "The ledger has never been compared with the node and the wallet",
        text: "No process is running reconciliation, or the first run has not finished."
      }
    ]
  const { differences } = report
  const missing = report.liabilities_sats - report.assets_sats
  const short: Problem = {
    ...row,
    alarms: ["SatrailMoneyMissing"],
    title: "The node and the wallet hold less than is owed to companies",
    text: "Stop sending if you don’t know why.",
    sats: missing
  }
  const unexplained = sides.map(([side, name]): Problem | false => {
    const sats = report[side].unexplained_sats
    return (
      sats !== 0 && {
        ...row,
        title: `The ${name} has ${Formats.inSats(Math.abs(sats))} ${sats < 0 ? "less" : "more"} than the ledger`,
        text: differences.length === 0 ? "The cause is not known yet." : `Causes: ${causeWords(report)}.`,
        sinceMillis: oldestOf(differences.map((one) => one.since)),
        sats: Math.abs(sats)
      }
    )
  })
  const mismatch: Problem = {
    ...row,
    title: `${count(differences.length, "record doesn’t match", "records don’t match")} the node or the chain`,
    text: `Causes: ${causeWords(report)}.`,
    sinceMillis: oldestOf(differences.map((one) => one.since)),
    sats: sumOf(
      differences.map(({ ours_sats: ours, theirs_sats: theirs }) => Math.abs((theirs ?? 0) - (ours ?? 0)))
    )
  }
  const isMismatch = differences.length > 0 && unexplained.every((one) => one === false)
  const old: Problem = {
    ...row,
    alarms: ["SatrailReconciliationOld"],
    title: `The ledger was last compared ${since(say, report.reconciled_at)} ago`,
    text: "Reconciliation runs every few minutes. Check the node, and the process that reconciles.",
    sinceMillis: Date.parse(report.reconciled_at),
    action: "See the last run"
  }
  return applying([missing > 0 && short, ...unexplained, isMismatch && mismatch, report.is_outdated && old])
}

/**
 * Whether an operator stopped the activity that these records wait for. If so, they are shown as stopped, not
 * as late.
 */
const isStopped = (kind: Kind, { stops }: OperatorVisit) =>
  stops.sendingMillis !== null && (kind === "withdrawal_requested" || kind === "payout_without_coins")

/** The oldest records of a kind that are late. Those that an operator stopped are not. */
const lateIn = ({ waiting }: Pick<Reconciliation, "waiting">, kind: Kind, visit: OperatorVisit) =>
  isStopped(kind, visit)
    ? []
    : waiting[kind].oldest.filter((one) => isLate(kind, Date.parse(one.since), one, visit.say.nowMillis))

/** The number of late withdrawals per company, among the oldest ones. */
export const lateOf = (
  found: Pick<Reconciliation, "waiting">,
  visit: OperatorVisit
): ReadonlyMap<string, number> => {
  const late = new Map<string, number>()
  for (const kind of withdrawalKinds)
    for (const { company_id: id } of lateIn(found, kind, visit)) late.set(id, (late.get(id) ?? 0) + 1)
  return late
}

const ofBacklog = ({ reconciliation, companies }: Facts, visit: OperatorVisit): ReadonlyArray<Problem> => {
  const { say, to } = visit
  return [...lateKinds].flatMap(([kind, { title, tone, why, alarm }]): ReadonlyArray<Problem> => {
    const late = lateIn(reconciliation, kind, visit).filter(
      ({ company_id }) =>
        !(kind === "withdrawal_requested" && companies.get(company_id)?.frozen?.pending === "wait")
    )
    const [first] = late
    if (first === undefined) return []
    const isWithdrawal = withdrawalKinds.some((one) => one === kind)
    const whose = late.length === 1 ? companies.get(first.company_id)?.name : undefined
    return [
      {
        tone,
        glyph: "hourglass",
        title: title(late.length, since(say, first.since)),
        text: whose === undefined ? why : `${whose}. ${why}`,
        sinceMillis: Date.parse(first.since),
        sats: kind === "task_overdue" ? null : late.reduce((sum, { amount_sats }) => sum + amount_sats, 0),
        href: to(
          !isWithdrawal ? "backlog" : late.length === 1 ? `withdrawals/${first.id}` : `backlog?kind=${kind}`
        ),
        action: isWithdrawal && late.length === 1 ? "See its steps" : "See them",
        guide: kind.startsWith("deposit") ? "incidents#missing-payment" : "incidents#pending-withdrawal",
        alarms:
          alarm !== undefined && say.nowMillis - Date.parse(first.since) > alarm.afterMillis
            ? [alarm.name]
            : []
      }
    ]
  })
}

export const slowSeconds = 300

const alarmOf: Readonly<Record<string, AlarmName>> = {
  no_active_channel: "SatrailNoChannel",
  inbound_low: "SatrailInboundLow",
  outbound_low: "SatrailOutboundLow",
  channels_inactive: "SatrailChannelsInactive",
  channels_force_closing: "SatrailForceClose"
}

const ofService = ({ status, liquidity }: Facts, { say, to }: OperatorVisit): ReadonlyArray<Problem> => {
  const row = {
    tone: "bad",
    glyph: "nodes",
    href: to("nodes"),
    action: "See the node",
    guide: "incidents#outages"
  } as const
  const checks = status.checks.map(
    ({ name, reason }): Problem | false =>
      reason !== null && {
        ...row,
        title: `${checkName(name)}: not working`,
        text: reason,
        alarms: [
          ...(name === "node" ? (["SatrailNodeAway"] as const) : []),
          ...(reason.startsWith("behind:") ? (["SatrailNodeBehind"] as const) : []),
          "SatrailNotReady"
        ]
      }
  )
  const channels = status.warnings.map(({ code, message }): Problem => ({
    ...row,
    tone: code === "no_active_channel" ? "bad" : "warn",
    title: message,
    text: "Open channels, or move funds between them. On-chain and internal payments continue.",
    sats:
      code === "outbound_low"
        ? liquidity.outgoing_sats
        : code === "inbound_low"
          ? liquidity.incoming_sats
          : null,
    action: "See channels",
    guide: "operate#channels",
    alarms: [alarmOf[code] ?? []].flat()
  }))
  const roles = status.roles.map(
    ({ role, held_until }): Problem | false =>
      held_until === null && {
        ...row,
        title: `No process is doing this work: ${roleName(role)}`,
        text: "Start a process that can do it, or wait until a running one takes over.",
        action: "See background work",
        guide: "incidents#pending-withdrawal"
      }
  )
  const lag = (
    seconds: number,
    more: Pick<Problem, "title" | "text" | "guide" | "alarms">
  ): Problem | false =>
    seconds > slowSeconds && {
      ...row,
      ...more,
      glyph: "hook",
      sinceMillis: say.nowMillis - seconds * 1000,
      action: "See background work"
    }
  return applying([
    ...checks,
    ...channels,
    ...roles,
    lag(status.events_lag_seconds, {
      title: "Events are delayed",
      text: lateNotices,
      guide: "monitor#what-to-do",
      alarms: ["SatrailEventsStuck"]
    }),
    ...status.lags.map(({ feature, lag_seconds }) =>
      lag(lag_seconds, {
        title: `The work of ${feature} is late`,
        text: "Some of its records are not up to date.",
        guide: "monitor#what-to-do",
        ...features.find(({ name }) => name === feature)?.troubles?.late
      })
    )
  ])
}

const ofDecisions = ({ suspense, others }: Facts, { to }: OperatorVisit): ReadonlyArray<Problem> =>
  applying([
    suspense.data.length > 0 && {
      tone: "warn",
      glyph: "tray",
      title: `${countOf(suspense, "payment has", "payments have")} no owner`,
      text: "The node received payments that were not credited to any company.",
      ...totalsOf(suspense, ({ received_sats }) => received_sats),
      href: to(suspense.data.length === 1 ? `suspense/${suspense.data[0]?.id}` : "suspense"),
      action: "Assign…",
      guide: "incidents#missing-payment"
    },
    ...others
  ])

/** The current problems, worst first. */
export const problemsOf = (facts: Facts, visit: OperatorVisit): ReadonlyArray<Problem> =>
  [
    ...ofReconciliation(facts, visit),
    ...ofBacklog(facts, visit),
    ...ofService(facts, visit),
    ...ofDecisions(facts, visit)
  ].toSorted((a, b) => Number(a.tone !== "bad") - Number(b.tone !== "bad"))

/** Activities that operators stopped. They are not problems, but are shown so that they are not forgotten. */
export const stoppedOf = (
  { reconciliation: { waiting }, frozen: companies, areMoreFrozen }: Facts,
  { stops, to }: OperatorVisit
): ReadonlyArray<Problem> => {
  const queued = [waiting.withdrawal_requested, waiting.payout_without_coins]
  const many = sumOf(queued.map(({ count: one }) => one))
  const stop = { guide: "incidents#stop-everything" } as const
  const waits = { ...stop, alarms: ["SatrailWithdrawalsWait"] } as const
  return applying([
    stops.sendingMillis !== null && {
      tone: "warn",
      glyph: "pause",
      title: "Sending is paused for everyone",
      text: "Confirmed withdrawals wait. Companies see a banner.",
      sinceMillis: stops.sendingMillis,
      sats: sumOf(queued.map(({ amount_sats }) => amount_sats)),
      beneath: `${many} waiting`,
      href: to("resume"),
      action: "Resume…",
      ...(many === 0 ? stop : waits)
    },
    stops.receivingMillis !== null && {
      tone: "warn",
      glyph: "pause",
      title: "Receiving is paused for everyone",
      text: "No invoice or address can be created. Payments that arrive are credited.",
      sinceMillis: stops.receivingMillis,
      href: to("resume?what=receiving"),
      action: "Resume…",
      ...stop
    },
    ...companies.map(
      ({ id, name, frozen, held_sats }): Problem | false =>
        frozen !== null && {
          tone: "info",
          glyph: "frozen",
          title: `${name} is frozen`,
          text: `“${frozen.reason}”`,
          sinceMillis: Date.parse(frozen.since),
          sats: held_sats,
          beneath: "held",
          href: to(`companies/${id}/unfreeze`),
          action: "Unfreeze…",
          ...(frozen.pending === "wait" && waiting.withdrawal_requested.count > 0 ? waits : stop)
        }
    ),
    areMoreFrozen && {
      ...stop,
      tone: "info",
      glyph: "frozen",
      title: "More companies are frozen",
      text: `Only the newest ${companies.length} are listed here.`,
      href: to("companies?status=frozen"),
      action: "See them"
    }
  ])
}
