import * as Msat from "@satrail/bitcoin/Msat"
import type { Adjustment, AdjustmentDecided } from "../core/Adjustment.ts"
import { Status } from "../core/Adjustment.ts"
import { Adjustments } from "../core/Adjustments.ts"
import { maxReasonCharacters, reasonIssue } from "@satrail/core/accounts/Companies"
import * as CompanyId from "@satrail/core/base/CompanyId"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { OperatorCaller, OperatorScopes } from "@satrail/http/api/Authentication"
import * as Envelope from "@satrail/http/wire/Envelope"
import { Example, type World } from "@satrail/http/wire/Examples"
import * as Idempotency from "@satrail/http/wire/Idempotency"
import * as OwnErrors from "@satrail/http/wire/OwnErrors"
import * as Scalars from "@satrail/http/wire/Scalars"
import * as Resource from "@satrail/http/api/Resource"
import * as Section from "@satrail/http/api/Section"
import * as Member from "@satrail/http/wire/Member"
import * as View from "@satrail/http/wire/View"

export const errors = OwnErrors.make({
  AdjustmentDecided: {
    code: "adjustment_decided",
    status: 409,
    meaning: "The adjustment was already booked or rejected. That decision is final.",
    remedy:
      "Check its status with `GET /operator/adjustments/:id`. To correct a booked adjustment, request another one.",
    message: ({ status }: AdjustmentDecided) => `This adjustment was already ${status}.`
  }
})

const path = "/operator/adjustments"

const Amount = Scalars.ExactSats.annotate({
  description:
    "Amount in satoshis, with up to three decimals. Positive amounts are credited to the company, negative ones debited",
  examples: [-21.5]
})

/** A booked adjustment as its company sees it. */
export const own = View.make<Adjustment>()(
  { identifier: "Adjustment" },
  {
    id: Member.uuid((row) => row.id),
    company_id: Member.uuid((row) => row.companyId),
    ledger_tx_id: Member.uuid((row) => row.ledgerTxId),
    amount_sats: [Amount, (row) => Scalars.exactSats(row.amount)],
    reason: [Scalars.text("A payment of 3 May that was credited twice"), (row) => row.reason],
    created_at: Member.instant((row) => row.decidedAtMillis ?? row.createdAtMillis, "Time of booking")
  }
)

const view = View.make<Adjustment>()(
  { identifier: "OperatorAdjustment" },
  {
    ...own.members,
    status: [
      Status.annotate({
        description: "`pending` while a second operator must approve it. `booked` and `rejected` are final"
      }),
      (row) => row.status
    ],
    note: Member.textOrNull((row) => row.note, "Note for operators. The company does not see it"),
    requested_by: [Scalars.text("Ada"), (row) => row.requestedBy],
    decided_by: Member.textOrNull((row) => row.decidedBy, "Operator who booked or rejected it"),
    created_at: Member.instant((row) => row.createdAtMillis),
    decided_at: Member.instantOrNull((row) => row.decidedAtMillis)
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
      company_id: Scalars.inLowerCase(
        Scalars.Uuid.annotate({ description: "Company whose balance is adjusted" })
      ),
      amount_sats: Scalars.GivenExactSats.annotate({
        description:
          "Amount in satoshis, with up to three decimals, not 0. Positive amounts are credited to the company, negative ones debited"
      }),
      reason: Words("Reason shown to the company"),
      note: Scalars.given(Words("Note for operators"))
    }).annotate({ identifier: "RequestAdjustment" }),
    success: Envelope.success(201, view.schema),
    error: errors.of("malformed", "not_found", "idempotency_mismatch", "conflict", "store_unavailable")
  })
    .annotate(OperatorScopes, ["mend"])
    .annotate(OpenApi.Summary, "Request an adjustment")
    .annotate(
      OpenApi.Description,
      "Requests a manual correction of a company's balance, for errors that no payment record can fix. Balances change only after a second operator approves the adjustment, using a token with a different name."
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
      const ask = {
        companyId: CompanyId.make(payload.company_id),
        amount: payload.amount_sats,
        reason: payload.reason,
        note: payload.note ?? null
      }
      const once = yield* creation.once(request, headers["idempotency-key"], ask)
      return creation.answer(
        yield* errors.answered(adjustments.request({ ...ask, by: yield* OperatorCaller, ...once }))
      )
    })
)

