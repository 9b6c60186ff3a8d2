import { h } from "preact"
import * as Formats from "@satrail/ui/console/Format"
import { cursorOf, pages } from "@satrail/ui/console/List"
import {
  companyChoice,
  companyIn,
  confirming,
  countOf,
  deciding,
  most,
  totalsOf
} from "@satrail/ui/console/operator/Common"
import {
  type Elsewhere,
  type OperatorVisit,
  type Page,
  type Shown,
  numberIn,
  text
} from "@satrail/ui/console/Page"
import {
  checks,
  copied,
  date,
  empty,
  entry,
  factPanel,
  fields,
  form,
  formPanel,
  link,
  plain,
  status,
  two
} from "@satrail/ui/console/Parts"
import { paging, rowLink, table } from "@satrail/ui/console/Table"
import type { OperatorAdjustment } from "@satrail/ui/console/wire"
import { applying, type Problem } from "@satrail/ui/console/Feature"

// Corrections of balances. Companies are chosen by name.

const badge = ({ status: now }: OperatorAdjustment) =>
  now === "booked"
    ? ({ tone: "good", text: "Booked" } as const)
    : now === "rejected"
      ? ({ tone: "idle", text: "Rejected" } as const)
      : ({ tone: "warn", text: "Awaits a second operator" } as const)

const adjustmentList = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, say, to } = visit
  const { data: rows, next } = await api.page("GET /operator/adjustments", {
    query: { limit: 50, cursor: cursorOf(visit) }
  })
  const companies = await visit.companies(rows.map(({ company_id }) => company_id))
  return {
    title: "Adjustments",
    lead: "Corrections to a company’s balance. Each is requested by one operator and approved by another.",
    actions: h("a", { class: "btn main", href: to("adjustments/new") }, "Request adjustment"),
    body: plain(
      "Adjustments",
      rows.length === 0
        ? empty(
            "book",
            "No adjustments",
            "An adjustment is the last resort, if nothing else can correct a balance."
          )
        : table<OperatorAdjustment>("Adjustments, newest first", {
            columns: [
              {
                title: "Company",
                place: "c1",
                cell: ({ id, company_id }) =>
                  rowLink(to(`adjustments/${id}`), companies.get(company_id)?.name ?? company_id)
              },
              { title: "Reason", place: "all", kind: "soft", cell: ({ reason }) => reason },
              { title: "Status", place: "c3", cell: (row) => status(badge(row)) },
              { title: "Requested by", place: "off", kind: "soft", cell: ({ requested_by }) => requested_by },
              { title: "When", place: "c4", kind: "faint", cell: ({ created_at }) => date(say, created_at) },
              {
                title: "Sats",
                place: "c2",
                kind: "amount",
                cell: ({ amount_sats }) => Formats.signed(amount_sats)
              }
            ],
            groups: [{ rows }],
            opens: true
          }),
      paging(rows.length, `times in ${say.zone}`, pages("adjustments", visit, next))
    )
  }
}

const requestPage = async (visit: OperatorVisit): Promise<Shown> => {
  const { to, form: given, query } = visit
  return {
    title: "Request an adjustment",
    crumbs: [["Adjustments", "adjustments"]],
    body: formPanel({ action: to("adjustments/new"), label: "Adjustment", once: visit.once }, [
      fields(
        await companyChoice(visit, "Company", query.get("company") ?? ""),
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
        entry(visit, {
          label: "Amount, sats",
          name: "amount",
          required: true,
          inputMode: "decimal"
        }),
        entry(visit, {
          label: "Reason",
          name: "reason",
          required: true,
          maxLength: 500,
          hint: "The company sees it"
        }),
        entry(visit, {
          label: "Note",
          name: "note",
          optional: true,
          maxLength: 500,
          hint: "Only operators see it"
        })
      ),
      confirming(visit, "Request adjustment", {
        why: "Nothing is booked until a second operator approves it."
      })
    ])
  }
}

const request = async (visit: OperatorVisit): Promise<Elsewhere> => {
  const [sats, note] = [numberIn(visit, "amount") ?? 0, text(visit, "note")]
  const { id } = await visit.api.call("POST /operator/adjustments", {
    once: text(visit, "once"),
    body: {
      company_id: companyIn(visit) ?? "",
      amount_sats: text(visit, "direction") === "debit" ? -sats : sats,
      reason: text(visit, "reason"),
      ...(note !== "" && { note })
    }
  })
  return { redirect: `adjustments/${id}` }
}

const adjustmentPage = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, say, to, id } = visit
  const row = await api.call("GET /operator/adjustments/{id}", { params: { id } })
  const name = (await visit.companies([row.company_id])).get(row.company_id)?.name ?? row.company_id
  const decision = (what: string, button: string, kind: string) =>
    form(
      to(`adjustments/${id}`),
      {},
      plain(button, [h("input", { type: "hidden", name: "do", value: what }), deciding(button, { kind })])
    )
  return {
    title: "Adjustment",
    figure: [Formats.signed(row.amount_sats), " ", h("small", null, Formats.unit(row.amount_sats))],
    status: badge(row),
    lead: [link(to(`companies/${row.company_id}`), name), ` · “${row.reason}”`],
    crumbs: [["Adjustments", "adjustments"]],
    body: [
      factPanel("Details", [
        ["Note", row.note ?? "none"],
        ["Requested by", row.requested_by],
        ["Requested", date(say, row.created_at)],
        row.decided_by === null ? null : ["Decided by", row.decided_by],
        row.decided_at === null ? null : ["Decided", date(say, row.decided_at)],
        ["Ledger", copied(row.ledger_tx_id, "ledger id")]
      ]),
      row.status === "pending" &&
        two(
          decision(
            "approve",
            `Approve ${Formats.signed(row.amount_sats)} ${Formats.unit(row.amount_sats)}`,
            "main"
          ),
          decision("reject", "Reject", "danger")
        )
    ]
  }
}

const decide = async (visit: OperatorVisit): Promise<Elsewhere> => {
  const params = { id: visit.id }
  if (text(visit, "do") === "approve")
    await visit.api.call("POST /operator/adjustments/{id}/approve", { params })
  else await visit.api.call("POST /operator/adjustments/{id}/reject", { params })
  return { redirect: "adjustments" }
}

export const operatorPages: ReadonlyArray<Page<OperatorVisit>> = [
  { path: "adjustments", nav: "adjustments", get: adjustmentList },
  { path: "adjustments/new", nav: "adjustments", get: requestPage, post: request },
  { path: "adjustments/:id", nav: "adjustments", get: adjustmentPage, post: decide }
]

export const problems = async ({ api, to }: OperatorVisit): Promise<ReadonlyArray<Problem>> => {
  const listed = await api.page("GET /operator/adjustments", { query: { status: "pending", limit: most } })
  const rows = listed.data
  return applying([
    rows.length > 0 && {
      tone: "warn",
      glyph: "book",
      title: `${countOf(listed, "adjustment awaits", "adjustments await")} a second operator`,
      text: rows.map(({ reason }) => `“${reason}”`).join(", "),
      ...totalsOf(listed, ({ amount_sats }) => Math.abs(amount_sats)),
      href: to(rows.length === 1 ? `adjustments/${rows[0]?.id}` : "adjustments"),
      action: "Decide…",
      guide: "reconcile#adjust-a-balance"
    }
  ])
}
