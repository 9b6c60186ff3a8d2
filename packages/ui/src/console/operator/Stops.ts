import { h } from "preact"
import { Refused } from "../Api.ts"
import * as Formats from "../Format.ts"
import { type Elsewhere, type OperatorVisit, type Page, type Shown, text } from "../Page.ts"
import { body, checks, form, formPanel, link, panel, plain, todo } from "../Parts.ts"
import { ago, allowed, confirming, count, guide, operatorName } from "./Common.ts"

// Pausing and resuming sending or receiving, for everyone.

const whats = ["sending", "receiving"] as const
type What = (typeof whats)[number]
const isWhat = (text: string | null): text is What => text === "sending" || text === "receiving"

const since = ({ stops }: OperatorVisit, what: What): number | null =>
  what === "sending" ? stops.sendingMillis : stops.receivingMillis

const pausePage = (visit: OperatorVisit): Shown => ({
  title: "Pause for everyone",
  crumbs: [["Now", ""]],
  body: formPanel({ action: visit.to("pause"), label: "Pause" }, [
    body(
      checks(
        "What to stop",
        "radio",
        "what",
        [
          [
            "sending",
            "Sending",
            "No withdrawal starts. Payments already sent to the node will complete. Other confirmed withdrawals wait."
          ],
          ["receiving", "Receiving", "No invoice or address is created. Payments that arrive are credited."],
          ["both", "Both"]
        ],
        [visit.form.get("what") ?? "sending"]
      ),
      h(
        "p",
        { class: "hint" },
        "It applies immediately, in every process. ",
        link(guide(visit, "incidents#stop-everything"), "Guide: stop everything")
      )
    ),
    confirming(visit, "Pause", {
      why: "Every company sees a banner. You can resume at any time.",
      kind: "danger"
    })
  ])
})

const pause = async (visit: OperatorVisit): Promise<Elsewhere> => {
  const chosen = text(visit, "what")
  for (const what of whats)
    if (chosen === what || chosen === "both") await visit.api.call("POST /operator/pause", { body: { what } })
  return { redirect: "" }
}

/** Returns who paused last, according to the audit log. */
export const pausedBy = async ({ api }: OperatorVisit): Promise<string | undefined> => {
  const [entry] =
    (await allowed(
      api.call("GET /operator/audit", { query: { verb: "stop.pause", outcome: "done", limit: 1 } })
    )) ?? []
  return entry && operatorName(entry.actor_name)
}

const resumePage = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, say, to, query } = visit
  const asked = visit.form.get("what") ?? query.get("what")
  const what = isWhat(asked) ? asked : "sending"
  const millis = since(visit, what)
  if (millis === null)
    return {
      title: `Resume ${what}`,
      crumbs: [["Now", ""]],
      body: plain(
        "Resume",
        body(h("p", null, `${what === "sending" ? "Sending" : "Receiving"} is not paused.`))
      )
    }
  const [{ report, waiting }, who] = await Promise.all([
    api.call("GET /operator/reconciliation"),
    pausedBy(visit)
  ])
  const queued = [waiting.withdrawal_requested, waiting.payout_without_coins]
  const many = queued.reduce((sum, one) => sum + one.count, 0)
  const sats = queued.reduce((sum, one) => sum + one.amount_sats, 0)
  const off = Math.abs((report?.node.unexplained_sats ?? 0) + (report?.on_chain.unexplained_sats ?? 0))
  const differs = (report?.differences.length ?? 0) > 0
  const happens =
    what === "receiving"
      ? ["Invoices and addresses can be created again."]
      : [
          many === 0
            ? "No withdrawal is waiting."
            : `${count(many, "withdrawal is", "withdrawals are")} sent within seconds: ${Formats.inSats(sats)}.`,
          ...(many === 0 ? [] : ["Those with expired invoices fail, and the money is returned."]),
          "Frozen companies stay frozen."
        ]
  return {
    title: `Resume ${what}`,
    lead: `Paused ${who === undefined ? "" : `by ${who} `}at ${say.since(millis)}, ${ago(say.nowMillis - millis)} ago`,
    crumbs: [["Now", ""]],
    body: form(
      to("resume"),
      { class: "form-side" },
      panel(
        "What happens",
        {},
        h("input", { type: "hidden", name: "what", value: what }),
        body(todo(happens, "plain")),
        differs &&
          h(
            "div",
            { class: "note flat bad" },
            h(
              "strong",
              null,
              "The ledger still doesn’t match the node or the chain",
              off === 0 ? "" : `: ${Formats.sats(off)}\u00a0${Formats.unit(off)}`
            ),
            h("p", null, "Find the cause first. ", link(to("reconciliation"), "See the difference")),
            h(
              "label",
              { class: "check" },
              h("input", { type: "checkbox", name: "anyway", value: "yes", required: true }),
              h("span", null, "Resume anyway")
            )
          ),
        confirming(visit, `Resume ${what}`)
      )
    )
  }
}

const resume = async (visit: OperatorVisit): Promise<Elsewhere> => {
  const { api } = visit
  const what = text(visit, "what")
  if (!isWhat(what)) throw new Refused(400, "malformed_request", "Choose sending or receiving.")
  const { report } = await api.call("GET /operator/reconciliation")
  if ((report?.differences.length ?? 0) > 0 && text(visit, "anyway") === "")
    throw new Refused(
      409,
      "conflict",
      "The ledger still doesn’t match the node or the chain. Choose “Resume anyway” if you accept that."
    )
  await api.call("POST /operator/resume", { body: { what } })
  return { redirect: "" }
}

export const stops: ReadonlyArray<Page<OperatorVisit>> = [
  { path: "pause", nav: "now", get: pausePage, post: pause },
  { path: "resume", nav: "now", get: resumePage, post: resume }
]
