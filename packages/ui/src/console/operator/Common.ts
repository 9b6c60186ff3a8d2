import { type ComponentChild, type ComponentChildren, h } from "preact"
import { unlessRefused } from "../Api.ts"
import type { Format } from "../Format.ts"
import * as Formats from "../Format.ts"
import { type AnyVisit, type OperatorVisit } from "../Page.ts"
import { choice, confirm, field, fields, form, panel, type Badge, when } from "../Parts.ts"
import type { CompanyOverview } from "../wire.ts"
import { mostOffered, offered } from "./CompanyNames.ts"

// Parts that the operator's pages share.

/** Formats how long ago something was, to the minute: 3 h 29 min. */
export const ago = (millis: number): string => {
  const minutes = Math.max(0, Math.floor(millis / 60_000))
  if (minutes < 1) return "less than a minute"
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  const days = Math.floor(hours / 24)
  return hours % 24 === 0 ? `${days} d` : `${days} d ${hours % 24} h`
}

export const since = (say: Format, at: string) => ago(say.nowMillis - Date.parse(at))

/** Omits the date if the time is today: 09:38. */
export const moment = (say: Format, millis: number) => when(millis, say.since(millis))

/** A figure in sats, with its unit and its fiat value below it. */
export const figure = (say: Format, name: string, sats: number) =>
  [
    name,
    Formats.sats(sats),
    [Formats.unit(sats), say.fiat(sats)].filter((one) => one !== undefined).join(" · ")
  ] as const

export const count = (many: number, one: string, more = `${one}s`): string =>
  `${Formats.sats(many)} ${many === 1 ? one : more}`

/** The checks of `/readyz`. */
const checkNames: Readonly<Record<string, string>> = {
  store: "Database",
  node: "Lightning node",
  sender: "Sending over Lightning",
  chain: "Chain",
  started: "Process started",
  running: "Process running"
}
export const checkName = (name: string): string => checkNames[name] ?? Formats.capital(name)
/** The name of background work; a key's hash in it is shortened. */
export const roleName = (role: string): string =>
  Formats.capital(role.replace(/[0-9a-f]{20,}/, (key) => `${key.slice(0, 8)}…`))

/** Maximum number of records that a summary reads. */
export const most = 100

/** The first page of a list. */
export interface Listed<Row> {
  readonly data: ReadonlyArray<Row>
  readonly next: string | undefined
}

/** Counts the records of the first page: “100 or more”, if there are more pages. */
export const countOf = ({ data, next }: Listed<unknown>, one: string, more: string): string =>
  next === undefined ? count(data.length, one, more) : `${Formats.sats(data.length)} or more ${more}`

/** When the oldest record was created, and the sum of sats; null if there are more pages. */
export const totalsOf = <Row extends { readonly created_at: string }>(
  { data, next }: Listed<Row>,
  sats: (row: Row) => number
) => ({
  sinceMillis: next === undefined ? oldestOf(data.map(({ created_at }) => created_at)) : null,
  sats: next === undefined ? sumOf(data.map(sats)) : null
})

/** The name of an operator in a sentence. The configured token has no operator's name. */
export const operatorName = (name: string): string =>
  name === "configured token" ? "the configured token" : name

/** A page of the documentation, such as `incidents#pending-withdrawal`. */
export const guide = ({ beside }: Pick<AnyVisit, "beside">, page: string): string => {
  const [name = "", part] = page.split("#")
  return beside(`docs/guides/${name}${part === undefined ? "" : `#${part}`}`)
}

/** The end of a form that requires the operator’s token again. */
export const confirming = (
  { user: { isConfirmed } }: AnyVisit,
  button: string,
  more: { readonly why?: string; readonly kind?: string } = {}
) => confirm(button, { isConfirmed, label: "Your operator token", ...more })

/** The end of a form on a page with several forms. If the token is required, the next page requests it. */
export const deciding = (button: string, more: { readonly why?: string; readonly kind?: string } = {}) =>
  confirm(button, { isConfirmed: true, ...more })

export type Part = (
  title: string,
  what: string,
  button: string,
  children: ComponentChildren,
  kind?: string,
  why?: string
) => ComponentChild

/** Makes the forms of a page with several forms, each in a panel. The form's field `do` says which one was sent. */
export const partOf =
  (action: string): Part =>
  (title, what, button, children, kind = "", why) =>
    form(
      action,
      {},
      panel(
        title,
        {},
        h("input", { type: "hidden", name: "do", value: what }),
        children !== null && fields(children),
        deciding(button, { kind, ...(why !== undefined && { why }) })
      )
    )

/** Returns the result of a read, or undefined if the user lacks the scope. */
export const allowed = <A>(read: Promise<A>): Promise<A | undefined> =>
  unlessRefused(read, (status) => status === 403)

/** The id of the company that a form's fields name. Undefined if they name none. */
export const companyIn = ({ form }: Pick<AnyVisit, "form">): string | undefined =>
  form
    .getAll("company")
    .map((id) => id.trim())
    .findLast((id) => id !== "")

/** A selection list of companies, by name, and a field for the id of an older one. `none` is the label of the choice without a company. */
export const companyChoice = async (
  visit: Pick<OperatorVisit, "api" | "companies" | "form">,
  label: string,
  first: string,
  none = "Choose a company"
) => {
  const chosen = companyIn(visit) ?? first
  const { options, isAll } = await offered(visit, chosen)
  return [
    choice(label, "company", [["", none], ...options], chosen),
    !isAll &&
      field({
        label: "Or another company’s id",
        name: "company",
        id: "company-id",
        hint: `The list has the newest ${Formats.sats(mostOffered)}. The id is on the company’s page`
      })
  ]
}

export const companyBadge = ({ frozen }: Pick<CompanyOverview, "frozen">): Badge =>
  frozen === null ? { tone: "good", text: "Active" } : { tone: "frozen", text: "Frozen" }

export const oldestOf = (times: ReadonlyArray<string>): number | null =>
  times.length === 0 ? null : Math.min(...times.map((at) => Date.parse(at)))

export const sumOf = (amounts: ReadonlyArray<number>): number => amounts.reduce((sum, sats) => sum + sats, 0)

export const companyCrumbs = ({ id, name }: { readonly id: string; readonly name: string }) =>
  [
    ["Companies", "companies"],
    [name, `companies/${id}`]
  ] as const

export const crumbsOf = async ({ api, id }: OperatorVisit) => {
  return companyCrumbs(await api.call("GET /operator/companies/{id}", { params: { id } }))
}
