import * as Metadata from "@satrail/core/base/Metadata"
import { Withdrawals } from "@satrail/core/sending/Withdrawals"
import { Effect, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication, Caller, Scopes } from "./Authentication.ts"
import { base } from "./Base.ts"
import { Decoding, Rules } from "./Decoding.ts"
import * as Envelope from "./Envelope.ts"
import * as Errors from "./Errors.ts"
import * as Field from "./Field.ts"
import * as Handlers from "./Handlers.ts"
import * as Idempotency from "./Idempotency.ts"
import * as Wire from "./Wire.ts"

const what = {
  amount: Field.given(Field.AmountNumber),
  currency: Field.given(Field.Currency),
  destination: Field.Destination
}

export const EstimateBody = Schema.Struct(what).annotate({ identifier: "EstimateWithdrawal" })

export const ConfirmBody = Schema.Struct({ ...what, metadata: Field.given(Field.Metadata) }).annotate({ identifier: "ConfirmWithdrawal" })

const refusals = [
  "malformed",
  "wrong_network",
  "unsupported",
  "amount_mismatch",
  "amount_required",
  "amount_out_of_range",
  "dust",
  "invoice_expired",
  "invoice_not_payable",
  "payment_hash_used",
  "recipient_not_found",
  "final_cltv_too_long",
  "recipient_refused",
  "recipient_unreachable",
  "rate_unavailable",
  "chain_unavailable",
  "store_unavailable"
] as const

const estimate = HttpApiEndpoint.post("estimate", "/v1/bitcoin/withdraw/estimate", {
  payload: EstimateBody,
  success: Envelope.success(200, Wire.Estimate),
  error: Errors.of(...refusals, "node_unavailable")
})
  .annotate(Scopes, ["read", "send"])
  .annotate(Rules, Field.paymentIssues)
  .annotate(OpenApi.Summary, "Estimate a withdrawal")
  .annotate(
    OpenApi.Description,
    "Checks the destination, and says what sending would cost and how likely it is to arrive. Moves nothing, so the scope `read` is enough; `send` will do as well."
  )

const canonical = "/v1/bitcoin/withdraw/confirm"

const confirming = {
  headers: Idempotency.headers,
  payload: ConfirmBody,
  success: Envelope.success(201, Wire.ConfirmedWithdrawal),
  error: Errors.of(...refusals, "insufficient_balance", "idempotency_mismatch", "conflict")
}

const description =
  "Holds amount and fee, and queues the payment: the answer is `pending`. `/v1/bitcoin/withdraw/confirm` and `/v1/bitcoin/send/confirm` are one operation, an `Idempotency-Key` used with one is used with the other. Needs the scope `send`."

const confirm = HttpApiEndpoint.post("confirm", canonical, confirming)
  .annotate(Scopes, ["send"])
  .annotate(Rules, Field.paymentIssues)
  .annotate(OpenApi.Summary, "Send bitcoin")
  .annotate(OpenApi.Description, description)

const confirmSend = HttpApiEndpoint.post("confirmSend", "/v1/bitcoin/send/confirm", confirming)
  .annotate(Scopes, ["send"])
  .annotate(Rules, Field.paymentIssues)
  .annotate(OpenApi.Summary, "Send bitcoin, by the other spelling of the path")
  .annotate(OpenApi.Description, description)

/** Sending money out. */
export class Group extends HttpApiGroup.make("send")
  .add(estimate, confirm, confirmSend)
  .middleware(Decoding)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Send")
  .annotate(OpenApi.Description, "Estimates and withdrawals") {}

const creation = Idempotency.creation(canonical, "Withdrawal queued", Wire.confirmedWithdrawal)

export const layer = Handlers.layer(
  base.add(Group),
  "send",
  Effect.fnUntraced(function* (handlers) {
    const withdrawals = yield* Withdrawals

    const confirm = Effect.fnUntraced(function* ({
      payload,
      headers,
      request
    }: {
      readonly payload: typeof ConfirmBody.Type
      readonly headers: { readonly "idempotency-key"?: string }
      readonly request: HttpServerRequest.HttpServerRequest
    }) {
      const {
        apiKey: { companyId: id },
        plan
      } = yield* Caller
      const once = yield* creation.once(request, headers["idempotency-key"])
      return creation.answer(
        yield* Errors.answered(
          withdrawals.confirm({
            company: { id, plan },
            ...once,
            asked: yield* Field.asked(yield* Effect.orDie(request.text), payload),
            destination: payload.destination,
            metadata: payload.metadata ?? Metadata.empty
          })
        )
      )
    })

    return handlers.handleAll({
      estimate: Effect.fnUntraced(function* ({ payload, request }) {
        const {
          apiKey: { companyId: id },
          plan
        } = yield* Caller
        const asked = yield* Field.asked(yield* Effect.orDie(request.text), payload)
        return Envelope.ok(
          "Estimate",
          Wire.estimate(yield* Errors.answered(withdrawals.estimate({ company: { id, plan }, asked, destination: payload.destination })))
        )
      }),
      confirm,
      confirmSend: confirm
    })
  })
)
