import { h } from "preact"
import { type Payment, Refused } from "@satrail/ui/console/Api"
import { csv, type CsvColumn } from "@satrail/ui/console/Csv"
import * as Formats from "@satrail/ui/console/Format"
import { features, receiveButtons } from "../../features/console.ts"
import { cursorOf, filtering, mostCharacters, pages } from "@satrail/ui/console/List"
import * as Range from "@satrail/ui/console/Range"
import { type File, type Page, type Shown, type Visit, withQuery } from "@satrail/ui/console/Page"
import {
  button,
  type Chip,
  chips,
  cover,
  empty,
  field,
  plain,
  segments,
  status,
  when
} from "@satrail/ui/console/Parts"
import { type Column, exported, type Group, paging, rowLink, table } from "@satrail/ui/console/Table"
import type { Operations, Transaction } from "@satrail/ui/console/wire"
import {
  type Line,
  linesOf,
  pathOf,
  paymentsOf,
  rails,
  signedSats,
  statuses,
  badgeOf,
  types
} from "@satrail/ui/console/pages/Rows"

const perPage = 50
/** Maximum number of rows that are counted, summed and exported. For more rows, export the whole ledger by month. */
const mostCounted = 10_000
const perRead = 1000

type Query = Operations["GET /v1/transactions"]["query"]

interface Filter {
  readonly name: string
  readonly values: ReadonlyArray<readonly [value: string, text: string]>
  readonly label: string
}

const filters: ReadonlyArray<Filter> = [
  { name: "period", label: "Period", values: Range.periods },
  { name: "status", label: "Status", values: statuses },
  { name: "rail_type", label: "Method", values: Object.entries(rails) }
]

/** Converts the filters in the page's URL for the API. */
const askedBy = (visit: Visit): Query => {
  const { query, say } = visit
  const day = query.get("day")
  const key = query.get("metadata_key") ?? undefined
  const begin = (one: string) => new Date(Formats.startOfDay(one, say.zone)).toISOString()
  return {
    ...Range.queryOf(Range.rangeOf(visit)),
    ...(day !== null && Range.isDay(day) && { from: begin(day), until: begin(Formats.dayAfter(day, 1)) }),
    status: statuses.find(([status]) => status === query.get("status"))?.[0],
    type: types.find(([type]) => type === query.get("type"))?.[0],
    rail_type: (["lightning", "on_chain"] as const).find((rail) => rail === query.get("rail_type")),
    ...(key !== undefined && { metadata_key: key, metadata_value: query.get("metadata_value") ?? "" })
  }
}

/** The direction is 1 click away, so that an export of what was received takes 3 from the overview. */
const directions = (visit: Visit) => {
  const chosen = visit.query.get("type") ?? ""
  const at = (type: string) => filtering("payments", visit)({ type })
  return segments("Direction", [
    { text: "All", href: at(""), isOn: chosen === "" },
    ...types.map(([type, text]) => ({ text, href: at(type), isOn: chosen === type }))
  ])
}

const chipsOf = (visit: Visit): ReadonlyArray<Chip> => {
  const { query } = visit
  const [page, choosing] = [filtering("payments", visit), filtering("payments/filter", visit)]
  const known = filters.flatMap(({ name, label, values }): ReadonlyArray<Chip> => {
    const value = query.get(name)
    if (value === null) return [{ text: label, href: choosing({ by: name }), isOn: false }]
    return [
      { text: values.find(([one]) => one === value)?.[1] ?? value, href: page({ [name]: "" }), isOn: true }
    ]
  })
  const day = query.get("day")
  const key = query.get("metadata_key")
  return [
    ...known,
    ...Range.rangeChips(visit, page).slice(Range.periods.length),
    ...(day === null ? [] : [{ text: day, href: page({ day: "" }), isOn: true }]),
    key === null
      ? { text: "Metadata", href: choosing({ by: "metadata" }), isOn: false }
      : {
          text: `${key} is ${query.get("metadata_value") ?? ""}`,
          href: page({ metadata_key: "", metadata_value: "" }),
          isOn: true
        }
  ]
}

