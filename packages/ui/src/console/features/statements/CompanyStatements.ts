import { h } from "preact"
import * as Formats from "../../Format.ts"
import { crumbsOf } from "../../operator/Common.ts"
import type { OperatorVisit, Page, Shown } from "../../Page.ts"
import { plain, status } from "../../Parts.ts"
import { table } from "../../Table.ts"
import type { Statement } from "../../wire.ts"

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
  const amount = (of: (statement: Statement) => number) => (statement: Statement) => Formats.sats(of(statement))
  const file = (month: string, format: string) => beside(`operator/companies/${id}/statements/${month}${format}`)
  return {
    title: "Statements",
    crumbs: await crumbsOf(visit),
    lead: "Months begin and end at midnight UTC. A final statement never changes.",
    body: plain(
      "Statements",
      table("Statements by month", {
        columns: [
          { title: "Month", place: "c1", cell: ({ from }) => h("span", { class: "strong" }, say.month(Date.parse(from))) },
          {
            title: "Status",
            place: "c3",
            cell: ({ is_final }) => status(is_final ? { tone: "good", text: "Final" } : { tone: "wait", text: "Running" })
          },
          { title: "In", place: "off", kind: "fiat", cell: amount(({ in_sats }) => in_sats) },
          { title: "Out", place: "off", kind: "fiat", cell: amount(({ out_sats }) => out_sats) },
          { title: "Fees", place: "off", kind: "fiat", cell: amount(({ fees_sats }) => fees_sats) },
          { title: "Closing, sats", place: "c2", kind: "amount", cell: amount(({ closing_sats }) => closing_sats) },
          { title: "Value now", place: "c4", kind: "fiat", cell: ({ closing_sats }) => say.fiat(closing_sats) ?? "" },
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
