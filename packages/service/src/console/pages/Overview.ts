import { h } from "preact"
import { bars, legend, line } from "@satrail/ui/console/Chart"
import * as Formats from "@satrail/ui/console/Format"
import { features, receiveButtons } from "../../features/console.ts"
import { may, type Page, type Shown, type Visit } from "@satrail/ui/console/Page"
import {
  attention,
  body,
  button,
  type Concern,
  empty,
  link,
  meter,
  panel,
  plain,
  segments,
  sides,
  status,
  timeline,
  two,
  when
} from "@satrail/ui/console/Parts"
import { type Column, rowLink, table } from "@satrail/ui/console/Table"
import type { Balance, LimitsRemaining, Statement } from "@satrail/ui/console/wire"
import { type Line, linesOf, pathOf, signedSats, badgeOf } from "@satrail/ui/console/pages/Rows"

const latest = 8

const concernsOf = async (visit: Visit): Promise<ReadonlyArray<Concern>> =>
  (await Promise.all(features.map(({ overview }) => overview?.concerns?.(visit) ?? []))).flat()

const columns = ({ say, to }: Visit): ReadonlyArray<Column<Line>> => [
  {
    title: "What",
    place: "c1",
    cell: (line) => [
      rowLink(to(pathOf(line)), line.title),
      " ",
      h("span", { class: "soft desc off" }, line.more)
    ]
  },
  { title: "Status", place: "c3", kind: "", cell: (line) => status(badgeOf(line)) },
  {
    title: "When",
    place: "c4",
    kind: "faint",
    cell: ({ createdAtMillis }) => when(createdAtMillis, say.when(createdAtMillis))
  },
  { title: "Amount, sats", place: "c2", kind: "amount", cell: signedSats },
  { title: "Value", place: "off", kind: "fiat", cell: ({ value }) => value }
]

const spans = [
  ["hour_sats", "Sending, 1 hour"],
  ["day_sats", "Sending, 24 hours"],
  ["month_sats", "Sending, this month"],
  ["day_count", "Outgoing payments, 24 hours"]
] as const satisfies ReadonlyArray<readonly [keyof LimitsRemaining, string]>

/** The configured limits, with their remaining amounts. */
export const limitsLeft = ({ account, say }: Visit) =>
  spans.flatMap(([name, text]) => {
    const [of, left] = [account.limits?.[name], account.remaining?.[name]]
    return typeof of === "number" && typeof left === "number"
      ? [meter(say, text, { of, left, isSats: name !== "day_count" })]
      : []
  })

/** Number of days in the chart of money in and out. */
const flowDays = 14
const spanOf = (query: URLSearchParams): "7" | "28" | "365" => {
  const span = query.get("span")
  return span === "7" || span === "365" ? span : "28"
}

/** The start of each recent day, followed by the current time. */
const daysOf = ({ say }: Visit, count: number): ReadonlyArray<number> => [
  ...Array.from({ length: count }, (_, n) =>
    Formats.startOfDay(Formats.dayAfter(say.today, n + 1 - count), say.zone)
  ),
  say.nowMillis + 1
]

/** The closing balance of each month, from the statements. */
const monthly = async ({ api, say, to }: Visit) => {
  const now = new Date(say.nowMillis)
  const names = Array.from({ length: 12 }, (_, n) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - (11 - n), 1)).toISOString().slice(0, 7)
  )
  const months = await Promise.all(
    names.map((month) => api.call("GET /v1/statements/{month}", { params: { month } }))
  )
  // A month's balance is that of its last day, in UTC.
  const until = (month: Statement) => Math.min(Date.parse(month.to) - 1, say.nowMillis)
  return months.map((month) => ({ atMillis: until(month), sats: month.closing_sats, href: to("statements") }))
}

