import { Context } from "effect"
import { HttpApi, type HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication, OperatorAuthentication, operatorScopesOf, Scopes } from "../api/Authentication.ts"
import * as Beyond from "./Beyond.ts"
import * as Errors from "../wire/Errors.ts"
import { catalogue } from "../features/Catalogue.ts"
import * as RequestId from "../edge/RequestId.ts"
import { failures } from "../resources/Withdrawals.ts"

const example = Errors.exampleOf("malformed")

/** The reference page of errors, in Markdown: every code there is. */
export const errors = (): string => {
  const rows = Object.entries(catalogue).map(
    ([code, { status, meaning, remedy }]) => `| \`${code}\` | ${status} | <a id="${code}"></a>${meaning} | ${remedy} |`
  )
  return [
    "# Errors",
    "",
    "Every answer is JSON with `status`, `message` and `data`. A bad one has `data: null` and `error`:",
    "",
    "```json",
    JSON.stringify(example, null, 2),
    "```",
    "",
    "`code` is stable: act on it. `message` is for people and may change. `issues` is there when single members are wrong, all of them; a body that is",
    "not JSON has one with the `place` where it stops being JSON. `doc_url` leads to the explanation of the code, on a page that the service itself",
    "serves: a URL where `SATRAIL_PUBLIC_URL` is set, a path of the service otherwise. `insufficient_balance` has `available_sats` and `needed_sats`.",
    "",
    "Every answer has an `X-Request-Id`: the request's own where it sent one of up to " +
      `${RequestId.maxCharacters} letters, digits and \`. _ : = + / ~ -\`, and a new one`,
    "otherwise. It is in `error.request_id`, and in every line that the service logs for the request.",
    "",
    "A 401 carries `WWW-Authenticate`, a 405 `Allow`, a 429 and a 503 `Retry-After` in seconds.",
    "",
    "| Code | Status | Meaning | What to do |",
    "|---|---|---|---|",
    ...rows,
    "",
    "## Why a withdrawal fails",
    "",
    "A withdrawal that was confirmed and ends `failed` has `failure: { code, message }`. `code` is stable. Whichever it is, nothing was paid and nothing will be, and amount",
    "and fee are available again. Beside it, `lightning_payment.failure_reason` is the node's own word, as lnd has it.",
    "",
    "| Code | What happened |",
    "|---|---|",
    ...Object.entries(failures).map(([code, message]) => `| \`${code}\` | ${message} |`),
    ""
  ].join("\n")
}

/** What is open to payers: protocols of the LUDs, and pages. */
const payers: ReadonlyArray<readonly [address: string, what: string]> = [
  ["GET /.well-known/lnurlp/:handle", "A Lightning address (LUD-16)"],
  ["GET /lnurlp/:domain/:handle", "The same, on the service's own domain, for the domain in the path (LUD-06)"],
  ["GET /lnurlp/:domain/:handle/callback", "An invoice for a Lightning address (LUD-06)"],
  ["GET /lnurlp/:domain/:handle/verify/:payment_hash", "Whether that invoice is paid (LUD-21)"],
  ["GET /lnurlw", "A voucher or a refund link (LUD-03)"],
  ["GET /lnurlw/callback", "The claim of one (LUD-03)"],
  ["GET /pay/:id", "The page of a checkout"],
  ["GET /pay/:id/state", "The state that the page follows, as JSON, or as a stream with `Accept: text/event-stream`"],
  ["GET /pay/embed.js", "The script that shows a checkout in a shop's own page"],
  ["GET /pay/to/:handle", "The page on which a Lightning address is paid; `POST` makes the invoice"],
  ["GET /pay/to/:handle/:payment_hash", "The page of that invoice; its state is at `/state` below it"]
]

/** The reference page of endpoints, in Markdown: each with what opens it. */
export const endpoints = <Id extends string, Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<Id, Groups>): string => {
  const rows: Array<string> = []
  HttpApi.reflect(api, {
    onGroup: ({ group, mergedAnnotations }) => {
      rows.push(
        "",
        `## ${Context.getOrElse(mergedAnnotations, OpenApi.Title, () => group.identifier)}`,
        "",
        "| Endpoint | What it does | Opened by |",
        "|---|---|---|"
      )
    },
    onEndpoint: ({ endpoint, mergedAnnotations, middleware }) => {
      const { method, path } = endpoint
      const keys = [...middleware].flatMap(({ key }) =>
        key === Authentication.key ? ["an API key"] : key === OperatorAuthentication.key ? ["the operator's token"] : []
      )
      const scopes = [...middleware].some(({ key }) => key === OperatorAuthentication.key)
        ? [...operatorScopesOf(endpoint), "all"]
        : [...Context.getOrElse(mergedAnnotations, Scopes, () => []), "admin"]
      const opened = [
        ...keys,
        ...(keys.length > 0 && scopes.length > 1 ? [`with ${[...new Set(scopes)].map((scope) => `\`${scope}\``).join(" or ")}`] : [])
      ]
      const summary = Context.getOrElse(mergedAnnotations, OpenApi.Summary, () => "")
      rows.push(`| \`${method} ${path}\` | ${summary} | ${opened.length === 0 ? "nothing" : opened.join(" ")} |`)
    }
  })
  return [
    "# Endpoints",
    "",
    "Customers' routes are described at `/openapi.json`, and as a page at `/docs/api`; the operator's at `/operator/openapi.json` and `/operator/docs`.",
    "",
    "## How the interface changes",
    "",
    "Within `/v1`, these can change in any release, and your client must accept them: new endpoints, new optional request members and query parameters, new members of responses and events, new error codes, new event types, and new values of a text member. Ignore the members, event types, and values you don't know. Handle an unknown error code by its HTTP status.",
    "",
    "These don't change within `/v1`: a member or an endpoint is not removed, renamed, or given another type or meaning; an optional request member does not become required; and requests stay strict, so unknown members are refused. Names of schemas in the OpenAPI document can change.",
    "",
    "The changelog lists every addition under *feature*. A member or an endpoint that a later path version, such as `/v2`, drops is marked `deprecated` in the OpenAPI document first, and keeps working in `/v1`.",
    "",
    "Before version 1.0, a release can break these rules. The changelog then lists the change first, under *breaking*, with the replacement.",
    "",
    "## What the schemas cannot say",
    "",
    "The OpenAPI documents state every rule that JSON Schema can express. A request that is valid by its schema can still be refused for one of these reasons. Its `malformed` error names the member. Text must also be well-formed Unicode without NUL characters.",
    "",
    "| Rule | Members |",
    "|---|---|",
    ...Beyond.rules.map(({ rule, members }) => `| ${rule} | ${members.map((name) => `\`${name}\``).join(", ")} |`),
    "",
    "## What payers open",
    "",
    "Wallets and browsers of payers open these addresses without a key. They are not in the OpenAPI documents. The LUDs define what wallets send and receive. The pages, and the state that a page follows, can change in any release: follow a checkout with webhooks or `GET /v1/checkouts/:id` instead.",
    "",
    "| Address | What it is |",
    "|---|---|",
    ...payers.map(([address, what]) => `| \`${address}\` | ${what} |`),
    ...rows,
    ""
  ].join("\n")
}
