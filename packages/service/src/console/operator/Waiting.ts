import { h } from "preact"
import type { AlarmName } from "@satrail/ui/console/Alarm"
import type { Advice, Waits } from "@satrail/ui/console/Feature"
import { features } from "../../features/console.ts"
import type { OperatorVisit } from "@satrail/ui/console/Page"
import { link, type Badge } from "@satrail/ui/console/Parts"
import type { Company, FollowedWithdrawal, Reconciliation, WaitingRecord } from "@satrail/ui/console/wire"
import { ago } from "@satrail/ui/console/operator/Common"

// Descriptions of what withdrawals, deposits and jobs wait for, and of what to do about it.

export type Kind = keyof Reconciliation["waiting"]

interface Late {
  readonly title: (many: number, span: string) => string
  /** After this long, an operator has to act. */
  readonly lateMillis: number
  readonly tone: "bad" | "warn"
  /** Explains the state, for the list of problems. */
  readonly why: string
  readonly alarm?: { readonly name: AlarmName; readonly afterMillis: number }
}

const minute = 60_000
const hour = 60 * minute
const are = (many: number, one: string, more: string) =>
  many === 1 ? `A ${one} has` : `${many} ${more} have`
const oldest = (many: number, span: string) => (many === 1 ? span : `up to ${span}`)

/** The kinds that an operator may have to act on. The others wait for payers, payees or companies. */
export const lateKinds: ReadonlyMap<Kind, Late> = new Map<Kind, Late>([
  [
    "withdrawal_dispatched",
    {
      title: (many, span) =>
        `${are(many, "withdrawal", "withdrawals")} been in flight for ${oldest(many, span)}`,
      lateMillis: 10 * minute,
      tone: "bad",
      why: "The node has not reported a final result. The money stays held, so it is safe either way.",
      alarm: { name: "SatrailWithdrawalUndecided", afterMillis: 24 * hour }
    }
  ],
  [
    "withdrawal_lost",
    {
      title: (many, span) =>
        `${are(many, "withdrawal", "withdrawals")} been lost by the node, and pending for ${oldest(many, span)}`,
      lateMillis: 0,
      tone: "bad",
      why: "The node was restored or replaced, and has no record of the payment. The payee may still be paid, so the money stays held until you end it.",
      alarm: { name: "SatrailPaymentsLost", afterMillis: 0 }
    }
  ],
  [
    "withdrawal_requested",
    {
      title: (many, span) =>
        `${are(many, "confirmed withdrawal", "confirmed withdrawals")} been waiting to be sent for ${oldest(many, span)}`,
      lateMillis: 10 * minute,
      tone: "bad",
      why: "Nothing was sent. Either no worker is running, or the payee’s server isn’t responding.",
      alarm: { name: "SatrailWithdrawalsWait", afterMillis: 10 * minute }
    }
  ],
  [
    "payout_without_coins",
    {
      title: (many, span) =>
        `${are(many, "payout", "payouts")} waited to be broadcast for ${oldest(many, span)}`,
      lateMillis: 10 * minute,
      tone: "bad",
      why: "The hot wallet has too few coins, or the payout’s batching interval hasn’t ended.",
      alarm: { name: "SatrailHotWalletEmpty", afterMillis: 10 * minute }
    }
  ],
  [
    "payout_without_block",
    {
      title: (many, span) => `${are(many, "payout", "payouts")} been unconfirmed for ${oldest(many, span)}`,
      lateMillis: 3 * hour,
      tone: "warn",
      why: "Its transaction was broadcast, and is in no block yet.",
      alarm: { name: "SatrailPayoutUnconfirmed", afterMillis: 24 * hour }
    }
  ],
  [
    "deposit_unconfirmed",
    {
      title: (many, span) => `${are(many, "deposit", "deposits")} been confirming for ${oldest(many, span)}`,
      lateMillis: 24 * hour,
      tone: "warn",
      why: "It is credited once it has the confirmations its amount requires."
    }
  ],
  [
    "task_overdue",
    {
      title: (many, span) => `${are(many, "job", "jobs")} been overdue for ${oldest(many, span)}`,
      lateMillis: minute,
      tone: "bad",
      why: "No process is picking it up. Check that a process with workers is running.",
      alarm: { name: "SatrailWorkOverdue", afterMillis: 5 * minute }
    }
  ]
])

