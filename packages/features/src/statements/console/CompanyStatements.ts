import { h } from "preact"
import { crumbsOf } from "@satrail/ui/console/operator/Common"
import type { OperatorVisit, Page, Shown } from "@satrail/ui/console/Page"
import { plain } from "@satrail/ui/console/Parts"
import { paging, table } from "@satrail/ui/console/Table"
import { figures, pageOf, shownOf } from "./Statements.ts"

const months = 12

const get = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, say, beside, id, to } = visit
  const { months: names, until, newer, older } = pageOf(visit, `companies/${id}/statements`, months)
  const [earlier, ...all] = await Promise.all([
    api.call("GET /operator/companies/{companyId}/transactions", {
      params: { companyId: id },
      query: { until, limit: 1 }
    }),
    ...names.map((month) =>
      api.call("GET /operator/companies/{companyId}/statements/{month}", { params: { companyId: id, month } })
    )
  ])
  const rows = shownOf(all)
  const links = { newer: newer && to(newer), older: earlier.length === 0 ? undefined : to(older) }
  const file = (month: string, format: string) =>
    beside(`operator/companies/${id}/statements/${month}${format}`)
  return {
    title: "Statements",
    crumbs: await crumbsOf(visit),
    lead: "Months begin and end at midnight UTC. A final statement never changes.",
    body: plain(
      "Statements",
      table("Statements by month", {
        columns: [
          ...figures(say),
          {
            title: "",
            place: "all",
            cell: ({ month, from }) => {
              const name = h("span", { class: "visually-hidden" }, ` ${say.month(Date.parse(from))}`)
              return [
                h("a", { href: file(month, "?format=html") }, "Open", name),
                " · ",
                h("a", { href: file(month, ""), download: `${month}.json` }, "JSON", name)
              ]
            }
          }
        ],
        groups: [{ rows }]
      }),
      paging(0, "", links)
    )
  }
}

export const companyStatements: Page<OperatorVisit> = {
  path: "companies/:id/statements",
  nav: "companies",
  get
}
