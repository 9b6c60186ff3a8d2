import * as CompanyId from "@satrail/core/base/CompanyId"
import { placeOf } from "@satrail/core/events/Events"
import * as Notice from "@satrail/core/events/Notice"
import { type Delivery, mostEarlier, Status } from "../core/records/Delivery.ts"
import { Webhooks } from "../core/Webhooks.ts"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { companyId, OperatorScopes, Scopes } from "@satrail/http/api/Authentication"
import * as Envelope from "@satrail/http/wire/Envelope"
import * as Errors from "@satrail/http/wire/Errors"
import * as EventIds from "@satrail/http/wire/EventIds"
import { Example, type World } from "@satrail/http/wire/Examples"
import * as Page from "@satrail/http/wire/Page"
import * as Scalars from "@satrail/http/wire/Scalars"
import * as Section from "@satrail/http/api/Section"
import * as Member from "@satrail/http/wire/Member"
import * as View from "@satrail/http/wire/View"
import { errors } from "./records/WebhookErrors.ts"

/** A delivery with the id of its event. */
export interface Shown extends Delivery {
  readonly eventId: string
}

const shownWith =
  (ids: EventIds.EventIds) =>
  (row: Delivery): Shown => ({
    ...row,
    eventId: ids.write(placeOf(row.place) ?? Notice.first, row.eventCompanyId)
  })

/** Delivery of one event to one endpoint, with its last attempt. */
export const view = View.make<Shown>()(
  { identifier: "WebhookDelivery" },
  {
    id: Member.uuid((row) => row.id),
    endpoint_id: Member.uuid((row) => row.endpointId),
    event_id: Member.text((row) => row.eventId),
    event_type: Member.text((row) => row.type),
    subject: Member.text((row) => row.recordId, "The record this event refers to"),
    status: [Status, (row) => row.status],
    attempts: [Schema.Int, (row) => row.attempts],
    response_status: [
      Schema.NullOr(Schema.Int).annotate({
        description: "HTTP status of the last response; null if there was none"
      }),
      (row) => row.answered
    ],
    response: Member.textOrNull(
      (row) => row.response,
      "Beginning of the last response's body, or the reason there was no response"
    ),
    duration_ms: [Schema.NullOr(Schema.Int), (row) => row.durationMillis],
    earlier_attempts: [
      Schema.Array(
        Schema.Struct({
          at: Scalars.Instant,
          response_status: Schema.NullOr(Schema.Int),
          response: Schema.NullOr(Schema.String),
          duration_ms: Schema.NullOr(Schema.Int)
        })
      ).annotate({ description: `The attempts before the last one, newest first; at most ${mostEarlier}` }),
      (row) =>
        row.earlier.map(({ atMillis, answered, response, durationMillis }) => ({
          at: Scalars.instant(atMillis),
          response_status: answered,
          response,
          duration_ms: durationMillis
        }))
    ],
    last_attempt_at: Member.instantOrNull((row) => row.lastAtMillis),
    next_attempt_at: Member.instantOrNull(
      (row) => row.nextAtMillis,
      "Time of the next attempt; null if no attempt is scheduled"
    ),
    created_at: Member.instant((row) => row.createdAtMillis)
  }
)

const example = ({ id, millis, companyId, eventKey }: World): Shown =>
  shownWith(EventIds.make(eventKey))({
    id: id("delivery", 9100),
    companyId,
    endpointId: id("webhook endpoint"),
    epoch: 0,
    place: "4296704.1",
    eventCompanyId: companyId,
    type: "deposit.lightning.completed",
    recordId: id("deposit", 9000),
    status: "delivered",
    attempts: 1,
    nextAtMillis: null,
    lastAtMillis: millis(9100),
    durationMillis: 31,
    answered: 204,
    response: "",
    earlier: [],
    createdAtMillis: millis(9100)
  })

/**
 * Returns the sentence about the required key scopes. It is empty for the operator, because all of the
 * operator's changes require the same token scope.
 */
