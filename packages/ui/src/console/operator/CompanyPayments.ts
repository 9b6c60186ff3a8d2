import { h } from "preact"
import * as Formats from "../Format.ts"
import { type OperatorVisit, type Page, type Shown, withQuery } from "../Page.ts"
import { body, copied, date, empty, facts, panel, plain, segments, status, when } from "../Parts.ts"
import { type Line, linesOf, rails, signedSats, toldOf } from "../pages/Rows.ts"
import { deliveryTold, responseOf, told as endpointTold } from "../pages/Webhooks.ts"
import { type Column, paging, rowLink, table } from "../Table.ts"
import type { Statement, Transaction } from "../wire.ts"

// A company's payments, statements and webhook deliveries, for the operator. All of them only read.

const perPage = 50

const pathOf = ({ type, id }: Line): string =>
  type === "withdrawal" ? `withdrawals/${id}` : type === "deposit" ? `deposits/${id}` : `adjustments/${id}`

const columns = ({ say, to }: OperatorVisit): ReadonlyArray<Column<Line>> => [
  {
    title: "What",
    place: "c1",
    cell: (line) => [rowLink(to(pathOf(line)), line.title), " ", line.more !== "" && h("span", { class: "soft" }, line.more)]
  },
  { title: "How", place: "off", kind: "soft", cell: ({ rail }) => (rail === null ? "" : rails[rail]) },
  { title: "Status", place: "c3", cell: (line) => status(toldOf(line)) },
  { title: "When", place: "c4", kind: "faint", cell: ({ createdAtMillis }) => when(createdAtMillis, say.when(createdAtMillis)) },
  {
    title: "Sats",
    place: "c2",
    kind: "amount",
    cell: (line) => (line.type === "adjustment" ? Formats.signed(line.amountSats) : signedSats(line))
  },
  { title: "Value", place: "off", kind: "fiat", cell: ({ value }) => value }
]

export const paymentTable = async (visit: OperatorVisit, companyId: string, transactions: ReadonlyArray<Transaction>) => {
  const lines = await linesOf({ api: visit.of(companyId), say: visit.say }, transactions)
  return lines.length === 0
    ? empty("payments", "No payments", "Nothing has been paid or received.")
    : table("Payments, newest first", { columns: columns(visit), groups: [{ rows: lines }], opens: true })
}

const crumbsOf = async ({ api, params: { id = "" } }: OperatorVisit) => {
  const { name } = await api.call("GET /operator/companies/{id}", { params: { id } })
  return [
    ["Companies", "companies"],
    [name, `companies/${id}`]
  ] as const
}

const isOneOf = <A extends string>(all: ReadonlyArray<A>, text: string | null): A | undefined => all.find((one) => one === text)

const list = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, say, to, query, params } = visit
  const { id = "" } = params
  const type = isOneOf(["withdrawal", "deposit", "adjustment"], query.get("type"))
  const status = isOneOf(["pending_approval", "pending", "settled", "failed"], query.get("status"))
  const cursor = query.get("cursor") ?? undefined
  const page = await api.page("GET /operator/companies/{companyId}/transactions", {
    params: { companyId: id },
    query: {
      limit: perPage,
      ...(type !== undefined && { type }),
      ...(status !== undefined && { status }),
      ...(cursor !== undefined && { cursor })
    }
  })
  const at = (change: Readonly<Record<string, string>>) => to(withQuery(`companies/${id}/payments`, query, { cursor: "", ...change }))
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
        segments("Kind", [
          chip("All", "type", ""),
          chip("In", "type", "deposit"),
          chip("Out", "type", "withdrawal"),
          chip("Adjustments", "type", "adjustment")
        ]),
        segments("Status", [
          chip("Any status", "status", ""),
          chip("In progress", "status", "pending"),
          chip("Settled", "status", "settled"),
          chip("Failed", "status", "failed")
        ])
      ]),
      plain(
        "Payments",
        await paymentTable(visit, id, page.data),
        paging(`times in ${say.zone}`, {
          newer: cursor === undefined ? undefined : at({}),
          older: page.next === undefined ? undefined : at({ cursor: page.next })
        })
      )
    ]
  }
}

const months = 12

const statements = async (visit: OperatorVisit): Promise<Shown> => {
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

/** Why a company's endpoint fails. Only the company can enable it and send deliveries again. */
const endpoint = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, say, params } = visit
  const { id: companyId = "", endpoint: id = "" } = params
  const asked = { params: { companyId, id } }
  const [found, deliveries] = await Promise.all([
    api.call("GET /operator/companies/{companyId}/webhook-endpoints/{id}", asked),
    api.call("GET /operator/companies/{companyId}/webhook-endpoints/{id}/deliveries", { ...asked, query: { limit: perPage } })
  ])
  return {
    title: found.url.replace(/^https?:\/\//, ""),
    status: endpointTold(found, say.nowMillis),
    crumbs: await crumbsOf(visit),
    lead: "Only the company can change its endpoints and resend deliveries. Let the company know what the last response says.",
    body: [
      panel(
        "Details",
        {},
        body(
          facts([
            ["Events", found.types.length === 0 ? "All" : found.types.join(", ")],
            ["Failing since", date(say, found.failing_since, "not failing")],
            ["Endpoint", copied(found.id, "endpoint id")]
          ])
        )
      ),
      plain(
        "Deliveries",
        deliveries.length === 0
          ? empty("hook", "Nothing has been sent yet", "Events appear here with their response.")
          : table("Deliveries, newest first", {
              columns: [
                { title: "Event", place: "c1", cell: ({ event_type }) => event_type },
                { title: "Status", place: "c2", cell: (delivery) => status(deliveryTold(delivery)) },
                { title: "Attempts", place: "off", kind: "fiat", cell: ({ attempts }) => attempts },
                { title: "Last response", place: "all", kind: "soft", cell: responseOf },
                {
                  title: "Last attempt",
                  place: "c3",
                  kind: "faint",
                  cell: ({ last_attempt_at }) => date(say, last_attempt_at, "none yet")
                },
                { title: "Next attempt", place: "c4", kind: "faint", cell: ({ next_attempt_at }) => date(say, next_attempt_at, "none") }
              ],
              groups: [{ rows: deliveries }]
            })
      )
    ]
  }
}

export const companyPayments: ReadonlyArray<Page<OperatorVisit>> = [
  { path: "companies/:id/payments", nav: "companies", get: list },
  { path: "companies/:id/statements", nav: "companies", get: statements },
  { path: "companies/:id/webhooks/:endpoint", nav: "companies", get: endpoint }
]
