import { h } from "preact"
import { allowed } from "@satrail/ui/console/operator/Common"
import type { OperatorVisit } from "@satrail/ui/console/Page"
import { body, link, panel, status, sub } from "@satrail/ui/console/Parts"
import { rowLink, table } from "@satrail/ui/console/Table"
import type { OperatorPerson } from "@satrail/ui/console/wire"
import { mostPeople } from "./OperatorPeople.ts"
import { badge } from "./People.ts"

const peopleTable = ({ say, to }: OperatorVisit, rows: ReadonlyArray<OperatorPerson>) =>
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
        cell: (row) => status(badge(row, say.nowMillis))
      }
    ],
    groups: [{ rows }],
    kind: "mid",
    opens: true
  })

/** Number of removed people that are shown. What they created may outlive them. */
const mostRemoved = 20

/** Returns all people of a company, and then the newest removed ones, of whom there can be any number. */
const membersOf = async ({ api }: OperatorVisit, id: string): Promise<ReadonlyArray<OperatorPerson>> => {
  const members: Array<OperatorPerson> = []
  const removed: Array<OperatorPerson> = []
  let cursor: string | undefined
  do {
    const { data, next } = await api.page("GET /operator/people", {
      query: { company_id: id, limit: mostPeople, cursor }
    })
    for (const row of data) (row.status === "removed" ? removed : members).push(row)
    cursor = next
  } while (cursor !== undefined)
  return [...members, ...removed.slice(0, mostRemoved)]
}

/** A company's people, for operators who may see them. */
export const companyPanel = async (visit: OperatorVisit, id: string) => {
  const members = await allowed(membersOf(visit, id))
  if (members === undefined) return null
  return panel(
    "People",
    { isRuled: true, beside: link(visit.to(`people/new?company=${id}`), "Invite…") },
    members.length === 0 ? body(h("p", { class: "soft" }, "No people yet.")) : peopleTable(visit, members)
  )
}
