import { HttpApi, OpenApi } from "effect/http-api"
import { documented } from "./Authentication.ts"

const about = `Bitcoin payments: invoices, addresses, withdrawals and a balance, over HTTP and JSON.

Every answer is an envelope: \`status\` (the HTTP status again), \`message\` and \`data\`. A bad one has \`data: null\` and
\`error: { code, issues? }\`, whose codes are stable.

Unknown members of a body and unknown query parameters are refused. A member that is optional may be absent or null.

Every POST that creates something takes an \`Idempotency-Key\` header: send one, and a request whose answer was lost can be sent again.`

/**
 * What every group is built on: bodies, queries and paths are read strictly, with every issue told, and headers leniently.
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
  .annotate(OpenApi.Description, about)
  .annotate(OpenApi.Transform, documented)

/** Says in the OpenAPI document that the body may be left out. */
export const bodyIsOptional = (operation: Record<string, unknown>): Record<string, unknown> => ({
  ...operation,
  ...(typeof operation["requestBody"] === "object" && { requestBody: { ...operation["requestBody"], required: false } })
})
