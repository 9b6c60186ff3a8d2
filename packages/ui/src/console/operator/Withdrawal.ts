import { type ComponentChild, h } from "preact"
import * as Formats from "../Format.ts"
import type { OperatorVisit, Page, Shown } from "../Page.ts"
import { body, button, copied, type Fact, facts, icon, link, note, panel, sides, stack, sub, todo, when } from "../Parts.ts"
import { book } from "../pages/Postings.ts"
import { elided, rails } from "../pages/Rows.ts"
import type { Company, FollowedDeposit, FollowedWithdrawal, Step } from "../wire.ts"
import { ago, allowed, companyTold, guide } from "./Common.ts"
import { adviceOf, kindOf, kinds, toldOf, waitsSince } from "./Waiting.ts"

// Pages about a withdrawal of any company (its steps, the node's response, and what to do), and about a deposit
// that is not credited yet.

const words: Readonly<Record<Step["what"], string>> = {
  requested: "Confirmed, held",
  approved: "Approved",
  rejected: "Rejected",
  expired: "Approval expired",
  dispatched: "Sent to the node",
  seen: "Seen",
  settled: "Settled",
  failed: "Failed, returned"
}

interface Shape {
  readonly kind: "" | "now" | "later"
  readonly text: string
  readonly at: ComponentChild
  readonly took: string
}

const shape = ({ kind, text, at, took }: Shape) =>
  h(
    "li",
    { class: kind, ...(kind === "now" && { "aria-current": "step" as const }) },
    h("i", { "aria-hidden": true }, kind === "later" ? null : icon(kind === "now" ? "hourglass" : "tick", 12)),
    h("b", null, text),
    h("span", null, at),
    h("span", { class: "took" }, took)
  )

/** A picture of the steps: done, stuck, and still to come. */
const picture = ({ say }: OperatorVisit, timeline: ReadonlyArray<Step>, waiting: Shape | undefined) =>
  panel(
    "Steps",
    { beside: h("span", { class: "faint" }, `times in ${say.zone}`) },
    body(
      h("ol", { class: "steps" }, [
        timeline.map(({ what, at }, n) => {
          const [millis, before] = [Date.parse(at), timeline[n - 1]]
          const took = before === undefined ? "" : lasted(millis - Date.parse(before.at))
          const isToday = say.dayKey(millis) === say.today
          return shape({ kind: "", text: words[what], at: when(millis, isToday ? say.seconds(millis) : say.when(millis)), took })
        }),
        waiting !== undefined && [shape(waiting), shape({ kind: "later", text: "Settled or returned", at: "", took: "" })]
      ])
    )
  )

const lasted = (millis: number): string => (millis < 60_000 ? `${Math.round(millis / 1000)} s` : ago(millis))

/** The step that the withdrawal waits for. */
const waitingOf = (
  { say }: OperatorVisit,
  { waits_for, attempts, next_look_at }: Followed,
  text: string,
  sinceMillis: number
): Shape | undefined => {
  if (waits_for === null) return undefined
  const checks = attempts === null || attempts === 0 ? "" : ` · tried ${attempts} ${attempts === 1 ? "time" : "times"}`
  const next = next_look_at === null ? "" : ` · next check ${say.seconds(Date.parse(next_look_at))}`
  return {
    kind: "now",
    text,
    at: `since ${say.dayKey(sinceMillis) === say.today ? say.seconds(sinceMillis) : say.when(sinceMillis)}${checks}${next}`,
    took: lasted(say.nowMillis - sinceMillis)
  }
}
type Followed = Pick<FollowedWithdrawal, "waits_for" | "attempts" | "next_look_at" | "answer">

const waitWords = {
  withdrawal_dispatched: "Waiting for the node’s final result",
  withdrawal_requested: "Waiting to be sent",
  withdrawal_unapproved: "Waiting for approval",
  payout_without_coins: "Waiting for coins",
  payout_without_block: "Waiting for a block"
} as const

const companyFact = ({ to }: OperatorVisit, id: string, company: Company | undefined): Fact => [
  "Company",
  [link(to(`companies/${id}`), company?.name ?? id), company !== undefined && company.frozen !== null && sub(companyTold(company).text)]
]

const copiedFact = (name: string, value: string | null | undefined): Fact | null =>
  value === null || value === undefined || value === "" ? null : [name, copied(value, name.toLowerCase())]

/** The current response of the node or the chain. */
const said = ({ say }: OperatorVisit, { answer, waits_for }: Followed, who: string) =>
  panel(
    `What the ${who} said`,
    { isRuled: true, beside: h("span", { class: "faint" }, say.seconds(say.nowMillis)) },
    body(
      h(
        "p",
        { class: "strong" },
        answer === null ? `The ${who} has not been queried.` : `${answer.charAt(0).toUpperCase()}${answer.slice(1)}.`
      ),
      waits_for !== null && h("p", { class: "soft" }, `The service is waiting for: ${waits_for}.`)
    )
  )

