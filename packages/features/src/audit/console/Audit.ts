import { type ComponentChildren, h } from "preact"
import { type Listed, pathOf } from "@satrail/ui/console/Api"
import type { Format } from "@satrail/ui/console/Format"
import * as Formats from "@satrail/ui/console/Format"
import { cursorOf, filtering, pages } from "@satrail/ui/console/List"
import * as Range from "@satrail/ui/console/Range"
import { type AnyVisit, type Elsewhere, type Page, type Shown, type Visit } from "@satrail/ui/console/Page"
import { chips, date, empty, link, plain, status } from "@satrail/ui/console/Parts"
import { signedSats } from "@satrail/ui/console/pages/Rows"
import { type Column, exported, paging, table } from "@satrail/ui/console/Table"
import type { AuditEntry } from "@satrail/ui/console/wire"

export const perPage = 50
const verbs: Readonly<Record<string, string>> = {
  "console.signIn": "Signed in",
  "console.signOut": "Signed out",
  "console.stepUp": "Re-entered their key",
  "send.confirm": "Sent a payment",
  "send.confirmSend": "Sent a payment",
  "send.estimate": "Estimated a fee",
  "send.approve": "Approved a payment",
  "send.reject": "Rejected a payment",
  "operator.issueKey": "Issued an API key",
  "stop.freeze": "Froze the company",
  "stop.unfreeze": "Unfroze the company",
  "stop.pause": "Paused for everyone",
  "stop.resume": "Resumed for everyone",
  "stop.paused": "Read what is paused",
  "operator.limitCompany": "Changed the limits",
  "operator.chargeCompany": "Changed the fees",
  "reconciliation.stateOwnFunds": "Declared own funds",
  "sandbox.destination": "Created a simulated payee",
  "sandbox.txt": "Set a simulated DNS record",
  CompanyOpened: "Opened the account"
}

const irregular: Readonly<Record<string, string>> = {
  begin: "began",
  get: "read",
  pay: "paid",
  resend: "resent",
  reset: "reset",
  send: "sent",
  set: "set",
  show: "read",
  stream: "read",
  verify: "verified"
}
/** The first words of reads that are named after what they read. Rejected reads are in the log. */
const reads =
  /^(?:account|adjustment|backlog|balance|deposit|liquidity|payer|pending|rates|reconciliation|status|transactions|withdrawal|world)\b/
const past = (word: string) => irregular[word] ?? `${word}${word.endsWith("e") ? "d" : "ed"}`
/** `daySats` and `day_sats` become “day sats”. */
const wordsOf = (name: string) =>
  name
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ")
    .toLowerCase()

/** `webhooks.updateWebhookEndpoint` becomes “Updated webhook endpoint”. */
export const verbWords = (verb: string): string => {
  const known = verbs[verb]
  if (known !== undefined) return known
  const [first = "", ...rest] = wordsOf(verb.split(".").at(-1) ?? verb)
    .replace(/^(?:operator|company) /, "")
    .replace(reads, "get $&")
    .split(" ")
  const words = [verb.includes(".") ? past(first) : first, ...rest].join(" ").replace(/\bapi\b/, "API")
  return words.charAt(0).toUpperCase() + words.slice(1)
}

const who = ({ actor, actor_name, actor_id }: AuditEntry): string => {
  const name = actor_name === "" ? actor_id : actor_name
  if (actor === "key") return `Key “${name}”`
  if (name === "configured token") return "Configured token"
  return actor === "service"
    ? "satrail"
    : actor === "operator"
      ? `Operator ${name}`
      : name === ""
        ? "Unknown"
        : name
}

const isDone = ({ outcome }: AuditEntry) => outcome === "done" || outcome === "ok" || outcome === "applied"

const internal: ReadonlyArray<string> = ["company_id", "secret_hash", "vouched_by", "epoch"]

/** Hides sessions, unchanged, empty and internal fields, and the fingerprint of a record's first secret. */
const isShown = ({ record, field, before, after }: AuditEntry["changes"][number]) =>
  record !== "console_sessions" &&
  before !== after &&
  !internal.includes(field) &&
  (before !== null || (after !== "[]" && field !== "secret"))

