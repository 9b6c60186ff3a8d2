import type { Network } from "@satrail/bitcoin/Network"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import * as Asset from "./Asset.ts"
import { paths as docs } from "./Docs.ts"
import * as Envelope from "./Envelope.ts"

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

/** Readable from 320 px on, in light and in dark. */
const style = `:root{color-scheme:light dark}
body{margin:0 auto;max-width:40rem;padding:1.5rem 1rem;font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.5rem;margin:0}
h2{font-size:1.1rem;margin:1.5rem 0 .25rem}
p,ul{margin:.5rem 0}
ul{padding-left:1.25rem}
code{font:.9em/1.4 ui-monospace,monospace}
strong{border-left:.25rem solid #f7931a;padding-left:.5rem;display:block}`

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="8" fill="#f7931a"/><path d="M4 5h8M4 11h8M6 3v10M10 3v10" stroke="#fff" stroke-width="1.5" fill="none"/></svg>`

const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[character] ?? "&quot;")

const listed = (names: ReadonlyArray<string>): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`

const pageOf = ({ version, network, pretended = [], demoKey }: About): string => {
  const title = ["satrail", version, network === undefined ? undefined : `on ${network}`].filter((part) => part !== undefined).join(" ")
  const isPretended = pretended.length > 0
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${escaped(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" type="image/svg+xml" href="favicon.ico">
<style>${style}</style>
</head>
<body>
<h1>${escaped(title)}</h1>
<p>A bitcoin payments service: invoices, addresses, withdrawals and a balance, over HTTP and JSON.</p>
${isPretended ? `<p><strong>Simulated here: ${escaped(listed(pretended))}.</strong></p>\n` : ""}<h2>Documentation</h2>
<ul>
<li><a href="docs">Documentation</a>: every endpoint, with examples to run</li>
<li><a href="openapi.json">OpenAPI document</a>: for generators of clients</li>
${isPretended ? `<li><a href="operator/docs">The operator's routes</a>: companies, API keys, reconciliation</li>\n` : ""}</ul>
<h2>First steps</h2>
<p>Every request to <code>/v1</code> carries an API key: <code>Authorization: Bearer &lt;API_KEY&gt;</code>.
${demoKey === undefined ? "The operator issues keys." : `That of the demo company is in <code>${escaped(demoKey)}</code>.`}
The README has a quickstart for receiving and sending (<em>Try it</em>).</p>
</body>
</html>
`
}

/** A page for browsers, an envelope for everybody else. */
export const layer = (about: About = {}) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const page = yield* Asset.make(pageOf(about), "text/html; charset=utf-8", {
        headers: { "content-security-policy": contentSecurityPolicy, "referrer-policy": "no-referrer", vary: "Accept, Accept-Encoding" }
      })
      const picture = yield* Asset.make(icon, "image/svg+xml", { headers: { "content-security-policy": "default-src 'none'" } })
      const { version = null, network = null, pretended = [] } = about
      const envelope = Envelope.ok("satrail", { name: "satrail", version, network, pretended, docs: docs.docs, openapi: docs.openapi })
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
