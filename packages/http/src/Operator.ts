import * as ApiKey from "@satrail/core/accounts/ApiKey"
import { ApiKeys, type Issued, maxOverlapSeconds } from "@satrail/core/accounts/ApiKeys"
import { Companies } from "@satrail/core/accounts/Companies"
import type * as Company from "@satrail/core/accounts/Company"
import { Plan } from "@satrail/core/policy/Plan"
import { Effect, Redacted, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { OperatorAuthentication } from "./Authentication.ts"
import { base } from "./Base.ts"
import { Decoding } from "./Decoding.ts"
import * as Envelope from "./Envelope.ts"
import * as Errors from "./Errors.ts"
import * as Field from "./Field.ts"
import * as Handlers from "./Handlers.ts"
import * as Idempotency from "./Idempotency.ts"
import * as Wire from "./Wire.ts"

const CompanyRecord = Schema.Struct({
  id: Wire.Uuid,
  name: Schema.String.annotate({ examples: ["Example Ltd"] }),
  plan: Plan,
  created_at: Wire.Instant
}).annotate({
  identifier: "Company"
})
const company = (row: Company.Company): typeof CompanyRecord.Type => ({
  id: row.id,
  name: row.name,
  plan: row.plan,
  created_at: Wire.instant(row.createdAtMillis)
})

const IssuedKey = Schema.Struct({
  id: Schema.String.annotate({ description: "Part of the key: what to name it by", examples: ["7Kq2mVx9TbZc"] }),
  key: Schema.String.annotate({ description: "The key itself: shown now, and never again" }),
  company_id: Wire.Uuid,
  name: Schema.String,
  scopes: Schema.Array(ApiKey.Scope),
  expires_at: Schema.NullOr(Wire.Instant),
  created_at: Wire.Instant
}).annotate({ identifier: "IssuedApiKey" })
const issuedKey = ({ apiKey, text }: Issued): typeof IssuedKey.Type => ({
  id: apiKey.id,
  key: Redacted.value(text),
  company_id: apiKey.companyId,
  name: apiKey.name,
  scopes: apiKey.scopes,
  expires_at: apiKey.expiresAtMillis === null ? null : Wire.instant(apiKey.expiresAtMillis),
  created_at: Wire.instant(apiKey.createdAtMillis)
})

const DomainRecord = Schema.Struct({
  domain: Schema.String.annotate({ examples: ["example.com"] }),
  company_id: Wire.Uuid,
  verified_at: Wire.Instant
}).annotate({ identifier: "Domain" })

const companies = "/operator/companies"
const companyId = { id: Wire.Uuid }
const keyId = { id: Schema.String }

const openCompany = HttpApiEndpoint.post("openCompany", companies, {
  headers: Idempotency.headers,
  payload: Schema.Struct({ name: Field.Name, plan: Plan }).annotate({ identifier: "OpenCompany" }),
  success: Envelope.success(201, CompanyRecord),
  error: Errors.of("malformed", "idempotency_mismatch", "conflict", "store_unavailable")
})
  .annotate(OpenApi.Summary, "Open a company")
  .annotate(OpenApi.Description, "An account with nothing in it. It can do nothing until it has an API key.")

const issueKey = HttpApiEndpoint.post("issueKey", `${companies}/:id/api-keys`, {
  params: companyId,
  payload: Schema.Struct({ name: Field.Name, scopes: Field.KeyScopes, expires_at: Field.given(Field.Expiry) }).annotate({
    identifier: "IssueApiKey"
  }),
  success: Envelope.success(201, IssuedKey),
  error: Errors.of("malformed", "idempotency_not_supported", "not_found", "conflict", "store_unavailable")
})
  .annotate(OpenApi.Summary, "Issue an API key")
  .annotate(OpenApi.Description, "The key is shown in this answer only, so an `Idempotency-Key` is refused.")

const revokeKey = HttpApiEndpoint.delete("revokeKey", "/operator/api-keys/:id", {
  params: keyId,
  success: Envelope.success(200, Schema.Struct({ id: Schema.String, revoked: Schema.Literal(true) })),
  error: Errors.of("not_found", "store_unavailable")
})
  .annotate(OpenApi.Summary, "Revoke an API key")
  .annotate(OpenApi.Description, "It opens nothing from here on. Revoking it again changes nothing.")

const rotateKey = HttpApiEndpoint.post("rotateKey", "/operator/api-keys/:id/rotate", {
  params: keyId,
  payload: Schema.Struct({
    overlap_seconds: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: maxOverlapSeconds })).annotate({
      description: "How long the old key goes on beside the new one",
      examples: [3600]
    })
  }).annotate({ identifier: "RotateApiKey" }),
  success: Envelope.success(201, IssuedKey),
  error: Errors.of("malformed", "idempotency_not_supported", "not_found", "conflict", "store_unavailable")
})
  .annotate(OpenApi.Summary, "Replace an API key")
  .annotate(
    OpenApi.Description,
    "A new key with the same name, scopes and expiry. It is shown in this answer only, so an `Idempotency-Key` is refused."
  )

