import { h } from "preact"
import * as Formats from "../../Format.ts"
import { type OperatorVisit, type Page, type Shown, withQuery } from "../../Page.ts"
import { chips, empty, link, plain } from "../../Parts.ts"
import { columns, recordOf, sentIn, verbWords, type Words } from "./Audit.ts"
import { exported, paging, table } from "../../Table.ts"
import type { Operations } from "../../wire.ts"

// The actions of operators and companies, including rejected requests.

const perPage = 50

const get = async (visit: OperatorVisit, words: Words): Promise<Shown> => {
  const { api, query, to, beside, say } = visit
  const [cursor, days] = [query.get("cursor"), query.get("days")]
  const given = (name: "actor_id" | "verb" | "company_id" | "outcome") => query.get(name) ?? undefined
  const [actor, verb, companyId, outcome] = [given("actor_id"), given("verb"), given("company_id"), given("outcome")]
  const asked: Operations["GET /operator/audit"]["query"] = {
    ...(days !== null && /^\d{1,4}$/.test(days) && { from: new Date(say.nowMillis - Number(days) * 86_400_000).toISOString() }),
    ...(actor !== undefined && { actor_id: actor }),
    ...(verb !== undefined && { verb }),
    ...(companyId !== undefined && { company_id: companyId }),
    ...(outcome !== undefined && { outcome })
  }
  const { data, next } = await api.page("GET /operator/audit", { query: { ...asked, limit: perPage, ...(cursor !== null && { cursor }) } })
  const companies = await visit.companies(data.map(({ company_id }) => company_id))
  const at = (change: Readonly<Record<string, string>>) => to(withQuery("audit", query, { cursor: "", ...change }))
  const on = (text: string | undefined, name: string) => (text === undefined ? [] : [{ text, href: at({ [name]: "" }), isOn: true }])
  const file = withQuery("operator/audit", new URLSearchParams(Object.entries(asked).map(([name, value]) => [name, String(value)])), {
    format: "csv"
  })
  return {
    title: "Audit log",
    lead: "What operators and companies did, and what was refused.",
    actions: data.length > 0 && exported(beside(file), next === undefined && cursor === null ? Formats.sats(data.length) : "entries"),
    body: [
      chips([
        ...(["7", "30"] as const).map((span) => ({
          text: `Last ${span} days`,
          href: at({ days: days === span ? "" : span }),
          isOn: days === span
        })),
        ...on(companyId === undefined ? undefined : (companies.get(companyId)?.name ?? companyId), "company_id"),
        ...on(actor, "actor_id"),
        ...on(verb === undefined ? undefined : verbWords(verb), "verb"),
        ...on(outcome, "outcome")
      ]),
      plain(
        "Audit log",
        data.length === 0
          ? empty("clock", "Nothing here", "No entry matches these filters.")
          : table("Audit log", {
              columns: [
                ...columns(visit, (entry) => {
                  const { verb: of, subject } = entry
                  if (subject === null || of === "reconciliation.stateOwnFunds") return null
                  if (sentIn(entry) !== undefined) return link(to(`withdrawals/${subject}`), `Withdrawal ${Formats.shortened(subject)}`)
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
              ],
              groups: [{ rows: data }]
            }),
        paging(data.length, h("span", null, `times in ${say.zone}`), {
          newer: cursor === null ? undefined : at({}),
          older: next === undefined ? undefined : at({ cursor: next })
        })
      )
    ]
  }
}

export const audit = (words: Words): Page<OperatorVisit> => ({ path: "audit", nav: "audit", get: (visit) => get(visit, words) })