const resource = Resource.make({ path, names: ["Adjustment", "Adjustments"], view, example })

const list = Section.operator(
  resource.list(
    "listAdjustments",
    { summary: "List adjustments", description: "Returns adjustments of all companies, newest first." },
    { status: Schema.optionalKey(Status) }
  ),
  Adjustments,
  (adjustments) =>
    resource.lists(({ limit }, { cursor = null, status }) =>
      adjustments.list({ limit, after: cursor, status })
    )
)

const get = Section.operator(
  resource.get("getAdjustment", {
    summary: "Get an adjustment",
    description: "Returns an adjustment of any company."
  }),
  Adjustments,
  (adjustments) => resource.gets(adjustments.get)
)

const booked = "Adjustment booked"

const approve = Section.operator(
  HttpApiEndpoint.post("approveAdjustment", `${path}/:id/approve`, {
    ...resource.one,
    error: errors.of(
      "not_found",
      "another_operator_required",
      "requester_gone",
      "adjustment_decided",
      "insufficient_balance",
      "store_unavailable"
    )
  })
    .annotate(OperatorScopes, ["mend"])
    .annotateMerge(
      resource.about(
        booked,
        {
          summary: "Approve an adjustment",
          description:
            "Books the adjustment against the account `adjustments`. The operator who requested it cannot approve it, nor can a token with the same name. If the company's available balance does not cover a debit, the adjustment stays pending. Approving twice has no further effect."
        },
        (_, world) => bookedExample(world)
      )
    ),
  Adjustments,
  (adjustments) =>
    resource.answers(booked, (id) =>
      errors.answered(Effect.flatMap(OperatorCaller, (by) => adjustments.approve(id, by)))
    )
)

const rejected = "Adjustment rejected"

const reject = Section.operator(
  HttpApiEndpoint.post("rejectAdjustment", `${path}/:id/reject`, {
    ...resource.one,
    error: errors.of("not_found", "adjustment_decided", "store_unavailable")
  })
    .annotate(OperatorScopes, ["mend"])
    .annotateMerge(
      resource.about(
        rejected,
        {
          summary: "Reject an adjustment",
          description:
            "Rejects a pending adjustment without booking it. The operator who requested it can reject it."
        },
        (_, world) => ({ ...bookedExample(world), status: "rejected" })
      )
    ),
  Adjustments,
  (adjustments) =>
    resource.answers(rejected, (id) =>
      errors.answered(Effect.flatMap(OperatorCaller, (by) => adjustments.reject(id, by)))
    )
)

const bookedResource = Resource.make({
  path: "/v1/transactions/adjustments",
  param: "adjustmentID",
  names: ["Adjustment", "Adjustments"],
  view: own,
  example: bookedExample
})

/** A company's booked adjustment, as it appears in the company's events. */
export const ofCompany = Section.company(
  bookedResource.get("adjustment", {
    scope: "read",
    summary: "Get an adjustment",
    description: "Returns an adjustment that the operator booked manually, with its reason."
  }),
  Adjustments,
  (adjustments) => bookedResource.gets(Resource.own(adjustments.ofCompany))
)

/** Adjustments by operators. One operator requests an adjustment, and another one approves it. */
export const section = Section.make(
  "adjustments",
  {
    title: "Adjustments",
    description:
      "For the operator: manual corrections of balances, requested by one operator and approved by another"
  },
  [request, list, get, approve, reject]
)
