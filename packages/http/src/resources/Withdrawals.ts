import * as Msat from "@satrail/bitcoin/Msat"
import * as Network from "@satrail/bitcoin/Network"
import * as Metadata from "@satrail/core/base/Metadata"
import { Rail, Standing } from "@satrail/core/ledger/Rail"
import * as Fee from "@satrail/core/accounts/Fee"
import { Transactions } from "@satrail/core/reports/Transactions"
import * as Destination from "@satrail/core/sending/Destination"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { SuccessAction } from "@satrail/core/nodes/SuccessAction"
import { type Estimate, Withdrawals } from "@satrail/core/sending/Withdrawals"
import { Effect, Predicate, Result, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import * as Amounts from "../wire/Amounts.ts"
import { companyId, Scopes, sender } from "../api/Authentication.ts"
import { Rules } from "../wire/Decoding.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example, type World } from "../wire/Examples.ts"
import * as Idempotency from "../wire/Idempotency.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Section from "../api/Section.ts"
import * as View from "../wire/View.ts"
import * as LightningPayment from "./LightningPayment.ts"

/** Where money is to go. */
export const DestinationText = Schema.NonEmptyString.annotate({
  description:
    "A Lightning invoice, a Lightning address, a name like ₿satoshi@wallet.example (BIP 353), an LNURL, a BOLT 12 offer, a bitcoin address or a bitcoin: URI",
  examples: ["satoshi@wallet.example"]
})

const what = {
  amount: Scalars.given(Amounts.AmountNumber),
  currency: Scalars.given(Amounts.Currency),
  destination: DestinationText
}
const EstimateBody = Schema.Struct(what)
  .check(Scalars.stated(() => undefined, Amounts.withCurrency))
  .annotate({ identifier: "EstimateWithdrawal" })
const ConfirmBody = Schema.Struct({
  ...what,
  max_fee_sats: Scalars.given(
    Scalars.givenSatsUpTo(Msat.max).annotate({
      description:
        "The whole fee that is accepted, in satoshis to three decimals, such as `fee_sats` of an estimate: refused with `fee_changed` where it is more by now"
    })
  ),
  metadata: Scalars.given(Scalars.GivenMetadata)
})
  .check(Scalars.stated(() => undefined, Amounts.withCurrency))
  .annotate({ identifier: "ConfirmWithdrawal" })

/** What is wrong with what is to be sent. Which network a destination is of is no question of how it is written. */
export const issues = (text: string, body: object): ReturnType<typeof Amounts.issues> => {
  const amount = Amounts.issues(text, body)
  if (!Predicate.hasProperty(body, "destination") || typeof body.destination !== "string") return amount
  let issues: ReturnType<typeof Amounts.issues> = []
  for (const network of Network.all) {
    const parsed = Destination.parse(body.destination, network)
    const failure = Result.isFailure(parsed) ? Errors.failureFor(parsed.failure) : undefined
    if (failure?.error.code !== "malformed") return amount
    issues = failure.error.issues ?? []
  }
  return [...amount, ...issues]
}

/** Why a withdrawal failed, in a sentence each. The codes are stable: nothing was paid, and amount and fee are available again, whichever it is. */
export const failures: { readonly [code in Withdrawal.Failure]: string } = {
  no_route: "No route to the recipient could carry the payment within the fee limit",
  timeout: "The payment did not get through in time",
  incorrect_payment_details:
    "The recipient's node refused the payment: it does not know the invoice, or no longer takes this amount for it",
  insufficient_liquidity: "The service's node could not send this much at the time",
  canceled: "The payment was canceled at the service's node before it got through",
  node_error: "The service's node could not make the payment",
  channel_closed: "A Lightning channel was closed with the payment inside, and the payment came back over the chain",
  invoice_expired: "The invoice expired before it was paid: ask for a new one",
  invoice_not_payable: "The invoice can no longer be paid: it was paid or canceled, or its terms are not accepted",
  payment_hash_used: "Another withdrawal has this payment hash: ask for a new invoice",
  recipient_refused: "The recipient's server refused the payment, or gave no acceptable invoice for it",
  recipient_unreachable: "The recipient's server did not answer in time",
  address_not_payable: "The service's wallet cannot pay this address",
  approval_rejected: "A key that may approve it rejected it",
  approval_expired: "No key approved it in time"
}

const Failure = Schema.Struct({
  code: Withdrawal.Failure.annotate({ description: "Stable: act on it" }),
  message: Schema.String.annotate({ description: "For people; may change", examples: [failures.no_route] })
}).annotate({ identifier: "WithdrawalFailure" })

/** Whom the money goes to, as far as it is known by now. */
const destination = View.make<Withdrawal.Withdrawal>()(
  { identifier: "WithdrawalDestination" },
  {
    type: [Destination.RecipientType, (row) => row.recipientType],
    lightning_address: [
      Schema.NullOr(Schema.String),
      (row) => (row.recipientType === "lightning_address" ? Destination.name(row.recipient) : null)
    ],
    bip353_name: [
      Schema.NullOr(Schema.String).annotate({
        description: "The same with its ₿, where the record of the domain's DNS (BIP 353) says what is paid, and not the domain's server",
        examples: ["₿satoshi@wallet.example"]
      }),
      (row) => (Destination.isInDns(row.recipient) ? row.recipient : null)
    ],
    bitcoin_address: [
      Schema.NullOr(Schema.String).annotate({ description: "Of a name with a record (BIP 353) what it said when it was sent" }),
      (row) => (row.recipientType === "chain_address" ? row.recipient : row.rail === "on_chain" ? row.paymentRequest : null)
    ],
    domain: [
      Schema.NullOr(Schema.String).annotate({
        description: "The server that issues the invoice, for a Lightning address or an LNURL",
        examples: ["wallet.example"]
      }),
      (row) => Destination.domain(row.recipientType, row.recipient)
    ],
    payment_hash: [
      Schema.NullOr(Schema.String).annotate({
        description: "Hex, of the invoice that is paid, once that is decided; of an offer, once it was paid"
      }),
      Withdrawal.hashOf
    ],
    success_action: [
      Schema.NullOr(SuccessAction).annotate({
        description: "What the recipient's server asks to show once it is settled (LUD-09, LUD-10): `aes` opens with the preimage"
      }),
      (row) => (row.status === "settled" ? row.successAction : null)
    ]
  }
)

/** Of a withdrawal that another key has to approve. */
const approval = View.make<Withdrawal.Withdrawal & { readonly approval: Withdrawal.ApprovalState }>()(
  { identifier: "WithdrawalApproval" },
  {
    state: [Withdrawal.ApprovalState, (row) => row.approval],
    asked_by: [
      Schema.NullOr(Schema.String).annotate({
        description: "The id of the key that asked for it, and may not approve it; of one that replaced others the first one's",
        examples: ["7Kq2mVx9TbZc"]
      }),
      (row) => row.approvalAskedBy
    ],
    decided_by: [
      Schema.NullOr(Schema.String).annotate({ description: "The same of the key that approved or rejected it" }),
      (row) => row.approvalBy
    ],
    decided_at: [Schema.NullOr(Scalars.Instant), (row) => Scalars.instantOrNull(row.approvalAtMillis)],
    expires_at: [Schema.NullOr(Scalars.Instant), (row) => Scalars.instantOrNull(row.approvalExpiresAtMillis)]
  }
)

/** A withdrawal: 1 006 000 msat are 1006 sats, 6 500 msat of fee are 6.5. */
export const view = View.make<Withdrawal.Withdrawal>()(
  { identifier: "Withdrawal" },
  {
    id: [Scalars.Uuid, (row) => row.id],
    company_id: [Scalars.Uuid, (row) => row.companyId],
    ledger_tx_id: [Scalars.Uuid, (row) => row.ledgerTxId],
    amount_sats: [Scalars.Sats, (row) => Scalars.sats(row.amount)],
    recipient: [Scalars.text("satoshi@wallet.example"), (row) => row.recipient],
    fee_sats: [Scalars.Fee, (row) => Scalars.exactSats(Withdrawal.fee(row))],
    network_type: [Network.Network, (row) => row.network],
    rail_type: [Rail, (row) => row.rail],
    status: [Standing, Withdrawal.standing],
    lightning_payment: [
      Schema.NullOr(LightningPayment.view.schema).annotate({
        description: "null until the outcome is known, and for an on-chain withdrawal"
      }),
      LightningPayment.of
    ],
    chain_tx_id: [
      Schema.NullOr(Schema.String).annotate({ description: "The transaction of an on-chain withdrawal, once there is one" }),
      (row) => row.chainTxId
    ],
    refund_id: [Schema.NullOr(Scalars.Uuid).annotate({ description: "The refund that it pays" }), (row) => row.refundId],
    metadata: [Scalars.Metadata, (row) => row.metadata],
    created_at: [Scalars.Instant, (row) => Scalars.instant(row.createdAtMillis)],
    updated_at: [Scalars.Instant, (row) => Scalars.instant(row.updatedAtMillis)],
    failure: [
      Schema.NullOr(Failure).annotate({ description: "Why it failed. The node's own reason is in `lightning_payment`" }),
      ({ failure }) => failure && { code: failure, message: failures[failure] }
    ],
    destination: [destination.schema, destination.of],
    approval: [
      Schema.NullOr(approval.schema).annotate({ description: "null where no other key has to approve it" }),
      (row) => (row.approval === null ? null : approval.of({ ...row, approval: row.approval }))
    ]
  }
)

/** What the record in the DNS says of a name. */
const instructed = View.make<Destination.Destination>()(
  { identifier: "Bip353Record" },
  {
    recipient_type: [Destination.RecipientType, Destination.recipientType],
    recipient: [Schema.String.annotate({ description: "The invoice or bitcoin address that it says to pay" }), Destination.text]
  }
)

/** What a withdrawal would come to. */
export const estimated = View.make<Estimate>()(
  { identifier: "WithdrawalEstimate" },
  {
    recipient: [Scalars.text("satoshi@wallet.example"), (row) => row.recipient],
    recipient_type: [Destination.RecipientType, (row) => row.recipientType],
    bip353: [
      Schema.NullOr(instructed.schema).annotate({
        description:
          "What would be paid, where the recipient is a name that its domain's DNS has a record for (BIP 353); looked up again for confirm"
      }),
      (row) => (row.instructed === undefined ? null : instructed.of(row.instructed))
    ],
    amount_sats: [Scalars.Sats, (row) => Scalars.sats(row.amount)],
    service_fee_sats: [
      Scalars.Fee.annotate({ description: "The whole fee on top of the amount, as confirm would charge it: the same as `fee_sats`" }),
      (row) => Scalars.exactSats(Fee.total(row.fee))
    ],
    fee_sats: [Scalars.Fee, (row) => Scalars.exactSats(Fee.total(row.fee))],
    success_probability: [
      Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })).annotate({
        description: "1 is certain, 0 is no route",
        examples: [0.98]
      }),
      (row) => row.successProbability
    ]
  }
)