type Row = Omit<Transaction, "metadata">

interface Counted {
  readonly rows: ReadonlyArray<Row>
  readonly isAll: boolean
  /** The number of rows, such as `21`, or `more than 10,000`. */
  readonly count: string
}

/** Reads every row that a filter selects, up to the maximum that is counted. Large metadata isn't kept. */
const counted = async ({ api }: Visit, query: Query): Promise<Counted> => {
  const rows: Array<Row> = []
  let cursor: string | undefined
  let length = 0
  do {
    const page = await api.page("GET /v1/transactions", { query: { ...query, limit: perRead, cursor } })
    rows.push(...page.data.map(({ metadata: _, ...row }) => row))
    cursor = page.next
    length += page.characters
  } while (cursor !== undefined && rows.length < mostCounted && length < mostCharacters)
  const isAll = cursor === undefined
  return {
    rows,
    isAll,
    count: isAll ? Formats.sats(rows.length) : `more than ${Formats.sats(Math.min(rows.length, mostCounted))}`
  }
}

interface Sums {
  in: number
  out: number
  fees: number
  confirming: number
}

const sumsOf = (rows: ReadonlyArray<Row>): Sums => {
  const sums: Sums = { in: 0, out: 0, fees: 0, confirming: 0 }
  for (const { type, status, amount_sats, fee_sats } of rows) {
    if (status === "pending" && type === "deposit") sums.confirming += amount_sats
    if (status !== "settled") continue
    if (type === "withdrawal" || amount_sats < 0) sums.out += Math.abs(amount_sats)
    else sums.in += amount_sats
    sums.fees += fee_sats
  }
  return sums
}

const dayWords = ({ in: came, out, confirming }: Sums): string =>
  [
    `in ${Formats.exact(came)}`,
    out > 0 ? `out ${Formats.exact(out)}` : "",
    confirming > 0 ? `${Formats.exact(confirming)} confirming` : ""
  ]
    .filter((text) => text !== "")
    .join(" · ")

const totals = ({ say }: Visit, { in: came, out, fees }: Sums, label: string) => {
  const change = came - out - fees
  const figure = (name: string, text: string, sats: number) => {
    const fiat = say.fiat(sats)
    return [name, [h("b", null, text), " "], fiat && Formats.marked(sats < 0 ? "−" : "", fiat)] as const
  }
  return cover(
    label,
    [
      figure("In", Formats.exact(came), came),
      figure("Out", Formats.exact(out), out),
      figure("Fees", Formats.exact(fees), fees),
      figure("Change", Formats.signed(change), change)
    ],
    "sums"
  )
}

export const columns = ({ say, to }: Visit, isDated: boolean): ReadonlyArray<Column<Line>> => [
  {
    title: "Time",
    place: "c3",
    kind: "faint",
    isSorted: true,
    cell: ({ createdAtMillis, rail }) => [
      when(createdAtMillis, isDated ? say.when(createdAtMillis) : say.seconds(createdAtMillis)),
      h("span", { class: "only-narrow" }, rail === null ? "" : ` · ${rails[rail]}`)
    ]
  },
  {
    title: "What",
    place: "c1",
    cell: (line) => [
      rowLink(to(pathOf(line)), line.title),
      " ",
      line.more !== "" && h("span", { class: "soft desc" }, line.more)
    ]
  },
  { title: "Method", place: "off", kind: "soft", cell: ({ rail }) => (rail === null ? "" : rails[rail]) },
  { title: "Status", place: "c4", cell: (line) => status(badgeOf(line)) },
  {
    title: "Amount, sats",
    place: "c2",
    kind: "amount",
    cell: signedSats
  },
  {
    title: say.price === undefined ? "Value" : `Value, ${say.price.currency.toUpperCase()}`,
    place: "off",
    kind: "fiat",
    cell: ({ value }) => value
  }
]