/** The kinds of backlog that are withdrawals, except those of features, with the text of the status in a list. */
const own = [
  ["withdrawal_dispatched", "At the node"],
  ["withdrawal_lost", "Lost by the node"],
  ["withdrawal_requested", "Not sent yet"],
  ["payout_without_coins", "Not broadcast yet"],
  ["payout_without_block", "Unconfirmed payout"]
] as const satisfies ReadonlyArray<readonly [Kind, string]>
export type OwnKind = (typeof own)[number][0]

const ofFeatures = features.flatMap(({ waits }) => waits ?? [])

/** All kinds of backlog that are withdrawals, with the text of the chip. */
export const chips: ReadonlyArray<readonly [kind: Kind, text: string]> = [
  ...own,
  ...ofFeatures.map(({ kind, text }) => [kind, text] as const)
]
export const withdrawalKinds = chips.map(([kind]) => kind)
const texts = new Map(chips)

/** A reason of a feature that these pages do not have. The withdrawal is not final, so it must not look failed. */
const unknown = (kind: Kind, waitsFor: string | null): Waits => ({
  kind,
  text: "Waiting",
  step: "Waiting",
  end: "Paid, or money returned",
  advice: () => ({
    first: "Wait. Do not pay it again.",
    next: waitsFor === null ? [] : [`It waits for: ${waitsFor}.`]
  })
})

/** What a pending withdrawal waits for, which may be a feature's reason; undefined once it is final. */
export const kindOf = ({ kind, waits_for }: FollowedWithdrawal): OwnKind | Waits | undefined => {
  if (kind === null) return undefined
  return (
    own.find(([one]) => one === kind)?.[0] ??
    ofFeatures.find((one) => one.kind === kind) ??
    unknown(kind, waits_for)
  )
}

/** Returns whether a withdrawal waits because its company is frozen or sending is paused. Undefined if neither. */
const stopOf = (
  withdrawal: FollowedWithdrawal,
  { stops }: Pick<OperatorVisit, "stops">,
  company: Company | undefined
): "frozen" | "paused" | undefined => {
  const kind = kindOf(withdrawal)
  if (kind !== "withdrawal_requested" && kind !== "payout_without_coins") return undefined
  if (company?.frozen?.pending === "wait") return "frozen"
  return stops.sendingMillis === null ? undefined : "paused"
}

/**
 * Returns whether an operator has to act. A job that was never tried is late only once it is overdue, because a
 * payout's job is due at the end of its batching interval.
 */
export const isLate = (
  kind: Kind,
  sinceMillis: number,
  { attempts, next_look_at }: Pick<WaitingRecord, "attempts" | "next_look_at">,
  nowMillis: number
): boolean => {
  const lateMillis = lateKinds.get(kind)?.lateMillis
  const fromMillis =
    attempts === 0 && next_look_at !== null ? Math.max(sinceMillis, Date.parse(next_look_at)) : sinceMillis
  return lateMillis !== undefined && nowMillis - fromMillis > lateMillis
}

/** Returns when the withdrawal's current step began. */
export const waitsSince = ({ timeline, created_at }: FollowedWithdrawal): number =>
  Date.parse(timeline.at(-1)?.at ?? created_at)

export const badgeOf = (
  withdrawal: FollowedWithdrawal,
  visit: OperatorVisit,
  company: Company | undefined
): Badge => {
  const kind = kindOf(withdrawal)
  if (kind === undefined)
    return withdrawal.status === "settled"
      ? { tone: "good", text: "Sent" }
      : { tone: "bad", text: "Failed, returned" }
  if (typeof kind === "object") return { tone: "warn", text: kind.text }
  const stop = stopOf(withdrawal, visit, company)
  if (stop !== undefined) return { tone: stop, text: stop === "frozen" ? "Frozen" : "Paused" }
  const text = texts.get(kind) ?? kind
  const [sinceMillis, { nowMillis }] = [waitsSince(withdrawal), visit.say]
  const millis = nowMillis - sinceMillis
  return isLate(kind, sinceMillis, withdrawal, nowMillis)
    ? {
        tone: "bad",
        text: kind === "withdrawal_dispatched" ? `In flight for ${ago(millis)}` : `${text} for ${ago(millis)}`
      }
    : { tone: "wait", text }
}

const lostAdvice = (id: string, name: string): Advice => ({
  first: "Do not pay it again. Find out whether the payee was paid.",
  next: [
    "Either the node was restored or replaced and has no record of this payment, or it has lost the payment’s result: it reports the payment as in flight, but no channel holds it. If the node reports the result after all, the service books it.",
    [
      "If the payee was paid, ask for the preimage and run ",
      h("code", null, `satrail withdrawals settle ${id} --preimage PREIMAGE --fee-sats FEE`),
      "."
    ],
    [
      "If not, run ",
      h("code", null, `satrail withdrawals release ${id}`),
      ". It is refused until the payee can no longer claim the payment. If only the result was lost, a second operator must run it too."
    ],
    `Tell ${name}: “Our Lightning node lost the result of your payment. Your money is held until we know whether it arrived.”`
  ]
})

