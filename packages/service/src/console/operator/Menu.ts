import { placed, type Sections } from "@satrail/ui/console/Feature"
import { features } from "../../features/console.ts"
import type { OperatorVisit } from "@satrail/ui/console/Page"
import { banner, link, when } from "@satrail/ui/console/Parts"
import type { Surroundings } from "../Site.ts"
import type { Reconciliation } from "@satrail/ui/console/wire"
import { ago, allowed } from "@satrail/ui/console/operator/Common"
import { pausedBy } from "@satrail/ui/console/operator/Stops"
import { withdrawalKinds } from "./Waiting.ts"

/** The navigation without features. */
const sections = (found: Reconciliation | undefined): Sections => {
  const report = found?.report
  const differs = report !== null && report !== undefined && report.differences.length > 0
  return {
    "": [
      { rank: 10, name: "now", path: "", text: "Now", glyph: "pulse" },
      { rank: 15, name: "alarms", path: "alarms", text: "Alarms", glyph: "warn" },
      {
        rank: 20,
        name: "backlog",
        path: "backlog",
        text: "Backlog",
        glyph: "hourglass",
        count:
          found === undefined ? 0 : withdrawalKinds.reduce((sum, kind) => sum + found.waiting[kind].count, 0)
      },
      { rank: 30, name: "companies", path: "companies", text: "Companies", glyph: "companies" }
    ],
    Money: [
      { rank: 10, name: "nodes", path: "nodes", text: "Nodes", glyph: "nodes" },
      {
        rank: 20,
        name: "reconciliation",
        path: "reconciliation",
        text: "Reconciliation",
        glyph: "scales",
        ...(differs && { badge: { tone: "bad" as const, text: "needs attention" } })
      },
      { rank: 30, name: "suspense", path: "suspense", text: "Suspense", glyph: "tray" }
    ],
    Installation: [{ rank: 20, name: "tokens", path: "tokens", text: "Tokens", glyph: "key" }]
  }
}

/** Messages shown on every page: the activities that are paused for everyone. */
const bannersOf = async (visit: OperatorVisit, found: Reconciliation | undefined) => {
  const { sendingMillis, receivingMillis } = visit.stops
  if (sendingMillis === null && receivingMillis === null) return null
  const { say, to } = visit
  const who = await pausedBy(visit)
  const by = who === undefined ? "" : ` by ${who}`
  const since = (millis: number) => [
    "since ",
    when(millis, say.since(millis)),
    ` (${ago(say.nowMillis - millis)})${by}. `
  ]
  const many =
    found === undefined
      ? 0
      : found.waiting.withdrawal_requested.count + found.waiting.payout_without_coins.count
  return [
    sendingMillis !== null &&
      banner(
        "Sending is paused for everyone",
        [
          since(sendingMillis),
          many > 0 && `${many} ${many === 1 ? "withdrawal is" : "withdrawals are"} waiting.`
        ],
        link(to("resume"), "Resume sending…")
      ),
    receivingMillis !== null &&
      banner(
        "Receiving is paused for everyone",
        since(receivingMillis),
        link(to("resume?what=receiving"), "Resume receiving…")
      )
  ]
}

export const surroundings = async (visit: OperatorVisit): Promise<Surroundings> => {
  const found = await allowed(visit.api.call("GET /operator/reconciliation"))
  return {
    owner: "satrail",
    at: "Operator’s console",
    sections: placed(
      sections(found),
      features.flatMap(({ operatorEntry }) => operatorEntry ?? [])
    ),
    placeholder: "Company, or the id of a payment",
    banners: await bannersOf(visit, found),
    live: "15000"
  }
}