/** One group per day, with the totals of the rows that are counted. */
const byDay = (
  { say }: Visit,
  lines: ReadonlyArray<Line>,
  { rows: counted, isAll }: Counted
): ReadonlyArray<Group<Line>> => {
  const days = Map.groupBy(lines, ({ createdAtMillis }) => say.dayKey(createdAtMillis))
  const sums = Map.groupBy(counted, ({ created_at }) => say.dayKey(Date.parse(created_at)))
  // Of the oldest day, only some rows may be counted.
  const oldest = counted.at(-1)
  if (!isAll && oldest !== undefined) sums.delete(say.dayKey(Date.parse(oldest.created_at)))
  return [...days].map(([key, rows]) => {
    const [{ createdAtMillis } = { createdAtMillis: 0 }] = rows
    const day = say.day(createdAtMillis)
    const summed = sums.get(key)
    return {
      title: key === say.today ? `Today, ${day}` : day,
      sums: summed === undefined ? "" : dayWords(sumsOf(summed)),
      rows
    }
  })
}

const tooMany = ({ count }: Counted): string =>
  `${Formats.capital(count)} payments match. To total or export them, choose a shorter period, or a month under Statements.`

/** Parameters that a form for a date replaces. */
const replaced: ReadonlyArray<string> = ["cursor", "trail", "day", ...Object.keys(Range.replaced)]

/** Inputs that keep the parameters of the page, except these. */
const keeping = ({ query }: Visit, except: ReadonlyArray<string>) =>
  [...query].map(([name, value]) => !except.includes(name) && h("input", { type: "hidden", name, value }))

const goTo = (visit: Visit) => {
  const { to, say, query } = visit
  return h(
    "form",
    { class: "paging", action: to("payments") },
    keeping(visit, replaced),
    h(
      "label",
      { for: "day" },
      "Go to date ",
      h("input", { type: "date", id: "day", name: "day", value: query.get("day") ?? say.today })
    ),
    h("button", { class: "btn" }, "Go")
  )
}

const nothing = (visit: Visit) =>
  visit.query.size === 0
    ? empty(
        "payments",
        "No payments yet",
        "Payments appear here as soon as someone pays a checkout, an invoice or an address.",
        receiveButtons(visit)
      )
    : empty(
        "search",
        "No results",
        "No payment matches all of these filters.",
        button(visit.to("payments"), "Clear all", "main")
      )

const list = async (visit: Visit): Promise<Shown> => {
  const { api, query } = visit
  const [asked, cursor] = [askedBy(visit), cursorOf(visit)]
  const [page, all] = await Promise.all([
    api.page("GET /v1/transactions", { query: { ...asked, limit: perPage, cursor } }),
    counted(visit, asked)
  ])
  const lines = await linesOf(visit, page.data)
  const { count } = all
  const first = lines[0] === undefined ? -1 : all.rows.findIndex(({ id }) => id === lines[0]?.id)
  const place =
    first < 0 ? `of ${count}` : `${Formats.sats(first + 1)}–${Formats.sats(first + lines.length)} of ${count}`
  const body = [
    h("div", { class: "chips" }, [directions(visit), chips(chipsOf(visit))]),
    lines.length === 0
      ? plain("Payments", nothing(visit), query.size > 0 && goTo(visit))
      : all.isAll
        ? totals(visit, sumsOf(all.rows), `Totals of ${count} payments`)
        : h("p", { class: "soft" }, tooMany(all)),
    lines.length > 0 &&
      plain(
        "Payments",
        table("Payments by day", {
          columns: columns(visit, false),
          groups: byDay(visit, lines, all),
          kind: "pay-table",
          opens: true
        }),
        paging(lines.length, `${place} · times in ${visit.say.zone}`, {
          ...pages("payments", visit, page.next),
          extra: goTo(visit)
        })
      )
  ]
  return {
    title: "Payments",
    body,
    isLive: cursor === undefined,
    ...(lines.length > 0 &&
      all.isAll && { actions: exported(filtering("payments/export", visit)({}), count) })
  }
}

