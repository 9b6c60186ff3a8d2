import { h } from "preact"
import * as Formats from "../../Format.ts"
import { pages } from "../../List.ts"
import { type AnyVisit, type Page, type Shown, type Visit, withQuery } from "../../Page.ts"
import { chips, date, empty, plain, status } from "../../Parts.ts"
import { type Column, exported, paging, table } from "../../Table.ts"
import type { AuditEntry, Operations } from "../../wire.ts"

const perPage = 50
const verbs: Readonly<Record<string, string>> = {
  "console.signIn": "Signed in",
  "console.signOut": "Signed out",
  "console.stepUp": "Re-entered their key",
  "send.confirm": "Sent a payment",
  "operator.issueKey": "Issued an API key",
  "stop.freeze": "Froze the company",
  "stop.unfreeze": "Unfroze the company",
  "stop.pause": "Paused for everyone",
  "stop.resume": "Resumed for everyone",
  "operator.limitCompany": "Changed the limits",
  CompanyOpened: "Opened the account"
}

/** `webhooks.updateWebhookEndpoint` becomes “Update webhook endpoint”. */
export const verbWords = (verb: string): string => {
  const known = verbs[verb]
  if (known !== undefined) return known
  const words = (verb.split(".").at(-1) ?? verb).replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const who = ({ actor, actor_name, actor_id }: AuditEntry): string => {
  const name = actor_name === "" ? actor_id : actor_name
  if (actor === "key") return `Key “${name}”`
  return actor === "service" ? "satrail" : actor === "operator" ? `Operator ${name}` : name === "" ? "Unknown" : name
}

const isDone = ({ outcome }: AuditEntry) => outcome === "done" || outcome === "ok" || outcome === "applied"

/** Returns whether to show a change. Hides unchanged and internal fields. */
const isShown = ({ field, before, after }: AuditEntry["changes"][number]) =>
  before !== after && field !== "company_id" && field !== "secret_hash"

const changes = (entry: AuditEntry) => {
  const [all, { subject }] = [entry.changes.filter(isShown), entry]
  return all.length === 0
    ? h("span", { class: "faint" }, subject === null ? "" : subject)
    : h(
        "ul",
        null,
        all
          .slice(0, 8)
          .map(({ field, before, after }) =>
            h(
              "li",
              null,
              `${field.replaceAll("_", " ")}: `,
              before !== null && h("span", { class: "old" }, before),
              before !== null && " → ",
              after ?? "none"
            )
          )
      )
}

export const columns = ({ say }: Pick<AnyVisit, "say">): ReadonlyArray<Column<AuditEntry>> => [
  { title: "When", place: "c4", kind: "faint", isSorted: true, cell: ({ created_at }) => date(say, created_at) },
  { title: "Who", place: "c3", cell: (entry) => who(entry) },
  {
    title: "What",
    place: "c1",
    cell: (entry) => {
      const text = `${verbWords(entry.verb)}${entry.count > 1 ? ` (${entry.count} times)` : ""}`
      return h("span", { class: "strong" }, isDone(entry) ? text : status({ tone: "bad", text: `Refused: ${text}` }))
    }
  },
  {
    title: "Before → after",
    place: "all",
    kind: "soft",
    cell: (entry) => (isDone(entry) ? changes(entry) : entry.outcome.replaceAll("_", " "))
  },
  { title: "From", place: "off", kind: "faint", cell: ({ ip_address }) => ip_address }
]

const get = async (visit: Visit): Promise<Shown> => {
  const { api, query, to, beside, say } = visit
  const [cursor, days, actor, verb] = [query.get("cursor"), query.get("days"), query.get("actor_id"), query.get("verb")]
  const asked: Operations["GET /v1/audit"]["query"] = {
    ...(days !== null && /^\d{1,4}$/.test(days) && { from: new Date(say.nowMillis - Number(days) * 86_400_000).toISOString() }),
    ...(actor !== null && { actor_id: actor }),
    ...(verb !== null && { verb })
  }
  const { data, next } = await api.page("GET /v1/audit", { query: { ...asked, limit: perPage, ...(cursor !== null && { cursor }) } })
  const at = (change: Readonly<Record<string, string>>) => to(withQuery("audit", query, { cursor: "", trail: "", ...change }))
  const filters = chips([
    ...(["7", "30"] as const).map((span) => ({
      text: `Last ${span} days`,
      href: at({ days: days === span ? "" : span }),
      isOn: days === span
    })),
    ...(actor === null ? [] : [{ text: actor, href: at({ actor_id: "" }), isOn: true }]),
    ...(verb === null ? [] : [{ text: verbWords(verb), href: at({ verb: "" }), isOn: true }])
  ])
  const file = withQuery("v1/audit", new URLSearchParams(Object.entries(asked).map(([name, value]) => [name, String(value)])), {
    format: "csv"
  })
  return {
    title: "Audit log",
    actions: data.length > 0 && exported(beside(file), next === undefined ? Formats.sats(data.length) : "entries"),
    body: [
      filters,
      plain(
        "Audit log",
        data.length === 0
          ? empty("clock", "No entries", "No entry matches these filters.")
          : table("Audit log", { columns: columns(visit), groups: [{ rows: data }] }),
        paging(`times in ${say.zone}`, pages("audit", visit, next))
      )
    ]
  }
}

export const audit: Page = { path: "audit", nav: "audit", get }
