import * as ApiKey from "@satrail/core/accounts/ApiKey"
import { ApiKeys, expiryIssue, type Issued, maxOverlapSeconds, scopesIssue } from "@satrail/core/accounts/ApiKeys"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Clock, Effect, Redacted, Schema, SchemaGetter, SchemaIssue } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import * as Envelope from "../Envelope.ts"
import * as Errors from "../Errors.ts"
import { Example, type World } from "../Examples.ts"
import * as Idempotency from "../Idempotency.ts"
import * as Scalars from "../Scalars.ts"
import * as Section from "../Section.ts"
import * as View from "../View.ts"
import * as Companies from "./Companies.ts"

const path = "/operator/api-keys"
const params = { id: Schema.String }

/** When a key ends, which is later than now. */
const Expiry = Scalars.GivenInstant.pipe(
  Schema.decodeTo(Schema.Int, {
    decode: SchemaGetter.transformEffect((millis) =>
      Effect.flatMap(Clock.currentTimeMillis, (nowMillis) => {
        const message = expiryIssue(millis, nowMillis)
        return message === undefined ? Effect.succeed(millis) : Effect.fail(new SchemaIssue.InvalidValue({ message }))
      })
    ),
    encode: SchemaGetter.passthrough()
  })
)

const Body = Schema.Struct({
  name: Companies.Name,
  scopes: Schema.Array(ApiKey.Scope).check(Schema.makeFilter(scopesIssue)),
  expires_at: Scalars.given(Expiry)
}).annotate({ identifier: "IssueApiKey" })

const view = View.make<Issued>()(
  { identifier: "IssuedApiKey" },
  {
    id: [
      Schema.String.annotate({ description: "The public part of the key, to identify it", examples: ["7Kq2mVx9TbZc"] }),
      (row) => row.apiKey.id
    ],
    key: [Schema.String.annotate({ description: "The key itself: shown in this response only" }), (row) => Redacted.value(row.text)],
    company_id: [Scalars.Uuid, (row) => row.apiKey.companyId],
    name: [Schema.String, (row) => row.apiKey.name],
    scopes: [Schema.Array(ApiKey.Scope), (row) => row.apiKey.scopes],
    expires_at: [Schema.NullOr(Scalars.Instant), (row) => Scalars.instantOrNull(row.apiKey.expiresAtMillis)],
    created_at: [Scalars.Instant, (row) => Scalars.instant(row.apiKey.createdAtMillis)]
  }
)

const example = ({ apiKey, companyId, at }: World): (typeof view.schema)["Type"] => ({
  id: apiKey.id,
  key: apiKey.text,
  company_id: companyId,
  name: "till 3",
  scopes: ["receive", "read"],
  expires_at: null,
  created_at: at()
})

const secretIsShownOnce = "An API key is shown once and never stored, so this response cannot be repeated"

export const issue = Section.operator(
  HttpApiEndpoint.post("issueKey", `${Companies.path}/:id/api-keys`, {
    params: { id: Scalars.Uuid },
    payload: Body,
    success: Envelope.success(201, view.schema),
    error: Errors.of("malformed", "idempotency_not_supported", "not_found", "conflict", "store_unavailable")
  })
    .annotate(OpenApi.Summary, "Issue an API key")
    .annotate(OpenApi.Description, "The key is shown in this response only, so an `Idempotency-Key` is refused.")
    .annotate(Example, (world) => {
      const data = example(world)
      return { params: { id: data.company_id }, body: { name: data.name, scopes: data.scopes }, message: "API key issued", data }
    }),
  ApiKeys,
  (apiKeys) =>
    Effect.fnUntraced(function* ({ params, payload, request }) {
      yield* Idempotency.refused(request, secretIsShownOnce)
      const { name, scopes, expires_at: expiresAtMillis = null } = payload
      const issued = yield* Errors.answered(
        apiKeys.issue({ companyId: CompanyId.make(params.id.toLowerCase()), name, scopes, expiresAtMillis })
      )
      return Envelope.created("API key issued", view.of(issued))
    })
)

export const revoke = Section.operator(
  HttpApiEndpoint.delete("revokeKey", `${path}/:id`, {
    params,
    success: Envelope.success(200, Schema.Struct({ id: Schema.String, revoked: Schema.Literal(true) })),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(OpenApi.Summary, "Revoke an API key")
    .annotate(OpenApi.Description, "The key is invalid from now on. Revoking it again changes nothing.")
    .annotate(Example, ({ apiKey: { id } }) => ({ params: { id }, message: "API key revoked", data: { id, revoked: true } })),
  ApiKeys,
  (apiKeys) =>
    Effect.fnUntraced(function* ({ params: { id } }) {
      yield* Errors.answered(apiKeys.revoke(id))
      return Envelope.ok("API key revoked", { id, revoked: true as const })
    })
)

export const rotate = Section.operator(
  HttpApiEndpoint.post("rotateKey", `${path}/:id/rotate`, {
    params,
    payload: Schema.Struct({
      overlap_seconds: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxOverlapSeconds })).annotate({
        description: "Overlap in which the old key stays valid, in seconds",
        examples: [3600]
      })
    }).annotate({ identifier: "RotateApiKey" }),
    success: Envelope.success(201, view.schema),
    error: Errors.of("malformed", "idempotency_not_supported", "not_found", "conflict", "store_unavailable")
  })
    .annotate(OpenApi.Summary, "Replace an API key")
    .annotate(
      OpenApi.Description,
      "A new key with the same name, scopes and expiry. It is shown in this response only, so an `Idempotency-Key` is refused."
    )
    .annotate(Example, (world) => ({
      params: { id: world.apiKey.id },
      body: { overlap_seconds: 3600 },
      message: "API key replaced",
      data: example(world)
    })),
  ApiKeys,
  (apiKeys) =>
    Effect.fnUntraced(function* ({ params, payload, request }) {
      yield* Idempotency.refused(request, secretIsShownOnce)
      return Envelope.created("API key replaced", view.of(yield* Errors.answered(apiKeys.rotate(params.id, payload.overlap_seconds))))
    })
)
