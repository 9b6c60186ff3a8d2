import { type ComponentChild, h } from "preact"
import { features } from "../../features/console.ts"
import * as Formats from "@satrail/ui/console/Format"
import type { OperatorVisit, Page, Shown } from "@satrail/ui/console/Page"
import {
  body,
  button,
  copied,
  copiedFact,
  type Fact,
  factPanel,
  icon,
  link,
  note,
  panel,
  sides,
  stack,
  sub,
  todo,
  when
} from "@satrail/ui/console/Parts"
import { book } from "@satrail/ui/console/pages/Postings"
import { elided, rails } from "@satrail/ui/console/pages/Rows"
import type { Company, FollowedDeposit, FollowedWithdrawal, Step } from "@satrail/ui/console/wire"
import { ago, allowed, companyBadge, guide } from "@satrail/ui/console/operator/Common"
import { adviceOf, isLate, kindOf, badgeOf, waitsSince, type OwnKind } from "./Waiting.ts"

// Pages about a withdrawal of any company (its steps, the node's response, and what to do), and about a deposit
// that is not credited yet.

type Rail = FollowedWithdrawal["rail_type"]

/** The steps of a withdrawal that was confirmed, in the words of the company’s support. */
const withdrawalWords = (rail: Rail): Readonly<Record<Step["what"], string>> => ({
  requested: "Confirmed, money held",
  approved: "Approved",
  rejected: "Rejected",
  expired: "Nobody approved it",
  dispatched: rail === "lightning" ? "Sent to the Lightning node" : "Transaction broadcast",
  seen: "Seen",
  settled: rail === "lightning" ? "Paid" : "Confirmed in a block",
  failed: "Failed, money returned"
})

const depositWords = (rail: Rail) => ({
  ...withdrawalWords(rail),
  seen: rail === "lightning" ? "Paid" : "Transaction seen",
  settled: "Credited",
  failed: "Failed, not credited"
})

const badSteps: ReadonlySet<Step["what"]> = new Set(["rejected", "expired", "failed"])

interface Shape {
  readonly kind: "" | "bad" | "now" | "now late" | "later"
  readonly text: string
  readonly at: ComponentChild
  readonly took: string
}

const icons = { "": "tick", bad: "close", now: "hourglass", "now late": "hourglass" } as const

const shape = ({ kind, text, at, took }: Shape) =>
  h(
    "li",
    { class: kind, ...(kind.startsWith("now") && { "aria-current": "step" as const }) },
    h("i", { "aria-hidden": true }, kind === "later" ? null : icon(icons[kind], 12)),
    h("b", null, text),
    h("span", null, at),
    h("span", { class: "took" }, took)
  )

/** A picture of the steps: done, stuck, and still to come. */
const picture = (
  { say }: OperatorVisit,
  timeline: ReadonlyArray<Step>,
  words: Readonly<Record<Step["what"], string>>,
  waiting: Shape | undefined,
  end: string
) =>
  panel(
    "Steps",
    { beside: h("span", { class: "faint" }, `times in ${say.zone}`) },
    body(
      h("ol", { class: "steps" }, [
        timeline.map(({ what, at }, n) => {
          const [millis, before] = [Date.parse(at), timeline[n - 1]]
          const took = before === undefined ? "" : lasted(millis - Date.parse(before.at))
          const isToday = say.dayKey(millis) === say.today
          return shape({
            kind: badSteps.has(what) ? "bad" : "",
            text: words[what],
            at: when(millis, isToday ? say.seconds(millis) : say.when(millis)),
            took
          })
        }),
        waiting !== undefined && [shape(waiting), shape({ kind: "later", text: end, at: "", took: "" })]
      ])
    )
  )

const lasted = (millis: number): string =>
  millis < 1000 ? "less than 1 s" : millis < 60_000 ? `${Math.round(millis / 1000)} s` : ago(millis)

interface Wait {
  readonly text: string
  readonly sinceMillis: number
  /** The verb for attempts. Looking at a payment is not paying it again. */
  readonly verb: "checked" | "tried"
  readonly isLate: boolean
  /** The usual duration, if this is known. */
  readonly usual?: string | undefined
}

