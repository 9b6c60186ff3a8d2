import { h } from "preact"
import { type OperatorVisit, type Page, type Shown } from "../Page.ts"
import { cursorOf, filtering, pages } from "../List.ts"
import * as Range from "../Range.ts"
import { chips, empty, plain, segments, status, when } from "../Parts.ts"
import { type Line, linesOf, rails, signedSats, statuses, badgeOf, types } from "../pages/Rows.ts"
import { crumbsOf } from "./Common.ts"
import { type Column, paging, rowLink, table } from "../Table.ts"
import type { Transaction } from "../wire.ts"

// A company's payments, for the operator. The page only reads.

const perPage = 50

const columns = ({ say, to }: OperatorVisit, isWide: boolean): ReadonlyArray<Column<Line>> => [
  {
    title: "What",
    place: "c1",
    cell: (line) => [
      rowLink(to(`${line.type}s/${line.id}`), line.title),
      " ",
      line.more !== "" && h("span", { class: "soft" }, line.more)
    ]
  },
  ...(isWide
    ? [
        {
          title: "Method",
          place: "off",
          kind: "soft",
          cell: ({ rail }: Line) => (rail === null ? "" : rails[rail])
        } as const
      ]
    : []),
  { title: "Status", place: "c3", cell: (line) => status(badgeOf(line)) },
  {
    title: "When",
    place: "c4",
    kind: "faint",
    cell: ({ createdAtMillis }) => when(createdAtMillis, say.when(createdAtMillis))
  },
  { title: "Sats", place: "c2", kind: "amount", cell: signedSats },
  { title: "Value", place: "off", kind: "fiat", cell: ({ value }) => value }
]

export const paymentTable = async (
  visit: OperatorVisit,
  companyId: string,
  transactions: ReadonlyArray<Transaction>,
  isWide = false
) => {
  const lines = await linesOf({ api: visit.of(companyId), say: visit.say }, transactions)
  return lines.length === 0
    ? empty("payments", "No payments", "Nothing has been paid or received.")
    : table("Payments, newest first", {
        columns: columns(visit, isWide),
        groups: [{ rows: lines }],
        opens: true
      })
}

const list = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, say, query, id } = visit
  const type = types.find(([type]) => type === query.get("type"))?.[0]
  const status = statuses.find(([status]) => status === query.get("status"))?.[0]
  const path = `companies/${id}/payments`
  const page = await api.page("GET /operator/companies/{companyId}/transactions", {
    params: { companyId: id },
    query: {
      limit: perPage,
      cursor: cursorOf(visit),
      type,
      status,
      ...Range.queryOf(Range.rangeOf(visit))
    }
  })
  const at = filtering(path, visit)
  const chip = (text: string, name: "type" | "status", value: string) => ({
    text,
    href: at({ [name]: value }),
    isOn: (query.get(name) ?? "") === value
  })
  return {
    title: "Payments",
    crumbs: await crumbsOf(visit),
    body: [
      h("div", { class: "chips" }, [
        segments("Kind", [chip("All", "type", ""), ...types.map(([type, text]) => chip(text, "type", type))]),
        segments("Status", [
          chip("Any status", "status", ""),
          ...statuses.map(([status, text]) => chip(text, "status", status))
        ]),
        chips(Range.rangeChips(visit, at))
      ]),
      plain(
        "Payments",
        await paymentTable(visit, id, page.data, true),
        paging(page.data.length, `times in ${say.zone}`, {
          ...pages(path, visit, page.next),
          extra: Range.rangeForm(visit, path)
        })
      )
    ]
  }
}

export const companyPayments: ReadonlyArray<Page<OperatorVisit>> = [
  { path: "companies/:id/payments", nav: "companies", get: list }
]
