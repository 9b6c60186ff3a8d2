import type { ComponentChildren } from "preact"
import * as NumberText from "../NumberText.ts"
import { type Api, type OperatorReads, type Reads, Refused, type Stops } from "./Api.ts"
import type { Format, Preferences } from "./Format.ts"
import type { Confirmed, Badge } from "./Parts.ts"
import type { Account, ApiKey } from "./wire.ts"

/** The signed-in user (a key, a token or a person) and their permissions. */
export interface User {
  readonly kind: "company" | "operator"
  readonly id: string
  readonly name: string
  readonly scopes: ReadonlyArray<string>
  /** Whether the key was entered, or the passkey used, within the last 5 minutes; `passkey` if the passkey must be used first. */
  readonly isConfirmed: Confirmed
  /** The person's role, such as `admin`; null if signed in with a key. */
  readonly role: string | null
  /** Null if signed in with a key. */
  readonly passkeys: ReadonlyArray<{ readonly id: string; readonly name: string }> | null
}

/** A request for a page of either console. */
export interface AnyVisit {
  readonly api: Api
  readonly say: Format
  readonly preferences: Preferences
  readonly user: User
  readonly stops: Stops
  /** Parts of the path, by name. */
  readonly params: Readonly<Record<string, string>>
  /** The path's `:id`. Empty if it has none. */
  readonly id: string
  readonly query: URLSearchParams
  /** The fields of a posted form. Empty for a GET request. */
  readonly form: URLSearchParams
  /** Why the posted form was refused. */
  readonly problem: string | undefined
  /** Makes the form's request safe to repeat. */
  readonly once: string
  /** The address of a page of the console, relative to this one. */
  readonly to: (path: string) => string
  /** The address of a resource outside the console, such as `v1/transactions/export`. */
  readonly beside: (path: string) => string
}

/** A request for a page of a company's console. */
export interface Visit extends AnyVisit {
  readonly account: Account
  /** Whether the Lightning network is simulated, so that no money is real. */
  readonly isSandbox: boolean
}

/** A request for a page of the operator's console. */
export interface OperatorVisit extends AnyVisit, OperatorReads {
  /** Returns the reads of one company. */
  readonly of: (companyId: string) => Reads
}

/** The content of a page. */
export interface Shown {
  readonly title: string
  /** Shown in place of the title when the heading is an amount. */
  readonly figure?: ComponentChildren
  readonly status?: Badge
  readonly lead?: ComponentChildren
  readonly crumbs?: ReadonlyArray<readonly [text: string, path: string]>
  readonly actions?: ComponentChildren
  readonly body: ComponentChildren
  /** Whether the page refreshes when events arrive. Not for pages with a form. */
  readonly isLive?: boolean
}

/** A redirect to another page of the console, or to an address outside the console. */
export interface Elsewhere {
  readonly redirect: string
  readonly isBeside?: boolean
}

export interface File {
  readonly file: { readonly name: string; readonly contentType: string; readonly text: string }
}

export interface Page<V extends AnyVisit = Visit> {
  /** `payments/:id`, below the console's address. */
  readonly path: string
  /** The navigation entry to which this page belongs. */
  readonly nav: string
  /** The scope that the page requires in addition to `read`. Users without the scope see which roles have it. */
  readonly needs?: Scope
  readonly get: (visit: V) => Shown | Elsewhere | Promise<Shown | Elsewhere | File>
  readonly post?: (visit: V) => Promise<Shown | Elsewhere>
}

/** Returns the value of a text field, without surrounding spaces. */
export const text = ({ form }: Pick<AnyVisit, "form">, name: string): string => (form.get(name) ?? "").trim()

const reasons = {
  Unreadable: "Enter a number, such as 1500 or 12.50",
  Ambiguous: "Enter the number without a separator between thousands, such as 1500 or 12.50"
}

/** Returns the number in a field, or undefined if the field is empty. Refuses anything that is not one number, with `problem`. */
export const numberIn = (
  visit: Pick<AnyVisit, "form">,
  name: string,
  problem?: string
): number | undefined => {
  const given = text(visit, name)
  if (given === "") return undefined
  const read = NumberText.read(given, NumberText.separators.en)
  if (read._tag === "Number") return Number(read.text)
  throw new Refused(400, "malformed", `${problem ?? reasons[read._tag]} (got ${given})`)
}

/** Returns the URL of the same page with other parameters. An empty value removes a parameter. */
export const withQuery = (
  path: string,
  query: URLSearchParams,
  change: Readonly<Record<string, string>>
): string => {
  const next = new URLSearchParams(query)
  for (const [name, value] of Object.entries(change)) {
    if (value === "") next.delete(name)
    else next.set(name, value)
  }
  return next.size === 0 ? path : `${path}?${next}`
}

/** Confirms the person's identity with the key in the form, if there is one. A passkey is used before the form is sent. */
export const confirmed = async ({ api, form }: Pick<AnyVisit, "api" | "form">): Promise<void> => {
  const credential = (form.get("credential") ?? "").trim()
  if (credential === "") return
  await api.confirm(credential)
  form.delete("credential")
}

export const may = ({ user }: Pick<AnyVisit, "user">, scope: string): boolean =>
  user.scopes.some((one) => one === scope || one === "admin" || one === "all")

/** A scope of keys, or `all` for operators. All roles can read. */
export type Scope = Exclude<ApiKey["scopes"][number], "read"> | "all"

/** The roles that have a scope, if they are not operators and admins, as in the guide to the console. */
const roles: { readonly [scope in Scope]?: string } = {
  receive: "bookkeepers, operators and admins",
  admin: "admins",
  all: "admins"
}

/** The message that names the roles allowed to do something that the user may not do. */
export const whoMay = (what: string, scope: Scope): string =>
  `Only ${roles[scope] ?? "operators and admins"}, and ${scope === "all" ? "tokens" : "keys"} with the scope “${scope}”, can ${what}. Ask one of them.`
