import { HttpApi, OpenApi } from "effect/http-api"
import { documented } from "./Authentication.ts"

const about = `Bitcoin payments: invoices, addresses, withdrawals and a balance, over HTTP and JSON.

Every answer is an envelope: \`status\` (the HTTP status again), \`message\` and \`data\`. A bad one has \`data: null\` and
\`error\`, with a stable \`code\`, a \`doc_url\` that explains it, and a \`request_id\` that finds it in the operator's log. Every answer has that id
in its header \`X-Request-Id\`; a request may bring its own.

Unknown members of a body and unknown query parameters are refused. A member that is optional may be absent or null.

Every POST under \`/v1\` and \`/operator\` that creates something takes an \`Idempotency-Key\` header: send one, and a request whose answer was lost can be sent again.`

type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** A number that is written as text, and a list whose members are named one by one, as generators of clients read them. */
const readable = (schema: Json): Json => {
  const { format, prefixItems, ...others } = schema
  const [, minimum, maximum] = typeof format === "string" ? (/^integer (\d+) (\d+)$/.exec(format) ?? []) : []
  if (minimum !== undefined) return { ...others, type: "integer", minimum: Number(minimum), maximum: Number(maximum) }
  return Array.isArray(prefixItems) && !("items" in schema) ? { ...schema, items: prefixItems[0] } : schema
}

const mapped = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(mapped)
    : isObject(value)
      ? readable(Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mapped(member)])))
      : value

/** What the document says beside what the schemas say of themselves. */
const completed = (document: Json): Json =>
  Object.fromEntries(Object.entries(documented(document)).map(([name, member]) => [name, mapped(member)]))

/**
 * What every group is built on: bodies, queries and paths are read strictly, with every issue reported, and headers leniently.
 * An additional group is handled over `base.add(group)`.
 */
export const base = HttpApi.make("satrail")
  .annotate(HttpApi.ParseOptions, { onExcessProperty: "error", errors: "all" })
  .annotate(HttpApi.HeadersParseOptions, { errors: "all" })
  // Answers are ours: looking for members too many in them would cost every request.
  .annotate(HttpApi.SuccessParseOptions, {})
  .annotate(HttpApi.ErrorParseOptions, {})
  .annotate(OpenApi.Title, "satrail")
  .annotate(OpenApi.Version, "1")
  .annotate(OpenApi.License, { name: "MIT", identifier: "MIT" })
  .annotate(OpenApi.Description, about)
  .annotate(OpenApi.Transform, completed)

/** Says in the OpenAPI document that the body may be left out. */
export const bodyIsOptional = (operation: Record<string, unknown>): Record<string, unknown> => ({
  ...operation,
  ...(typeof operation["requestBody"] === "object" && { requestBody: { ...operation["requestBody"], required: false } })
})
