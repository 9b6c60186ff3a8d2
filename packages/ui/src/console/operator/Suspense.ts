import { h } from "preact"
import { everything, Refused } from "../Api.ts"
import * as Formats from "../Format.ts"
import { type Elsewhere, type OperatorVisit, type Page, type Shown, text } from "../Page.ts"
import { body, checks, copied, date, empty, facts, field, form, link, panel, plain, status } from "../Parts.ts"
import { paging, rowLink, table } from "../Table.ts"
import type { OperatorAdjustment, SuspendedPayment } from "../wire.ts"
import { companyChoice, confirming, deciding, guide, numberIn } from "./Common.ts"

// Money without an owner, and corrections of balances. Companies are chosen by name.

const all = ({ api }: OperatorVisit) => everything((place) => api.page("GET /operator/suspense", { query: place }))

const suspenseList = async (visit: OperatorVisit): Promise<Shown> => {
  const { say, to, query } = visit
  const found = await all(visit)
  const isPast = query.get("show") === "assigned"
  const rows = found.filter(({ assigned_to }) => (assigned_to !== null) === isPast)
  const past = found.filter(({ assigned_to }) => assigned_to !== null).length
  const companies = await visit.companies(rows.map(({ assigned_to, company_id }) => assigned_to ?? company_id))
  return {
    title: "Suspense",
    lead: "Money that reached your node but was not credited to any company.",
    actions: past > 0 && !isPast && h("a", { class: "btn", href: to("suspense?show=assigned") }, `See ${past} assigned before`),
    ...(isPast && { crumbs: [["Suspense", "suspense"] as const] }),
    body: plain(
      "Suspense",
      rows.length === 0
        ? empty(
            "good",
            "No unmatched money",
            "An invoice that is paid twice, or a payment that nobody requested, appears here with the company it may belong to."
          )
        : table<SuspendedPayment>("Payments without an owner", {
            columns: [
              {
                title: "Why",
                place: "c1",
                cell: ({ id, reason }) =>
                  isPast ? reason : rowLink(to(`suspense/${id}`), reason.charAt(0).toUpperCase() + reason.slice(1))
              },
              {
                title: isPast ? "Assigned to" : "Invoice issued by",
                place: "c3",
                cell: (row) => companies.get(row.assigned_to ?? row.company_id)?.name ?? "unknown"
              },
              { title: "When", place: "c4", kind: "faint", cell: ({ created_at }) => date(say, created_at) },
              { title: "Sats", place: "c2", kind: "amount", cell: ({ received_sats }) => Formats.sats(received_sats) },
              { title: "Value", place: "off", kind: "fiat", cell: ({ received_sats }) => say.fiat(received_sats) ?? "" }
            ],
            groups: [{ rows }],
            opens: !isPast
          })
    )
  }
}

const suspended = async (visit: OperatorVisit): Promise<SuspendedPayment> => {
  const found = (await all(visit)).find(({ id }) => id === visit.params["id"])
  if (found === undefined) throw new Refused(404, "not_found", "No such payment.")
  return found
}

const assignPage = async (visit: OperatorVisit): Promise<Shown> => {
  const { say, to, form: given } = visit
  const row = await suspended(visit)
  return {
    title: "Assign a payment",
    figure: ["+", Formats.sats(row.received_sats), " ", h("small", null, "sats")],
    status: row.assigned_to === null ? { tone: "warn", text: "Without an owner" } : { tone: "good", text: "Assigned" },
    lead: row.reason,
    crumbs: [["Suspense", "suspense"]],
    body: form(
      to(`suspense/${row.id}`),
      { class: "form-side" },
      plain("Assign", [
        body(
          h(
            "div",
            { class: "fields" },
            facts([
              ["Received", date(say, row.created_at)],
              ["Value", say.fiat(row.received_sats) ?? "unknown"],
              ["Hash", copied(row.payment_hash, "payment hash")]
            ]),
            await companyChoice(visit, "Company", given.get("company") ?? row.company_id),
            h(
              "p",
              { class: "hint" },
              "The company that issued the invoice is already selected. That company can refund the payment. ",
              link(guide(visit, "incidents#missing-payment"), "Guide: missing payment")
            )
          )
        ),
        row.assigned_to === null &&
          confirming(visit, `Assign ${Formats.sats(row.received_sats)} sats`, {
            why: "The company is credited at once. This cannot be undone."
          })
      ])
    )
  }
}

const assign = async (visit: OperatorVisit): Promise<Elsewhere> => {
  const { id = "" } = visit.params
  await visit.api.call("POST /operator/suspense/{id}/assign", { params: { id }, body: { company_id: text(visit, "company") } })
  return { redirect: "suspense" }
}

const told = ({ status: now }: OperatorAdjustment) =>
  now === "booked"
    ? ({ tone: "good", text: "Booked" } as const)
    : now === "rejected"
      ? ({ tone: "idle", text: "Rejected" } as const)
      : ({ tone: "warn", text: "Awaits a second operator" } as const)

