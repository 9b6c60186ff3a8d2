import { h } from "preact"
import * as Formats from "@satrail/ui/console/Format"
import { Refused } from "@satrail/ui/console/Api"
import type { AnyVisit, Elsewhere, Page, Shown, Visit } from "@satrail/ui/console/Page"
import { choice, factPanel, field, fields, plain, status, submit } from "@satrail/ui/console/Parts"
import { type Column, paging, table } from "@satrail/ui/console/Table"
import type { Statement } from "@satrail/ui/console/wire"

const months = 6
const formats = [
  ["csv", "CSV, for a spreadsheet"],
  ["jsonl", "JSON lines"]
] as const

const monthAt = (millis: number, add: number): string => {
  const day = new Date(millis)
  return new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + add, 1)).toISOString().slice(0, 7)
}
const startOf = (month: string): number => Date.parse(`${month}-01T00:00:00Z`)

/** A page of `count` months in UTC, newest first: 2026-11. The URL names the newest one if it is not this month. */
export const pageOf = ({ query, say: { nowMillis } }: AnyVisit, path: string, count: number) => {
  const until = query.get("until") ?? ""
  const newest = /^2\d{3}-(?:0[1-9]|1[0-2])$/.test(until) ? Math.min(nowMillis, startOf(until)) : nowMillis
  const next = monthAt(newest, count)
  const isNext = startOf(next) < startOf(monthAt(nowMillis, 0))
  return {
    months: Array.from({ length: count }, (_, n) => monthAt(newest, -n)),
    /** The end of the page before it, which has older months. */
    until: new Date(startOf(monthAt(newest, 1 - count))).toISOString(),
    newer: newest === nowMillis ? undefined : `${path}${isNext ? `?until=${next}` : ""}`,
    older: `${path}?until=${monthAt(newest, -count)}`
  }
}

/** The statements of the months that have ended and are not empty, and of the running month. */
export const shownOf = (rows: ReadonlyArray<Statement>): ReadonlyArray<Statement> =>
  rows.filter(
    ({ opening_sats, in_sats, out_sats, closing_sats, is_final }) =>
      !is_final || opening_sats + in_sats + out_sats + closing_sats !== 0
  )

const file = ({ beside }: Visit, { from, to }: Statement, format: "csv" | "jsonl") =>
  beside(`v1/transactions/export?${new URLSearchParams({ format, from, until: to })}`)

export const figures = (say: Visit["say"]): ReadonlyArray<Column<Statement>> => {
  const amount = (of: (statement: Statement) => number) => (statement: Statement) =>
    Formats.exact(of(statement))
  return [
    {
      title: "Month",
      place: "c1",
      cell: ({ from }) => h("span", { class: "strong" }, say.month(Date.parse(from)))
    },
    {
      title: "Status",
      place: "c3",
      cell: ({ is_final }) =>
        status(is_final ? { tone: "good", text: "Final" } : { tone: "wait", text: "Running" })
    },
    { title: "Opening", place: "off", kind: "fiat", cell: amount(({ opening_sats }) => opening_sats) },
    { title: "In", place: "off", kind: "fiat", cell: amount(({ in_sats }) => in_sats) },
    { title: "Out", place: "off", kind: "fiat", cell: amount(({ out_sats }) => out_sats) },
    { title: "Fees", place: "off", kind: "fiat", cell: amount(({ fees_sats }) => fees_sats) },
    { title: "Closing, sats", place: "c2", kind: "amount", cell: amount(({ closing_sats }) => closing_sats) },
    {
      title: "Value now",
      place: "c4",
      kind: "fiat",
      cell: ({ closing_sats }) => say.fiat(closing_sats) ?? ""
    }
  ]
}

const columns = (visit: Visit): ReadonlyArray<Column<Statement>> => {
  const { say, beside } = visit
  return [
    ...figures(say),
    {
      title: "",
      place: "all",
      cell: (statement) => {
        const name = say.month(Date.parse(statement.from))
        const label = (text: string) => [text, h("span", { class: "visually-hidden" }, ` ${name}`)]
        return [
          h("a", { href: beside(`v1/statements/${statement.month}?format=html`) }, label("Open")),
          " · ",
          h("a", { href: file(visit, statement, "csv"), download: true }, label("CSV")),
          " · ",
          h("a", { href: file(visit, statement, "jsonl"), download: true }, label("JSON"))
        ]
      }
    }
  ]
}

const get = async (visit: Visit): Promise<Shown> => {
  const { api, say, to } = visit
  const { months: names, until, newer, older } = pageOf(visit, "statements", months)
  const [earlier, ...rows] = await Promise.all([
    api.call("GET /v1/transactions", { query: { until, limit: 1 } }),
    ...names.map((month) => api.call("GET /v1/statements/{month}", { params: { month } }))
  ])
  const known = shownOf(rows)
  const links = { newer: newer && to(newer), older: earlier.length === 0 ? undefined : to(older) }
  return {
    title: "Statements and export",
    lead: "Months begin and end at midnight UTC. A final statement never changes.",
    body: [
      plain(
        "Statements",
        table("Statements by month", { columns: columns(visit), groups: [{ rows: known }] }),
        paging(0, "", links)
      ),
      h(
        "div",
        { class: "form-side" },
        h(
          "form",
          { class: "panel", action: to("statements/export"), "aria-label": "Export" },
          h("header", null, h("h2", null, "Export")),
          fields(
            field({ label: "From", name: "from", type: "date", optional: true, hint: "In UTC" }),
            field({
              label: "Until",
              name: "until",
              type: "date",
              optional: true,
              hint: "In UTC, not included"
            }),
            choice("Format", "format", formats, "csv"),
            h(
              "p",
              { class: "hint" },
              "Every ledger transaction, with the opening and closing balance. To export only some payments, filter the ",
              h("a", { href: to("payments") }, "list of payments"),
              "."
            )
          ),
          submit("Download")
        ),
        factPanel("Your books", [
          ["Exchange rate", "As of each transaction"],
          ["Time zone", `Lists in ${say.zone}, statements in UTC`],
          ["Fees", "In separate columns"]
        ])
      )
    ]
  }
}

/** Every ledger transaction of a period. Leave a date empty for no limit. */
const exported = async ({ query }: Visit): Promise<Elsewhere> => {
  const asked = new URLSearchParams({ format: query.get("format") === "jsonl" ? "jsonl" : "csv" })
  for (const name of ["from", "until"]) {
    const day = query.get(name) ?? ""
    if (/^\d{4}-\d{2}-\d{2}$/.test(day)) asked.set(name, `${day}T00:00:00.000Z`)
  }
  const [from, until] = [asked.get("from"), asked.get("until")]
  if (from !== null && until !== null && from >= until)
    throw new Refused(
      400,
      "malformed_request",
      "“Until” must be later than “From”. It is not included in the export"
    )
  return { redirect: `v1/transactions/export?${asked}`, isBeside: true }
}

export const statements: ReadonlyArray<Page> = [
  { path: "statements", nav: "statements", get },
  { path: "statements/export", nav: "statements", get: exported }
]
