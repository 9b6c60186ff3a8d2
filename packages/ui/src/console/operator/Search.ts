import { h } from "preact"
import { unlessRefused } from "../Api.ts"
import * as Formats from "../Format.ts"
import type { Elsewhere, OperatorVisit, Page, Shown } from "../Page.ts"
import { button, empty, plain, status } from "../Parts.ts"
import { searchPage } from "../SearchBox.ts"
import { rowLink, table } from "../Table.ts"
import type { CompanyOverview } from "../wire.ts"
import { companyBadge } from "./Common.ts"

// Finds a company by name or id, and a withdrawal or deposit by id.

const isId = (text: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** Maximum length of a company's name, in characters. */
const maxName = 200

const exists = async (read: Promise<unknown>): Promise<boolean> =>
  (await unlessRefused(read, (status) => status === 404)) !== undefined

const placeOf = async ({ api }: OperatorVisit, id: string): Promise<string | undefined> => {
  const params = { id }
  if (await exists(api.call("GET /operator/withdrawals/{id}", { params }))) return `withdrawals/${id}`
  if (await exists(api.call("GET /operator/deposits/{id}", { params }))) return `deposits/${id}`
  return (await exists(api.call("GET /operator/companies/{id}", { params }))) ? `companies/${id}` : undefined
}

const results = async (visit: OperatorVisit, sought: string, shown: string): Promise<Shown | Elsewhere> => {
  const { api, say, to } = visit
  if (isId(sought)) {
    const place = await placeOf(visit, sought)
    if (place !== undefined) return { redirect: place }
  }
  const mayBeName = sought !== "" && !isId(sought) && [...sought].length <= maxName
  const rows = !mayBeName
    ? []
    : await api.call("GET /operator/companies", { query: { search: sought, limit: 100 } })
  return {
    title:
      rows.length === 0
        ? `No results for “${shown}”`
        : `${rows.length} ${rows.length === 1 ? "company" : "companies"} for “${shown}”`,
    body: plain(
      "Results",
      rows.length === 0
        ? empty(
            "search",
            "Nothing matches",
            "Search for a company’s name, or the id of a company, withdrawal or deposit.",
            button(to("companies"), "Companies", "main")
          )
        : table<CompanyOverview>("Companies", {
            columns: [
              {
                title: "Company",
                place: "c1",
                cell: ({ id, name }) => rowLink(to(`companies/${id}`), h("bdi", null, name))
              },
              { title: "Status", place: "c3", cell: (row) => status(companyBadge(row)) },
              {
                title: "Balance, sats",
                place: "c2",
                kind: "amount",
                cell: ({ posted_sats }) => Formats.sats(posted_sats)
              },
              {
                title: "Value",
                place: "c4",
                kind: "fiat",
                cell: ({ posted_sats }) => say.fiat(posted_sats) ?? ""
              }
            ],
            groups: [{ rows }],
            opens: true
          })
    )
  }
}

export const search: Page<OperatorVisit> = searchPage(results)
