import { h } from "preact"
import * as Formats from "@satrail/ui/console/Format"
import { features } from "../../features/console.ts"
import type { OperatorVisit, Page, Shown } from "@satrail/ui/console/Page"
import {
  body,
  button,
  copiedFact,
  cover,
  facts,
  link,
  note,
  panel,
  sides,
  stack,
  status,
  sub,
  when
} from "@satrail/ui/console/Parts"
import { scopesOf, badge as keyBadge } from "../pages/Keys.ts"
import { limitFacts, rateWords } from "../pages/Limits.ts"
import { rowLink, table } from "@satrail/ui/console/Table"
import type { ApiKey, CompanyFees, CompanyLimits, CompanyOverview } from "@satrail/ui/console/wire"
import { ago, companyBadge, count } from "@satrail/ui/console/operator/Common"
import { paymentTable } from "@satrail/ui/console/operator/CompanyPayments"

// One company: its balance, its restrictions, its newest payments, its keys, and the features' panels.

const latest = 8
const monthMillis = 30 * 86_400_000

/** The time in a sentence. */
const since = (say: OperatorVisit["say"], at: string | null) =>
  at === null ? "never" : when(Date.parse(at), say.when(Date.parse(at)).replace("Today", "today"))

const frozenNote = ({ say }: OperatorVisit, { frozen, held_sats }: CompanyOverview) =>
  frozen === null
    ? null
    : note(
        "info",
        `Frozen since ${say.since(Date.parse(frozen.since))}, ${ago(say.nowMillis - Date.parse(frozen.since))}: “${frozen.reason}”`,
        h(
          "p",
          null,
          "Nothing can be sent. The company can still receive, and its keys can read. ",
          frozen.pending === "wait" && held_sats > 0
            ? `${count(held_sats, "sat is", "sats are")} held and will be sent when you unfreeze the company. `
            : "",
          "The company sees this reason on its pages."
        )
      )

/** Number of revoked keys that are shown. What they created may outlive them. */
const mostRevoked = 20

const keyTable = ({ say, to }: OperatorVisit, rows: ReadonlyArray<ApiKey>) =>
  table("API keys, valid ones first", {
    columns: [
      {
        title: "Key",
        place: "c1",
        cell: (key) => [
          rowLink(to(`keys/${key.id}`), key.name === "" ? key.id : `Key “${key.name}”`),
          sub(scopesOf(key), " · last used ", since(say, key.last_used_at))
        ]
      },
      { title: "Status", place: "c2", cell: (key) => status(keyBadge(key, say.nowMillis)) }
    ],
    groups: [{ rows }],
    kind: "mid",
    opens: true
  })

const terms = (
  { to }: OperatorVisit,
  { id, plan }: CompanyOverview,
  { fees }: CompanyFees,
  limits: CompanyLimits
) => {
  const set = limitFacts(limits)
  return panel(
    "Plan, fees and limits",
    { beside: link(to(`companies/${id}/terms`), "Change…") },
    body(
      facts(
        [
          copiedFact("Id", id),
          ["Plan", plan],
          ["Lightning fee", rateWords(fees.lightning)],
          ["On-chain fee", rateWords(fees.on_chain)],
          ["Internal fee", rateWords(fees.internal)],
          ...(set.length === 0 ? [["Limits", "none"] as const] : set)
        ],
        "sums"
      )
    )
  )
}

const get = async (visit: OperatorVisit): Promise<Shown> => {
  const { api, say, to, of, id } = visit
  const [company, transactions, keys, panels, asides, fees, limits, [flow]] = await Promise.all([
    api.call("GET /operator/companies/{id}", { params: { id } }),
    api.call("GET /operator/companies/{companyId}/transactions", {
      params: { companyId: id },
      query: { limit: latest }
    }),
    api.call("GET /operator/companies/{id}/api-keys", { params: { id }, query: { limit: 100 } }),
    Promise.all(features.map(({ ofCompany }) => ofCompany?.panel?.(visit, id))),
    Promise.all(features.map(({ ofCompany }) => ofCompany?.aside?.(visit, id))),
    api.call("GET /operator/companies/{id}/fees", { params: { id } }),
    api.call("GET /operator/companies/{id}/limits", { params: { id } }),
    of(id).steps([say.nowMillis - monthMillis, say.nowMillis + 1])
  ])
  const figure = (name: string, sats: number) =>
    [name, Formats.sats(sats), say.fiat(sats) ?? Formats.unit(sats)] as const
  const [valid, revoked] = [
    keys.filter(({ revoked_at }) => revoked_at === null),
    keys.filter(({ revoked_at }) => revoked_at !== null)
  ]
  return {
    title: company.name,
    status: companyBadge(company),
    lead: [
      "Company since ",
      since(say, company.created_at),
      " · last used ",
      since(say, company.last_seen_at)
    ],
    crumbs: [["Companies", "companies"]],
    isLive: true,
    actions: [
      features
        .flatMap(({ ofCompany }) => (ofCompany?.link === undefined ? [] : [ofCompany.link(id)]))
        .map(([path, text]) => button(to(path), text)),
      company.frozen === null
        ? button(to(`companies/${id}/freeze`), "Freeze…", "danger")
        : button(to(`companies/${id}/unfreeze`), "Unfreeze…", "main")
    ],
    body: [
      frozenNote(visit, company),
      cover("Balance", [
        figure("Available, sats", company.available_sats),
        figure("Held, sats", company.held_sats),
        figure("In, 30 days, sats", flow?.inSats ?? 0),
        figure("Out, 30 days, sats", flow?.outSats ?? 0)
      ]),
      sides(
        stack(
          panel(
            "Payments",
            { isRuled: true, beside: link(to(`companies/${id}/payments`), "All payments") },
            await paymentTable(visit, id, transactions)
          ),
          panel(
            "Keys",
            {
              isRuled: true,
              beside: link(to(`companies/${id}/keys/new`), "Issue key…"),
              ...(revoked.length > 0 && {
                footer: `${count(revoked.length, "key was", "keys were")} revoked`
              })
            },
            valid.length === 0 && body(h("p", { class: "soft" }, "There are no valid keys.")),
            keys.length > 0 && keyTable(visit, [...valid, ...revoked.slice(0, mostRevoked)])
          ),
          ...panels
        ),
        stack(terms(visit, company, fees, limits), ...asides)
      )
    ]
  }
}

export const company: Page<OperatorVisit> = { path: "companies/:id", nav: "companies", get }