const adjustmentList = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, say, to, query } = visit
  const cursor = query.get("cursor") ?? undefined
  const { data: rows, next } = await api.page("GET /operator/adjustments", {
    query: { limit: 50, ...(cursor !== undefined && { cursor }) }
  })
  const companies = await visit.companies(rows.map(({ company_id }) => company_id))
  return {
    title: "Adjustments",
    lead: "Corrections to a company’s balance. Each is requested by one operator and approved by another.",
    actions: h("a", { class: "btn main", href: to("adjustments/new") }, "Request adjustment"),
    body: plain(
      "Adjustments",
      rows.length === 0
        ? empty("book", "No adjustments", "An adjustment is the last resort, if nothing else can correct a balance.")
        : table<OperatorAdjustment>("Adjustments, newest first", {
            columns: [
              {
                title: "Company",
                place: "c1",
                cell: ({ id, company_id }) => rowLink(to(`adjustments/${id}`), companies.get(company_id)?.name ?? company_id)
              },
              { title: "Reason", place: "all", kind: "soft", cell: ({ reason }) => reason },
              { title: "Status", place: "c3", cell: (row) => status(told(row)) },
              { title: "Requested by", place: "off", kind: "soft", cell: ({ requested_by }) => requested_by },
              { title: "When", place: "c4", kind: "faint", cell: ({ created_at }) => date(say, created_at) },
              { title: "Sats", place: "c2", kind: "amount", cell: ({ amount_sats }) => Formats.signed(amount_sats) }
            ],
            groups: [{ rows }],
            opens: true
          }),
      paging(`times in ${say.zone}`, {
        newer: cursor === undefined ? undefined : to("adjustments"),
        older: next === undefined ? undefined : to(`adjustments?cursor=${next}`)
      })
    )
  }
}

const requestPage = async (visit: OperatorVisit): Promise<Shown> => {
  const { to, form: given, query } = visit
  const value = (name: string) => given.get(name) ?? ""
  return {
    title: "Request an adjustment",
    crumbs: [["Adjustments", "adjustments"]],
    body: form(
      to("adjustments/new"),
      { once: visit.once, class: "form-side" },
      plain("Adjustment", [
        body(
          h(
            "div",
            { class: "fields" },
            await companyChoice(visit, "Company", given.get("company") ?? query.get("company") ?? ""),
            checks(
              "Direction",
              "radio",
              "direction",
              [
                ["credit", "Credit", "The company receives it"],
                ["debit", "Debit", "It is taken from the available balance"]
              ],
              [given.get("direction") ?? "credit"]
            ),
            field({
              label: "Amount, sats",
              name: "amount",
              required: true,
              inputMode: "decimal",
              pattern: "[0-9]+([.][0-9]{1,3})?",
              value: value("amount")
            }),
            field({ label: "Reason", name: "reason", required: true, maxLength: 500, hint: "The company sees it", value: value("reason") }),
            field({ label: "Note", name: "note", optional: true, maxLength: 500, hint: "Only operators see it", value: value("note") })
          )
        ),
        confirming(visit, "Request adjustment", { why: "Nothing is booked until a second operator approves it." })
      ])
    )
  }
}

const request = async (visit: OperatorVisit): Promise<Elsewhere> => {
  const [sats, note] = [numberIn(visit, "amount") ?? 0, text(visit, "note")]
  const { id } = await visit.api.call("POST /operator/adjustments", {
    once: text(visit, "once"),
    body: {
      company_id: text(visit, "company"),
      amount_sats: text(visit, "direction") === "debit" ? -sats : sats,
      reason: text(visit, "reason"),
      ...(note !== "" && { note })
    }
  })
  return { redirect: `adjustments/${id}` }
}

const adjustmentPage = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, say, to, params } = visit
  const { id = "" } = params
  const row = await api.call("GET /operator/adjustments/{id}", { params: { id } })
  const name = (await visit.companies([row.company_id])).get(row.company_id)?.name ?? row.company_id
  const decision = (what: string, button: string, kind: string) =>
    form(to(`adjustments/${id}`), {}, plain(button, [h("input", { type: "hidden", name: "do", value: what }), deciding(button, { kind })]))
  return {
    title: "Adjustment",
    figure: [Formats.signed(row.amount_sats), " ", h("small", null, "sats")],
    status: told(row),
    lead: [link(to(`companies/${row.company_id}`), name), ` · “${row.reason}”`],
    crumbs: [["Adjustments", "adjustments"]],
    body: [
      panel(
        "Details",
        {},
        body(
          facts([
            ["Note", row.note ?? "none"],
            ["Requested by", row.requested_by],
            ["Requested", date(say, row.created_at)],
            row.decided_by === null ? null : ["Decided by", row.decided_by],
            row.decided_at === null ? null : ["Decided", date(say, row.decided_at)],
            ["Ledger", copied(row.ledger_tx_id, "ledger id")]
          ])
        )
      ),
      row.status === "pending" &&
        h(
          "div",
          { class: "two" },
          decision("approve", `Approve ${Formats.signed(row.amount_sats)} sats`, "main"),
          decision("reject", "Reject", "danger")
        )
    ]
  }
}

const decide = async (visit: OperatorVisit): Promise<Elsewhere> => {
  const params = { id: visit.params["id"] ?? "" }
  if (text(visit, "do") === "approve") await visit.api.call("POST /operator/adjustments/{id}/approve", { params })
  else await visit.api.call("POST /operator/adjustments/{id}/reject", { params })
  return { redirect: "adjustments" }
}

export const suspense: ReadonlyArray<Page<OperatorVisit>> = [
  { path: "suspense", nav: "suspense", get: suspenseList },
  { path: "suspense/:id", nav: "suspense", get: assignPage, post: assign },
  { path: "adjustments", nav: "adjustments", get: adjustmentList },
  { path: "adjustments/new", nav: "adjustments", get: requestPage, post: request },
  { path: "adjustments/:id", nav: "adjustments", get: adjustmentPage, post: decide }
]
