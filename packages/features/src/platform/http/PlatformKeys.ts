import * as CompanyId from "@satrail/core/base/CompanyId"
import * as SecretHash from "@satrail/core/base/SecretHash"
import { OperatorCaller, OperatorScopes, requester } from "@satrail/http/api/Authentication"
import * as Resource from "@satrail/http/api/Resource"
import * as Section from "@satrail/http/api/Section"
import { allowedFrom, approvalSchema, Body, unordered } from "@satrail/http/resources/ApiKeys"
import * as VoidedLinks from "@satrail/http/resources/VoidedLinks"
import * as Envelope from "@satrail/http/wire/Envelope"
import * as Errors from "@satrail/http/wire/Errors"
import { Example, type World } from "@satrail/http/wire/Examples"
import * as Idempotency from "@satrail/http/wire/Idempotency"
import * as LimitsView from "@satrail/http/wire/LimitsView"
import * as Member from "@satrail/http/wire/Member"
import { Seal } from "@satrail/http/wire/Seal"
import * as View from "@satrail/http/wire/View"
import { Scope } from "@satrail/core/accounts/ApiKey"
import { Effect, Redacted, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import * as PlatformKey from "../core/PlatformKey.ts"
import { type Issued, PlatformKeys } from "../core/PlatformKeys.ts"
import { header } from "./Account.ts"

// The operator issues, approves and revokes platform keys.

const path = "/operator/platform-keys"

const approvalOf = (row: PlatformKey.PlatformKey) =>
  row.requestedById === null ? null : PlatformKey.isWaiting(row) ? "pending" : "approved"

const view = View.make<PlatformKey.PlatformKey>()(
  { identifier: "PlatformKey" },
  {
    id: Member.uuid((row) => row.id),
    name: Member.text((row) => row.name),
    scopes: [Schema.Array(Scope), (row) => row.scopes],
    limits: [LimitsView.schema, (row) => LimitsView.of(row.limits)],
    allowed_from: [allowedFrom, (row) => row.allowedFrom],
    approval: [approvalSchema, approvalOf],
    created_at: Member.instant((row) => row.createdAtMillis),
    expires_at: Member.instantOrNull((row) => row.expiresAtMillis),
    revoked_at: Member.instantOrNull((row) => row.revokedAtMillis)
  }
)

const issued = View.make<Issued>()(
  { identifier: "IssuedPlatformKey" },
  {
    id: Member.uuid((row) => row.key.id),
    approval: [approvalSchema, (row) => approvalOf(row.key)],
    key: Member.text(({ text }) => Redacted.value(text), "The key itself. Only this response contains it")
  }
)

const example = ({ id, millis, operatorToken }: World): PlatformKey.PlatformKey => ({
  id: id("platform key"),
  companyId: CompanyId.operator,
  name: "marketplace",
  secretHash: SecretHash.of(operatorToken),
  scopes: ["receive", "read"],
  limits: null,
  allowedFrom: null,
  createdAtMillis: millis(),
  expiresAtMillis: null,
  revokedAtMillis: null,
  requestedById: null,
  requestedBy: null,
  approvedBy: null,
  approvedAtMillis: null
})

const resource = Resource.make({ path, names: ["Platform key", "Platform keys"], view, example })

const issue = Section.operator(
  HttpApiEndpoint.post("issuePlatformKey", path, {
    headers: Idempotency.headers,
    payload: Body,
    success: Envelope.success(201, issued.schema),
    error: Errors.of("malformed", ...Idempotency.sealedErrors, "store_unavailable")
  })
    .annotate(OperatorScopes, ["all"])
    .annotate(OpenApi.Summary, "Issue a platform key")
    .annotate(
      OpenApi.Description,
      `Issues a key that acts for any company, which each request names in the header \`${header}\`. The key's limits count for each company separately, and the company's own limits apply too. It never manages keys or people. A key with \`send\`, \`approve\` or \`admin\` needs another operator's approval. Only this response contains the key.`
    )
    .annotate(Example, (world) => {
      const key = example(world)
      const text = Redacted.make(`${PlatformKey.prefix}regtest_7Kq2mVx9TbZc7Kq2mVx9TbZc7Kq2mVx9TbZc7Kq2mVx9`)
      return {
        body: { name: key.name, scopes: key.scopes },
        message: "Platform key issued",
        data: issued.of({ key, text })
      }
    }),
  Effect.all([PlatformKeys, Seal]),
  ([keys, sealer]) => {
    const creation = Idempotency.sealedCreation(path, "Platform key issued", issued.of, sealer)
    return Effect.fnUntraced(function* ({ payload, headers, request }) {
      const { name, scopes, expires_at: expiresAtMillis = null, allowed_from: allowedFrom = null } = payload
      const ask = { name, scopes, expiresAtMillis, limits: LimitsView.read(payload.limits), allowedFrom }
      const asked = { ...unordered(ask), limits: LimitsView.unordered(ask.limits) }
      const once = yield* creation.once(request, headers["idempotency-key"], asked, CompanyId.operator)
      const by = yield* requester
      const made = yield* Errors.answered(keys.issue({ ...ask, ...(by && { by }), ...once }))
      return yield* creation.answer(made, CompanyId.operator)
    })
  }
)

const list = Section.operator(
  resource.list("listPlatformKeys", {
    summary: "List platform keys",
    description: "Returns platform keys without their secrets, newest first, including revoked ones."
  }),
  PlatformKeys,
  (keys) => resource.lists(keys.list)
)

const approve = Section.operator(
  HttpApiEndpoint.post("approvePlatformKey", `${path}/:id/approve`, {
    ...resource.one,
    error: Errors.of("not_found", "another_operator_required", "requester_gone", "store_unavailable")
  })
    .annotate(OperatorScopes, ["all"])
    .annotateMerge(
      resource.about(
        "Platform key approved",
        {
          summary: "Approve a platform key",
          description:
            "Approves a key that another operator requested. It is then valid in every process. Approving twice has no further effect."
        },
        (row) => ({
          ...row,
          scopes: ["send"],
          requestedById: "a",
          requestedBy: "a",
          approvedBy: "b",
          approvedAtMillis: row.createdAtMillis
        })
      )
    ),
  PlatformKeys,
  (keys) =>
    Effect.fnUntraced(function* ({ params: { id } }) {
      const key = yield* Errors.answered(keys.approve(id, yield* OperatorCaller))
      return Envelope.ok("Platform key approved", view.of(key))
    })
)

const revoke = Section.operator(
  HttpApiEndpoint.delete("revokePlatformKey", `${path}/:id`, {
    ...resource.one,
    query: VoidedLinks.query,
    error: Errors.of("malformed", "not_found", "store_unavailable")
  })
    .annotate(OperatorScopes, ["all", "stop"])
    .annotateMerge(
      resource.about(
        "Platform key revoked",
        {
          summary: "Revoke a platform key",
          description: `Revokes a platform key immediately, in every process. Revoking twice has no further effect. ${VoidedLinks.rule}`
        },
        (row) => ({ ...row, revokedAtMillis: row.createdAtMillis })
      )
    ),
  Effect.all([PlatformKeys, VoidedLinks.make]),
  ([keys, voided]) =>
    Effect.fnUntraced(function* ({ params: { id }, query }) {
      const key = yield* Errors.answered(Effect.andThen(keys.revoke(id), keys.get(id)))
      yield* voided(query, null, id)
      return Envelope.ok("Platform key revoked", view.of(key))
    })
)

export const section = Section.make(
  "platformKeys",
  { title: "Platform keys", description: "Keys that act for any company, issued by the operator" },
  [issue, list, approve, revoke]
)
