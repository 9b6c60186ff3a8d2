import type { Network } from "@satrail/bitcoin/Network"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Asset from "../wire/Asset.ts"
import { paths as docs } from "./Docs.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Html from "../wire/Html.ts"

export const paths = { home: "/", icon: "/favicon.ico" } as const

/** What the first page says of the service. */
export interface About {
  readonly version?: string
  readonly network?: Network
  /** What is pretended, in words: `the Lightning network`. Nothing unless given. */
  readonly pretended?: ReadonlyArray<string>
  /** Where the demo company's API key is, in words, where there is such a company. */
  readonly demoKey?: string
}

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="8" fill="#f7931a"/><path d="M4 5h8M4 11h8M6 3v10M10 3v10" stroke="#fff" stroke-width="1.5" fill="none"/></svg>`

const listed = (names: ReadonlyArray<string>): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`

const titleOf = ({ version, network }: About): string =>
  ["satrail", version, network === undefined ? undefined : `on ${network}`].filter((part) => part !== undefined).join(" ")

const bodyOf = (about: About): string => {
  const { pretended = [], demoKey } = about
  const isPretended = pretended.length > 0
  return `<h1>${Html.escaped(titleOf(about))}</h1>
<p>A bitcoin payments service: invoices, addresses, withdrawals and a balance, over HTTP and JSON.</p>
${isPretended ? `<p><strong>Simulated here: ${Html.escaped(listed(pretended))}.</strong></p>\n` : ""}<h2>Documentation</h2>
<ul>
<li><a href="docs">Documentation</a>: guides, concepts, errors, limits</li>
<li><a href="docs/api">API reference</a>: every endpoint, with examples to run</li>
<li><a href="openapi.json">OpenAPI document</a>: for generators of clients</li>
${isPretended ? `<li><a href="operator/docs">The operator's routes</a>: companies, API keys, reconciliation</li>\n` : ""}</ul>
<h2>First steps</h2>
<p>Every request to <code>/v1</code> carries an API key: <code>Authorization: Bearer &lt;API_KEY&gt;</code>.
${demoKey === undefined ? "The operator issues keys." : `That of the demo company is in <code>${Html.escaped(demoKey)}</code>.`}
The README has a quickstart for receiving and sending (<em>Try it</em>).</p>`
}

/** A page for browsers, which leads to the console where there is one, and an envelope for everybody else. */
export const layer = (about: About = {}, consolePath?: string) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const page = yield* Html.asset(titleOf(about), bodyOf(about), { vary: "Accept, Accept-Encoding" })
      const picture = yield* Asset.make(icon, "image/svg+xml", { headers: { "content-security-policy": "default-src 'none'" } })
      const { version = null, network = null, pretended = [] } = about
      const envelope = Envelope.ok("satrail", { name: "satrail", version, network, pretended, docs: docs.docs, openapi: docs.openapi })
      yield* router.add(
        "GET",
        paths.home,
        Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
          headers["accept"]?.includes("text/html") === true
            ? consolePath === undefined
              ? Asset.answer(page)
              : Effect.succeed(HttpServerResponse.empty({ status: 303, headers: { location: consolePath.slice(1), vary: "Accept" } }))
            : Effect.succeed(HttpServerResponse.jsonUnsafe(envelope, { headers: { vary: "Accept" } }))
        )
      )
      yield* router.add("GET", paths.icon, Asset.answer(picture))
    })
  )
