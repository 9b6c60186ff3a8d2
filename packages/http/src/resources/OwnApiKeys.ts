import { ApiKeys } from "@satrail/core/accounts/ApiKeys"
import * as OwnKeys from "@satrail/core/accounts/OwnKeys"
import * as Pages from "@satrail/core/ledger/Page"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Caller, companyId, Scopes } from "../api/Authentication.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example } from "../wire/Examples.ts"
import * as Idempotency from "../wire/Idempotency.ts"
import * as Page from "../wire/Page.ts"
import * as Scalars from "../wire/Scalars.ts"
import { Seal } from "../wire/Seal.ts"
import * as Section from "../api/Section.ts"
import { answer, example, keyView, Ranges, shown, shownExample, unordered, view } from "./ApiKeys.ts"
import * as Companies from "./Companies.ts"
import * as VoidedLinks from "./VoidedLinks.ts"

const path = "/v1/api-keys"
const params = { id: Schema.String }
const scopes = OwnKeys.scopes.map((scope) => `\`${scope}\``).join(", ")

const page = Page.of(keyView, "API keys", path)

const list = Section.company(
  HttpApiEndpoint.get("listApiKeys", path, {
    query: Page.place(Pages.limit, Page.KeyCursor),
    success: page.success,
    error: Errors.of("malformed", "not_found", "store_unavailable")
  })
    .annotate(Scopes, ["admin"])
    .annotate(OpenApi.Summary, "List API keys")
    .annotate(
      OpenApi.Description,
      "Returns the company's API keys without their secrets, newest first, including revoked ones. The next page is in the `Link` header. Requires the `admin` scope."
    )
    .annotate(Example, (world) => {
      const { remaining: _, ...data } = shownExample(world)
      return { message: "API keys", data: [{ ...data, last_used_at: world.at(60_000) }] }
    }),
  ApiKeys,
  (apiKeys) =>
    Effect.fnUntraced(function* ({ query }) {
      const { limit } = Page.asked(query)
      const { rows, next } = yield* Errors.answered(
        apiKeys.list(yield* companyId, { limit, after: query.cursor ?? null })
      )
      return page.answer(rows, { limit: String(limit) }, next)
    })
)

const get = Section.company(
  HttpApiEndpoint.get("getApiKey", `${path}/:id`, {
    params,
    success: Envelope.success(200, shown),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(Scopes, ["admin"])
    .annotate(OpenApi.Summary, "Get an API key")
    .annotate(
      OpenApi.Description,
      "Returns an API key without its secret, with its limits and what remains of them. Requires the `admin` scope."
    )
    .annotate(Example, (world) => ({
      params: { id: world.apiKey.id },
      message: "API key",
      data: shownExample(world)
    })),
  ApiKeys,
  (apiKeys) =>
    Effect.fnUntraced(function* ({ params: { id } }) {
      return yield* answer("API key", apiKeys, id, yield* companyId)
    })
)

const create = Section.company(
  HttpApiEndpoint.post("createApiKey", path, {
    headers: Idempotency.headers,
    payload: Schema.Struct({
      name: Companies.Name,
      scopes: Schema.Array(Schema.Literals(OwnKeys.scopes)).check(
        Schema.isMinLength(1),
        Schema.isMaxLength(OwnKeys.scopes.length)
      ),
      expires_at: Scalars.given(
        Scalars.GivenInstant.annotate({
          description: "Expiry, at most that of the key that makes this request. Default: the same expiry"
        })
      ),
      allowed_from: Scalars.given(Ranges)
    }).annotate({ identifier: "CreateApiKey" }),
    success: Envelope.success(201, view.schema),
    error: Errors.of(
      "malformed",
      ...Idempotency.sealedErrors,
      "not_found",
      "too_many_api_keys",
      "store_unavailable"
    )
  })
    .annotate(Scopes, ["admin"])
    .annotate(OpenApi.Summary, "Create an API key")
    .annotate(
      OpenApi.Description,
      `Creates an API key that cannot send, with any of the scopes ${scopes}. If the requesting key has allowed addresses, the new key inherits them. Keys that send or approve are issued by the operator. Only this response contains the key. A company can have ${OwnKeys.maxOpen} active keys. Requires the \`admin\` scope.`
    )
    .annotate(Example, (world) => {
      const data = example(world)
      return {
        body: { name: data.name, scopes: ["receive" as const, "read" as const] },
        message: "API key created",
        data
      }
    }),
  Effect.all([ApiKeys, Seal]),
  ([apiKeys, sealer]) => {
    const creation = Idempotency.sealedCreation(path, "API key created", view.of, sealer)
    return Effect.fnUntraced(function* ({ payload, headers, request }) {
      const { apiKey: by } = yield* Caller
      const { name, scopes, expires_at: expiresAtMillis = null, allowed_from: allowedFrom = null } = payload
      const ask = { name, scopes, expiresAtMillis, allowedFrom }
      const once = yield* creation.once(request, headers["idempotency-key"], unordered(ask), by.companyId)
      const issued = yield* Errors.answered(apiKeys.issueOwn({ by, ...ask, ...once }))
      return yield* creation.answer(issued, by.companyId)
    })
  }
)

const revoke = Section.company(
  HttpApiEndpoint.delete("revokeApiKey", `${path}/:id`, {
    params,
    query: VoidedLinks.query,
    success: Envelope.success(
      200,
      Schema.Struct({ id: Schema.String, revoked: Schema.Literal(true), ...VoidedLinks.members })
    ),
    error: Errors.of("malformed", "not_found", "store_unavailable")
  })
    .annotate(Scopes, ["admin"])
    .annotate(OpenApi.Summary, "Revoke an API key")
    .annotate(
      OpenApi.Description,
      `Revokes any API key of the company immediately, including the one that makes this request. Revoking twice has no further effect. ${VoidedLinks.rule} Requires the \`admin\` scope.`
    )
    .annotate(Example, ({ apiKey: { id } }) => ({
      params: { id },
      message: "API key revoked",
      data: { id, revoked: true }
    })),
  Effect.all([ApiKeys, VoidedLinks.make]),
  ([apiKeys, voided]) =>
    Effect.fnUntraced(function* ({ params: { id }, query }) {
      const owner = yield* companyId
      yield* Errors.answered(apiKeys.revoke(id, owner))
      return Envelope.ok("API key revoked", {
        id,
        revoked: true as const,
        ...(yield* voided(query, owner, id))
      })
    })
)

export const section = Section.make(
  "apiKeys",
  {
    title: "API keys",
    manages: true,
    description:
      "The company's API keys, managed with the `admin` scope. Keys that send are issued by the operator"
  },
  [create, list, get, revoke]
)
