import * as Msat from "@satrail/bitcoin/Msat"
import * as Metadata from "@satrail/core/base/Metadata"
import * as Refund from "../core/Refund.ts"
import { type Made, ofMessage, Refunds } from "../core/Refunds.ts"
import * as Voucher from "../../vouchers/core/Voucher.ts"
import { Effect, Redacted, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import * as Amounts from "@satrail/http/wire/Amounts"
import { Scopes, sender } from "@satrail/http/api/Authentication"
import { Rules } from "@satrail/http/wire/Decoding"
import * as Envelope from "@satrail/http/wire/Envelope"
import { Example, type World } from "@satrail/http/wire/Examples"
import * as Idempotency from "@satrail/http/wire/Idempotency"
import * as OwnErrors from "@satrail/http/wire/OwnErrors"
import * as Scalars from "@satrail/http/wire/Scalars"
import * as Search from "@satrail/http/wire/Search"
import { Seal } from "@satrail/http/wire/Seal"
import * as Resource from "@satrail/http/api/Resource"
import * as Section from "@satrail/http/api/Section"
import * as Member from "@satrail/http/wire/Member"
import * as View from "@satrail/http/wire/View"
import * as Deposits from "@satrail/http/resources/Deposits"
import { link } from "@satrail/http/wire/LnurlLink"
import * as Vouchers from "../../vouchers/http/Vouchers.ts"
import * as Withdrawals from "@satrail/http/resources/Withdrawals"
import * as Rated from "@satrail/core/base/Rated"
import * as FiatView from "@satrail/http/wire/FiatView"

export const errors = OwnErrors.make({
  RefundNotOpen: {
    code: "refund_not_open",
    status: 409,
    meaning: "The refund is being paid or is already final, so it cannot be canceled.",
    remedy: "Check its `status`, and the withdrawal named by `withdrawal_id`.",
    message: ({ status }: Refund.RefundNotOpen) => `This refund is ${status} and cannot be canceled.`
  },
  NotRefundable: {
    code: "not_refundable",
    status: 422,
    meaning:
      "The deposit is pending, failed or removed by a chain reorganization, or its checkout is `underpaid`.",
    remedy:
      "Wait until the deposit is `settled`. Cancel an underpaid checkout first, or wait for `checkout.expired`.",
    message: ({ status }: Refund.NotRefundable) =>
      status === "pending"
        ? "This deposit is still pending. Refund it after it confirms."
        : status === "underpaid"
          ? "The rest of this deposit's checkout can still be paid. Cancel the checkout, or wait for checkout.expired, then refund the deposit."
          : `This deposit is ${status}, so there is nothing to refund.`
  },
  RefundTooLarge: {
    code: "refund_too_large",
    status: 422,
    meaning: "The refunds of this deposit would exceed the amount received. Nothing was held.",
    remedy: "Refund at most the amount in the message. Failed, expired and canceled refunds do not count.",
    message: ({ left }: Refund.RefundTooLarge) =>
      `At most ${Msat.inSats(Msat.toDecimalSats(left))} of this deposit can still be refunded.`
  }
})

const path = "/v1/refunds"

/** The fields that identify the deposit. A body has exactly one of them. */
const subjects = ["deposit_id", "invoice_id", "checkout_id"] as const

const Body = Schema.Struct({
  deposit_id: Scalars.given(
    Scalars.inLowerCase(
      Scalars.Uuid.annotate({ description: "Deposit to refund. Set this, `invoice_id` or `checkout_id`" })
    )
  ),
  invoice_id: Scalars.given(
    Scalars.inLowerCase(Scalars.Uuid.annotate({ description: "Settled invoice whose deposit is refunded" }))
  ),
  checkout_id: Scalars.given(
    Scalars.inLowerCase(
      Scalars.Uuid.annotate({
        description: "Checkout whose deposit is refunded, if it was paid by one deposit"
      })
    )
  ),
  amount: Scalars.given(Amounts.exact(Amounts.AmountNumber)),
  currency: Scalars.given(Amounts.Currency),
  destination: Scalars.given(Withdrawals.DestinationText),
  description: Scalars.given(
    Scalars.Description.annotate({ description: "Description of a refund link, shown by the payer's wallet" })
  ),
  expiry_seconds: Scalars.given(Scalars.expirySeconds(Refund.expirySeconds)),
  on_checkout: Scalars.given(
    Schema.Boolean.annotate({
      description:
        "Whether the page of the paid checkout shows the refund and its link. Anyone with the page's URL can then see the link. Default: true"
    })
  ),
  metadata: Scalars.given(Scalars.GivenMetadata)
})
  .check(
    Scalars.stated(() => undefined, {
      ...Amounts.withCurrency,
      allOf: [{ anyOf: subjects.map((name) => ({ required: [name] })) }]
    })
  )
  .annotate({ identifier: "CreateRefund" })

/** Returns issues that the schema cannot express. */
const issues = (text: string, body: object): ReturnType<typeof Amounts.issues> => [
  ...(subjects.filter((name) => typeof Reflect.get(body, name) === "string").length === 1
    ? []
    : [{ path: "deposit_id", message: ofMessage }]),
  ...Withdrawals.issues(text, body)
]

export const view = View.make<Refund.Refund>()(
  { identifier: "Refund" },
  {
    id: Member.uuid((row) => row.id),
    company_id: Member.uuid((row) => row.companyId),
    deposit_id: Member.uuid((row) => row.depositId),
    amount_sats: Member.sats((row) => row.amount),
    description: Member.text((row) => row.description),
    status: [Refund.Status, (row) => row.status],
    voucher_id: Member.uuidOrNull(
      (row) => row.voucherId,
      "Voucher behind the refund link; null if the refund has a destination"
    ),
    withdrawal_id: Member.uuidOrNull(
      (row) => row.withdrawalId,
      "Withdrawal that pays the refund; null until its link is claimed"
    ),
    checkout_id: Member.uuidOrNull(
      (row) => row.checkoutId,
      "Checkout whose page shows the refund to the payer; null if none"
    ),
    metadata: [Scalars.Metadata, (row) => row.metadata],
    created_by: Vouchers.createdBy((row: Refund.Refund) => row.createdBy),
    created_at: Member.instant((row) => row.createdAtMillis),
    updated_at: Member.instant((row) => row.updatedAtMillis),
    ...FiatView.members
  }
)

/** A new refund with its link, which is shown only once. */
export const made = View.make<Made>()(
  { identifier: "CreatedRefund" },
  {
    ...View.within(view.members, ({ refund }: Made) => refund),
    lnurl: Member.textOrNull(
      ({ url }) => url && link(url).lnurl,
      "LNURL for the payer (LUD-01), only in this response; null if the refund has a destination"
    ),
    lnurlw: Member.textOrNull(({ url }) => url && link(url).lnurlw, "The LNURL as an lnurlw: link (LUD-17)")
  }
)

const example = (world: World): Refund.Refund => ({
  id: world.id("refund", 240_000),
  companyId: world.companyId,
  depositId: Deposits.example(world).id,
  amount: Deposits.example(world).amount,
  ...Rated.none,
  description: "Order 1042",
  metadata: world.metadata,
  status: "open",
  voucherId: world.id("voucher of the refund", 240_000),
  withdrawalId: null,
  checkoutId: null,
  sealedLink: null,
  createdBy: null,
  createdAtMillis: world.millis(240_000),
  updatedAtMillis: world.millis(240_000)
})

const create = Section.company(
  HttpApiEndpoint.post("createRefund", path, {
    headers: Idempotency.headers,
    payload: Body,
    success: Envelope.success(201, made.schema),
    error: errors.of(
      ...Withdrawals.refusals,
      "not_found",
      "not_refundable",
      "refund_too_large",
      "insufficient_balance",
      "fee_changed",
      "limit_exceeded",
      "company_frozen",
      "paused",
      ...Idempotency.sealedErrors
    )
  })
    .annotate(Scopes, ["send"])
    .annotate(Rules, issues)
    .annotate(OpenApi.Summary, "Refund a deposit")
    .annotate(
      OpenApi.Description,
      "Refunds a deposit. With a `destination`, the funds are sent there. Otherwise the response contains a link that the payer claims with an LNURL wallet; unless `on_checkout` is false, the checkout page shows it too. Without an `amount`, the destination's amount or the rest of the deposit is refunded, in whole satoshis. All refunds of a deposit together cannot exceed the amount received, but failed, expired and canceled ones do not count. Cancel an `underpaid` checkout before you refund its payments. Fees are added as for a withdrawal. Requires the `send` scope."
    )
    .annotate(Example, (world) => {
      const [refund, { metadata, serviceDomain, k1 }] = [example(world), world]
      const { depositId, description } = refund
      return {
        body: { deposit_id: depositId, description, metadata },
        message: "Refund created",
        data: made.of({ refund, url: Redacted.make(Voucher.urlOf(serviceDomain, k1)) })
      }
    }),
  Effect.all([Refunds, Seal]),
  ([refunds, sealer]) => {
    const creation = Idempotency.sealedCreation(path, "Refund created", made.of, sealer)
    return Effect.fnUntraced(function* ({ payload, headers, request }) {
      const from = yield* sender
      const { id } = from.company
      const {
        deposit_id,
        invoice_id,
        checkout_id,
        destination,
        description,
        expiry_seconds,
        metadata,
        on_checkout
      } = payload
      const isOnCheckout = on_checkout !== false
      const ask = {
        depositId: deposit_id ?? undefined,
        invoiceId: invoice_id ?? undefined,
        checkoutId: checkout_id ?? undefined,
        asked: yield* Amounts.asked(payload),
        destination: destination ?? undefined,
        description: description ?? "",
        expirySeconds: expiry_seconds ?? Refund.expirySeconds.default,
        metadata: metadata ?? Metadata.empty
      }
      const once = yield* creation.once(request, headers["idempotency-key"], { ...ask, isOnCheckout }, id)
      const onCheckout = isOnCheckout
        ? { seal: sealer && ((url: Redacted.Redacted) => sealer.seal(Redacted.value(url), id)) }
        : undefined
      return yield* creation.answer(
        yield* errors.answered(refunds.create({ ...from, ...ask, onCheckout, ...once })),
        id
      )
    })
  }
)

const resource = Resource.make({ path, names: ["Refund", "Refunds"], view, example })

const list = Section.company(
  resource.list(
    "listRefunds",
    {
      scope: "read",
      summary: "List refunds",
      description: "Returns refunds without their links, newest first."
    },
    {
      ...Search.times,
      deposit_id: Schema.optionalKey(
        Scalars.inLowerCase(Scalars.Uuid.annotate({ description: "Only refunds of this deposit" }))
      )
    }
  ),
  Refunds,
  (refunds) =>
    resource.lists((asked, { deposit_id: depositId }) => Resource.own(refunds.list)({ ...asked, depositId }))
)

const get = Section.company(
  resource.get("getRefund", {
    scope: "read",
    summary: "Get a refund",
    description: "Returns a refund. If it failed, see the withdrawal in `withdrawal_id` for the reason."
  }),
  Refunds,
  (refunds) => resource.gets(Resource.own(refunds.get))
)

const canceled = "Refund canceled"

const cancel = Section.company(
  HttpApiEndpoint.post("cancelRefund", `${path}/:id/cancel`, {
    ...resource.one,
    error: errors.of("not_found", "refund_not_open", "store_unavailable")
  }).annotateMerge(
    resource.about(
      canceled,
      {
        scope: "send",
        summary: "Cancel a refund",
        description:
          "Cancels a refund link that is not claimed yet. Its funds are released, and the deposit can be refunded again. A refund that is claimed, has expired or has a destination returns `refund_not_open`. Canceling twice has no further effect."
      },
      (row, world) => ({ ...row, status: "canceled", updatedAtMillis: world.millis(300_000) })
    )
  ),
  Refunds,
  (refunds) => resource.answers(canceled, (id) => errors.answered(Resource.own(refunds.cancel)(id)))
)

export const section = Section.make(
  "refunds",
  { title: "Refunds", description: "Return deposits to their payers" },
  [create, list, get, cancel]
)
