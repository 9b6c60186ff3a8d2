import * as Msat from "@satrail/bitcoin/Msat"
import type { Adjustment, AdjustmentDecided } from "@satrail/core/features/adjustments/Adjustment"
import { Status } from "@satrail/core/features/adjustments/Adjustment"
import { Adjustments } from "@satrail/core/features/adjustments/Adjustments"
import { maxReasonCharacters, reasonIssue } from "@satrail/core/accounts/Companies"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { companyId, OperatorCaller, OperatorScopes, Scopes } from "../../api/Authentication.ts"
import * as Envelope from "../../wire/Envelope.ts"
import { Example, type World } from "../../wire/Examples.ts"
import * as Idempotency from "../../wire/Idempotency.ts"
import * as OwnErrors from "../../wire/OwnErrors.ts"
import * as Page from "../../wire/Page.ts"
import * as Scalars from "../../wire/Scalars.ts"
import * as Search from "../../wire/Search.ts"
import * as Section from "../../api/Section.ts"
import * as View from "../../wire/View.ts"

export const errors = OwnErrors.make({
  AdjustmentDecided: {
    code: "adjustment_decided",
    status: 409,
    meaning: "The adjustment was booked or rejected before, and stays so.",
    remedy: "See how it stands: `GET /operator/adjustments/:id`. What was booked is set right by another adjustment.",
    message: ({ status }: AdjustmentDecided) => `The adjustment is ${status}`
  }
})

const path = "/operator/adjustments"

const Amount = Schema.Finite.annotate({
  description: "Satoshis to three decimals: credited to the company, or taken from it where they are below zero",
  examples: [-21.5]
})

/** As its company sees it, once it is booked. */
export const own = View.make<Adjustment>()(
  { identifier: "Adjustment" },
  {
    id: [Scalars.Uuid, (row) => row.id],
    company_id: [Scalars.Uuid, (row) => row.companyId],
    ledger_tx_id: [Scalars.Uuid, (row) => row.ledgerTxId],
    amount_sats: [Amount, (row) => Scalars.exactSats(row.amount)],
    reason: [Scalars.text("A payment of 3 May that was credited twice"), (row) => row.reason],
    created_at: [
      Scalars.Instant.annotate({ description: "When it was booked" }),
      (row) => Scalars.instant(row.decidedAtMillis ?? row.createdAtMillis)
    ]
  }
)

const view = View.make<Adjustment>()(
  { identifier: "OperatorAdjustment" },
  {
    ...own.members,
    status: [
      Status.annotate({ description: "`pending` waits for a second operator; `booked` and `rejected` stay so" }),
      (row) => row.status
    ],
    note: [Schema.NullOr(Schema.String).annotate({ description: "For operators" }), (row) => row.note],
    requested_by: [Scalars.text("Ada"), (row) => row.requestedBy],
    decided_by: [Schema.NullOr(Schema.String).annotate({ description: "Who booked or rejected it" }), (row) => row.decidedBy],
    created_at: [Scalars.Instant, (row) => Scalars.instant(row.createdAtMillis)],
    decided_at: [Schema.NullOr(Scalars.Instant), (row) => Scalars.instantOrNull(row.decidedAtMillis)]
  }
)

export const example = (world: World): Adjustment => ({
  id: world.id("adjustment"),
  companyId: world.companyId,
  ledgerTxId: world.id("transfer of the adjustment"),
  amount: Msat.fromSats(500),
  reason: "A deposit of 30 January that reached the node and was not credited",
  note: "ticket 4711",
  requestedById: world.id("operator token"),
  requestedBy: "Ada",
  status: "pending",
  decidedBy: null,
  decidedAtMillis: null,
  createdAtMillis: world.millis(120_000)
})

const bookedExample = (world: World): Adjustment => ({
  ...example(world),
  status: "booked",
  decidedBy: "Bob",
  decidedAtMillis: world.millis(180_000)
})

const Words = (description: string) =>
  Schema.String.check(Scalars.stated(reasonIssue, Scalars.wordsUpTo(maxReasonCharacters))).annotate({
    description: `${description}, 1 to ${maxReasonCharacters} characters`
  })

const creation = Idempotency.creation(path, "Adjustment requested", view.of)

const request = Section.operator(
  HttpApiEndpoint.post("requestAdjustment", path, {
    headers: Idempotency.headers,
    payload: Schema.Struct({
      company_id: Scalars.Uuid.annotate({ description: "Whose balance it changes" }),
      amount_sats: Scalars.GivenExactSats.annotate({
        description: "Satoshis, to three decimals: credited to the company, or taken from it where they are below zero; not 0"
      }),
      reason: Words("For the company"),
      note: Scalars.given(Words("For operators"))
    }).annotate({ identifier: "RequestAdjustment" }),
    success: Envelope.success(201, view.schema),
    error: errors.of("malformed", "not_found", "idempotency_mismatch", "conflict", "store_unavailable")
  })
    .annotate(OperatorScopes, ["mend"])
    .annotate(OpenApi.Summary, "Request an adjustment")
    .annotate(
      OpenApi.Description,
      "What a person has found out and no record of a payment can set right. No money moves: a second operator approves it, with a token of another name."
    )
    .annotate(Example, (world) => {
      const { amount, reason, note } = example(world)
      return {
        body: { company_id: world.companyId, amount_sats: Scalars.exactSats(amount), reason, note },
        message: "Adjustment requested",
        data: view.of(example(world))
      }
    }),
  Adjustments,
  (adjustments) =>
    Effect.fnUntraced(function* ({ payload, headers, request }) {
      const once = yield* creation.once(request, headers["idempotency-key"])
      const ask = {
        companyId: CompanyId.make(payload.company_id.toLowerCase()),
        amount: payload.amount_sats,
        reason: payload.reason,
        note: payload.note ?? null,
        by: yield* OperatorCaller
      }
      return creation.answer(yield* errors.answered(adjustments.request({ ...ask, ...once })))
    })
)

