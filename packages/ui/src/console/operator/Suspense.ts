import { h } from "preact"
import * as Formats from "../Format.ts"
import { cursorOf, pages } from "../List.ts"
import { type Elsewhere, type OperatorVisit, type Page, type Shown } from "../Page.ts"
import { copied, date, empty, facts, fields, formPanel, link, plain } from "../Parts.ts"
import { paging, rowLink, table } from "../Table.ts"
import type { SuspendedPayment } from "../wire.ts"
import { companyChoice, companyIn, confirming, guide } from "./Common.ts"

// Money without a known owner.

const suspenseList = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, say, to, query } = visit
  const isPast = query.get("show") === "assigned"
  const { data: rows, next } = await api.page("GET /operator/suspense", {
    query: { status: isPast ? "assigned" : "open", limit: 50, cursor: cursorOf(visit) }
  })
  const companies = await visit.companies(
    rows.map(({ assigned_to, company_id }) => assigned_to ?? company_id)
  )
  return {
    title: isPast ? "Assigned payments" : "Suspense",
    lead: isPast
      ? "Payments that were in suspense and now belong to a company."
      : "Money that reached your node but was not credited to any company.",
    actions: !isPast && h("a", { class: "btn", href: to("suspense?show=assigned") }, "Assigned payments"),
    ...(isPast && { crumbs: [["Suspense", "suspense"] as const] }),
    body: plain(
      "Suspense",
      rows.length === 0
        ? isPast
          ? empty(
              "good",
              "No assigned payments",
              "A payment in suspense appears here once you assign it to a company."
            )
          : empty(
              "good",
              "No unmatched money",
              "If an invoice is paid twice, the second payment appears here with the company that issued the invoice."
            )
        : table<SuspendedPayment>("Payments without an owner", {
            columns: [
              {
                title: "Why",
                place: "c1",
                cell: ({ id, reason }) =>
                  isPast ? Formats.capital(reason) : rowLink(to(`suspense/${id}`), Formats.capital(reason))
              },
              {
                title: isPast ? "Assigned to" : "Invoice issued by",
                place: "c3",
                cell: (row) => companies.get(row.assigned_to ?? row.company_id)?.name ?? "unknown"
              },
              {
                title: "Requested by",
                place: "off",
                kind: "soft",
                cell: ({ requested_by }) => requested_by ?? ""
              },
              { title: "When", place: "c4", kind: "faint", cell: ({ created_at }) => date(say, created_at) },
              {
                title: "Sats",
                place: "c2",
                kind: "amount",
                cell: ({ received_sats }) => Formats.sats(received_sats)
              },
              {
                title: "Value",
                place: "off",
                kind: "fiat",
                cell: ({ received_sats }) => say.fiat(received_sats) ?? ""
              }
            ],
            groups: [{ rows }],
            opens: !isPast
          }),
      paging(rows.length, `times in ${say.zone}`, pages("suspense", visit, next))
    )
  }
}

const assignPage = async (visit: OperatorVisit): Promise<Shown> => {
  const { say, to } = visit
  const row = await visit.suspended(visit.id)
  const { requested_by, requested_for } = row
  const asked =
    requested_for === null
      ? undefined
      : ((await visit.companies([requested_for])).get(requested_for)?.name ?? requested_for)
  return {
    title: "Assign a payment",
    figure: ["+", Formats.sats(row.received_sats), " ", h("small", null, Formats.unit(row.received_sats))],
    status:
      row.assigned_to === null
        ? { tone: "warn", text: requested_by === null ? "Without an owner" : "Awaits a second operator" }
        : { tone: "good", text: "Assigned" },
    lead: Formats.capital(row.reason),
    crumbs: [["Suspense", "suspense"]],
    body: formPanel({ action: to(`suspense/${row.id}`), label: "Assign" }, [
      fields(
        facts([
          ["Received", date(say, row.created_at)],
          ["Value", say.fiat(row.received_sats) ?? "unknown"],
          ["Hash", copied(row.payment_hash, "payment hash")],
          asked === undefined ? null : ["Requested", `${requested_by} requested to assign it to ${asked}`]
        ]),
        await companyChoice(visit, "Company", requested_for ?? row.company_id),
        h(
          "p",
          { class: "hint" },
          asked === undefined
            ? "The company that issued the invoice is already selected. The chosen company can refund the payment. "
            : "If you choose another company, your request replaces the earlier one. ",
          link(guide(visit, "incidents#missing-payment"), "Guide: missing payment")
        )
      ),
      row.assigned_to === null &&
        confirming(visit, `Assign ${Formats.inSats(row.received_sats)}`, {
          why: "A second operator must choose the same company. Then the company is credited, and this cannot be undone."
        })
    ])
  }
}

const assign = async (visit: OperatorVisit): Promise<Elsewhere> => {
  const { id } = visit
  await visit.api.call("POST /operator/suspense/{id}/assign", {
    params: { id },
    body: { company_id: companyIn(visit) ?? "" }
  })
  return { redirect: "suspense" }
}

export const suspense: ReadonlyArray<Page<OperatorVisit>> = [
  { path: "suspense", nav: "suspense", get: suspenseList },
  { path: "suspense/:id", nav: "suspense", get: assignPage, post: assign }
]