const details = (visit: OperatorVisit, row: FollowedWithdrawal, company: Company | undefined) => {
  const { lightning_payment: lightning, destination, approval, failure } = row
  return panel(
    "Details",
    {},
    body(
      facts([
        companyFact(visit, row.company_id, company),
        ["Recipient", copied(row.recipient, "recipient")],
        ["How", rails[row.rail_type]],
        ["Amount", `${Formats.sats(row.amount_sats)} sats`],
        ["Fee", `${row.fee_sats} sats`],
        approval === null ? null : ["Approval", `${approval.state}${approval.decided_by === null ? "" : ` by ${approval.decided_by}`}`],
        failure === null ? null : ["Failed", failure.message],
        copiedFact("Hash", lightning?.payment_hash ?? destination.payment_hash),
        copiedFact("Preimage", lightning?.payment_preimage),
        copiedFact("Transaction", row.chain_tx_id),
        copiedFact("Withdrawal", row.id),
        copiedFact("Ledger", row.ledger_tx_id)
      ])
    )
  )
}

const get = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, say, to, of, params } = visit
  const { id = "" } = params
  const row = await api.call("GET /operator/withdrawals/{id}", { params: { id } })
  const [companies, postings] = await Promise.all([
    visit.companies([row.company_id]),
    allowed(of(row.company_id).postings(row.ledger_tx_id))
  ])
  const company = companies.get(row.company_id)
  const [kind, advice] = [kindOf(row), adviceOf(row, visit, company)]
  const waiting = kind === undefined ? undefined : waitingOf(visit, row, waitWords[kind], waitsSince(row))
  const isSent = kind === "withdrawal_dispatched" || kind === "payout_without_block"
  return {
    title: `Withdrawal ${Formats.shortened(row.id)}`,
    figure: ["−", Formats.sats(row.amount_sats), " ", h("small", null, "sats")],
    status: toldOf(row, visit, company),
    lead: [
      say.fiat(row.amount_sats) !== undefined && `${say.fiat(row.amount_sats)} · `,
      link(to(`companies/${row.company_id}`), company?.name ?? row.company_id),
      ` to ${elided(row.recipient)}`
    ],
    crumbs: [["Backlog", "backlog"]],
    isLive: kind !== undefined,
    body: [
      picture(visit, row.timeline, waiting),
      sides(
        stack(
          panel(
            "What to do",
            { isRuled: true, beside: link(guide(visit, "incidents#pending-withdrawal"), "Guide: pending withdrawal") },
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
          said(visit, row, row.rail_type === "lightning" ? "node" : "chain")
        ),
        stack(details(visit, row, company), postings !== undefined && book(postings, visit))
      )
    ]
  }
}

const deposit = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, say, to, params } = visit
  const { id = "" } = params
  const row: FollowedDeposit = await api.call("GET /operator/deposits/{id}", { params: { id } })
  const company = (await visit.companies([row.company_id])).get(row.company_id)
  const waiting = waitingOf(visit, row, "Waiting for confirmations", Date.parse(row.timeline.at(-1)?.at ?? row.created_at))
  return {
    title: `Deposit ${Formats.shortened(row.id)}`,
    figure: ["+", Formats.sats(row.amount_sats), " ", h("small", null, "sats")],
    status:
      row.status === "settled"
        ? { tone: "good", text: "Credited" }
        : row.status === "failed"
          ? { tone: "bad", text: "Failed" }
          : { tone: "wait", text: kinds.deposit_unconfirmed.text },
    lead: [say.fiat(row.amount_sats), " · ", link(to(`companies/${row.company_id}`), company?.name ?? row.company_id)],
    crumbs: [["Backlog", "backlog"]],
    body: [
      picture(visit, row.timeline, waiting),
      row.status === "failed" &&
        note("info", "Its transaction was double-spent or removed from the chain. If it confirms later, the deposit is credited."),
      sides(
        stack(
          panel(
            "What to do",
            { isRuled: true, beside: link(guide(visit, "incidents#missing-payment"), "Guide: missing payment") },
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
        panel(
          "Details",
          {},
          body(
            facts([
              companyFact(visit, row.company_id, company),
              ["Received at", copied(row.recipient, "recipient")],
              ["How", rails[row.rail_type]],
              copiedFact("Transaction", row.chain_tx_id),
              copiedFact("Invoice", row.lightning_invoice_id),
              copiedFact("Deposit", row.id)
            ])
          )
        )
      )
    ]
  }
}

export const tracing: ReadonlyArray<Page<OperatorVisit>> = [
  { path: "withdrawals/:id", nav: "backlog", get },
  { path: "deposits/:id", nav: "backlog", get: deposit }
]