export const needs = (path: string, other?: string): string =>
  path.startsWith("/operator")
    ? ""
    : ` Requires the \`webhooks\`${other === undefined ? "" : ` or \`${other}\``} scope.`

const pathsOf = (root: "/v1" | "/operator") =>
  ({ list: `${root}/webhook-endpoints`, resend: `${root}/webhook-deliveries` }) as const

const listed = <const Name extends string, const Path extends `/${string}`>(name: Name, path: Path) =>
  HttpApiEndpoint.get(name, `${path}/:id/deliveries` as const, {
    params: { id: Scalars.Id },
    query: Page.place(),
    success: Page.of(view, "Deliveries", path).success,
    error: Errors.of("malformed", "not_found", "store_unavailable")
  })
    .annotate(Scopes, ["webhooks", "read"])
    .annotate(OpenApi.Summary, "List deliveries")
    .annotate(
      OpenApi.Description,
      `Returns the deliveries to an endpoint of the last 30 days, newest first. The next page is in the \`Link\` header.${needs(path, "read")}`
    )
    .annotate(Example, (world) => ({
      params: { id: example(world).endpointId },
      message: "Deliveries",
      data: [view.of(example(world))]
    }))

const sentAgain = <const Name extends string, const Path extends `/${string}`>(name: Name, path: Path) =>
  HttpApiEndpoint.post(name, `${path}/:id/resend` as const, {
    params: { id: Scalars.Id },
    success: Envelope.success(200, view.schema),
    error: errors.of("not_found", "webhook_endpoint_disabled", "store_unavailable")
  })
    .annotate(Scopes, ["webhooks"])
    .annotate(OpenApi.Summary, "Send a delivery again")
    .annotate(
      OpenApi.Description,
      `Sends a delivery now: again, or before \`next_attempt_at\`. If it fails, the full retry schedule applies.${needs(path)}`
    )
    .annotate(Example, (world) => {
      const row = {
        ...example(world),
        status: "pending",
        attempts: 0,
        nextAtMillis: world.millis(600_000)
      } as const
      return { params: { id: row.id }, message: "Delivery is sent again", data: view.of(row) }
    })

const services = Effect.all([Webhooks, EventIds.Ids])

const lists =
  <R>(path: string, whose: Effect.Effect<CompanyId.CompanyId, never, R>) =>
  ([webhooks, ids]: Effect.Success<typeof services>) =>
    Effect.fnUntraced(function* ({
      params,
      query
    }: {
      readonly params: { readonly id: string }
      readonly query: Parameters<typeof Page.asked>[0]
    }) {
      const { id } = params
      const asked = Page.asked(query)
      const { rows, next } = yield* Errors.answered(webhooks.deliveries(yield* whose, id, asked))
      const page = Page.of(view, "Deliveries", `${path}/${id}/deliveries`)
      return page.answer(rows.map(shownWith(ids)), { limit: String(asked.limit) }, next)
    })

const resends =
  <R>(whose: Effect.Effect<CompanyId.CompanyId, never, R>) =>
  ([webhooks, ids]: Effect.Success<typeof services>) =>
    Effect.fnUntraced(function* ({ params }: { readonly params: { readonly id: string } }) {
      const row = yield* errors.answered(webhooks.resend(yield* whose, params.id))
      return Envelope.ok("Delivery is sent again", view.of(shownWith(ids)(row)))
    })

const [own, theirs] = [pathsOf("/v1"), pathsOf("/operator")]
const operator = Effect.succeed(CompanyId.operator)

export const list = Section.company(
  listed("listWebhookDeliveries", own.list),
  services,
  lists(own.list, companyId)
)
export const resend = Section.company(
  sentAgain("resendWebhookDelivery", own.resend),
  services,
  resends(companyId)
)
export const operatorList = Section.operator(
  listed("listOperatorWebhookDeliveries", theirs.list),
  services,
  lists(theirs.list, operator)
)
export const operatorResend = Section.operator(
  sentAgain("resendOperatorWebhookDelivery", theirs.resend).annotate(OperatorScopes, ["mend"]),
  services,
  resends(operator)
)
