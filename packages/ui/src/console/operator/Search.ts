import { h } from "preact"
import { unlessRefused } from "../Api.ts"
import * as Formats from "../Format.ts"
import type { Elsewhere, OperatorVisit, Page, Shown } from "../Page.ts"
import { type Badge, button, empty, link, plain, status, when } from "../Parts.ts"
import { places } from "../pages/Places.ts"
import { badgeOf, rowOf, signedSats } from "../pages/Rows.ts"
import { searchPage } from "../SearchBox.ts"
import { rowLink, table } from "../Table.ts"
import type { CompanyOverview, CompanySearchResult } from "../wire.ts"
import { companyBadge } from "./Common.ts"

// Finds a company by name or id, and records of all companies by what a person quotes.

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

type Result = CompanySearchResult

/** A record of any company that was found: a payment with its page, or another record with its company's page. */
interface Row {
  readonly key: string
  readonly href: string
  readonly title: string
  readonly foundIn: string
  readonly companyId: string
  readonly company: string
  readonly badge?: Badge
  readonly atMillis?: number
  readonly amount: string
}

/** `on_chain_addresses` becomes "On chain address". */
const kindText = (kind: string): string => {
  const words = kind
    .replaceAll("_", " ")
    .replace(/(ss|x)es$/, "$1")
    .replace(/(?<!s)s$/, "")
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}

const rowsOf = async (
  { of, say, to }: OperatorVisit,
  found: ReadonlyArray<Result>
): Promise<ReadonlyArray<Row>> =>
  (
    await Promise.all(
      found.map(async ({ kind, id, by, company_id: companyId, company }): Promise<ReadonlyArray<Row>> => {
        const common = { key: `${kind} ${id}`, companyId, company, foundIn: places[by] }
        if (kind !== "deposits" && kind !== "withdrawals")
          return [
            {
              ...common,
              href: to(`companies/${companyId}`),
              title: `${kindText(kind)} ${Formats.shortened(id)}`,
              amount: ""
            }
          ]
        const type = kind === "deposits" ? "deposit" : "withdrawal"
        return (await of(companyId).payments([{ type, id }])).map((payment) => ({
          ...common,
          href: to(`${kind}/${id}`),
          title: rowOf(payment, say).title,
          badge: badgeOf(payment),
          atMillis: payment.createdAtMillis,
          amount: signedSats(payment)
        }))
      })
    )
  )
    .flat()
    .toSorted((a, b) => (b.atMillis ?? 0) - (a.atMillis ?? 0))

const records = ({ say, to }: OperatorVisit, rows: ReadonlyArray<Row>) =>
  table<Row>("Records", {
    columns: [
      {
        title: "Time",
        place: "c3",
        kind: "faint",
        cell: ({ atMillis }) => (atMillis === undefined ? "" : when(atMillis, say.when(atMillis)))
      },
      { title: "What", place: "c1", cell: ({ href, title }) => rowLink(href, title) },
      {
        title: "Company",
        place: "all",
        cell: ({ companyId, company }) => link(to(`companies/${companyId}`), h("bdi", null, company))
      },
      { title: "Found in", place: "all", kind: "soft", cell: ({ foundIn }) => foundIn },
      { title: "Status", place: "c4", cell: ({ badge }) => badge !== undefined && status(badge) },
      { title: "Amount, sats", place: "c2", kind: "amount", cell: ({ amount }) => amount }
    ],
    groups: [{ rows }],
    opens: true
  })

const companies = ({ say, to }: OperatorVisit, rows: ReadonlyArray<CompanyOverview>) =>
  table<CompanyOverview>("Companies", {
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

const results = async (visit: OperatorVisit, sought: string, shown: string): Promise<Shown | Elsewhere> => {
  const { api, to } = visit
  if (isId(sought)) {
    const place = await placeOf(visit, sought)
    if (place !== undefined) return { redirect: place }
  }
  const mayBeName = sought !== "" && !isId(sought) && [...sought].length <= maxName
  const [named, found] = await Promise.all([
    mayBeName ? api.call("GET /operator/companies", { query: { search: sought, limit: 100 } }) : [],
    sought === ""
      ? []
      : unlessRefused(
          api.call("GET /operator/search", { query: { text: sought } }),
          (status) => status === 400
        )
  ])
  const rows = await rowsOf(visit, found ?? [])
  const count = named.length + rows.length
  return {
    title:
      count === 0
        ? `No results for “${shown}”`
        : `${count} ${count === 1 ? "result" : "results"} for “${shown}”`,
    body:
      count === 0
        ? plain(
            "Results",
            empty(
              "search",
              "Nothing matches",
              "Search for a company’s name, or for what a caller quotes: a reference, an order, an email, a payment hash, a transaction, an invoice, an address, or the beginning of an id.",
              button(to("companies"), "Companies", "main")
            )
          )
        : [
            rows.length > 0 && plain("Payments and records", records(visit, rows)),
            named.length > 0 && plain("Companies", companies(visit, named))
          ]
  }
}

export const search: Page<OperatorVisit> = searchPage(results)
