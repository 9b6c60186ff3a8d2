import { h } from "preact"
import { Refused } from "./Api.ts"
import * as Formats from "./Format.ts"
import { type AnyVisit, withQuery } from "./Page.ts"
import type { Chip } from "./Parts.ts"

// The times that a list shows. They are in its URL: `period`, or `from` and `until`.

const dayMillis = 86_400_000

export const periods = [
  ["7", "Last 7 days"],
  ["30", "Last 30 days"],
  ["365", "Last 12 months"],
  ["month", "This month"],
  ["last-month", "Last month"]
] as const

/** From the first moment to the second, which is not included. A missing moment is no limit. */
export interface Range {
  readonly fromMillis?: number
  readonly untilMillis?: number
}

type Asking = Pick<AnyVisit, "query" | "say">

/** `Date` also parses days of other years, some of which it cannot format. */
export const isDay = (text: string): boolean =>
  /^[12]\d{3}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text))

/** Returns the first day of the month of this day, or of a month before or after it. */
const firstOfMonth = (day: string, months = 0): string => {
  const [year = 0, month = 1] = day.split("-").map(Number)
  return new Date(Date.UTC(year, month - 1 + months, 1)).toISOString().slice(0, 10)
}

/** Returns the moment of a parameter: a time, or a day in the person's time zone, to whose first moment `days` are added. */
const momentIn = ({ query, say }: Asking, name: string, days: number): number | undefined => {
  const text = query.get(name) ?? ""
  if (text === "") return undefined
  if (isDay(text)) return Formats.startOfDay(Formats.dayAfter(text, days), say.zone)
  const millis = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(millis))
    throw new Refused(400, "malformed_request", `${name} must be a day or a time, such as 2026-01-31`)
  return millis
}

const ofPeriod = ({ query, say }: Asking): Range => {
  // Links of earlier versions have `days`.
  const period = query.get("period") ?? query.get("days") ?? ""
  const begin = (day: string) => Formats.startOfDay(day, say.zone)
  if (period === "month") return { fromMillis: begin(firstOfMonth(say.today)) }
  if (period === "last-month")
    return {
      fromMillis: begin(firstOfMonth(say.today, -1)),
      untilMillis: begin(firstOfMonth(say.today))
    }
  return /^\d{1,4}$/.test(period) ? { fromMillis: say.nowMillis - Number(period) * dayMillis } : {}
}

/** Returns the range in the page's URL. `from` and `until` replace the period. A day in `until` is included. */
export const rangeOf = (visit: Asking): Range => {
  const [fromMillis, untilMillis] = [momentIn(visit, "from", 0), momentIn(visit, "until", 1)]
  if (fromMillis === undefined && untilMillis === undefined) return ofPeriod(visit)
  return {
    ...(fromMillis !== undefined && { fromMillis }),
    ...(untilMillis !== undefined && { untilMillis })
  }
}

/** Returns the range as parameters of the API. */
export const queryOf = ({
  fromMillis,
  untilMillis
}: Range): { readonly from?: string; readonly until?: string } => ({
  ...(fromMillis !== undefined && { from: new Date(fromMillis).toISOString() }),
  ...(untilMillis !== undefined && { until: new Date(untilMillis).toISOString() })
})

export const isRanged = ({ query }: Pick<AnyVisit, "query">): boolean =>
  ["period", "days", "from", "until"].some((name) => query.has(name))

/** Parameters that another range replaces. */
export const replaced = { period: "", days: "", from: "", until: "" } as const

/** The range of a list whose days were chosen, in words. */
const words = ({ query }: Pick<AnyVisit, "query">): string | undefined => {
  const [from, until] = [query.get("from") ?? "", query.get("until") ?? ""]
  if (from === "" && until === "") return undefined
  return from === "" ? `Until ${until}` : until === "" ? `From ${from}` : `${from} to ${until}`
}

/** One chip for each period, and one for the chosen days. `at` returns the URL of the list with other filters. */
export const rangeChips = (
  visit: Pick<AnyVisit, "query">,
  at: (change: Readonly<Record<string, string>>) => string
): ReadonlyArray<Chip> => {
  const days = words(visit)
  const chosen =
    days === undefined ? (visit.query.get("period") ?? visit.query.get("days") ?? undefined) : undefined
  return [
    ...periods.map(([period, text]) => ({
      text,
      href: at({ ...replaced, period: chosen === period ? "" : period }),
      isOn: chosen === period
    })),
    ...(days === undefined ? [] : [{ text: days, href: at(replaced), isOn: true }])
  ]
}

const dayIn = ({ query }: Pick<AnyVisit, "query">, name: string): string =>
  (query.get(name) ?? "").slice(0, 10)

/** A form for the first and the last day of a list. It keeps the list's other filters. */
export const rangeForm = (visit: AnyVisit, path: string) => {
  const { query, to } = visit
  const dropped = ["cursor", "trail", "day", "by", ...Object.keys(replaced)]
  const input = (name: string, label: string) =>
    h(
      "label",
      { for: `range-${name}` },
      `${label} `,
      h("input", { type: "date", id: `range-${name}`, name, value: dayIn(visit, name) })
    )
  return h(
    "form",
    { class: "paging range", action: to(withQuery(path, new URLSearchParams(), {})) },
    [...query].map(([name, value]) => !dropped.includes(name) && h("input", { type: "hidden", name, value })),
    input("from", "From"),
    input("until", "to"),
    h("button", { class: "btn" }, "Show days")
  )
}
