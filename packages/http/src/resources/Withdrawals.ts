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
import { Scopes, sender } from "../api/Authentication.ts"
import * as CauseView from "../wire/CauseView.ts"
import { Rules } from "../wire/Decoding.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example, type World } from "../wire/Examples.ts"
import * as Idempotency from "../wire/Idempotency.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Resource from "../api/Resource.ts"
import * as Section from "../api/Section.ts"
import * as Member from "../wire/Member.ts"
import * as View from "../wire/View.ts"
import * as LightningPayment from "./LightningPayment.ts"
import * as FiatView from "../wire/FiatView.ts"

export const DestinationText = Schema.NonEmptyString.annotate({
  identifier: "GivenDestination",
  description:
    "Lightning invoice, Lightning address, BIP 353 name such as ₿satoshi@wallet.example, LNURL, BOLT 12 offer, bitcoin address or bitcoin: URI",
  examples: ["satoshi@wallet.example"]
})

const what = {
  amount: Scalars.given(Amounts.exactOrMax),
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
        "Maximum total fee, in satoshis with up to three decimals; usually `fee_sats` from an estimate. If the fee is higher, the request returns `fee_changed`"
    })
  ),
  metadata: Scalars.given(Scalars.GivenMetadata)
})
  .check(Scalars.stated(() => undefined, Amounts.withCurrency))
  .annotate({ identifier: "ConfirmWithdrawal" })

/**
 * Returns all validation errors in a request to send. A destination on another network is not a format error.
 */
