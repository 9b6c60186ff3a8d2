import { h } from "preact"
import * as Formats from "@satrail/ui/console/Format"
import { cursorOf, filtering, pages } from "@satrail/ui/console/List"
import { type OperatorVisit, type Page, type Shown } from "@satrail/ui/console/Page"
import { empty, panel, plain, segments, status } from "@satrail/ui/console/Parts"
import { elided } from "@satrail/ui/console/pages/Rows"
import { type Column, paging, rowLink, table } from "@satrail/ui/console/Table"
import type { Company, FollowedDeposit, FollowedWithdrawal } from "@satrail/ui/console/wire"
import { ago, count } from "@satrail/ui/console/operator/Common"
import { chips, badgeOf, waitsSince } from "./Waiting.ts"

const perPage = 100

type Companies = ReadonlyMap<string, Company>

const columns = (visit: OperatorVisit, companies: Companies): ReadonlyArray<Column<FollowedWithdrawal>> => {
  const { say, to } = visit
  return [
    {
      title: "Company",
      place: "c1",
      cell: ({ id, company_id }) =>
        rowLink(to(`withdrawals/${id}`), companies.get(company_id)?.name ?? company_id)
    },
    { title: "To", place: "c3", kind: "soft", cell: ({ recipient }) => elided(recipient) },
    {
      title: "State",
      place: "all",
      cell: (row) => status(badgeOf(row, visit, companies.get(row.company_id)))
    },
    {
      title: "Waiting",
      place: "c4",
      kind: "num",
      isSorted: true,
      cell: (row) => ago(say.nowMillis - waitsSince(row))
    },
    { title: "Sats", place: "c2", kind: "amount", cell: ({ amount_sats }) => Formats.sats(amount_sats) },
    { title: "Value", place: "off", kind: "fiat", cell: ({ amount_sats }) => say.fiat(amount_sats) ?? "" }
  ]
}

const depositColumns = (
  { say, to }: OperatorVisit,
  companies: Companies
): ReadonlyArray<Column<FollowedDeposit>> => [
  {
    title: "Company",
    place: "c1",
    cell: ({ id, company_id }) => rowLink(to(`deposits/${id}`), companies.get(company_id)?.name ?? company_id)
  },
  { title: "Waiting for", place: "all", kind: "soft", cell: ({ waits_for }) => waits_for ?? "" },
  {
    title: "Waiting",
    place: "c4",
    kind: "num",
    cell: ({ created_at }) => ago(say.nowMillis - Date.parse(created_at))
  },
  { title: "Sats", place: "c2", kind: "amount", cell: ({ amount_sats }) => Formats.sats(amount_sats) },
  { title: "Value", place: "off", kind: "fiat", cell: ({ amount_sats }) => say.fiat(amount_sats) ?? "" }
]

const get = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, to, query } = visit
  const [chosen, at] = [query.get("kind"), filtering("backlog", visit)]
  const [waiting, page, deposits] = await Promise.all([
    api.call("GET /operator/backlog"),
    api.page("GET /operator/withdrawals", {
      query: { status: "pending", limit: perPage, cursor: cursorOf(visit) }
    }),
    api.call("GET /operator/deposits", { query: { status: "pending", limit: perPage } })
  ])
  const isAll = !chips.some(([kind]) => kind === chosen)
  const rows = page.data.filter(({ kind }) => isAll || kind === chosen)
  const companies = await visit.companies([...rows, ...deposits].map(({ company_id }) => company_id))
  const all = chips.map(([kind]) => waiting[kind])
  const [many, sats] = [
    all.reduce((sum, one) => sum + one.count, 0),
    all.reduce((sum, one) => sum + one.amount_sats, 0)
  ]
  const { count: overdue } = waiting.task_overdue
  return {
    title: "Backlog",
    lead:
      many === 0
        ? "No withdrawal is pending."
        : `${Formats.sats(many)} unfinished, ${Formats.inSats(sats)} including fees`,
    isLive: true,
    body: [
      overdue > 0 &&
        h(
          "p",
          null,
          status({
            tone: "bad",
            text: `${count(overdue, "job is", "jobs are")} due, and no worker is picking ${overdue === 1 ? "it" : "them"} up`
          })
        ),
      segments("Kind", [
        { text: `All ${many}`, href: to("backlog"), isOn: isAll },
        ...chips.map(([kind, text]) => ({
          text: `${text} ${waiting[kind].count}`,
          href: at({ kind }),
          isOn: kind === chosen
        }))
      ]),
      plain(
        "Withdrawals",
        rows.length === 0
          ? empty("good", "Nothing is waiting", "Every withdrawal of this kind is finished.")
          : table("Pending withdrawals, oldest first", {
              columns: columns(visit, companies),
              groups: [{ rows }],
              opens: true
            }),
        paging(rows.length, `${Formats.sats(rows.length)} shown`, pages("backlog", visit, page.next))
      ),
      deposits.length > 0 &&
        panel(
          "Deposits that are not credited yet",
          { isRuled: true },
          table("Pending deposits, oldest first", {
            columns: depositColumns(visit, companies),
            groups: [{ rows: deposits }],
            opens: true
          })
        )
    ]
  }
}

export const backlog: Page<OperatorVisit> = { path: "backlog", nav: "backlog", get }
