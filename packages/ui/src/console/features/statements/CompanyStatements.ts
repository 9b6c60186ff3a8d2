import { h } from "preact"
import { crumbsOf } from "../../operator/Common.ts"
import type { OperatorVisit, Page, Shown } from "../../Page.ts"
import { plain } from "../../Parts.ts"
import { table } from "../../Table.ts"
import { figures } from "./Statements.ts"

const months = 12

const get = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, say, beside, params } = visit
  const { id = "" } = params
  const now = new Date(say.nowMillis)
  const names = Array.from({ length: months }, (_, n) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - n, 1)).toISOString().slice(0, 7)
  )
  const all = await Promise.all(
    names.map((month) => api.call("GET /operator/companies/{companyId}/statements/{month}", { params: { companyId: id, month } }))
  )
  const rows = all.filter(
    ({ opening_sats, in_sats, out_sats, closing_sats, is_final }) => !is_final || opening_sats + in_sats + out_sats + closing_sats !== 0
  )
  const file = (month: string, format: string) => beside(`operator/companies/${id}/statements/${month}${format}`)
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
      })
    )
  }
}

/** A company's statements, for the operator. */
export const companyStatements: Page<OperatorVisit> = { path: "companies/:id/statements", nav: "companies", get }