const changePlan = HttpApiEndpoint.post("changePlan", `${companies}/:id/plan`, {
  params: companyId,
  payload: Schema.Struct({ plan: Plan }).annotate({ identifier: "ChangePlan" }),
  success: Envelope.success(200, CompanyRecord),
  error: Errors.of("malformed", "not_found", "store_unavailable")
})
  .annotate(OpenApi.Summary, "Change a company's plan")
  .annotate(OpenApi.Description, "What it made under its old plan stays.")

const verifyDomain = HttpApiEndpoint.post("verifyDomain", `${companies}/:id/domains`, {
  params: companyId,
  payload: Schema.Struct({ domain: Field.Domain }).annotate({
    identifier: "VerifyDomain"
  }),
  success: Envelope.success(201, DomainRecord),
  error: Errors.of("malformed", "idempotency_not_supported", "not_found", "domain_taken", "store_unavailable")
})
  .annotate(OpenApi.Summary, "Vouch for a company's domain")
  .annotate(
    OpenApi.Description,
    "The operator has seen that the domain is the company's: Lightning addresses may be created there. Doing it again changes nothing, so an `Idempotency-Key` is refused."
  )

/** What the operator alone may do. */
export class Group extends HttpApiGroup.make("operator")
  .add(openCompany, issueKey, revokeKey, rotateKey, changePlan, verifyDomain)
  .middleware(Decoding)
  .middleware(OperatorAuthentication)
  .annotate(OpenApi.Title, "Operator")
  .annotate(OpenApi.Description, "Companies, their keys, plans and domains: with the operator's token, never with an API key") {}

const creation = Idempotency.creation(companies, "Company opened", company)

const secretIsShownOnce = "An API key is shown once and never stored, so this answer cannot be repeated"

export const layer = Handlers.layer(
  base.add(Group),
  "operator",
  Effect.fnUntraced(function* (handlers) {
    const companies = yield* Companies
    const apiKeys = yield* ApiKeys

    return handlers.handleAll({
      openCompany: Effect.fnUntraced(function* ({ payload, headers, request }) {
        const once = yield* creation.once(request, headers["idempotency-key"])
        return creation.answer(yield* Errors.answered(companies.open({ ...payload, ...once })))
      }),
      issueKey: Effect.fnUntraced(function* ({ params, payload, request }) {
        yield* Idempotency.refused(request, secretIsShownOnce)
        return Envelope.created(
          "API key issued",
          issuedKey(
            yield* Errors.answered(
              apiKeys.issue({
                companyId: params.id.toLowerCase(),
                name: payload.name,
                scopes: payload.scopes,
                expiresAtMillis: payload.expires_at ?? null
              })
            )
          )
        )
      }),
      revokeKey: Effect.fnUntraced(function* ({ params: { id } }) {
        yield* Errors.answered(apiKeys.revoke(id))
        return Envelope.ok("API key revoked", { id, revoked: true as const })
      }),
      rotateKey: Effect.fnUntraced(function* ({ params, payload, request }) {
        yield* Idempotency.refused(request, secretIsShownOnce)
        return Envelope.created("API key replaced", issuedKey(yield* Errors.answered(apiKeys.rotate(params.id, payload.overlap_seconds))))
      }),
      changePlan: Effect.fnUntraced(function* ({ params, payload }) {
        return Envelope.ok("Plan changed", company(yield* Errors.answered(companies.changePlan(params.id.toLowerCase(), payload.plan))))
      }),
      verifyDomain: Effect.fnUntraced(function* ({ params, payload, request }) {
        yield* Idempotency.refused(request, "Doing this again changes nothing")
        const { domain, companyId, verifiedAtMillis } = yield* Errors.answered(
          companies.verifyDomain(params.id.toLowerCase(), payload.domain)
        )
        return Envelope.created("Domain verified", { domain, company_id: companyId, verified_at: Wire.instant(verifiedAtMillis) })
      })
    })
  })
)