/** Returns what to do next, as in the guide to incidents. */
export const adviceOf = (
  withdrawal: FollowedWithdrawal,
  visit: OperatorVisit,
  company: Company | undefined
): Advice => {
  const { to } = visit
  const name = company?.name ?? "the company"
  const stop = stopOf(withdrawal, visit, company)
  if (stop === "frozen")
    return {
      first: `${name} is frozen, so nothing has been sent.`,
      next: [
        ["Find out why on ", link(to(`companies/${withdrawal.company_id}`), `the page of ${name}`), "."],
        visit.stops.sendingMillis === null
          ? "It is sent within seconds of unfreezing. If its invoice has expired, it fails and the money is returned."
          : [
              "Sending is also paused for everyone. The withdrawal is sent once the company is unfrozen and you ",
              link(to("resume"), "resume sending"),
              ". If its invoice expires before that, it fails and the money is returned."
            ]
      ]
    }
  if (stop === "paused")
    return {
      first: "Sending is paused, so nothing has been sent.",
      next: [
        [
          link(to("resume"), "Resume sending"),
          " once you have found the cause. The withdrawal is then sent within seconds."
        ],
        "If its invoice expires before that, it fails and the money is returned."
      ]
    }
  const kind = kindOf(withdrawal)
  if (typeof kind === "object") return kind.advice(name)
  switch (kind) {
    case "withdrawal_dispatched":
      if (withdrawal.answer?.startsWith("no response") === true)
        return {
          first: "Bring the node back. Do not pay it again.",
          next: [
            [
              "The node does not respond, so the result is unknown. See why under ",
              link(to("nodes"), "Nodes"),
              "."
            ],
            "Once it responds, the service asks it for the result and books it.",
            `Tell ${name}: “We can’t reach our Lightning node. Your money is safe: the payment will either arrive or be returned.”`
          ]
        }
      return {
        first: "Wait. Do not pay it again.",
        next: [
          "The node is handling it. A payee can hold a payment for days before it settles or is returned.",
          [
            "If it stays in flight for more than a day, look for a channel that is closing under ",
            link(to("nodes"), "Nodes"),
            ". You will know the result once the channel has closed."
          ],
          `Tell ${name}: “The payee’s side is holding your payment. Nothing is lost: it will either arrive or be returned.”`
        ]
      }
    case "withdrawal_lost":
      return lostAdvice(withdrawal.id, name)
    case "withdrawal_requested":
      return {
        first: "Nothing was sent. Find out whether satrail or the payee’s server is down.",
        next: [
          [
            "Look at ",
            link(to("nodes"), "Nodes"),
            ": does the node respond, and is every role held by a process?"
          ],
          "If it is waiting for the payee’s server, wait. The service tries again, and the money is returned if the server stays down.",
          ["Otherwise search the log for ", h("code", null, withdrawal.id), "."]
        ]
      }
    case "payout_without_coins":
      return {
        first: "See below what it is waiting for. If it is waiting for coins, send some to the hot wallet.",
        next: [
          ["Compare the wallet’s balance under ", link(to("nodes"), "Nodes"), " with the amount."],
          "Payouts may be collected for a while (the batching interval) and sent in one transaction.",
          ["If the wallet has enough coins, search the log for ", h("code", null, withdrawal.id), "."]
        ]
      }
    case "payout_without_block":
      return {
        first: "Wait for a block. Do not pay it again.",
        next: [
          "Look up its transaction in a block explorer. If its fee is low, it can take a day.",
          "There is nothing to do. It is booked once it has the confirmations that its amount requires.",
          [
            "If another wallet has spent its coins, run ",
            h("code", null, `satrail withdrawals release ${withdrawal.id} --spent-by TXID`),
            " once that transaction has 100 confirmations."
          ]
        ]
      }
    case undefined:
      return withdrawal.status === "settled"
        ? {
            first: "Nothing to do. It was paid.",
            next: ["The preimage or the transaction under Details is the proof of payment."]
          }
        : {
            first: "Nothing to do. It failed, and the money was returned.",
            next: [
              `${withdrawal.failure?.message ?? "The node’s final result was a failure"}.`,
              `${name} can send it again.`
            ]
          }
  }
}
