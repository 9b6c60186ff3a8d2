import { h } from "preact"
import { allowed } from "../../operator/Common.ts"
import type { OperatorVisit } from "../../Page.ts"
import { body, link, panel, status, sub } from "../../Parts.ts"
import { rowLink, table } from "../../Table.ts"
import type { OperatorPerson } from "../../wire.ts"

const peopleTable = ({ to }: OperatorVisit, rows: ReadonlyArray<OperatorPerson>) =>
  table("People", {
    columns: [
      {
        title: "Person",
        place: "c1",
        cell: ({ id, name, role }) => [rowLink(to(`people/${id}`), h("bdi", null, name)), sub(role)]
      },
      {
        title: "Status",
        place: "c2",
        cell: (row) => status(row.status === "active" ? { tone: "good", text: "Active" } : { tone: "wait", text: "Invited" })
      }
    ],
    groups: [{ rows }],
    kind: "mid",
    opens: true
  })

/** A company's people, for operators who may see them. */
export const companyPanel = async (visit: OperatorVisit, id: string) => {
  const people = await allowed(visit.api.call("GET /operator/people", { query: { company_id: id, limit: 100 } }))
  if (people === undefined) return null
  const members = people.filter((row) => row.status !== "removed")
  return panel(
    "People",
    { isRuled: true, beside: link(visit.to(`people/new?company=${id}`), "Invite…") },
    members.length === 0 ? body(h("p", { class: "soft" }, "No people yet.")) : peopleTable(visit, members)
  )
}