/** The withdrawal of the examples, as it was confirmed and after it arrived. */
export const example = ({ id, millis, companyId, paid, network, metadata }: World) => {
  const requested = Withdrawal.pending({
    id: id("withdrawal", 60_000),
    companyId,
    ledgerTxId: id("transfer of the withdrawal", 60_000),
    amount: paid.amount,
    serviceFee: Msat.fromSats(20),
    networkAllowance: Msat.fromSats(15),
    recipient: "satoshi@wallet.example",
    recipientType: "lightning_address",
    rail: "lightning",
    network,
    metadata,
    rate: null,
    rateAtMillis: null,
    createdAtMillis: millis(60_000)
  })
  const settled: Withdrawal.Withdrawal = {
    ...requested,
    status: "settled",
    paymentHash: paid.paymentHash,
    paymentRequest: paid.paymentRequest,
    preimage: paid.preimage,
    dispatchedAtMillis: millis(60_040),
    networkFee: Msat.make(2001n),
    paymentIndex: "1",
    updatedAtMillis: millis(60_900)
  }
  return { requested, settled }
}

/** What is wrong with what is to be sent, or with where. */
export const refusals = [
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

const bodyOf = (row: Withdrawal.Withdrawal) => ({ amount: 3000, currency: "sats", destination: row.recipient })

export const estimate = Section.company(
  HttpApiEndpoint.post("estimate", "/v1/bitcoin/withdraw/estimate", {
    payload: EstimateBody,
    success: Envelope.success(200, estimated.schema),
    error: Errors.of(...refusals, "rate_limited", "node_unavailable")
  })
    .annotate(Scopes, ["read", "send"])
    .annotate(Rules, issues)
    .annotate(OpenApi.Summary, "Estimate a withdrawal")
    .annotate(
      OpenApi.Description,
      "Validates the destination, and returns the fee and the probability of success. Moves no money, so the scope `read` is enough; `send` works too."
    )
    .annotate(Example, (world) => {
      const { requested } = example(world)
      const { recipient, recipientType, amount, serviceFee: service, networkAllowance: network } = requested
      return {
        body: bodyOf(requested),
        message: "Estimate",
        data: estimated.of({ recipient, recipientType, amount, fee: { service, network }, successProbability: 0.98 })
      }
    }),
  Withdrawals,
  (withdrawals) =>
    Effect.fnUntraced(function* ({ payload, request }) {
      const { company } = yield* sender
      const asked = yield* Amounts.asked(yield* Effect.orDie(request.text), payload)
      const found = yield* Errors.answered(withdrawals.estimate({ company, asked, destination: payload.destination }))
      return Envelope.ok("Estimate", estimated.of(found))
    })
)

const canonical = "/v1/bitcoin/withdraw/confirm"

const creation = Idempotency.creation(canonical, "Withdrawal queued", view.of)

/** One operation, by each spelling of its path. */
const confirming = {
  headers: Idempotency.headers,
  payload: ConfirmBody,
  success: Envelope.success(201, view.schema),
  error: Errors.of(
    ...refusals,
    "fee_changed",
    "insufficient_balance",
    "limit_exceeded",
    "company_frozen",
    "paused",
    "idempotency_mismatch",
    "conflict"
  )
}

const description =
  "Holds amount and fee, and queues the payment: the withdrawal is `pending`, or `pending_approval` where it is above `approval_above_sats` of the key or its company: then nothing is sent until another key approves it. `/v1/bitcoin/withdraw/confirm` and `/v1/bitcoin/send/confirm` are one operation, an `Idempotency-Key` used with one is used with the other. Needs the scope `send`."

const confirmExample = (world: World) => {
  const { requested } = example(world)
  const { metadata } = world
  return { body: { ...bodyOf(requested), metadata }, message: "Withdrawal queued", data: view.of(requested) }
}

const confirmWith = (withdrawals: Withdrawals["Service"]) =>
  Effect.fnUntraced(function* ({
    payload,
    headers,
    request
  }: {
    readonly payload: typeof ConfirmBody.Type
    readonly headers: { readonly "idempotency-key"?: string }
    readonly request: HttpServerRequest.HttpServerRequest
  }) {
    const from = yield* sender
    const once = yield* creation.once(request, headers["idempotency-key"])
    return creation.answer(
      yield* Errors.answered(
        withdrawals.confirm({
          ...from,
          ...once,
          asked: yield* Amounts.asked(yield* Effect.orDie(request.text), payload),
          destination: payload.destination,
          maxFee: payload.max_fee_sats ?? undefined,
          metadata: payload.metadata ?? Metadata.empty
        })
      )
    )
  })

export const confirm = Section.company(
  HttpApiEndpoint.post("confirm", canonical, confirming)
    .annotate(Scopes, ["send"])
    .annotate(Rules, issues)
    .annotate(OpenApi.Summary, "Send bitcoin")
    .annotate(OpenApi.Description, description)
    .annotate(Example, confirmExample),
  Withdrawals,
  confirmWith
)

export const confirmSend = Section.company(
  HttpApiEndpoint.post("confirmSend", "/v1/bitcoin/send/confirm", confirming)
    .annotate(Scopes, ["send"])
    .annotate(Rules, issues)
    .annotate(OpenApi.Summary, "Send bitcoin, by the other spelling of the path")
    .annotate(OpenApi.Description, description)
    .annotate(Example, confirmExample),
  Withdrawals,
  confirmWith
)

export const get = Section.company(
  HttpApiEndpoint.get("withdrawal", "/v1/transactions/withdrawals/:withdrawalID", {
    params: { withdrawalID: Scalars.Uuid },
    success: Envelope.success(200, view.schema),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "Fetch a withdrawal")
    .annotate(
      OpenApi.Description,
      "`pending_approval` until another key has approved it, where that is needed; `pending` until its outcome is known, then `settled` or `failed` for ever. Needs the scope `read`."
    )
    .annotate(Example, (world) => {
      const { settled } = example(world)
      return { params: { withdrawalID: settled.id }, message: "Withdrawal", data: view.of(settled) }
    }),
  Transactions,
  (transactions) =>
    Effect.fnUntraced(function* ({ params }) {
      const row = yield* Errors.answered(transactions.withdrawal(yield* companyId, params.withdrawalID.toLowerCase()))
      return View.answer("Withdrawal", view.of(row))
    })
)
