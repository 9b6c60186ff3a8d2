import * as AllowedFrom from "@satrail/core/accounts/AllowedFrom"
import * as ApiKey from "@satrail/core/accounts/ApiKey"
import { ApiKeys, type Issued, maxOverlapSeconds, scopesIssue } from "@satrail/core/accounts/ApiKeys"
import type * as Limits from "@satrail/core/accounts/Limits"
import * as CompanyId from "@satrail/core/base/CompanyId"
import type { Spent } from "@satrail/core/ledger/Limit"
import { Effect, Redacted, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { changer, OperatorCaller, requester, OperatorScopes } from "../api/Authentication.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example, type World } from "../wire/Examples.ts"
import * as Idempotency from "../wire/Idempotency.ts"
import * as LimitsView from "../wire/LimitsView.ts"
import * as Scalars from "../wire/Scalars.ts"
import { Seal } from "../wire/Seal.ts"
import * as Section from "../api/Section.ts"
import * as Member from "../wire/Member.ts"
import * as View from "../wire/View.ts"
import * as Companies from "./Companies.ts"
import * as VoidedLinks from "./VoidedLinks.ts"

const path = "/operator/api-keys"
const params = { id: Schema.String }

/** A new key's permissions as its idempotency key compares them: the order of a list does not count. */
export const unordered = <A extends Pick<ApiKey.ApiKey, "scopes" | "allowedFrom">>(ask: A) => ({
  ...ask,
  scopes: new Set(ask.scopes),
  allowedFrom: ask.allowedFrom && { ...ask.allowedFrom, ranges: new Set(ask.allowedFrom.ranges) }
})

export const Ranges = AllowedFrom.AllowedFrom.mapFields(({ ranges, ...rest }) => ({
  for: rest.for.annotate({
    description:
      "`sending`: only sending and approving are restricted to these addresses. From other addresses the key keeps its other scopes"
  }),
  ranges: ranges.annotate({
    description: `IPv4 and IPv6 addresses and ranges (CIDR), at most ${AllowedFrom.maxRanges}. An IPv4-mapped IPv6 address (\`::ffff:192.0.2.1\`) counts as its IPv4 address, and IPv6 ranges match no IPv4 addresses`,
    examples: [["203.0.113.0/24", "2001:db8::/32"]]
  })
})).annotate({
  identifier: "GivenAllowedFrom",
  description:
    "IP addresses from which the key can be used. If the service is behind reverse proxies, this requires `SATRAIL_PROXIES`"
})

/** Null if the key can be used from any address. */
export const allowedFrom = Schema.NullOr(Ranges.annotate({ identifier: "AllowedFrom" }))

export const approvalSchema = Schema.NullOr(Schema.Literals(["pending", "approved"])).annotate({
  identifier: "KeyApproval",
  description:
    "`pending`: the key cannot be used until a second operator approves it. `approved`: a second operator approved it. null: no approval needed",
  examples: [null]
})
const approvalOf = (row: Pick<ApiKey.ApiKey, "approval" | "approvedAtMillis">) =>
  row.approval === null ? null : ApiKey.isWaiting(row) ? "pending" : "approved"

export const Body = Schema.Struct({
  name: Companies.Name,
  scopes: Schema.Array(ApiKey.Scope).check(
    Schema.isMaxLength(ApiKey.Scope.literals.length),
    Scalars.stated(scopesIssue, { minItems: 1 })
  ),
  expires_at: Scalars.given(Scalars.GivenInstant),
  limits: Scalars.given(LimitsView.Body),
  allowed_from: Scalars.given(Ranges)
}).annotate({ identifier: "IssueApiKey" })

export const view = View.make<Issued>()(
  { identifier: "IssuedApiKey" },
  {
    id: [
      Schema.String.annotate({
        description: "Public part of the key, to identify it",
        examples: ["7Kq2mVx9TbZc"]
      }),
      (row) => row.apiKey.id
    ],
    key: Member.text((row) => Redacted.value(row.text), "The API key itself. Only this response contains it"),
    company_id: Member.uuid((row) => row.apiKey.companyId),
    name: Member.text((row) => row.apiKey.name),
    scopes: [Schema.Array(ApiKey.Scope), (row) => row.apiKey.scopes],
    expires_at: Member.instantOrNull((row) => row.apiKey.expiresAtMillis),
    limits: [LimitsView.schema, (row) => LimitsView.of(row.apiKey.limits)],
    allowed_from: [allowedFrom, (row) => row.apiKey.allowedFrom],
    approval: [approvalSchema, (row) => approvalOf(row.apiKey)],
    created_at: Member.instant((row) => row.apiKey.createdAtMillis)
  }
)

export const example = ({ apiKey, companyId, at }: World): (typeof view.schema)["Type"] => ({
  id: apiKey.id,
  key: apiKey.text,
  company_id: companyId,
  name: "till 3",
  scopes: ["receive", "read"],
  expires_at: null,
  limits: null,
  allowed_from: null,
  approval: null,
  created_at: at()
})

const approvalRule =
  "Only this response contains the key. A key with `send`, `approve` or `admin` needs a second operator: while `approval` is `pending`, the key cannot be used until another operator approves it (`POST /operator/api-keys/{id}/approve`), and the company receives the event `api_key.requested`. A new company, which has no money and was never used, needs no approval, so you can set it up alone."

const issuePath = `${Companies.path}/:id/api-keys` as const
const rotatePath = `${path}/:id/rotate` as const

/**
 * Returns the endpoint's path with the id filled in, so that the same idempotency key sent for another id
 * counts as a different request.
 */
const at = (path: string, id: string): string => path.replace(":id", id)

/** Errors of operations that create a key. The operations' responses are stored sealed for the operator. */
const errors = Errors.of("malformed", ...Idempotency.sealedErrors, "not_found", "store_unavailable")

export const issue = Section.operator(
  HttpApiEndpoint.post("issueKey", issuePath, {
    params: { id: Scalars.Id },
    headers: Idempotency.headers,
    payload: Body,
    success: Envelope.success(201, view.schema),
    error: errors
  })
    .annotate(OperatorScopes, ["companies"])
    .annotate(OpenApi.Summary, "Issue an API key")
    .annotate(OpenApi.Description, approvalRule)
    .annotate(Example, (world) => {
      const data = example(world)
      return {
        params: { id: data.company_id },
        body: { name: data.name, scopes: data.scopes },
        message: "API key issued",
        data
      }
    }),
  Effect.all([ApiKeys, Seal]),
  ([apiKeys, sealer]) => {
    const creation = Idempotency.sealedCreation(issuePath, "API key issued", view.of, sealer)
    return Effect.fnUntraced(function* ({ params, payload, headers, request }) {
      const companyId = CompanyId.make(params.id)
      const { name, scopes, expires_at: expiresAtMillis = null, allowed_from: allowedFrom = null } = payload
      const ask = {
        companyId,
        name,
        scopes,
        expiresAtMillis,
        limits: LimitsView.read(payload.limits),
        allowedFrom
      }
      const asked = { ...unordered(ask), limits: LimitsView.unordered(ask.limits) }
      const once = yield* creation.once(
        request,
        headers["idempotency-key"],
        asked,
        CompanyId.operator,
        at(issuePath, companyId)
      )
      const by = yield* requester
      const issued = yield* Errors.answered(apiKeys.issue({ ...ask, ...(by && { by }), ...once }))
      return yield* creation.answer(issued, CompanyId.operator)
    })
  }
)

export const revoke = Section.operator(
  HttpApiEndpoint.delete("revokeKey", `${path}/:id`, {
    params,
    query: VoidedLinks.query,
    success: Envelope.success(
      200,
      Schema.Struct({ id: Schema.String, revoked: Schema.Literal(true), ...VoidedLinks.members })
    ),
    error: Errors.of("malformed", "not_found", "store_unavailable")
  })
    .annotate(OperatorScopes, ["companies", "stop"])
    .annotate(OpenApi.Summary, "Revoke an API key")
    .annotate(
      OpenApi.Description,
      `Revokes an API key immediately. Revoking twice has no further effect. ${VoidedLinks.rule}`
    )
    .annotate(Example, ({ apiKey: { id } }) => ({
      params: { id },
      message: "API key revoked",
      data: { id, revoked: true }
    })),
  Effect.all([ApiKeys, VoidedLinks.make]),
  ([apiKeys, voided]) =>
    Effect.fnUntraced(function* ({ params: { id }, query }) {
      yield* Errors.answered(apiKeys.revoke(id))
      const { apiKey } = yield* Errors.answered(apiKeys.get(id))
      return Envelope.ok("API key revoked", {
        id,
        revoked: true as const,
        ...(yield* voided(query, apiKey.companyId, id))
      })
    })
)

export const rotate = Section.operator(
  HttpApiEndpoint.post("rotateKey", rotatePath, {
    params,
    headers: Idempotency.headers,
    payload: Schema.Struct({
      overlap_seconds: Schema.Int.check(
        Schema.isBetween({ minimum: 0, maximum: maxOverlapSeconds })
      ).annotate({
        description: "Time for which the old key stays valid, in seconds",
        examples: [3600]
      })
    }).annotate({ identifier: "RotateApiKey" }),
    success: Envelope.success(201, view.schema),
    error: errors
  })
    .annotate(OperatorScopes, ["companies"])
    .annotate(OpenApi.Summary, "Replace an API key")
    .annotate(
      OpenApi.Description,
      "Creates a key with the same name, scopes, expiry, limits and `allowed_from`. Amounts sent with the old key still count toward the limits. Only this response contains the key. If the new key needs a second operator's approval, the old key stays valid until the approval and for `overlap_seconds` after it."
    )
    .annotate(Example, (world) => ({
      params: { id: world.apiKey.id },
      body: { overlap_seconds: 3600 },
      message: "API key replaced",
      data: example(world)
    })),
  Effect.all([ApiKeys, Seal]),
  ([apiKeys, sealer]) => {
    const creation = Idempotency.sealedCreation(rotatePath, "API key replaced", view.of, sealer)
    return Effect.fnUntraced(function* ({ params: { id }, payload, headers, request }) {
      const once = yield* creation.once(
        request,
        headers["idempotency-key"],
        payload,
        CompanyId.operator,
        at(rotatePath, id)
      )
      const replaced = yield* Errors.answered(
        apiKeys.rotate(id, payload.overlap_seconds, once.request, yield* requester)
      )
      return yield* creation.answer(replaced, CompanyId.operator)
    })
  }
)

/** An API key as shown after it was issued. */
export const keyView = View.make<Omit<ApiKey.ApiKey, "secretHash" | "spendsAs">>()(
  { identifier: "ApiKey", description: "API key without its secret, which is not stored" },
  {
    id: [
      Schema.String.annotate({
        description: "Public part of the key, to identify it",
        examples: ["7Kq2mVx9TbZc"]
      }),
      (row) => row.id
    ],
    company_id: Member.uuid((row) => row.companyId),
    name: Member.text((row) => row.name),
    scopes: [Schema.Array(ApiKey.Scope), (row) => row.scopes],
    limits: [LimitsView.schema, (row) => LimitsView.of(row.limits)],
    allowed_from: [allowedFrom, (row) => row.allowedFrom],
    approval: [approvalSchema, approvalOf],
    created_at: Member.instant((row) => row.createdAtMillis),
    expires_at: Member.instantOrNull((row) => row.expiresAtMillis),
    revoked_at: Member.instantOrNull((row) => row.revokedAtMillis),
    last_used_at: Member.instantOrNull(
      (row) => row.lastUsedAtMillis,
      "Time of the last use, accurate to a minute; null if never used"
    )
  }
)

/**
 * An API key that awaits a second operator's approval, as shown in the company's events. It has only fields
 * that never change.
 */
export const requestView = View.make<ApiKey.ApiKey>()(
  { identifier: "RequestedApiKey", description: "API key that an operator requested for the company" },
  {
    id: Member.text((row) => row.id),
    company_id: Member.uuid((row) => row.companyId),
    name: Member.text((row) => row.name),
    scopes: [Schema.Array(ApiKey.Scope), (row) => row.scopes],
    approval: [approvalSchema, approvalOf],
    created_at: Member.instant((row) => row.createdAtMillis)
  }
)

export const shown = Schema.Struct({ ...keyView.schema.fields, remaining: LimitsView.remaining }).annotate({
  identifier: "LimitedApiKey"
})

export const show = Effect.fnUntraced(function* (
  apiKey: ApiKey.ApiKey,
  spent: ReadonlyArray<Spent>
): Effect.fn.Return<typeof shown.Type> {
  return { ...keyView.of(apiKey), remaining: yield* LimitsView.remainingOf(apiKey.limits, spent) }
})

/** Responds with a key, for the operator or its company. */
export const answer = Effect.fnUntraced(function* (
  message: string,
  apiKeys: ApiKeys["Service"],
  ...key: Parameters<ApiKeys["Service"]["get"]>
) {
  const { apiKey, spent } = yield* Errors.answered(apiKeys.get(...key))
  return Envelope.ok(message, yield* show(apiKey, spent))
})

export const shownExample = (world: World): typeof shown.Type => {
  const { key: _, ...data } = example(world)
  const limits = LimitsView.of(LimitsView.read(LimitsView.example))
  const remaining = { hour_sats: null, day_sats: 7500, month_sats: null, day_count: null }
  return { ...data, limits, remaining, revoked_at: null, last_used_at: null }
}

export const get = Section.operator(
  HttpApiEndpoint.get("getKey", `${path}/:id`, {
    params,
    success: Envelope.success(200, shown),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(OpenApi.Summary, "Get an API key")
    .annotate(
      OpenApi.Description,
      "Returns an API key without its secret, with its limits and what remains of them."
    )
    .annotate(Example, (world) => ({
      params: { id: world.apiKey.id },
      message: "API key",
      data: shownExample(world)
    })),
  ApiKeys,
  (apiKeys) =>
    ({ params: { id } }) =>
      answer("API key", apiKeys, id)
)

export const approve = Section.operator(
  HttpApiEndpoint.post("approveKey", `${path}/:id/approve`, {
    params,
    success: Envelope.success(200, shown),
    error: Errors.of("not_found", "another_operator_required", "requester_gone", "store_unavailable")
  })
    .annotate(OperatorScopes, ["companies"])
    .annotate(OpenApi.Summary, "Approve an API key")
    .annotate(
      OpenApi.Description,
      "Approves an API key. It is then valid in every process, and the company receives the event `api_key.approved`. If it replaces a key whose limits or `allowed_from` allow less, it takes that key's; the response shows them. The operator who requested the key cannot approve it, nor can a token with the same name. It cannot be approved once that operator has lost their access. To reject the key, revoke it. Approving twice has no further effect."
    )
    .annotate(Example, (world) => ({
      params: { id: world.apiKey.id },
      message: "API key approved",
      data: { ...shownExample(world), approval: "approved" as const }
    })),
  ApiKeys,
  (apiKeys) =>
    Effect.fnUntraced(function* ({ params: { id } }) {
      yield* Errors.answered(apiKeys.approve(id, yield* OperatorCaller))
      return yield* answer("API key approved", apiKeys, id)
    })
)

const limiting = {
  params,
  payload: LimitsView.Body,
  success: Envelope.success(200, shown),
  error: Errors.of(
    "malformed",
    "not_found",
    "scope_required",
    "second_operator_required",
    "store_unavailable"
  )
}
const limitWith = Effect.fnUntraced(function* (
  apiKeys: ApiKeys["Service"],
  id: string,
  update: Limits.Update
) {
  yield* Errors.answered(apiKeys.updateLimits(id, update, yield* changer))
  return yield* answer("API key limits changed", apiKeys, id)
})
const limitExample = (world: World) => ({
  params: { id: world.apiKey.id },
  body: LimitsView.example,
  message: "API key limits changed",
  data: shownExample(world)
})

export const limit = Section.operator(
  HttpApiEndpoint.put("limitKey", `${path}/:id/limits`, limiting)
    .annotate(OperatorScopes, ["companies", "stop", "loosen"])
    .annotate(OpenApi.Summary, "Replace an API key's limits")
    .annotate(
      OpenApi.Description,
      "Replaces all limits of an API key; `{}` removes them. Use PATCH to change individual limits. Raising or removing a limit requires the token scope `loosen`, and for a company above a configured balance, a second operator must send the same request (403 `second_operator_required`). New limits apply immediately in every process. Payments are counted from the time at which the key's first limit was set."
    )
    .annotate(Example, limitExample),
  ApiKeys,
  (apiKeys) =>
    ({ params: { id }, payload }) =>
      limitWith(apiKeys, id, () => LimitsView.read(payload))
)

export const updateLimits = Section.operator(
  HttpApiEndpoint.patch("updateKeyLimits", `${path}/:id/limits`, limiting)
    .annotate(OperatorScopes, ["companies", "stop", "loosen"])
    .annotate(OpenApi.Summary, "Update an API key's limits")
    .annotate(
      OpenApi.Description,
      "Changes the limits you send. Omitted limits stay, and null removes a limit. Raising or removing a limit requires the token scope `loosen`, and for a company above a configured balance, a second operator must send the same request (403 `second_operator_required`)."
    )
    .annotate(Example, limitExample),
  ApiKeys,
  (apiKeys) =>
    ({ params: { id }, payload }) =>
      limitWith(apiKeys, id, LimitsView.patched(payload))
)

export const allowFrom = Section.operator(
  HttpApiEndpoint.put("allowKeyFrom", `${path}/:id/allowed-from`, {
    params,
    payload: Schema.Struct({ allowed_from: Schema.NullOr(Ranges) }).annotate({ identifier: "AllowKeyFrom" }),
    success: Envelope.success(200, shown),
    error: Errors.of(
      "malformed",
      "not_found",
      "scope_required",
      "second_operator_required",
      "store_unavailable"
    )
  })
    .annotate(OperatorScopes, ["companies", "stop", "loosen"])
    .annotate(OpenApi.Summary, "Replace an API key's allowed addresses")
    .annotate(
      OpenApi.Description,
      "Replaces the IP ranges from which an API key can be used; `null` allows all addresses. Allowing more addresses requires the token scope `loosen`, and for a company above a configured balance, a second operator must send the same request (403 `second_operator_required`). The change applies immediately in every process. Requests from other addresses return 403 `address_not_allowed` and are recorded in the audit log."
    )
    .annotate(Example, (world) => {
      const allowed_from = { for: "sending" as const, ranges: ["203.0.113.0/24", "2001:db8::/32"] }
      return {
        params: { id: world.apiKey.id },
        body: { allowed_from },
        message: "API key's allowed addresses changed",
        data: { ...shownExample(world), allowed_from }
      }
    }),
  ApiKeys,
  (apiKeys) =>
    Effect.fnUntraced(function* ({ params: { id }, payload }) {
      yield* Errors.answered(apiKeys.allowFrom(id, payload.allowed_from, yield* changer))
      return yield* answer("API key's allowed addresses changed", apiKeys, id)
    })
)