/** The step that a withdrawal or deposit waits for. */
const waitingOf = (
  { say }: OperatorVisit,
  { waits_for, attempts, next_look_at }: Followed,
  { text, sinceMillis, verb, isLate, usual }: Wait
): Shape | undefined => {
  if (waits_for === null) return undefined
  const checks =
    attempts === null || attempts === 0 ? "" : ` · ${verb} ${attempts} ${attempts === 1 ? "time" : "times"}`
  const next =
    next_look_at === null
      ? ""
      : ` · next ${verb === "tried" ? "try" : "check"} ${say.seconds(Date.parse(next_look_at))}`
  return {
    kind: isLate ? "now late" : "now",
    text,
    at: `since ${say.dayKey(sinceMillis) === say.today ? say.seconds(sinceMillis) : say.when(sinceMillis)}${checks}${next}`,
    took: `${lasted(say.nowMillis - sinceMillis)}${isLate && usual !== undefined ? `; usually ${usual}` : ""}`
  }
}
type Followed = Pick<FollowedWithdrawal, "waits_for" | "attempts" | "next_look_at" | "answer">

const waits: {
  readonly [kind in OwnKind]: Pick<Wait, "text" | "usual" | "verb"> & { readonly end: string }
} = {
  withdrawal_dispatched: {
    text: "Waiting for the node’s final result",
    usual: "a few seconds",
    verb: "checked",
    end: "Paid, or money returned"
  },
  withdrawal_lost: { text: "Waiting for an operator", verb: "checked", end: "Paid, or money returned" },
  withdrawal_requested: {
    text: "Waiting to be sent",
    usual: "less than 1 s",
    verb: "tried",
    end: "Paid, or money returned"
  },
  payout_without_coins: { text: "Waiting to be broadcast", verb: "tried", end: "Confirmed in a block" },
  payout_without_block: {
    text: "Waiting for a block",
    usual: "10 to 60 min",
    verb: "checked",
    end: "Confirmed in a block"
  }
}

const companyFact = ({ to }: OperatorVisit, id: string, company: Company | undefined): Fact => [
  "Company",
  [
    link(to(`companies/${id}`), company?.name ?? id),
    company !== undefined && company.frozen !== null && sub(companyBadge(company).text)
  ]
]

/** The responses of a node, as sentences. */
const answerWords: Readonly<Record<string, string>> = {
  "on its way": "The payment is on its way: neither paid nor failed.",
  "no response": "The node did not respond.",
  "no record of this payment": "The node has no record of this payment.",
  settled: "Paid. The service will book it at the next check."
}

/** Shows the parts in backticks as code. */
const coded = (text: string) => text.split("`").map((part, n) => (n % 2 === 0 ? part : h("code", null, part)))

/** The current response of the node or the chain. A final record was not looked up. */
const said = ({ say }: OperatorVisit, { answer, waits_for }: Followed, who: string) =>
  answer === null && waits_for === null
    ? null
    : panel(
        answer === null ? "What it waits for" : `What the ${who} said`,
        {
          isRuled: true,
          beside: answer !== null && h("span", { class: "faint" }, say.seconds(say.nowMillis))
        },
        body(
          answer !== null &&
            h("p", { class: "strong" }, answerWords[answer] ?? `${Formats.capital(answer)}.`),
          waits_for !== null &&
            h(
              "p",
              { class: "soft" },
              coded(
                answer === null
                  ? waits_for
                  : `Waiting for ${waits_for.charAt(0).toLowerCase()}${waits_for.slice(1)}`
              ),
              "."
            )
        )
      )

const details = (visit: OperatorVisit, row: FollowedWithdrawal, company: Company | undefined) => {
  const { lightning_payment: lightning, destination, failure } = row
  return factPanel("Details", [
    companyFact(visit, row.company_id, company),
    ["Recipient", copied(row.recipient, "recipient")],
    ["Method", rails[row.rail_type]],
    ["Amount", Formats.inSats(row.amount_sats)],
    ["Fee", Formats.exactSats(row.fee_sats)],
    row.kind === null ? null : ["Held", Formats.exactSats(row.amount_sats + row.fee_sats)],
    ...features.flatMap(({ waits }) => waits?.facts?.(row) ?? []),
    failure === null ? null : ["Failed", failure.message],
    copiedFact("Hash", lightning?.payment_hash ?? destination.payment_hash),
    copiedFact("Preimage", lightning?.payment_preimage),
    copiedFact("Transaction", row.chain_tx_id),
    copiedFact("Withdrawal", row.id),
    copiedFact("Ledger", row.ledger_tx_id)
  ])
}

