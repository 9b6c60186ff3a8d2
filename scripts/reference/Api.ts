import { Context } from "effect"
import { HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import {
  Authentication,
  OperatorAuthentication,
  operatorScopesOf,
  Scopes
} from "../../packages/http/src/api/Authentication.ts"
import * as OfCompany from "../../packages/http/src/api/OfCompany.ts"
import * as SchemaExceptions from "../../packages/service/src/http/SchemaExceptions.ts"
import * as Errors from "../../packages/http/src/wire/Errors.ts"
import { catalogue } from "../../packages/service/src/http/pages/Catalogue.ts"
import * as RequestId from "../../packages/http/src/edge/RequestId.ts"
import { failures } from "../../packages/http/src/resources/Withdrawals.ts"

const example = Errors.exampleOf("malformed")

/** Returns the reference page of all error codes, in Markdown. */
export const errors = (): string => {
  const rows = Object.entries(catalogue).map(
    ([code, { status, meaning, remedy }]) =>
      `| \`${code}\` | ${status} | <a id="${code}"></a>${meaning} | ${remedy} |`
  )
  return [
    "# Errors",
    "",
    "For developers who call the API. By the end, you will know what an error means and what to do. Every response is JSON with `status`, `message` and `data`. An error has `data: null` and `error`:",
    "",
    "```json",
    JSON.stringify(example, null, 2),
    "```",
    "",
    "`code` is stable, so programs should use it. `message` is human-readable and can change. `issues` lists every invalid field. If the body is",
    "not JSON, one issue has the `place` of the syntax error. `doc_url` links to the explanation of the code, on a page that the service itself",
    "serves: a URL if `SATRAIL_PUBLIC_URL` is set, otherwise a path. `insufficient_balance` has `available_sats` and `needed_sats`.",
    "",
    "Every response has an `X-Request-Id`. If your request has one (up to " +
      `${RequestId.maxCharacters} letters, digits and \`. _ : = + / ~ -\`), it is returned; otherwise the service generates one.`,
    "It is also in `error.request_id` and in every log line of the request.",
    "",
    "A 401 has `WWW-Authenticate`, a 405 has `Allow`, and a 429 or 503 has `Retry-After` in seconds.",
    "",
    "| Code | Status | Meaning | What to do |",
    "|---|---|---|---|",
    ...rows,
    "",
    "## Why a withdrawal fails",
    "",
    "A confirmed withdrawal that becomes `failed` has `failure: { code, message }`. `code` is stable. Whatever the code, nothing was or will be paid, and the amount",
    "and the fee were released. `lightning_payment.failure_reason` has the node's own reason, in lnd's terms.",
    "",
    "| Code | Meaning |",
    "|---|---|",
    ...Object.entries(failures).map(([code, message]) => `| \`${code}\` | ${message} |`),
    ""
  ].join("\n")
}

/** Routes for payers: LUD protocols and pages. */
const payers: ReadonlyArray<readonly [address: string, what: string]> = [
  ["GET /.well-known/lnurlp/:handle", "A Lightning address (LUD-16)"],
  [
    "GET /lnurlp/:domain/:handle",
    "The same with the domain in the path, on the service's own domain (LUD-06)"
  ],
  ["GET /lnurlp/:domain/:handle/callback", "An invoice for a Lightning address (LUD-06)"],
  ["GET /lnurlp/:domain/:handle/verify/:payment_hash", "Payment status of that invoice (LUD-21)"],
  ["GET /lnurlw", "A voucher or a refund link (LUD-03)"],
  ["GET /lnurlw/callback", "Claim of a voucher or refund (LUD-03)"],
  ["GET /pay/:id", "A checkout page"],
  [
    "GET /pay/:id/state",
    "State of a checkout page, as JSON, or as a stream with `Accept: text/event-stream`. Any origin can read it"
  ],
  ["GET /pay/:id/qr", "QR code of the amount due (SVG)"],
  ["GET /pay/embed.js", "Script that embeds a checkout in a shop's page"],
  ["GET /pay/to/:handle", "Page to pay a Lightning address; `POST` creates the invoice"],
  ["GET /pay/to/:handle/:payment_hash", "Page of that invoice; its state is at `/state` under it"]
]

/** Returns the reference page of all endpoints with the required credentials, in Markdown. */
export const endpoints = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): string => {
  const rows: Array<string> = []
  const read = new Set<string>()
  const repeated: Array<string> = []
  HttpApi.reflect(api, {
    onGroup: ({ group, mergedAnnotations }) => {
      rows.push(
        "",
        `## ${Context.getOrElse(mergedAnnotations, OpenApi.Title, () => group.identifier)}`,
        "",
        "| Endpoint | Description | Scope |",
        "|---|---|---|"
      )
    },
    onEndpoint: ({ endpoint, mergedAnnotations, middleware }) => {
      const { method, path } = endpoint
      const below = path.startsWith(OfCompany.root) ? path.slice(OfCompany.root.length) : ""
      if (method === "GET" && read.has(`/v1${below}`)) {
        repeated.push(`\`${below}\``)
        return
      }
      if (method === "GET") read.add(path)
      const has = (one: { readonly key: string }) => [...middleware].some(({ key }) => key === one.key)
      const isOperators = has(OperatorAuthentication)
      const scopes = isOperators
        ? operatorScopesOf(endpoint)
        : Context.getOrElse(mergedAnnotations, Scopes, () => [])
      const named = [...new Set<string>(scopes)].map((scope) => `\`${scope}\``).join(" or ")
      const opened = isOperators
        ? `${path.startsWith("/operator") ? "" : "operator token: "}${named || "`all`"}`
        : named || "*any*"
      const summary = Context.getOrElse(mergedAnnotations, OpenApi.Summary, () => "")
      rows.push(
        `| \`${method} ${path}\` | ${summary} | ${isOperators || has(Authentication) ? opened : "no key"} |`
      )
    }
  })
  return [
    "# Endpoints",
    "",
    "For developers who call the API. By the end, you will know which endpoint to call and which scope it requires. `/docs/api` describes requests and responses of the company API, and `/operator/docs` those of the operator API. Their OpenAPI documents are `/openapi.json` and `/operator/openapi.json`.",
    "",
    "## How the interface changes",
    "",
    "Within `/v1`, these can change in any release, and your client must accept them: new endpoints, new optional request fields and query parameters, new fields in responses and events, new error codes, new event types, and new values of a text field. Ignore the fields, event types, and values you don't know. Handle an unknown error code by its HTTP status.",
    "",
    "Within `/v1`, no field or endpoint is removed, renamed, or given another type or meaning; no optional request field becomes required; and requests stay strict, so unknown fields are rejected. Names of schemas in the OpenAPI document can change.",
    "",
    "The changelog lists every addition under *feature*. Before a later path version, such as `/v2`, drops a field or endpoint, it is marked `deprecated` in the OpenAPI document. It keeps working in `/v1`.",
    "",
    "Before version 1.0, a release can break these rules. The changelog then lists the change first, under *breaking*, with the replacement.",
    "",
    "## Rules beyond the schemas",
    "",
    "The OpenAPI documents state every rule that JSON Schema can express. A request that validates against its schema can still be rejected for one of these reasons. Its `malformed` error names the field. Text must also be well-formed Unicode without NUL characters.",
    "",
    "| Rule | Fields |",
    "|---|---|",
    ...SchemaExceptions.rules.map(
      ({ rule, members }) => `| ${rule} | ${members.map((name) => `\`${name}\``).join(", ")} |`
    ),
    "",
    "## Routes for payers",
    "",
    "Payers' wallets and browsers open these addresses without a key. They are not in the OpenAPI documents. The LUDs define what wallets send and receive. The pages and their state can change in any release, so follow a checkout with webhooks or `GET /v1/checkouts/:id` instead.",
    "",
    "| Address | Description |",
    "|---|---|",
    ...payers.map(([address, what]) => `| \`${address}\` | ${what} |`),
    "",
    "## Scopes",
    "",
    "In the tables below, the last column has the scope that an API key needs. A key with `admin` can call all endpoints of the company API. Below `/operator`, the column has the scope of the operator token; a token with `all` can call all endpoints there. *any* means that any API key suffices.",
    "",
    `With a token that has \`read\`, the operator can read a company's records: below \`${OfCompany.root}\`, these endpoints return the same as below \`/v1\`: ${repeated.join(", ")}.`,
    ...rows,
    ""
  ].join("\n")
}