interface Exported {
  readonly row: Row
  readonly payment: Payment | undefined
}

const signed = ({ type, amount_sats }: Row): number => (type === "withdrawal" ? -amount_sats : amount_sats)
/** Signed, as in the export of the ledger. The fee of a payment that failed was returned. */
const feeOf = ({ fee_sats, status }: Row): number => (fee_sats === 0 || status === "failed" ? 0 : -fee_sats)

/** The totals add up to the change that the list shows: only a settled payment changes the balance. */
const heads: ReadonlyArray<CsvColumn<Exported>> = [
  ["created_at", ({ row }) => row.created_at],
  ["type", ({ row }) => row.type],
  ["id", ({ row }) => row.id],
  ["description", ({ row, payment }) => payment?.description ?? row.reason ?? ""],
  ["rail_type", ({ row }) => row.rail_type],
  ["status", ({ row }) => row.status],
  ["amount_sats", ({ row }) => signed(row)],
  ["fee_sats", ({ row }) => feeOf(row)],
  ["order_id", ({ payment }) => payment?.orderId ?? null],
  ...features
    .flatMap(({ payments }) => payments?.columns ?? [])
    .map(([head, cell]): CsvColumn<Exported> => [
      head,
      ({ payment }) => (payment === undefined ? null : cell(payment))
    ]),
  ["recipient", ({ row }) => row.recipient],
  ["fiat_rate", ({ payment }) => payment?.rate ?? null],
  ["fiat_currency", ({ payment }) => payment?.fiatCurrency ?? null],
  ["fiat_rate_source", ({ payment }) => payment?.rateSource ?? null],
  ["metadata", ({ payment }) => payment?.metadata ?? {}],
  [
    "total_sats",
    ({ row }) => (row.status === "settled" ? Math.round((signed(row) + feeOf(row)) * 1000) / 1000 : 0)
  ]
]

const file = async (visit: Visit): Promise<File> => {
  const all = await counted(visit, askedBy(visit))
  if (!all.isAll) throw new Refused(400, "malformed_request", tooMany(all))
  const payments = new Map(
    (await visit.api.payments(paymentsOf(all.rows))).map((payment) => [payment.id, payment])
  )
  return csv(
    "payments",
    heads,
    all.rows.map((row) => ({ row, payment: payments.get(row.id) }))
  )
}

const filterPage = (visit: Visit): Shown => {
  const { query, to } = visit
  const by = query.get("by") ?? ""
  const filter = filters.find(({ name }) => name === by)
  // A period and days exclude each other.
  const others = by === "period" ? { ...Range.replaced, by: "", day: "" } : { by: "" }
  const body =
    filter === undefined
      ? h(
          "form",
          { class: "body fields", action: to("payments") },
          keeping(visit, ["by", "metadata_key", "metadata_value"]),
          field({ label: "Key", name: "metadata_key", required: true }),
          field({ label: "Value", name: "metadata_value", required: true }),
          h("button", { class: "btn main" }, "Filter")
        )
      : h(
          "ul",
          { class: "body fields" },
          filter.values.map(([value, text]) =>
            h("li", null, button(to(withQuery("payments", query, { ...others, [by]: value })), text, "wide"))
          )
        )
  return {
    title: filter === undefined ? "Filter by metadata" : `Filter by ${filter.label.toLowerCase()}`,
    crumbs: [["Payments", withQuery("payments", query, { by: "" })]],
    body: h(
      "div",
      { class: "form-side" },
      plain("Filter", body, by === "period" && Range.rangeForm(visit, "payments"))
    )
  }
}

export const payments: Page = { path: "payments", nav: "payments", get: list }
export const exportPayments: Page = { path: "payments/export", nav: "payments", get: file }
export const filterPayments: Page = { path: "payments/filter", nav: "payments", get: filterPage }