export const issues = (text: string, body: object): ReturnType<typeof Amounts.issues> => {
  const amount = Amounts.issuesOrMax(text, body)
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

/**
 * Reasons why a withdrawal failed. Codes are stable. In all cases nothing was paid, and amount and fee were
 * released.
 */
export const failures: { readonly [code in Withdrawal.Failure]: string } = {
  no_route: "No route to the payee could carry the payment within the fee limit",
  timeout: "The payment did not complete in time",
  incorrect_payment_details:
    "The payee's node rejected the payment, because it does not know the invoice or no longer accepts this amount for it",
  insufficient_liquidity: "The service's node did not have enough outbound liquidity",
  canceled: "The payment was canceled before it completed",
  node_error: "The service's node could not make the payment",
  channel_closed:
    "A Lightning channel was closed while the payment was in flight, and the funds were returned on-chain",
  invoice_expired: "The invoice expired before it was paid. Get a new invoice from the payee",
  invoice_not_payable:
    "The invoice can no longer be paid, because it was paid or canceled, or its terms are not supported",
  payment_hash_used: "Another withdrawal has this payment hash. Get a new invoice from the payee",
  recipient_refused: "The payee's server declined the payment or sent no valid invoice",
  recipient_unreachable: "The payee's server did not respond in time",
  approval_rejected: "The withdrawal was rejected",
  approval_expired: "Nobody approved the withdrawal in time"
}

export const Failure = Schema.Struct({
  code: Withdrawal.Failure.annotate({ description: "Stable code for programs" }),
  message: Schema.String.annotate({
    description: "Human-readable text. May change",
    examples: [failures.no_route]
  })
}).annotate({ identifier: "WithdrawalFailure" })

export const failureOf = (code: Withdrawal.Failure): typeof Failure.Type => ({
  code,
  message: failures[code]
})

/** The payee, as far as known. */
const destination = View.make<Withdrawal.Withdrawal>()(
  { identifier: "WithdrawalDestination" },
  {
    type: [Destination.RecipientType, (row) => row.recipientType],
    lightning_address: Member.textOrNull((row) =>
      row.recipientType === "lightning_address" ? Destination.name(row.recipient) : null
    ),
    bip353_name: [
      Schema.NullOr(Schema.String).annotate({
        description:
          "BIP 353 name with its ₿, if the domain's DNS record determines the payment; otherwise null",
        examples: ["₿satoshi@wallet.example"]
      }),
      (row) => (Destination.isInDns(row.recipient) ? row.recipient : null)
    ],
    bitcoin_address: Member.textOrNull(
      (row) =>
        row.recipientType === "chain_address"
          ? row.recipient
          : row.rail === "on_chain"
            ? row.paymentRequest
            : null,
      "On-chain address that is paid; for a BIP 353 name, the address in its record when the payment was sent"
    ),
    domain: [
      Schema.NullOr(Schema.String).annotate({
        description: "Domain that issues the invoice for a Lightning address or LNURL",
        examples: ["wallet.example"]
      }),
      (row) => Destination.domain(row.recipientType, row.recipient)
    ],
    payment_hash: Member.textOrNull(
      Withdrawal.hashOf,
      "Payment hash of the invoice, in hex, once the invoice is known; for an offer, after payment"
    ),
    success_action: [
      Schema.NullOr(SuccessAction).annotate({
        description:
          "Text or link from the payee's server to show after settlement (LUD-09, LUD-10). The preimage decrypts `aes`"
      }),
      (row) => (row.status === "settled" ? row.successAction : null)
    ]
  }
)

const approval = View.make<Withdrawal.Withdrawal & { readonly approval: Withdrawal.ApprovalState }>()(
  { identifier: "WithdrawalApproval" },
  {
    state: [Withdrawal.ApprovalState, (row) => row.approval],
    asked_by: [
      Schema.NullOr(Schema.String).annotate({
        description:
          "Id of the key that requested the withdrawal and cannot approve it. If that key replaced an earlier one, the id of the original key",
        examples: ["7Kq2mVx9TbZc"]
      }),
      (row) => row.approvalAskedBy
    ],
    decided_by: Member.textOrNull(
      (row) => row.approvalBy,
      "Id of the key that approved or rejected it, or `operator`. If that key replaced an earlier one, the id of the original key"
    ),
    decided_at: Member.instantOrNull((row) => row.approvalAtMillis),
    expires_at: Member.instantOrNull((row) => row.approvalExpiresAtMillis)
  }
)

/** A withdrawal: 1 006 000 msat are shown as 1006 sats, and a fee of 6 500 msat as 6.5. */
export const view = View.make<Withdrawal.Withdrawal>()(
  { identifier: "Withdrawal" },
  {
    id: Member.uuid((row) => row.id),
    company_id: Member.uuid((row) => row.companyId),
    ledger_tx_id: Member.uuid((row) => row.ledgerTxId),
    amount_sats: Member.sats((row) => row.amount),
    recipient: [Scalars.text("satoshi@wallet.example"), (row) => row.recipient],
    fee_sats: [Scalars.Fee, (row) => Scalars.exactSats(Withdrawal.fee(row))],
    network_type: [Network.Network, (row) => row.network],
    rail_type: [Rail, (row) => row.rail],
    status: [Standing, Withdrawal.standing],
    lightning_payment: [
      Schema.NullOr(LightningPayment.view.schema).annotate({
        description: "Lightning payment details. null while pending and for on-chain withdrawals"
      }),
      LightningPayment.of
    ],
    chain_tx_id: Member.textOrNull(
      (row) => row.chainTxId,
      "Transaction id of an on-chain withdrawal; null until there is a transaction"
    ),
    ...CauseView.members("withdrawal"),
    metadata: [Scalars.Metadata, (row) => row.metadata],
    created_at: Member.instant((row) => row.createdAtMillis),
    updated_at: Member.instant((row) => row.updatedAtMillis),
    failure: [
      Schema.NullOr(Failure).annotate({
        description: "Reason for the failure. `lightning_payment` has the node's own reason"
      }),
      ({ failure }) => failure && failureOf(failure)
    ],
    destination: [destination.schema, destination.of],
    approval: [
      Schema.NullOr(approval.schema).annotate({
        description: "Approval by another key; null if not required"
      }),
      (row) => (row.approval === null ? null : approval.of({ ...row, approval: row.approval }))
    ],
    ...FiatView.members
  }
)

/** Payment destination from a name's DNS record. */
const instructed = View.make<Destination.Destination>()(
  { identifier: "Bip353Record" },
  {
    recipient_type: [Destination.RecipientType, Destination.recipientType],
    recipient: Member.text(Destination.text, "Invoice or bitcoin address in the record")
  }
)

export const estimated = View.make<Estimate>()(
  { identifier: "WithdrawalEstimate" },
  {
    recipient: [Scalars.text("satoshi@wallet.example"), (row) => row.recipient],
    recipient_type: [Destination.RecipientType, (row) => row.recipientType],
    bip353: [
      Schema.NullOr(instructed.schema).annotate({
        description:
          "Payment target of a BIP 353 name, from its domain's DNS record. The confirm request reads the record again"
      }),
      (row) => (row.instructed === undefined ? null : instructed.of(row.instructed))
    ],
    amount_sats: Member.sats((row) => row.amount),
    service_fee_sats: [
      Scalars.Fee.annotate({
        description: "Total fee that a withdrawal would be charged on top of its amount. Same as `fee_sats`"
      }),
      (row) => Scalars.exactSats(Fee.total(row.fee))
    ],
    fee_sats: [Scalars.Fee, (row) => Scalars.exactSats(Fee.total(row.fee))],
    success_probability: [
      Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })).annotate({
        description: "Probability from 0 (no route) to 1 (certain)",
        examples: [0.98]
      }),
      (row) => row.successProbability
    ]
  }
)

