import type { Network } from "@satrail/bitcoin/Network"
import { h } from "@satrail/ui/Html"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Asset from "@satrail/http/wire/Asset"
import { paths as docs } from "./Docs.ts"
import * as Envelope from "@satrail/http/wire/Envelope"
import * as Html from "@satrail/http/wire/Html"

export const paths = { home: "/", icon: "/favicon.ico" } as const

/** Content of the home page. */
export interface About {
  readonly version?: string
  readonly network?: Network
  /** Simulated parts, such as `the Lightning network`. Default: none. */
  readonly simulated?: ReadonlyArray<string>
  /** Location of the demo company's API key, if there is such a company. */
  readonly demoKey?: string
  /** Returns the API key that the API reference fills in. Only for a sandbox that other machines cannot reach. */
  readonly sandboxKey?: () => string | undefined
}

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="8" fill="#f7931a"/><path d="M4 5h8M4 11h8M6 3v10M10 3v10" stroke="#fff" stroke-width="1.5" fill="none"/></svg>`

const listed = (names: ReadonlyArray<string>): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`

const titleOf = ({ version, network }: About): string =>
  ["satrail", version, network === undefined ? undefined : `on ${network}`]
    .filter((part) => part !== undefined)
    .join(" ")

const linked = (href: string, name: string, about: string) =>
  h("li", null, h("a", { href }, name), `: ${about}`)

const bodyOf = (about: About, consolePath?: string) => {
  const { simulated = [], demoKey } = about
  const isSimulated = simulated.length > 0
  return [
    h("h1", null, titleOf(about)),
    h(
      "p",
      null,
      "A bitcoin payments service: invoices, addresses, withdrawals and a balance, over HTTP and JSON."
    ),
    isSimulated && h("p", { class: "note" }, `Simulated here: ${listed(simulated)}.`),
    consolePath !== undefined && [
      h("h2", null, "Sign in"),
      h(
        "ul",
        null,
        linked(
          consolePath.slice(1),
          "Console",
          "payments, checkouts, refunds, statements; for companies and operators"
        )
      )
    ],
    h("h2", null, "Documentation"),
    h(
      "ul",
      null,
      linked("docs", "Documentation", "guides, concepts, errors, limits"),
      linked("docs/api", "API reference", "every endpoint, with examples to run"),
      linked("openapi.json", "OpenAPI document", "for client generators"),
      isSimulated && linked("operator/docs", "The operator's routes", "companies, API keys, reconciliation")
    ),
    h("h2", null, "First steps"),
    h(
      "p",
      null,
      "Every request to ",
      h("code", null, "/v1"),
      " carries an API key: ",
      h("code", null, "Authorization: Bearer <API_KEY>"),
      ". ",
      demoKey === undefined
        ? "The operator issues keys."
        : ["The demo company's key is in ", h("code", null, demoKey), "."],
      " The README has a quickstart for receiving and sending (",
      h("em", null, "Try it"),
      ")."
    )
  ]
}

/**
 * Serves a page to browsers and an envelope to other clients. The page links to the console if the console is
 * served.
 */
export const layer = (about: About = {}, consolePath?: string) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const page = yield* Html.asset(titleOf(about), bodyOf(about, consolePath), {
        vary: "Accept, Accept-Encoding"
      })
      const picture = yield* Asset.make(icon, "image/svg+xml", {
        headers: { "content-security-policy": "default-src 'none'" }
      })
      const { version = null, network = null, simulated = [] } = about
      const envelope = Envelope.ok("satrail", {
        name: "satrail",
        version,
        network,
        simulated,
        docs: docs.docs,
        openapi: docs.openapi
      })
      yield* router.add(
        "GET",
        paths.home,
        Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
          headers["accept"]?.includes("text/html") === true
            ? Asset.answer(page)
            : Effect.succeed(HttpServerResponse.jsonUnsafe(envelope, { headers: { vary: "Accept" } }))
        )
      )
      yield* router.add("GET", paths.icon, Asset.answer(picture))
    })
  )
