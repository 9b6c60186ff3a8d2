import * as CompanyId from "@satrail/core/base/CompanyId"
import { type Endpoint, type EndpointNotEnabled, maxPreviousSecrets } from "../core/records/Endpoint.ts"
import * as Schedule from "../core/Schedule.ts"
import * as Signature from "@satrail/core/base/Signature"
import * as Core from "../core/Webhooks.ts"
import { Effect, Redacted, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { companyId, Scopes } from "@satrail/http/api/Authentication"
import { bodyIsOptional } from "@satrail/http/api/Base"
import * as Envelope from "@satrail/http/wire/Envelope"
import * as Errors from "@satrail/http/wire/Errors"
import * as EventIds from "@satrail/http/wire/EventIds"
import { Example, type World } from "@satrail/http/wire/Examples"
import * as Idempotency from "@satrail/http/wire/Idempotency"
import * as Patch from "@satrail/http/wire/Patch"
import * as Scalars from "@satrail/http/wire/Scalars"
import { Seal, type Sealer } from "@satrail/http/wire/Seal"
import * as Section from "@satrail/http/api/Section"
import * as View from "@satrail/http/wire/View"
import * as Deliveries from "./WebhookDeliveries.ts"
import * as WebhookTest from "./WebhookTest.ts"
import { filterPattern, maxFilters, placeOf } from "@satrail/http/wire/EventFilters"
import { errors } from "./records/WebhookErrors.ts"
import { view } from "./records/WebhookView.ts"

const params = { id: Scalars.Id }

const Filter = Schema.String.annotate({ examples: ["deposit.*"] })
  .check(Scalars.stated(() => undefined, { pattern: filterPattern }))
  .annotate({ identifier: "EventFilter" })

const Body = Schema.Struct({
  url: Schema.String.annotate({
    description: "URL that receives events. Must be https on a public host",
    examples: ["https://shop.example/webhooks"]
  }).check(Scalars.stated(() => undefined, { pattern: "^https://" })),
  description: Scalars.given(
    Schema.String.check(Scalars.stated(() => undefined, { maxLength: Core.maxDescriptionCharacters }))
  ),
  types: Scalars.given(
    Schema.Array(Filter)
      .check(Schema.isMaxLength(maxFilters))
      .annotate({ description: "Event types, or prefixes such as `deposit.*`. Omit or leave empty for all" })
  ),
  signature_header: Scalars.given(
    Schema.String.annotate({
      description:
        "Optional header for an additional signature: lowercase hex HMAC-SHA256 of the body, keyed with the secret string itself",
      examples: ["Shop-Signature"]
    }).check(Scalars.stated(() => undefined, { pattern: "^[A-Za-z][A-Za-z0-9-]{0,63}$" }))
  )
}).annotate({ identifier: "WebhookEndpointSettings" })

/** Body of a PATCH, with all fields optional. */
const Some = Schema.Struct({ ...Body.fields, url: Schema.optionalKey(Body.fields.url) }).annotate({
  identifier: "UpdateWebhookEndpoint"
})

export const issued = View.make<Core.Issued>()(
  { identifier: "IssuedWebhookEndpoint" },
  {
    ...View.within(view.members, ({ endpoint }: Core.Issued) => endpoint),
    secret: [
      Scalars.text("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD").annotate({
        description: "Secret that signs every request. Only this response contains it"
      }),
      ({ secret }) => Redacted.value(secret)
    ]
  }
)

const replayFrom = Schema.String.annotate({
  description:
    "Event id, or the `cursor` of the next page of events. All later events are sent, even if they were sent before",
  examples: ["evt_SpK3u0vTnOq1cVhpJ4ySGA"]
})

const Rotation = Schema.Struct({
  overlap_seconds: Scalars.given(
    Schema.Int.check(Schema.isBetween(Core.overlapSeconds)).annotate({
      description: `Time during which the old secret also signs, in seconds. Default: ${Core.overlapSeconds.default}`,
      examples: [3600]
    })
  )
}).annotate({ identifier: "RotateWebhookSecret" })

const Enabling = Schema.Struct({ replay_from: Scalars.given(replayFrom) }).annotate({
  identifier: "EnableWebhookEndpoint"
})

const example = ({ id, millis, companyId }: World): Endpoint => ({
  id: id("webhook endpoint"),
  companyId,
  url: "https://shop.example/webhooks",
  description: "Orders",
  types: ["deposit.*", "invoice.settled"],
  signatureHeader: null,
  secret: "",
  previousSecret: null,
  previousUntilMillis: null,
  status: "enabled",
  disabledReason: null,
  cursor: "0.0",
  epoch: 0,
  failingSinceMillis: null,
  createdAtMillis: millis(),
  updatedAtMillis: millis()
})
const secretOf = ({ k1 }: World) => Redacted.make(Signature.secretOf(Buffer.from(k1, "hex")))
const exampleBody = {
  url: "https://shop.example/webhooks",
  description: "Orders",
  types: ["deposit.*", "invoice.settled"]
}
const shown = (message: string) => (world: World) => ({
  params: { id: example(world).id },
  message,
  data: view.of(example(world))
})

const answers = { one: Envelope.success(200, view.schema), issued: Envelope.success(200, issued.schema) }
const common = ["malformed", "not_found", "webhook_endpoint_disabled", "store_unavailable"] as const

/** Makes the endpoints for a company or for the operator. `What` is part of the operations' names. */
const endpointsOf = <const What extends string, const Root extends "/v1" | "/operator">(
  what: What,
  root: Root
) => {
  const path = `${root}/webhook-endpoints` as const
  const one = `${path}/:id` as const
  return {
    create: HttpApiEndpoint.post(`create${what}` as const, path, {
      headers: Idempotency.headers,
      payload: Body,
      success: Envelope.success(201, issued.schema),
      error: errors.of("malformed", ...Idempotency.sealedErrors, "too_many_endpoints", "store_unavailable")
    })
      .annotate(Scopes, ["webhooks"])
      .annotate(OpenApi.Summary, "Create a webhook endpoint")
      .annotate(
        OpenApi.Description,
        `Sends new events to a URL, signed according to Standard Webhooks. Only this response contains the secret. ${root === "/v1" ? "A company" : "The operator"} can have ${Core.maxEndpoints} endpoints.${Deliveries.needs(root)}`
      )
      .annotate(Example, (world) => ({
        body: exampleBody,
        message: "Webhook endpoint created",
        data: issued.of({ endpoint: example(world), secret: secretOf(world) })
      })),
    list: HttpApiEndpoint.get(`list${what}s` as const, path, {
      success: Envelope.success(200, Schema.Array(view.schema)),
      error: Errors.of("store_unavailable")
    })
      .annotate(Scopes, ["webhooks", "read"])
      .annotate(OpenApi.Summary, "List webhook endpoints")
      .annotate(
        OpenApi.Description,
        `Returns all webhook endpoints without their secrets.${Deliveries.needs(root, "read")}`
      )
      .annotate(Example, (world) => ({ message: "Webhook endpoints", data: [view.of(example(world))] })),
    get: HttpApiEndpoint.get(`get${what}` as const, one, {
      params,
      success: answers.one,
      error: Errors.of("not_found", "store_unavailable")
    })
      .annotate(Scopes, ["webhooks", "read"])
      .annotate(OpenApi.Summary, "Get a webhook endpoint")
      .annotate(
        OpenApi.Description,
        `Returns a webhook endpoint. While deliveries fail, \`failing_since\` is set.${Deliveries.needs(root, "read")}`
      )
      .annotate(Example, shown("Webhook endpoint")),
    change: HttpApiEndpoint.put(`change${what}` as const, one, {
      params,
      payload: Body,
      success: answers.one,
      error: errors.of(...common)
    })
      .annotate(Scopes, ["webhooks"])
      .annotate(OpenApi.Summary, "Replace a webhook endpoint's settings")
      .annotate(
        OpenApi.Description,
        `Replaces all settings. Omitted fields get their defaults: without \`types\`, all events are sent. The secret does not change. Use PATCH to change individual settings.${Deliveries.needs(root)}`
      )
      .annotate(Example, (world) => ({ ...shown("Webhook endpoint changed")(world), body: exampleBody })),
    update: HttpApiEndpoint.patch(`update${what}` as const, one, {
      params,
      payload: Some,
      success: answers.one,
      error: errors.of(...common)
    })
      .annotate(Scopes, ["webhooks"])
      .annotate(OpenApi.Summary, "Update a webhook endpoint")
      .annotate(
        OpenApi.Description,
        `Changes the fields you send. Omitted fields keep their values, and null clears a value. The secret does not change.${Deliveries.needs(root)}`
      )
      .annotate(Example, (world) => ({
        ...shown("Webhook endpoint changed")(world),
        body: { description: exampleBody.description }
      })),
    remove: HttpApiEndpoint.delete(`delete${what}` as const, one, {
      params,
      success: answers.one,
      error: Errors.of("not_found", "store_unavailable")
    })
      .annotate(Scopes, ["webhooks"])
      .annotate(OpenApi.Summary, "Delete a webhook endpoint")
      .annotate(
        OpenApi.Description,
        `Deletes a webhook endpoint. No further events are sent to it. Deleting twice has no further effect.${Deliveries.needs(root)}`
      )
      .annotate(Example, (world) => ({
        ...shown("Webhook endpoint deleted")(world),
        data: view.of({ ...example(world), status: "deleted" })
      }))
  }
}

const action = <const Name extends string, const Path extends `/v1/${string}` | `/operator/${string}`>(
  name: Name,
  path: Path,
  root: "/v1" | "/operator",
  about: string,
  description: string,
  message: string
) =>
  HttpApiEndpoint.post(name, path, { params, success: answers.one, error: errors.of(...common) })
    .annotate(Scopes, ["webhooks"])
    .annotate(OpenApi.Summary, about)
    .annotate(OpenApi.Description, `${description}${Deliveries.needs(root)}`)
    .annotate(Example, shown(message))

const actionsOf = <const What extends string, const Root extends "/v1" | "/operator">(
  what: What,
  root: Root
) => {
  const one = `${root}/webhook-endpoints/:id` as const
  return {
    disable: action(
      `disable${what}` as const,
      `${one}/disable` as const,
      root,
      "Disable a webhook endpoint",
      "Disables a webhook endpoint. No events are sent until it is enabled again.",
      "Webhook endpoint disabled"
    ),
    test: action(
      `test${what}` as const,
      `${one}/test` as const,
      root,
      "Test a webhook endpoint",
      `Sends a \`webhook_endpoint.test\` event, regardless of the endpoint's types. After at most ${WebhookTest.waitSeconds} seconds, \`message\` states whether it was delivered, or the error.`,
      WebhookTest.unanswered
    ),
    rotate: HttpApiEndpoint.post(`rotate${what}Secret` as const, `${one}/rotate-secret` as const, {
      params,
      payload: [Rotation, Schema.Null],
      success: answers.issued,
      error: errors.of(...common, "idempotency_not_supported")
    })
      .annotate(Scopes, ["webhooks"])
      .annotate(OpenApi.Transform, bodyIsOptional)
      .annotate(OpenApi.Summary, "Rotate a webhook secret")
      .annotate(
        OpenApi.Description,
        `Creates a new secret. Only this response contains it. Until the overlap ends, requests are also signed with up to ${maxPreviousSecrets} earlier secrets, but the header \`signature_header\` only with the new one.${Deliveries.needs(root)}`
      )
      .annotate(Example, (world) => ({
        params: { id: example(world).id },
        body: { overlap_seconds: 3600 },
        message: "Secret rotated",
        data: issued.of({ endpoint: example(world), secret: secretOf(world) })
      })),
    enable: HttpApiEndpoint.post(`enable${what}` as const, `${one}/enable` as const, {
      params,
      payload: [Enabling, Schema.Null],
      success: answers.one,
      error: errors.of(...common)
    })
      .annotate(Scopes, ["webhooks"])
      .annotate(OpenApi.Transform, bodyIsOptional)
      .annotate(OpenApi.Summary, "Enable a webhook endpoint")
      .annotate(
        OpenApi.Description,
        `Re-enables an endpoint. Delivery resumes where it stopped, without events that failed all attempts, or after \`replay_from\`.${Deliveries.needs(root)}`
      )
      .annotate(Example, (world) => ({ ...shown("Webhook endpoint enabled")(world), body: {} })),
    replay: HttpApiEndpoint.post(`replay${what}` as const, `${one}/replay` as const, {
      params,
      payload: Schema.Struct({ replay_from: replayFrom }).annotate({ identifier: "ReplayWebhookEndpoint" }),
      success: answers.one,
      error: errors.of(...common)
    })
      .annotate(Scopes, ["webhooks"])
      .annotate(OpenApi.Summary, "Replay events")
      .annotate(
        OpenApi.Description,
        `Sends all events after \`replay_from\` again, for up to 90 days back. Each has its original event id.${Deliveries.needs(root)}`
      )
      .annotate(Example, (world) => ({
        ...shown("Replay begun")(world),
        body: {
          replay_from: EventIds.make(world.eventKey).write({ event: 4_296_704n, part: 1 }, world.companyId)
        }
      }))
  }
}

const settingsOf = ({ url, description, types, signature_header }: typeof Body.Type) => ({
  url,
  description: description ?? "",
  types: types ?? [],
  signatureHeader: Scalars.orNull(signature_header)
})

type Creating = {
  readonly payload: typeof Body.Type
  readonly headers: { readonly "idempotency-key"?: string }
  readonly request: HttpServerRequest.HttpServerRequest
}
type OfOne = { readonly params: { readonly id: string } }

/** Makes the endpoints' handlers for the calling company or operator. */
const handlersOf = <R>(
  services: readonly [Core.Webhooks["Service"], EventIds.EventIds, Sealer | undefined, waitMillis: number],
  path: string,
  whose: Effect.Effect<CompanyId.CompanyId, never, R>,
  isOperator: boolean
) => {
  const [webhooks, ids, sealer, waitMillis] = services
  const creation = Idempotency.sealedCreation(path, "Webhook endpoint created", issued.of, sealer)
  const one = <E extends Errors.ServiceError | EndpointNotEnabled>(
    message: string,
    ask: (companyId: CompanyId.CompanyId, id: string) => Effect.Effect<Endpoint, E>
  ) =>
    Effect.fnUntraced(function* ({ params }: OfOne) {
      return Envelope.ok(message, view.of(yield* errors.answered(ask(yield* whose, params.id))))
    })
  const begin = (companyId: CompanyId.CompanyId, text: string) =>
    placeOf(ids, isOperator ? null : companyId, text, "replay_from")
  const from = (companyId: CompanyId.CompanyId, text: string | null | undefined) =>
    text === null || text === undefined ? Effect.undefined : begin(companyId, text)
  return {
    create: Effect.fnUntraced(function* ({ payload, headers, request }: Creating) {
      const id = yield* whose
      const settings = settingsOf(payload)
      const once = yield* creation.once(
        request,
        headers["idempotency-key"],
        { ...settings, types: new Set(settings.types) },
        id
      )
      return yield* creation.answer(
        yield* errors.answered(webhooks.create({ companyId: id, settings, ...once })),
        id
      )
    }),
    list: () =>
      Effect.gen(function* () {
        return Envelope.ok(
          "Webhook endpoints",
          (yield* errors.answered(webhooks.list(yield* whose))).map(view.of)
        )
      }),
    get: one("Webhook endpoint", webhooks.get),
    remove: one("Webhook endpoint deleted", webhooks.remove),
    disable: one("Webhook endpoint disabled", webhooks.disable),
    test: Effect.fnUntraced(function* ({ params }: OfOne) {
      const { endpoint, message } = yield* errors.answered(
        WebhookTest.sent(webhooks, waitMillis, yield* whose, params.id)
      )
      return Envelope.ok(message, view.of(endpoint))
    }),
    change: Effect.fnUntraced(function* ({ params, payload }: OfOne & Pick<Creating, "payload">) {
      const row = yield* errors.answered(webhooks.change(yield* whose, params.id, settingsOf(payload)))
      return Envelope.ok("Webhook endpoint changed", view.of(row))
    }),
    update: Effect.fnUntraced(function* ({
      params,
      payload
    }: OfOne & { readonly payload: typeof Some.Type }) {
      const changed = webhooks.updateSettings(yield* whose, params.id, (current) =>
        Effect.map(Patch.filled(Some, payload, view.of(current)), (given) =>
          settingsOf({ url: current.url, ...given })
        )
      )
      return Envelope.ok("Webhook endpoint changed", view.of(yield* errors.answered(changed)))
    }),
    rotate: Effect.fnUntraced(function* ({
      params,
      payload,
      request
    }: OfOne & Pick<Creating, "request"> & { readonly payload: typeof Rotation.Type | null }) {
      yield* Idempotency.refused(request, "The response contains a secret that is shown once")
      const seconds = payload?.overlap_seconds ?? Core.overlapSeconds.default
      return Envelope.ok(
        "Secret rotated",
        issued.of(yield* errors.answered(webhooks.rotate(yield* whose, params.id, seconds)))
      )
    }),
    enable: Effect.fnUntraced(function* ({
      params,
      payload
    }: OfOne & { readonly payload: typeof Enabling.Type | null }) {
      const id = yield* whose
      yield* errors.answered(webhooks.get(id, params.id))
      const place = yield* from(id, payload?.replay_from)
      return Envelope.ok(
        "Webhook endpoint enabled",
        view.of(yield* errors.answered(webhooks.enable(id, params.id, place)))
      )
    }),
    replay: Effect.fnUntraced(function* ({
      params,
      payload
    }: OfOne & { readonly payload: { readonly replay_from: string } }) {
      const id = yield* whose
      yield* errors.answered(webhooks.get(id, params.id))
      const place = yield* begin(id, payload.replay_from)
      return Envelope.ok(
        "Replay begun",
        view.of(yield* errors.answered(webhooks.replay(id, params.id, place)))
      )
    })
  }
}

const services = Effect.all([Core.Webhooks, EventIds.Ids, Seal, WebhookTest.WaitMillis])
type Services = Effect.Success<typeof services>

const own = { ...endpointsOf("WebhookEndpoint", "/v1"), ...actionsOf("WebhookEndpoint", "/v1") }
const answering = (services: Services) => handlersOf(services, "/v1/webhook-endpoints", companyId, false)

export const list = Section.company(own.list, services, (services) => answering(services).list)
export const get = Section.company(own.get, services, (services) => answering(services).get)

export const section = Section.make(
  "webhooks",
  {
    title: "Webhooks",
    description: `Signed events sent to your URLs (https://www.standardwebhooks.com), with ${Schedule.maxAttempts} attempts over about 75 hours`
  },
  [
    Section.company(own.create, services, (services) => answering(services).create),
    list,
    get,
    Section.company(own.change, services, (services) => answering(services).change),
    Section.company(own.update, services, (services) => answering(services).update),
    Section.company(own.remove, services, (services) => answering(services).remove),
    Section.company(own.test, services, (services) => answering(services).test),
    Section.company(own.rotate, services, (services) => answering(services).rotate),
    Section.company(own.enable, services, (services) => answering(services).enable),
    Section.company(own.disable, services, (services) => answering(services).disable),
    Section.company(own.replay, services, (services) => answering(services).replay),
    Deliveries.list,
    Deliveries.resend
  ]
)

const theirs = {
  ...endpointsOf("OperatorWebhookEndpoint", "/operator"),
  ...actionsOf("OperatorWebhookEndpoint", "/operator")
}
const serving = (services: Services) =>
  handlersOf(services, "/operator/webhook-endpoints", Effect.succeed(CompanyId.operator), true)

/** The operator's webhook endpoints, which receive the events of all companies. */
export const operatorSection = Section.make(
  "operatorWebhooks",
  { title: "Operator webhooks", description: "Webhooks for the operator, with the events of all companies" },
  [
    Section.operator(theirs.create, services, (services) => serving(services).create),
    Section.operator(theirs.list, services, (services) => serving(services).list),
    Section.operator(theirs.get, services, (services) => serving(services).get),
    Section.operator(theirs.change, services, (services) => serving(services).change),
    Section.operator(theirs.update, services, (services) => serving(services).update),
    Section.operator(theirs.remove, services, (services) => serving(services).remove),
    Section.operator(theirs.test, services, (services) => serving(services).test),
    Section.operator(theirs.rotate, services, (services) => serving(services).rotate),
    Section.operator(theirs.enable, services, (services) => serving(services).enable),
    Section.operator(theirs.disable, services, (services) => serving(services).disable),
    Section.operator(theirs.replay, services, (services) => serving(services).replay),
    Deliveries.operatorList,
    Deliveries.operatorResend
  ]
)
