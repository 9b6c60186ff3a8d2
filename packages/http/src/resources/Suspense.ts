import * as CompanyId from "@satrail/core/base/CompanyId"
import type { Unmatched } from "@satrail/core/receiving/Invoice"
import * as Core from "@satrail/core/receiving/Suspense"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { OperatorScopes } from "../api/Authentication.ts"
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
    assigned_to: Member.uuidOrNull(({ assignment }) => assignment?.companyId ?? null, "Company it was assigned to; null while in suspense"),
    deposit_id: Member.uuidOrNull(({ assignment }) => assignment?.id ?? null, "Deposit created by the assignment; null while in suspense"),
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
  assignment: null
})

const assignedExample = (world: World): Core.Suspended => {
  const row = example(world)
  const { id: unmatchedId, companyId, received: amount } = row
  const [id, ledgerTxId] = [world.id("assigned deposit"), world.id("assignment")]
  return {
    ...row,
    assignment: { id, companyId, unmatchedId, unmatchedCompanyId: companyId, ledgerTxId, amount, createdAtMillis: world.millis(180_000) }
  }
}

const resource = Resource.make({ path, names: ["Payment in suspense", "Payments in suspense"], view, example })

const list = Section.operator(
  resource.list(
    "listSuspense",
    {
      summary: "List payments in suspense",
      description:
        "Returns payments that the node received for an invoice that another payment had already settled, newest first, with the invoice's company and the company each was assigned to."
    },
    { status: Schema.optionalKey(Schema.Literals(["open", "assigned"])) }
  ),
  Core.Suspense,
  (suspense) => resource.lists(({ limit }, { cursor = null, status }) => suspense.list({ limit, after: cursor, status }))
)

const assign = Section.operator(
  HttpApiEndpoint.post("assignSuspense", `${path}/:id/assign`, {
    params: { id: Scalars.Id },
    payload: Schema.Struct({
      company_id: Scalars.inLowerCase(Scalars.Uuid.annotate({ description: "Company to assign the payment to" }))
    }).annotate({
      identifier: "AssignSuspendedPayment"
    }),
    success: Envelope.success(200, view.schema),
    error: Errors.of("malformed", "not_found", "already_assigned", "conflict", "store_unavailable")
  })
    .annotate(OperatorScopes, ["mend"])
    .annotate(OpenApi.Summary, "Assign a payment in suspense")
    .annotate(
      OpenApi.Description,
      "Assigns a payment to a company and records it as a deposit. The company receives the deposit's events and can refund it. Assigning it to the same company twice has no further effect; assigning it to another returns an error."
    )
    .annotate(Example, (world) => ({
      params: { id: example(world).id },
      body: { company_id: world.companyId },
      message: "Payment assigned",
      data: view.of(assignedExample(world))
    })),
  Core.Suspense,
  (suspense) =>
    Effect.fnUntraced(function* ({ params, payload }) {
      const ask = { id: params.id, companyId: CompanyId.make(payload.company_id) }
      return Envelope.ok("Payment assigned", view.of(yield* Errors.answered(suspense.assign(ask))))
    })
)

export const section = Section.make(
  "suspense",
  {
    title: "Suspense",
    description: "For the operator: payments of invoices that another payment had already settled, and their assignment to companies"
  },
  [list, assign]
)
