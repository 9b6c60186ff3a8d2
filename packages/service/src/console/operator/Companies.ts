import { h } from "preact"
import { nameField } from "@satrail/ui/console/Issued"
import * as Formats from "@satrail/ui/console/Format"
import { cursorOf, filtering, pages } from "@satrail/ui/console/List"
import { type Elsewhere, type OperatorVisit, type Page, type Shown, text } from "@satrail/ui/console/Page"
import {
  button,
  choice,
  date,
  empty,
  fields,
  formPanel,
  hidden,
  plain,
  segments,
  status,
  sub
} from "@satrail/ui/console/Parts"
import { type Column, paging, rowLink, table } from "@satrail/ui/console/Table"
import type { CompanyOverview } from "@satrail/ui/console/wire"
import { companyBadge, confirming, count } from "@satrail/ui/console/operator/Common"
import { lateOf } from "./Problems.ts"

const perPage = 100

const columns = (
  { say, to }: OperatorVisit,
  late: ReadonlyMap<string, number>
): ReadonlyArray<Column<CompanyOverview>> => [
  {
    title: "Company",
    place: "c1",
    cell: ({ id, name }) => rowLink(to(`companies/${id}`), h("bdi", null, name))
  },
  {
    title: "Status",
    place: "c3",
    cell: (row) => [
      status(
        row.frozen === null && late.has(row.id)
          ? { tone: "bad", text: count(late.get(row.id) ?? 0, "late payment") }
          : companyBadge(row)
      ),
      row.frozen !== null && sub(`${say.since(Date.parse(row.frozen.since))}: ${row.frozen.reason}`)
    ]
  },
  { title: "Plan", place: "off", kind: "soft", cell: ({ plan }) => plan },
  { title: "Keys", place: "off", kind: "fiat", cell: ({ api_keys }) => Formats.sats(api_keys) },
  { title: "Last used", place: "off", kind: "soft", cell: ({ last_seen_at }) => date(say, last_seen_at) },
  { title: "Held, sats", place: "off", kind: "fiat", cell: ({ held_sats }) => Formats.sats(held_sats) },
  {
    title: "Balance, sats",
    place: "c2",
    kind: "amount",
    cell: ({ posted_sats }) => Formats.sats(posted_sats)
  },
  { title: "Value", place: "c4", kind: "fiat", cell: ({ posted_sats }) => say.fiat(posted_sats) ?? "" },
  {
    title: "",
    place: "all",
    kind: "r",
    cell: ({ id, name, frozen }) =>
      h(
        "a",
        { class: "btn quiet", href: to(`companies/${id}/${frozen === null ? "freeze" : "unfreeze"}`) },
        frozen === null ? "Freeze…" : "Unfreeze…",
        hidden(` ${name}`)
      )
  }
]

const isPlan = (plan: string | null): plan is "free" | "paid" => plan === "free" || plan === "paid"

const list = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, query, to } = visit
  const [sought, plan, cursor] = [(query.get("search") ?? "").trim(), query.get("plan"), cursorOf(visit)]
  const chosen = query.get("status") ?? ""
  const { data: rows, next } = await api.page("GET /operator/companies", {
    query: {
      limit: perPage,
      cursor,
      ...(sought !== "" && { search: sought }),
      ...(isPlan(plan) && { plan }),
      ...(chosen === "frozen" && { status: "frozen" })
    }
  })
  const late = lateOf(await api.call("GET /operator/reconciliation"), visit)
  const at = filtering("companies", visit)
  const chip = (text: string, status: string) => ({ text, href: at({ status }), isOn: chosen === status })
  const total = rows.reduce((sum, { posted_sats }) => sum + posted_sats, 0)
  return {
    title: "Companies",
    lead:
      next === undefined && cursor === undefined
        ? `${count(rows.length, "company", "companies")}, ${Formats.inSats(total)}`
        : undefined,
    actions: button(to("companies/new"), "Open company", "main", "plus"),
    body: [
      h(
        "form",
        { class: "chips", action: to("companies") },
        h("label", { class: "visually-hidden", for: "search" }, "Name"),
        h(
          "div",
          null,
          h("input", { type: "search", id: "search", name: "search", value: sought, placeholder: "Name" })
        ),
        h("button", { class: "btn" }, "Find"),
        segments("Status", [chip("All", ""), chip("Frozen", "frozen")])
      ),
      plain(
        "Companies",
        rows.length === 0
          ? empty(
              "companies",
              "No company",
              chosen === "frozen"
                ? "No frozen company matches."
                : sought === ""
                  ? "Open the first one."
                  : "No company name matches.",
              button(to("companies/new"), "Open company")
            )
          : table("Companies, newest first", {
              columns: columns(visit, late),
              groups: [{ rows }],
              kind: "mid",
              opens: true
            }),
        paging(rows.length, `times in ${visit.say.zone}`, pages("companies", visit, next))
      )
    ]
  }
}

export const plans = [
  ["free", "Free"],
  ["paid", "Paid"]
] as const

const open = (visit: OperatorVisit): Shown => ({
  title: "Open a company",
  crumbs: [["Companies", "companies"]],
  body: formPanel({ action: visit.to("companies/new"), label: "Open a company", once: visit.once }, [
    fields(nameField(visit), choice("Plan", "plan", plans, visit.form.get("plan") ?? "free")),
    confirming(visit, "Open company", { why: "Next, invite someone to the company, or issue an API key." })
  ])
})

const opened = async (visit: OperatorVisit): Promise<Elsewhere> => {
  const plan = text(visit, "plan")
  const { id } = await visit.api.call("POST /operator/companies", {
    once: text(visit, "once"),
    body: { name: text(visit, "name"), plan: isPlan(plan) ? plan : "free" }
  })
  return { redirect: `companies/${id}` }
}

export const companies: ReadonlyArray<Page<OperatorVisit>> = [
  { path: "companies", nav: "companies", get: list },
  { path: "companies/new", nav: "companies", get: open, post: opened }
]
