import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Formats from "@satrail/ui/console/Format"
import type { Files } from "@satrail/ui/console/Frame"
import type { AnyVisit, OperatorVisit, Page, Visit } from "@satrail/ui/console/Page"
import * as Site from "../../console/Site.ts"
import { Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { randomUUID } from "node:crypto"
import * as Ui from "@satrail/http/edge/Ui"
import * as ConsoleApi from "@satrail/http/pages/ConsoleApi"
import type * as ConsoleReads from "./ConsoleReads.ts"

const { path } = ConsoleApi

/** Addresses of the consoles. A proxy that blocks `/operator` from outside also blocks the operator's console. */
export const paths = { company: path, operator: `/operator${path}` } as const

type Request = HttpServerRequest.HttpServerRequest

/** A cookie that stores a user's preference. It is not secret. */
export const cookie = (name: string, value: string) =>
  `${name}=${value}; Path=/; Max-Age=31536000; SameSite=Lax`

export const isCurrency = (text: string): boolean => /^[a-z]{3}$/.test(text)

export const preferencesOf = ({ cookies }: Request): Formats.Preferences => {
  const { satrail_theme: theme, satrail_zone: zone, satrail_currency: currency = "eur" } = cookies
  return {
    theme: theme === "light" || theme === "dark" ? theme : "system",
    currency: isCurrency(currency) ? currency : "eur",
    zone: Formats.zoneOf(zone)
  }
}

/** Returns the relative path from a page to the root: `../` for each folder. */
export const upFrom = (at: string): string => "../".repeat(at.split("/").length - 2)

/** Maximum length of an address that is returned to. Proxies limit the size of a response's headers, often to 4 KB. */
const maxAddress = 2000

/**
 * Returns the page of a console with this address, relative to the root, or a company's first page if there can be none.
 * A form could state the address of another site. An export or a proof is not a page, so the page that links to it is returned.
 */
export const pageAt = (address: string): string => {
  const isPage =
    address.length <= maxAddress && /^(?:\/operator)?\/console(?:\/[\w-]+)*(?:\?[!-~]*)?$/.test(address)
  return isPage ? address.slice(1).replace(/\/(?:export|proof)(?=\?|$)/, "") : path.slice(1)
}

export const filesAt = (up: string): Files => ({
  styles: Ui.styles("console").map((file) => up + file),
  script: up + Ui.path("console.js"),
  icon: `${up}favicon.ico`
})

const decode = Schema.decodeUnknownSync(
  Schema.Struct({
    kind: Schema.Literals(["company", "operator"]),
    id: Schema.String,
    name: Schema.String,
    scopes: Schema.Array(Schema.String),
    counts_as: Schema.String,
    company_id: Schema.NullOr(CompanyId.CompanyId),
    person: Schema.NullOr(
      Schema.Struct({
        role: Schema.String,
        passkeys: Schema.Array(Schema.Struct({ id: Schema.String, name: Schema.String }))
      })
    ),
    stepped_up_until: Schema.NullOr(Schema.String)
  })
)

interface Asked {
  readonly send: ConsoleApi.Send
  readonly reads: ConsoleReads.ConsoleReads
  /** The address of the page. */
  readonly at: string
  readonly page: Pick<Page, "path">
  readonly nowMillis: number
  readonly form: URLSearchParams
  readonly isSandbox: boolean
}

/** Makes the visit for a page request. Fails with `Refused` if there is no session. */
export const make = async (
  request: Request,
  { send, reads, at, page, nowMillis, form, isSandbox }: Asked
): Promise<Visit | OperatorVisit> => {
  const {
    company_id: companyId,
    counts_as,
    person,
    stepped_up_until,
    ...who
  } = decode(ConsoleApi.dataOf(await send("GET", `${path}/session`)))
  const of = (id: string) => reads.of(CompanyId.make(id), counts_as, who.scopes)
  const api = ConsoleApi.make(send, of(companyId ?? CompanyId.operator))
  const preferences = preferencesOf(request)
  const [account, stops, price] = await Promise.all([
    companyId === null ? undefined : api.call("GET /v1/account"),
    reads.stops(companyId),
    reads.price(preferences.currency)
  ])
  const [up, root] = [upFrom(at), paths[who.kind]]
  const params = Site.match(page.path, at.slice(root.length + 1)) ?? {}
  const visit: AnyVisit = {
    api,
    say: Formats.make(preferences, price, nowMillis),
    preferences,
    user: {
      ...who,
      role: person?.role ?? null,
      passkeys: person?.passkeys ?? null,
      isConfirmed: stepped_up_until !== null || (person !== null && "passkey")
    },
    stops,
    params,
    id: params["id"] ?? "",
    query: new URL(request.url, "http://inside").searchParams,
    form,
    problem: undefined,
    // A form that is shown again is the same request, so that it takes effect only once.
    once: (form.has(Site.shownAgain) && form.get("once")) || randomUUID(),
    to: (place) => up + root.slice(1) + (place === "" || place.startsWith("?") ? place : `/${place}`),
    beside: (place) => up + place
  }
  return account === undefined
    ? { ...visit, of, ...reads.ofOperator(who.scopes) }
    : { ...visit, account, isSandbox }
}