const get = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, say, to, of, id } = visit
  const row = await api.call("GET /operator/withdrawals/{id}", { params: { id } })
  const [companies, postings] = await Promise.all([
    visit.companies([row.company_id]),
    allowed(of(row.company_id).postings(row.ledger_tx_id))
  ])
  const company = companies.get(row.company_id)
  const [kind, advice] = [kindOf(row), adviceOf(row, visit, company)]
  const badge = badgeOf(row, visit, company)
  const waiting =
    typeof kind === "object"
      ? { text: kind.step, verb: "checked" as const, end: kind.end }
      : kind && waits[kind]
  const wait = waiting && { ...waiting, sinceMillis: waitsSince(row), isLate: badge.tone === "bad" }
  const isSent = kind === "withdrawal_dispatched" || kind === "payout_without_block"
  return {
    title: `Withdrawal ${Formats.shortened(row.id)}`,
    figure: ["−", Formats.sats(row.amount_sats), " ", h("small", null, Formats.unit(row.amount_sats))],
    status: badge,
    lead: [
      say.fiat(row.amount_sats) !== undefined && `${say.fiat(row.amount_sats)} · `,
      link(to(`companies/${row.company_id}`), company?.name ?? row.company_id),
      ` to ${elided(row.recipient)}`
    ],
    crumbs: [["Backlog", "backlog"]],
    isLive: kind !== undefined,
    body: [
      picture(
        visit,
        row.timeline,
        withdrawalWords(row.rail_type),
        wait && waitingOf(visit, row, wait),
        wait?.end ?? ""
      ),
      sides(
        stack(
          panel(
            "What to do",
            {
              isRuled: true,
              beside: link(guide(visit, "incidents#pending-withdrawal"), "Guide: pending withdrawal")
            },
            h(
              "div",
              { class: "body stack" },
              h("p", { class: "strong" }, advice.first),
              todo(advice.next),
              kind !== undefined &&
                h(
                  "div",
                  { class: "do" },
                  button("", "Check again now", "main"),
                  button(to(`companies/${row.company_id}`), `See ${company?.name ?? "the company"}`)
                )
            ),
            isSent &&
              h(
                "div",
                { class: "note flat" },
                h(
                  "p",
                  null,
                  "There is intentionally no cancel button. The payment may still arrive, and the money would then be spent twice."
                )
              )
          ),
          // What to do already says whom a feature waits for.
          typeof kind !== "object" && said(visit, row, row.rail_type === "lightning" ? "node" : "chain")
        ),
        details(visit, row, company)
      ),
      postings !== undefined && book(postings, visit)
    ]
  }
}

const deposit = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, say, to, id } = visit
  const row: FollowedDeposit = await api.call("GET /operator/deposits/{id}", { params: { id } })
  const company = (await visit.companies([row.company_id])).get(row.company_id)
  const sinceMillis = Date.parse(row.timeline.at(-1)?.at ?? row.created_at)
  const waiting = waitingOf(visit, row, {
    text: "Waiting for confirmations",
    sinceMillis,
    verb: "checked",
    isLate: isLate("deposit_unconfirmed", sinceMillis, row, say.nowMillis)
  })
  return {
    title: `Deposit ${Formats.shortened(row.id)}`,
    figure: ["+", Formats.sats(row.amount_sats), " ", h("small", null, Formats.unit(row.amount_sats))],
    status:
      row.status === "settled"
        ? { tone: "good", text: "Credited" }
        : row.status === "failed"
          ? { tone: "bad", text: "Failed" }
          : { tone: "wait", text: "Deposit confirming" },
    lead: [
      say.fiat(row.amount_sats),
      " · ",
      link(to(`companies/${row.company_id}`), company?.name ?? row.company_id)
    ],
    crumbs: [["Backlog", "backlog"]],
    body: [
      picture(visit, row.timeline, depositWords(row.rail_type), waiting, "Credited"),
      row.status === "failed" &&
        note(
          "info",
          "Its transaction was double-spent or removed from the chain. If it confirms later, the deposit is credited."
        ),
      sides(
        stack(
          panel(
            "What to do",
            {
              isRuled: true,
              beside: link(guide(visit, "incidents#missing-payment"), "Guide: missing payment")
            },
            body(
              h(
                "p",
                null,
                row.status === "pending"
                  ? "Wait. It is credited automatically once it has the confirmations its amount requires."
                  : "Nothing to do."
              )
            )
          ),
          said(visit, row, "chain")
        ),
        factPanel("Details", [
          companyFact(visit, row.company_id, company),
          ["Received at", copied(row.recipient, "recipient")],
          ["Method", rails[row.rail_type]],
          copiedFact("Transaction", row.chain_tx_id),
          copiedFact("Invoice", row.lightning_invoice_id),
          copiedFact("Deposit", row.id)
        ])
      )
    ]
  }
}

export const tracing: ReadonlyArray<Page<OperatorVisit>> = [
  { path: "withdrawals/:id", nav: "backlog", get },
  { path: "deposits/:id", nav: "backlog", get: deposit }
]
