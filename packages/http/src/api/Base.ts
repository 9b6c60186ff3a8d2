import { HttpApi, OpenApi } from "effect/http-api"
import { isObject, type Json, listIn, mapValues, objectIn } from "../wire/Json.ts"
import { documented } from "./Authentication.ts"

const about = `Bitcoin payments over HTTP and JSON: invoices, addresses, withdrawals and balances.
Every response is an envelope with \`status\` (the HTTP status), \`message\` and \`data\`. An error has \`data: null\` and
\`error\`, with a stable \`code\`, a \`doc_url\` that explains it, and a \`request_id\` to find it in the operator's log. Every response also has this id
in its \`X-Request-Id\` header. You can send your own id in the request.
Unknown body fields and query parameters return an error. An optional field may be omitted or null.
Every POST under \`/v1\` and \`/operator\` that creates a record accepts an \`Idempotency-Key\` header. Send one so that you can safely repeat a request whose response was lost.`

/** Rewrites the name of the idempotency header, tuples, numbers and choices with `allOf`, and integers encoded as text, so that client generators can read them. */
const readable = (schema: Json): Json => {
  // As on the pages: effect requires lower case in schemas, and typed clients take the name literally.
  if (schema["in"] === "header" && schema["name"] === "idempotency-key")
    return { ...schema, name: "Idempotency-Key" }
  const { format, prefixItems, allOf, ...others } = schema
  if ((others["type"] === "number" || others["type"] === "integer") && Array.isArray(allOf))
    return Object.assign(others, ...allOf.toReversed())
  if (
    others["type"] === "string" &&
    Array.isArray(allOf) &&
    allOf.every((one) => isObject(one) && "enum" in one)
  )
    return Object.assign(others, ...allOf)
  const [, minimum, maximum] = typeof format === "string" ? (/^integer (\d+) (\d+)$/.exec(format) ?? []) : []
  if (minimum !== undefined)
    return { ...others, type: "integer", minimum: Number(minimum), maximum: Number(maximum) }
  return Array.isArray(prefixItems) && !("items" in schema) ? { ...schema, items: prefixItems[0] } : schema
}

const mapped = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(mapped) : isObject(value) ? readable(mapValues(value, mapped)) : value

/** Completes the document with facts that the schemas do not state. */
const completed = (document: Json): Json => mapValues(documented(document), mapped)

/**
 * The base of every group. Bodies, queries and paths are decoded strictly, headers leniently, and all issues
 * are reported. Use `base.add(group)` to handle an additional group.
 */
export const base = HttpApi.make("satrail")
  .annotate(HttpApi.ParseOptions, { onExcessProperty: "error", errors: "all" })
  .annotate(HttpApi.HeadersParseOptions, { errors: "all" })
  // We produce the responses, so checking them for excess fields on every request would be wasted work.
  .annotate(HttpApi.SuccessParseOptions, {})
  .annotate(HttpApi.ErrorParseOptions, {})
  .annotate(OpenApi.Title, "satrail")
  .annotate(OpenApi.Version, "1")
  .annotate(OpenApi.License, { name: "MIT", identifier: "MIT" })
  .annotate(OpenApi.Description, about)
  .annotate(OpenApi.Transform, completed)

/** Removes null from the alternatives of a body: a client omits the body instead of sending null. */
const withoutNull = (content: unknown): unknown => {
  if (!isObject(content)) return content
  const { schema, ...others } = content
  const some = listIn(schema, "anyOf").filter((one) => !isObject(one) || one["type"] !== "null")
  return some.length === 1 ? { ...others, schema: some[0] } : content
}

/** Marks the body as optional in the OpenAPI document. */
export const bodyIsOptional = (operation: Record<string, unknown>): Record<string, unknown> => {
  const body = operation["requestBody"]
  if (!isObject(body)) return operation
  return {
    ...operation,
    requestBody: { ...body, required: false, content: mapValues(objectIn(body, "content"), withoutNull) }
  }
}
