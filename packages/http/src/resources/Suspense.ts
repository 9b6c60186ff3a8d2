import { scopes } from "@satrail/core/accounts/OperatorRequest"
import { waitMillis } from "@satrail/core/accounts/SecondOperator"
import * as CompanyId from "@satrail/core/base/CompanyId"
import type { Unmatched } from "@satrail/core/receiving/Invoice"
import * as Core from "@satrail/core/receiving/Suspense"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { OperatorCaller, OperatorScopes } from "../api/Authentication.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example, type World } from "../wire/Examples.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Resource from "../api/Resource.ts"
import * as Section from "../api/Section.ts"
import * as Member from "../wire/Member.ts"
import * as View from "../wire/View.ts"

/** A payment that reached the node without an open invoice. The operator assigns it to a company. */
export const unmatched = View.make<Unmatched>()(
  { identifier: "UnmatchedPayment" },
  {
    id: Member.uuid((row) => row.id),
    company_id: Member.uuid((row) => row.companyId),
    payment_hash: Member.text((row) => row.paymentHash),
    received_sats: Member.sats((row) => row.received),
    reason: [Scalars.text("invoice settled by another payment"), (row) => row.reason],
    created_at: Member.instant((row) => row.createdAtMillis)
  }
)

const path = "/operator/suspense"

export const view = View.make<Core.Suspended>()(
  { identifier: "SuspendedPayment" },
  {
    ...unmatched.members,
    requested_for: Member.uuidOrNull(
      ({ request }) => request?.toCompanyId ?? null,
      "Company that an operator requested"
    ),
    requested_by: Member.textOrNull(
      ({ request }) => request?.requestedBy ?? null,
      "Operator who requested it"
    ),
    assigned_to: Member.uuidOrNull(
      ({ assignment }) => assignment?.companyId ?? null,
      "Company it was assigned to"
    ),
    deposit_id: Member.uuidOrNull(({ assignment }) => assignment?.id ?? null, "Deposit that it became"),
    assigned_at: Member.instantOrNull(({ assignment }) => assignment?.createdAtMillis ?? null)
  }
)

const example = (world: World): Core.Suspended => ({
  id: world.id("payment in suspense"),
  companyId: world.companyId,
  paymentHash: world.asked.paymentHash,
  received: world.asked.amount,
  reason: "invoice settled by another payment",
  createdAtMillis: world.millis(120_000),
  request: {
    id: world.id("payment in suspense"),
    companyId: world.companyId,
    action: "assign",
    toCompanyId: world.companyId,
    requestedById: world.id("operator token"),
    requestedBy: "Ada",
    untilMillis: world.millis(150_000) + waitMillis
  },
  assignment: null
})

const resource = Resource.make({
  path,
  names: ["Payment in suspense", "Payments in suspense"],
  view,
  example
})

const list = Section.operator(
  resource.list(
    "listSuspense",
    {
      summary: "List payments in suspense",
      description: "Returns payments of invoices that another payment had already settled, newest first."
    },
    { status: Schema.optionalKey(Schema.Literals(["open", "assigned"])) }
  ),
  Core.Suspense,
  (suspense) =>
    resource.lists(({ limit }, { cursor = null, status }) => suspense.list({ limit, after: cursor, status }))
)

const assign = Section.operator(
  HttpApiEndpoint.post("assignSuspense", `${path}/:id/assign`, {
    params: { id: Scalars.Id },
    payload: Schema.Struct({
      company_id: Scalars.inLowerCase(
        Scalars.Uuid.annotate({ description: "Company to assign the payment to" })
      )
    }).annotate({
      identifier: "AssignSuspendedPayment"
    }),
    success: Envelope.success(200, view.schema),
    error: Errors.of(
      "malformed",
      "not_found",
      "another_operator_required",
      "already_assigned",
      "conflict",
      "store_unavailable"
    )
  })
    .annotate(OperatorScopes, [scopes.assign])
    .annotate(OpenApi.Summary, "Assign a payment in suspense")
    .annotate(
      OpenApi.Description,
      "Requests the assignment. When another operator, using a token with a different name, sends the same request within 24 hours, the payment becomes the company's deposit. A request for another company replaces the first."
    )
    .annotate(Example, (world) => ({
      params: { id: example(world).id },
      body: { company_id: world.companyId },
      message: "Assignment requested",
      data: view.of(example(world))
    })),
  Core.Suspense,
  (suspense) =>
    Effect.fnUntraced(function* ({ params, payload }) {
      const ask = { id: params.id, companyId: CompanyId.make(payload.company_id), by: yield* OperatorCaller }
      const row = yield* Errors.answered(suspense.assign(ask))
      return Envelope.ok(row.assignment === null ? "Assignment requested" : "Payment assigned", view.of(row))
    })
)

export const section = Section.make(
  "suspense",
  {
    title: "Suspense",
    description: "For the operator: payments of invoices that another payment had already settled"
  },
  [list, assign]
)