const charts = async (visit: Visit, funds: Balance) => {
  const { api, say, to, query } = visit
  const span = spanOf(query)
  const steps = await api.steps(daysOf(visit, Math.max(flowDays, span === "365" ? 0 : Number(span))))
  const href = (millis: number) => to(`payments?day=${say.dayKey(millis)}`)
  const points =
    span === "365"
      ? await monthly(visit)
      : steps.slice(-Number(span)).map(({ fromMillis, balanceSats }) => ({
          atMillis: fromMillis,
          sats: balanceSats,
          href: href(fromMillis)
        }))
  const flows = steps.slice(-flowDays).map(({ fromMillis, inSats, outSats }) => ({
    atMillis: fromMillis,
    in: inSats,
    out: outSats,
    href: href(fromMillis)
  }))
  const [came, went] = [
    flows.reduce((sum, day) => sum + day.in, 0),
    flows.reduce((sum, day) => sum + day.out, 0)
  ]
  const pending = [
    funds.held_sats > 0 ? `${Formats.exact(funds.held_sats)} held` : "",
    funds.pending_deposits_sats > 0 ? `${Formats.exact(funds.pending_deposits_sats)} confirming` : ""
  ].filter((text) => text !== "")
  const figure = (text: string, sats: number, more: string, id?: string) => {
    const fiat = say.fiat(sats)
    const words = [fiat === undefined ? "" : `· ${fiat}`, more].filter((word) => word !== "").join(" ")
    return h(
      "p",
      { class: "figure", "data-testid": id },
      text,
      " ",
      h("small", null, `${Formats.unit(sats)} `, h("span", { class: "soft" }, words))
    )
  }
  const chosen = (value: string, text: string) => ({
    text,
    href: to(value === "28" ? "" : `?span=${value}`),
    isOn: value === span
  })
  return two(
    panel(
      "Available",
      {
        beside: segments("Period", [
          chosen("7", "7 days"),
          chosen("28", "4 weeks"),
          chosen("365", "12 months")
        ])
      },
      body(
        figure(Formats.sats(funds.balance), funds.balance, "", "available"),
        h("p", { class: "soft num" }, pending.length === 0 ? "Nothing held" : pending.join(" · ")),
        line(span === "365" ? Formats.make({ zone: "UTC" }, say.price, say.nowMillis) : say, points)
      )
    ),
    panel(
      "In and out by day",
      { beside: legend() },
      body(
        figure(Formats.signed(came - went), came - went, `in\u00a0${flowDays}\u00a0days`),
        h("p", { class: "soft num" }, `in ${Formats.exact(came)} · out ${Formats.exact(went)}`),
        bars(say, flows)
      )
    )
  )
}

/** The overview of a key that can't read payments. */
const withoutPayments = (visit: Visit): Shown => ({
  title: "Overview",
  body: plain(
    "Payments",
    empty(
      "lock",
      "This key can’t read payments",
      "Your changes take effect, but are not shown here. To see them, sign in as a person or with a key that has the scope “read”.",
      may(visit, "send") && button(visit.to("send"), "Send"),
      receiveButtons(visit)
    )
  )
})

/** What to do before the first payment. */
const setup = async (visit: Visit) => {
  const steps = (await Promise.all(features.map(({ overview }) => overview?.setup?.(visit)))).filter(
    (step) => step !== undefined
  )
  const done = steps.filter(({ isDone }) => isDone).length
  if (steps.length === 0) return null
  return panel(
    "Set up your account",
    { beside: h("span", { class: "faint" }, `${done} of ${steps.length} done`) },
    body(
      timeline(
        visit.say,
        steps.map(({ text, why, href, isDone }) =>
          isDone ? { tone: "good", text } : { text: link(href, text), more: why }
        )
      )
    )
  )
}

const get = async (visit: Visit): Promise<Shown> => {
  const { api, to, account } = visit
  if (!may(visit, "read")) return withoutPayments(visit)
  const [concerns, funds, transactions] = await Promise.all([
    concernsOf(visit),
    api.call("GET /v1/transactions/balance"),
    api.call("GET /v1/transactions", { query: { limit: latest } })
  ])
  const lines = await linesOf(visit, transactions)
  const limits = limitsLeft(visit)
  const remaining = panel(
    "Remaining limits",
    { beside: link(to("limits"), "All limits") },
    body(limits.length === 0 ? h("p", { class: "soft" }, "No limits.") : limits)
  )
  const newcomers = plain(
    "Payments",
    empty(
      "payments",
      "No payments yet",
      "Payments appear here as soon as someone pays you.",
      receiveButtons(visit),
      may(visit, "admin") && button(to("keys/new"), "Create an API key")
    )
  )
  return {
    title: "Overview",
    ...(account.frozen && { status: { tone: "frozen" as const, text: "Sending frozen" } }),
    isLive: true,
    actions: [
      !account.frozen && lines.length > 0 && may(visit, "send") && button(to("send"), "Send"),
      receiveButtons(visit, "plus")
    ],
    body: [
      concerns.length > 0 && attention(concerns),
      lines.length > 0 && (await charts(visit, funds)),
      lines.length === 0
        ? [newcomers, sides(await setup(visit), remaining)]
        : sides(
            panel(
              "Latest payments",
              { isRuled: true, beside: link(to("payments"), "All payments") },
              table("Latest payments", { columns: columns(visit), groups: [{ rows: lines }], opens: true })
            ),
            remaining
          )
    ]
  }
}

export const overview: Page = { path: "", nav: "overview", get }