const page = Page.of(view, "Adjustments", path)

const list = Section.operator(
  HttpApiEndpoint.get("listAdjustments", path, {
    query: { ...Page.place(), status: Schema.optionalKey(Status) },
    success: page.success,
    error: errors.of("malformed", "store_unavailable")
  })
    .annotate(OpenApi.Summary, "List adjustments")
    .annotate(OpenApi.Description, "Of all companies, newest first. The next page is in the `Link` header.")
    .annotate(Example, (world) => ({ message: "Adjustments", data: [view.of(example(world))] })),
  Adjustments,
  (adjustments) =>
    Effect.fnUntraced(function* ({ query }) {
      const { limit } = Page.asked(query)
      const asked = { limit, after: query.cursor ?? null, status: query.status }
      const { rows, next } = yield* errors.answered(adjustments.list(asked))
      return page.answer(rows, Search.written(query), next)
    })
)

const get = Section.operator(
  HttpApiEndpoint.get("getAdjustment", `${path}/:id`, {
    params: { id: Scalars.Uuid },
    success: Envelope.success(200, view.schema),
    error: errors.of("not_found", "store_unavailable")
  })
    .annotate(OpenApi.Summary, "Fetch an adjustment")
    .annotate(OpenApi.Description, "Of whichever company.")
    .annotate(Example, (world) => ({ params: { id: example(world).id }, message: "Adjustment", data: view.of(example(world)) })),
  Adjustments,
  (adjustments) =>
    Effect.fnUntraced(function* ({ params }) {
      return Envelope.ok("Adjustment", view.of(yield* errors.answered(adjustments.get(params.id.toLowerCase()))))
    })
)

const approve = Section.operator(
  HttpApiEndpoint.post("approveAdjustment", `${path}/:id/approve`, {
    params: { id: Scalars.Uuid },
    success: Envelope.success(200, view.schema),
    error: errors.of("not_found", "another_operator_required", "adjustment_decided", "insufficient_balance", "store_unavailable")
  })
    .annotate(OperatorScopes, ["mend"])
    .annotate(OpenApi.Summary, "Approve an adjustment")
    .annotate(
      OpenApi.Description,
      "Books it against the account `adjustments`, once, however often it is approved. Refused to whoever requested it, and to a token of the same name. Where it takes more than the company has available, it stays pending."
    )
    .annotate(Example, (world) => ({
      params: { id: example(world).id },
      message: "Adjustment booked",
      data: view.of(bookedExample(world))
    })),
  Adjustments,
  (adjustments) =>
    Effect.fnUntraced(function* ({ params }) {
      const row = yield* errors.answered(adjustments.approve(params.id.toLowerCase(), yield* OperatorCaller))
      return Envelope.ok("Adjustment booked", view.of(row))
    })
)

const reject = Section.operator(
  HttpApiEndpoint.post("rejectAdjustment", `${path}/:id/reject`, {
    params: { id: Scalars.Uuid },
    success: Envelope.success(200, view.schema),
    error: errors.of("not_found", "adjustment_decided", "store_unavailable")
  })
    .annotate(OperatorScopes, ["mend"])
    .annotate(OpenApi.Summary, "Reject an adjustment")
    .annotate(OpenApi.Description, "Nothing comes of it. Whoever requested it may take it back like this.")
    .annotate(Example, (world) => ({
      params: { id: example(world).id },
      message: "Adjustment rejected",
      data: view.of({ ...bookedExample(world), status: "rejected" })
    })),
  Adjustments,
  (adjustments) =>
    Effect.fnUntraced(function* ({ params }) {
      const row = yield* errors.answered(adjustments.reject(params.id.toLowerCase(), yield* OperatorCaller))
      return Envelope.ok("Adjustment rejected", view.of(row))
    })
)

/** What was booked for a company, as it is told and fetches it. */
export const ofCompany = Section.company(
  HttpApiEndpoint.get("adjustment", "/v1/transactions/adjustments/:adjustmentID", {
    params: { adjustmentID: Scalars.Uuid },
    success: Envelope.success(200, own.schema),
    error: errors.of("not_found", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "Fetch an adjustment")
    .annotate(OpenApi.Description, "What the operator has booked by hand, with the reason. Needs the scope `read`.")
    .annotate(Example, (world) => ({
      params: { adjustmentID: example(world).id },
      message: "Adjustment",
      data: own.of(bookedExample(world))
    })),
  Adjustments,
  (adjustments) =>
    Effect.fnUntraced(function* ({ params }) {
      const row = yield* errors.answered(adjustments.ofCompany(yield* companyId, params.adjustmentID.toLowerCase()))
      return Envelope.ok("Adjustment", own.of(row))
    })
)

/** What operators book by hand, two for each. */
export const section = Section.make(
  "adjustments",
  { title: "Adjustments", description: "For the operator: what is booked by hand, by one operator with the approval of another" },
  [request, list, get, approve, reject]
)
