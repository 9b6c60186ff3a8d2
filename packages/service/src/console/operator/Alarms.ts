import { h } from "preact"
import { type Alarm, alarms as own } from "@satrail/ui/console/Alarm"
import type { Problem } from "@satrail/ui/console/Feature"
import { features } from "../../features/console.ts"
import type { OperatorVisit, Page, Shown } from "@satrail/ui/console/Page"
import { link, panel, status, sub, type Badge } from "@satrail/ui/console/Parts"
import { type Column, rowLink, table } from "@satrail/ui/console/Table"
import { ago, count, guide, moment } from "@satrail/ui/console/operator/Common"
import { factsOf, problemsOf, stoppedOf } from "./Problems.ts"

interface Row extends Pick<Problem, "title" | "href" | "guide"> {
  readonly alarms?: ReadonlyArray<string>
  readonly badge: Badge
  readonly text?: string
  readonly sinceMillis?: number | null
}

/** The alarms of the service and of the features. */
export const all: ReadonlyArray<readonly [name: string, alarm: Alarm]> = [
  own,
  ...features.map(({ troubles }) => troubles?.alarms ?? {})
].flatMap((alarms) => Object.entries(alarms))

/** Turns `incidents#missing-webhook` into “missing webhook”. */
const sectionOf = (guide: string): string => (guide.split("#").at(-1) ?? guide).replaceAll("-", " ")

const since = (visit: OperatorVisit): Column<Row> => ({
  title: "Since",
  place: "c4",
  width: "w-since",
  cell: ({ sinceMillis }) =>
    typeof sinceMillis === "number" && [
      moment(visit.say, sinceMillis),
      " ",
      h("span", { class: "soft nowrap" }, `· ${ago(visit.say.nowMillis - sinceMillis)}`)
    ]
})

const columns = (visit: OperatorVisit, rows: ReadonlyArray<Row>): ReadonlyArray<Column<Row>> => [
  {
    title: "What is wrong",
    place: "c1 all",
    cell: ({ title, href, text }) => [rowLink(href, title), text !== undefined && sub(text)]
  },
  { title: "State", place: "c3", cell: ({ badge }) => status(badge) },
  ...(rows.some(({ sinceMillis }) => typeof sinceMillis === "number") ? [since(visit)] : []),
  {
    title: "Alarm",
    place: "all",
    kind: "soft",
    cell: ({ alarms = [] }) =>
      alarms.length === 0 ? "only in the console" : alarms.map((name) => h("code", null, name, " "))
  },
  {
    title: "What to do",
    place: "all",
    cell: (row) => link(guide(visit, row.guide), `Guide: ${sectionOf(row.guide)}`)
  }
]

const get = async (visit: OperatorVisit): Promise<Shown> => {
  const facts = await factsOf(visit)
  const problems = problemsOf(facts, visit).map((one): Row => ({
    ...one,
    badge: { tone: one.tone === "bad" ? "bad" : "warn", text: "Active" }
  }))
  const stopped = stoppedOf(facts, visit).map((one): Row => ({
    ...one,
    badge: { tone: one.glyph === "frozen" ? "frozen" : "paused", text: "Stopped on purpose" }
  }))
  const named = new Set([...problems, ...stopped].flatMap(({ alarms = [] }) => alarms))
  const others = all.filter(([name]) => !named.has(name))
  const rowsOf = (isRemote: boolean, badge: Badge) =>
    others
      .filter(([, alarm]) => (alarm.isRemote === true) === isRemote)
      .map(([name, { path, title, guide }]): Row => ({
        title,
        guide,
        href: visit.to(path),
        alarms: [name],
        badge
      }))
  const list = (title: string, rows: ReadonlyArray<Row>) =>
    rows.length > 0 &&
    panel(
      title,
      { isRuled: true },
      table(title, { columns: columns(visit, rows), groups: [{ rows }], kind: "mid", opens: true })
    )
  return {
    title: "Alarms",
    lead:
      problems.length === 0
        ? "None is active."
        : `${count(problems.length, "problem is", "problems are")} active.`,
    isLive: true,
    body: [
      list("Active", problems),
      list("Stopped on purpose", stopped),
      list("Inactive", rowsOf(false, { tone: "good", text: "Inactive" })),
      list("Evaluated only by Prometheus", rowsOf(true, { tone: "idle", text: "See Prometheus" }))
    ]
  }
}

export const alarms: Page<OperatorVisit> = { path: "alarms", nav: "alarms", get }
