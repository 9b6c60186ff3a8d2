import * as Formats from "@satrail/ui/console/Format"
import { cursorOf } from "@satrail/ui/console/List"
import type { OperatorVisit, Page, Shown } from "@satrail/ui/console/Page"
import { link } from "@satrail/ui/console/Parts"
import { columns, exporting, filtersIn, logPage, perPage, recordOf, sentIn, type Words } from "./Audit.ts"

// The actions of operators and companies, including rejected requests.

const filtersOf = (visit: OperatorVisit) => ({
  ...filtersIn(visit),
  company_id: visit.query.get("company_id") ?? undefined
})

const get = async (visit: OperatorVisit, words: Words): Promise<Shown> => {
  const { api, to } = visit
  const filters = filtersOf(visit)
  const { company_id: companyId } = filters
  const page = await api.page("GET /operator/audit", {
    query: { ...filters, limit: perPage, cursor: cursorOf(visit) }
  })
  const companies = await visit.companies(page.data.map(({ company_id }) => company_id))
  const shown = logPage(visit, page, {
    filters,
    company: companyId && (companies.get(companyId)?.name ?? companyId),
    columns: [
      ...columns(visit, (entry) => {
        const { verb: of, subject } = entry
        if (subject === null || of === "reconciliation.stateOwnFunds") return null
        if (sentIn(entry) !== undefined)
          return link(to(`withdrawals/${subject}`), `Withdrawal ${Formats.shortened(subject)}`)
        return recordOf(entry, visit, { ...words, suspense: "Payment" })
      }),
      {
        title: "Company",
        place: "off",
        kind: "soft",
        cell: ({ company_id }) => {
          const found = companies.get(company_id)
          return found === undefined ? "" : link(to(`companies/${company_id}`), found.name)
        }
      }
    ]
  })
  return { ...shown, lead: "What operators and companies did, and what was refused." }
}

export const audit = (words: Words): ReadonlyArray<Page<OperatorVisit>> => [
  { path: "audit", nav: "audit", get: (visit) => get(visit, words) },
  { path: "audit/export", nav: "audit", get: (visit) => exporting("operator/audit", filtersOf(visit)) }
]
