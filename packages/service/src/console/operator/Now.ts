import { h } from "preact"
import * as Formats from "@satrail/ui/console/Format"
import type { OperatorVisit, Page, Shown } from "@satrail/ui/console/Page"
import { button, cover, empty, icon, panel, plain, status, type Badge } from "@satrail/ui/console/Parts"
import { type Column, rowLink, table } from "@satrail/ui/console/Table"
import { ago, checkName, count, figure, moment, since } from "@satrail/ui/console/operator/Common"
import { type Facts, factsOf, problemsOf, slowSeconds, stoppedOf } from "./Problems.ts"
import { applying, type Problem } from "@satrail/ui/console/Feature"
import { withdrawalKinds } from "./Waiting.ts"

const columns = ({ say }: OperatorVisit): ReadonlyArray<Column<Problem>> => [
  {
    title: "What",
    place: "c1 all",
    cell: ({ tone, glyph, title, text, href }) =>
      h(
        "span",
        { class: "who" },
        h("span", { class: `sign ${tone}` }, icon(glyph)),
        h("span", null, rowLink(href, title), h("span", { class: "sub" }, text))
      )
  },
  {
    title: "Since",
    place: "c3",
    width: "w-since",
    cell: ({ sinceMillis = null }) =>
      sinceMillis === null
        ? h("span", { class: "soft" }, "now")
        : [
            moment(say, sinceMillis),
            " ",
            h("span", { class: "soft nowrap" }, `· ${ago(say.nowMillis - sinceMillis)}`)
          ]
  },
  {
    title: "Sats",
    place: "c4",
    kind: "amount",
    width: "w-sats",
    cell: ({ sats = null, beneath }) =>
      sats === null || sats === 0
        ? ""
        : [
            Formats.sats(sats),
            h("span", { class: "only-narrow" }, ` ${Formats.unit(sats)}`),
            h("span", { class: "sub off" }, beneath ?? say.fiat(sats) ?? "")
          ]
  },
  {
    title: "",
    place: "all",
    kind: "r act",
    width: "w-act",
    cell: ({ action }) => h("span", { class: "btn", "aria-hidden": true }, action)
  }
]

const list = (visit: OperatorVisit, label: string, rows: ReadonlyArray<Problem>) =>
  table(label, { columns: columns(visit), groups: [{ rows }], kind: "mid now-table", opens: true })

interface Check {
  readonly name: string
  readonly badge: Badge
  readonly figure: string
}

const good = (text: string): Badge => ({ tone: "good", text })
const seconds = (lag: number) => (lag < 1 ? "less than a second behind" : `${Math.round(lag)} s behind`)

/** Everything that was checked and is in order. */
const checksOf = (
  { status: found, liquidity, reconciliation: { report, waiting }, frozen, areMoreFrozen }: Facts,
  { say }: OperatorVisit,
  isLate: boolean
) => {
  const { outgoing_sats: out, incoming_sats: into, wallet_sats: wallet, days_left: days } = liquidity
  // A process that is starting or stopping fails a check of its own, which is a problem only then.
  const sources: Readonly<Record<string, string | null>> = {
    store: found.database,
    node: found.node,
    chain: found.chain
  }
  const pending = withdrawalKinds.reduce((sum, kind) => sum + waiting[kind].count, 0)
  const isEven = report !== null && report.differences.length === 0 && report.node.unexplained_sats === 0
  return applying<Check>([
    ...found.checks.map(
      ({ name, reason }) =>
        reason === null &&
        name in sources && { name: checkName(name), badge: good("Responding"), figure: sources[name] ?? "" }
    ),
    isEven && {
      name: "Ledger against the node and the chain",
      badge: good("Equal"),
      figure: `compared ${since(say, report.reconciled_at)} ago`
    },
    !isLate && {
      name: "Withdrawals",
      badge: good("On time"),
      figure: pending === 0 ? "none pending" : `${pending} pending`
    },
    found.warnings.length === 0 &&
      out !== null &&
      into !== null && {
        name: "Channels",
        badge: good("Enough liquidity"),
        figure: `${Formats.short(out)} to send, ${Formats.short(into)} to receive`
      },
    wallet !== null && {
      name: "On-chain wallet",
      badge: good("OK"),
      figure: `${Formats.inSats(wallet)}${days === null ? "" : `, lasts about ${count(Math.round(days), "day")} at the current rate`}`
    },
    ...found.lags.map(
      ({ feature, lag_seconds: lag }) =>
        lag <= slowSeconds && { name: Formats.capital(feature), badge: good("On time"), figure: seconds(lag) }
    ),
    found.rates_at !== null && {
      name: "Exchange rates",
      badge: good("Up to date"),
      figure: `${since(say, found.rates_at)} old`
    },
    {
      name: "Companies",
      badge: good(
        frozen.length === 0 ? "None frozen" : `${frozen.length}${areMoreFrozen ? " or more" : ""} frozen`
      ),
      figure: ""
    }
  ])
}

const checkTable = (rows: ReadonlyArray<Check>) =>
  table("Checks", {
    columns: [
      { title: "What", place: "c1", cell: ({ name }) => name },
      { title: "State", place: "c2", cell: ({ badge }) => status(badge) },
      { title: "Figure", place: "c3", kind: "soft", cell: ({ figure }) => figure }
    ],
    groups: [{ rows }]
  })

const get = async (visit: OperatorVisit): Promise<Shown> => {
  const { say, to, stops } = visit
  const facts = await factsOf(visit)
  const [problems, stopped] = [problemsOf(facts, visit), stoppedOf(facts, visit)]
  const { report } = facts.reconciliation
  const isEmpty =
    problems.length === 0 &&
    !report?.liabilities_sats &&
    (await visit.api.page("GET /operator/companies", { query: { limit: 1 } })).data.length === 0
  return {
    title:
      problems.length === 0
        ? "Now"
        : `${count(problems.length, "thing needs", "things need")} your attention`,
    lead: `${say.day(say.nowMillis)}, ${say.time(say.nowMillis)}`,
    actions: stops.sendingMillis === null && button(to("pause"), "Pause sending…", "danger"),
    isLive: true,
    body: [
      problems.length === 0
        ? plain(
            "What is wrong",
            empty(
              "good",
              "All clear",
              stopped.length === 0
                ? "Nothing needs your attention."
                : "There are no problems. Some things are stopped on purpose.",
              ...(isEmpty ? [button(to("companies/new"), "Open the first company", "main")] : [])
            )
          )
        : plain("What is wrong", list(visit, "What is wrong", problems)),
      stopped.length > 0 &&
        panel("Stopped on purpose", { isRuled: true }, list(visit, "Stopped on purpose", stopped)),
      report !== null &&
        cover("Money", [
          figure(say, "Owed to companies", report.liabilities_sats),
          figure(say, "Held by the node and the wallet", report.assets_sats),
          figure(
            say,
            report.assets_sats < report.liabilities_sats ? "Shortfall" : "Surplus",
            Math.abs(report.assets_sats - report.liabilities_sats)
          )
        ]),
      panel(
        problems.length === 0 ? "All checks" : "Everything else is fine",
        { isRuled: true, beside: h("span", { class: "faint" }, "Checked ", say.seconds(say.nowMillis)) },
        checkTable(
          checksOf(
            facts,
            visit,
            problems.some(({ glyph }) => glyph === "hourglass")
          )
        )
      )
    ]
  }
}

export const now: Page<OperatorVisit> = { path: "", nav: "now", get }