/** Lists and settings are stored as JSON. */
const formatted = (say: Format, value: unknown): string => {
  if (typeof value === "number") return value.toLocaleString("en-US")
  if (typeof value !== "object" || value === null) return String(value ?? "none")
  // A passkey.
  if ("publicKey" in value && "name" in value) return String(value.name)
  const parts = Array.isArray(value)
    ? value.map((one) => formatted(say, one))
    : Object.entries(value).flatMap(([name, one]) =>
        one === null || /_id$|Id$/.test(name) ? [] : [member(say, name, one)]
      )
  return parts.length === 0 ? "none" : parts.join(", ")
}
/** `daySats: 5000` becomes “day 5,000 sats”. */
const member = (say: Format, name: string, value: unknown): string => {
  const [, text = name, unit] = /^(.*?)_?(sats|millis)$/i.exec(name) ?? []
  const unitName = unit?.toLowerCase()
  const shown =
    unitName === "millis"
      ? say.when(Number(value))
      : typeof value === "string" && value.includes(" ")
        ? `“${value}”`
        : formatted(say, value)
  return `${text === "pending" ? "withdrawals" : wordsOf(text)} ${shown}${unitName === "sats" ? ` ${Formats.unit(Number(value))}` : ""}`
}
const read = (value: string): unknown => {
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

const valueOf = (say: Format, field: string, value: string | null): string => {
  if (value === null) return "none"
  if (field.endsWith("_millis")) return say.when(Number(value))
  return /^[[{]/.test(value) ? formatted(say, read(value)) : value
}

const change = (say: Format, { field, before, after }: AuditEntry["changes"][number]) => {
  const name = field === "waiting" ? "awaiting approval" : wordsOf(field.replace(/_millis$/, ""))
  if (field === "secret") return h("li", null, `${name}: replaced`)
  const old = before !== null && [h("span", { class: "old" }, valueOf(say, field, before)), " → "]
  return h("li", null, `${name}: `, old, valueOf(say, field, after))
}

/** Which payment the entry is about, if it is about one that was sent. */
export const sentIn = ({ verb, subject }: Pick<AuditEntry, "verb" | "subject">): string | undefined =>
  verb.startsWith("send.") && subject !== null ? subject : undefined

/** The features' words for their records, by the first part of the verb, which is also the path of the records' pages. */
export type Words = Readonly<Record<string, string | undefined>>

/** Returns a link to the record of a feature that an entry is about, or its id if it has no page. */
export const recordOf = (
  { verb, subject }: Pick<AuditEntry, "verb" | "subject">,
  { to }: Pick<AnyVisit, "to">,
  words: Words
): ComponentChildren => {
  const path = verb.split(".")[0] ?? ""
  const word = words[path]
  return word === undefined || subject === null ? subject : link(to(`${path}/${subject}`), word)
}

/** What an entry without changes is about. Sessions have no page. */
type About = (entry: AuditEntry) => ComponentChildren

export const columns = ({ say }: Pick<AnyVisit, "say">, about: About): ReadonlyArray<Column<AuditEntry>> => [
  {
    title: "When",
    place: "c4",
    kind: "faint",
    isSorted: true,
    cell: ({ created_at }) => date(say, created_at)
  },
  { title: "Who", place: "c3", cell: (entry) => who(entry) },
  {
    title: "What",
    place: "c1",
    cell: (entry) => {
      const text = `${verbWords(entry.verb)}${entry.count > 1 ? ` (${entry.count} times)` : ""}`
      return h(
        "span",
        { class: "strong" },
        isDone(entry) ? text : status({ tone: "bad", text: `Refused: ${text}` })
      )
    }
  },
  {
    title: "Before → after",
    place: "all",
    kind: "soft",
    cell: (entry) => {
      if (!isDone(entry)) return entry.outcome.replaceAll("_", " ")
      const all = entry.changes.filter(isShown).slice(0, 8)
      if (all.length > 0)
        return h(
          "ul",
          null,
          all.map((one) => change(say, one))
        )
      return entry.verb.startsWith("console.") ? "" : about(entry)
    }
  },
  { title: "From", place: "off", kind: "faint", cell: ({ ip_address }) => ip_address }
]

export const filtersIn = (visit: AnyVisit) => {
  const given = (name: string) => visit.query.get(name) ?? undefined
  return {
    ...Range.queryOf(Range.rangeOf(visit)),
    actor_id: given("actor_id"),
    verb: given("verb"),
    outcome: given("outcome")
  }
}

/** The page of an audit log. Its export is at `audit/export`. */
export const logPage = (
  visit: AnyVisit,
  { data, next }: Listed<ReadonlyArray<AuditEntry>>,
  {
    filters,
    company,
    columns
  }: {
    readonly filters: ReturnType<typeof filtersIn>
    /** The name of the company in the filters. */
    readonly company?: string | undefined
    readonly columns: ReadonlyArray<Column<AuditEntry>>
  }
): Shown => {
  const at = filtering("audit", visit)
  const { actor_id, verb, outcome } = filters
  const on = { company_id: company, actor_id, verb: verb && verbWords(verb), outcome }
  const isAll = next === undefined && cursorOf(visit) === undefined
  return {
    title: "Audit log",
    actions:
      data.length > 0 &&
      exported(filtering("audit/export", visit)({}), isAll ? Formats.sats(data.length) : "entries"),
    body: [
      chips([
        ...Range.rangeChips(visit, at),
        ...Object.entries(on).flatMap(([name, text]) =>
          text === undefined ? [] : [{ text, href: at({ [name]: "" }), isOn: true }]
        )
      ]),
      plain(
        "Audit log",
        data.length === 0
          ? empty("clock", "No entries", "No entry matches these filters.")
          : table("Audit log", { columns, groups: [{ rows: data }] }),
        paging(data.length, `times in ${visit.say.zone}`, {
          ...pages("audit", visit, next),
          extra: Range.rangeForm(visit, "audit")
        })
      )
    ]
  }
}

/** Leads to the export, at `path` of the API, which would refuse a person without a session with JSON. */
export const exporting = (path: string, filters: object): Elsewhere => ({
  redirect: pathOf(path, {}, { ...filters, format: "csv" }),
  isBeside: true
})

const get = async (visit: Visit, words: Words): Promise<Shown> => {
  const { api, to } = visit
  const filters = filtersIn(visit)
  const page = await api.page("GET /v1/audit", {
    query: { ...filters, limit: perPage, cursor: cursorOf(visit) }
  })
  const sent = await api.payments(
    page.data.flatMap((entry) => {
      const id = sentIn(entry)
      return id === undefined ? [] : [{ type: "withdrawal" as const, id }]
    })
  )
  const about: About = (entry) => {
    const payment = sent.find(({ id }) => id === sentIn(entry))
    return payment === undefined
      ? recordOf(entry, visit, words)
      : link(to(`payments/out/${payment.id}`), `${signedSats(payment)} ${Formats.unit(payment.amountSats)}`)
  }
  return logPage(visit, page, { filters, columns: columns(visit, about) })
}

export const audit = (words: Words): ReadonlyArray<Page> => [
  { path: "audit", nav: "audit", get: (visit) => get(visit, words) },
  { path: "audit/export", nav: "audit", get: (visit) => exporting("v1/audit", filtersIn(visit)) }
]