/** The example withdrawal, after its request and after settlement. */
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
    fiatCurrency: null,
    rateSource: null,
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

/** Error codes for a destination that is valid but cannot be paid, or not in this amount. */
export const unpayable = [
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
  "chain_unavailable",
  "store_unavailable"
] as const

/** Error codes for an invalid amount or destination. */
export const refusals = ["malformed", "wrong_network", "rate_unavailable", ...unpayable] as const

const bodyOf = (row: Withdrawal.Withdrawal) => ({
  amount: 3000,
  currency: "sats",
  destination: row.recipient
})

export const estimate = Section.company(
  HttpApiEndpoint.post("estimate", "/v1/bitcoin/withdraw/estimate", {
    payload: EstimateBody,
    success: Envelope.success(200, estimated.schema),
    error: Errors.of(...refusals, "insufficient_balance", "rate_limited", "node_unavailable")
  })
    .annotate(Scopes, ["read", "send"])
    .annotate(Rules, issues)
    .annotate(OpenApi.Summary, "Estimate a withdrawal")
    .annotate(
      OpenApi.Description,
      "Validates a destination and returns the fee and probability of success. Moves no money. Requires the `read` or `send` scope."
    )
    .annotate(Example, (world) => {
      const { requested } = example(world)
      const { recipient, recipientType, amount, serviceFee: service, networkAllowance: network } = requested
      return {
        body: bodyOf(requested),
        message: "Estimate",
        data: estimated.of({
          recipient,
          recipientType,
          amount,
          fee: { service, network },
          successProbability: 0.98
        })
      }
    }),
  Withdrawals,
  (withdrawals) =>
    Effect.fnUntraced(function* ({ payload }) {
      const { company } = yield* sender
      const asked = yield* Amounts.askedOrMax(payload)
      const found = yield* Errors.answered(
        withdrawals.estimate({ company, asked, destination: payload.destination })
      )
      return Envelope.ok("Estimate", estimated.of(found))
    })
)

const canonical = "/v1/bitcoin/withdraw/confirm"

const creation = Idempotency.creation(canonical, "Withdrawal queued", view.of)

/** Headers, body and responses shared by the operation's two paths. */
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
  "Holds the amount and the fee, and queues the payment. The withdrawal is `pending`, or `pending_approval` if it exceeds `approval_above_sats` of the key or company; it is then sent only after another key approves it. `/v1/bitcoin/withdraw/confirm` and `/v1/bitcoin/send/confirm` are the same operation: an `Idempotency-Key` used with one also applies to the other. Requires the `send` scope."

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
    const ask = {
      asked: yield* Amounts.askedOrMax(payload),
      destination: payload.destination,
      maxFee: payload.max_fee_sats ?? undefined,
      metadata: payload.metadata ?? Metadata.empty
    }
    const once = yield* creation.once(request, headers["idempotency-key"], ask)
    return creation.answer(yield* Errors.answered(withdrawals.confirm({ ...from, ...ask, ...once })))
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
    .annotate(OpenApi.Summary, "Send bitcoin (alias of `/v1/bitcoin/withdraw/confirm`)")
    .annotate(OpenApi.Description, description)
    .annotate(Example, confirmExample),
  Withdrawals,
  confirmWith
)

export const resource = Resource.make({
  path: "/v1/transactions/withdrawals",
  param: "withdrawalID",
  names: ["Withdrawal", "Withdrawals"],
  view,
  example: (world) => example(world).settled
})

export const get = Section.company(
  resource.get("withdrawal", {
    scope: "read",
    summary: "Get a withdrawal",
    description:
      "Returns a withdrawal. Its status is `pending_approval` while another key must approve it, `pending` until the outcome is known, then `settled` or `failed`. The last two are final."
  }),
  Transactions,
  (transactions) => resource.gets(Resource.own(transactions.withdrawal))
)
