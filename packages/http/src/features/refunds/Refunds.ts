import * as Msat from "@satrail/bitcoin/Msat"
import * as Metadata from "@satrail/core/base/Metadata"
import * as Refund from "@satrail/core/features/refunds/Refund"
import { limit, type Made, type Of, Refunds } from "@satrail/core/features/refunds/Refunds"
import * as Voucher from "@satrail/core/features/vouchers/Voucher"
import { Effect, Redacted, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import * as Amounts from "../../wire/Amounts.ts"
import { companyId, Scopes, sender } from "../../api/Authentication.ts"
import { Rules } from "../../wire/Decoding.ts"
import * as Envelope from "../../wire/Envelope.ts"
import * as Errors from "../../wire/Errors.ts"
import { Example, type World } from "../../wire/Examples.ts"
import * as Idempotency from "../../wire/Idempotency.ts"
import * as OwnErrors from "../../wire/OwnErrors.ts"
import * as Page from "../../wire/Page.ts"
import * as Scalars from "../../wire/Scalars.ts"
import { Seal } from "../../wire/Seal.ts"
import * as Section from "../../api/Section.ts"
import * as View from "../../wire/View.ts"
import * as Deposits from "../../resources/Deposits.ts"
import { link } from "../vouchers/Link.ts"
import * as Withdrawals from "../../resources/Withdrawals.ts"

export const errors = OwnErrors.make({
  RefundNotOpen: {
    code: "refund_not_open",
    status: 409,
    meaning: "The refund is being paid or has ended, and cannot be canceled.",
    remedy: "See its `status`, and its withdrawal, `withdrawal_id`.",
    message: ({ status }: Refund.RefundNotOpen) => `The refund is ${status} and cannot be canceled`
  },
  NotRefundable: {
    code: "not_refundable",
    status: 422,
    meaning: "The deposit is not credited: it is pending, failed, or was taken out of the chain by a reorganisation.",
    remedy: "Wait until the deposit is `settled`.",
    message: ({ status }: Refund.NotRefundable) =>
      status === "pending"
        ? "The deposit is pending: it can be refunded once it is confirmed"
        : `The deposit is ${status}: there is nothing to refund`
  },
  RefundTooLarge: {
    code: "refund_too_large",
    status: 422,
    meaning: "All refunds of the deposit together would be more than came in. Nothing was held.",
    remedy: "Refund at most what the message names. A refund that failed, expired or was canceled does not count.",
    message: ({ left }: Refund.RefundTooLarge) =>
      `Of the deposit ${Msat.toDecimalSats(left)} sats can be refunded, which is what came in less its other refunds`
  }
})

const path = "/v1/refunds"
const params = { id: Scalars.Uuid }

const Body = Schema.Struct({
  deposit_id: Scalars.given(Scalars.Uuid.annotate({ description: "The deposit that is refunded: this or `invoice_id`" })),
  invoice_id: Scalars.given(Scalars.Uuid.annotate({ description: "The settled invoice whose deposit is refunded" })),
  amount: Scalars.given(Amounts.AmountNumber),
  currency: Scalars.given(Amounts.Currency),
  destination: Scalars.given(Withdrawals.DestinationText),
  description: Scalars.given(Scalars.Description.annotate({ description: "Of a link: shown by the payer's wallet" })),
  expiry_seconds: Scalars.given(Scalars.expirySeconds(Voucher.expirySeconds)),
  on_checkout: Scalars.given(
    Schema.Boolean.annotate({
      description:
        "Whether the page of the checkout that the deposit paid tells its payer, and shows the link to whoever has the page's: true unless given"
    })
  ),
  metadata: Scalars.given(Scalars.GivenMetadata)
})
  .check(
    Scalars.stated(() => undefined, {
      ...Amounts.withCurrency,
      allOf: [{ anyOf: [{ required: ["deposit_id"] }, { required: ["invoice_id"] }] }]
    })
  )
  .annotate({ identifier: "CreateRefund" })

/** What is refunded, where the body names one thing. */
const ofBody = (body: object): Of | undefined => {
  const [depositId, invoiceId]: ReadonlyArray<unknown> = [Reflect.get(body, "deposit_id"), Reflect.get(body, "invoice_id")]
  if (typeof depositId === "string") return typeof invoiceId === "string" ? undefined : { depositId: depositId.toLowerCase() }
  return typeof invoiceId === "string" ? { invoiceId: invoiceId.toLowerCase() } : undefined
}
const ofWhat = { path: "deposit_id", message: "Either deposit_id or invoice_id" }

/** What is wrong with a body besides the types of its members. */
const issues = (text: string, body: object): ReturnType<typeof Amounts.issues> => [
  ...(ofBody(body) === undefined ? [ofWhat] : []),
  ...Withdrawals.issues(text, body)
]

/** Money that goes back to who paid a deposit. */
export const view = View.make<Refund.Refund>()(
  { identifier: "Refund" },
  {
    id: [Scalars.Uuid, (row) => row.id],
    company_id: [Scalars.Uuid, (row) => row.companyId],
    deposit_id: [Scalars.Uuid, (row) => row.depositId],
    amount_sats: [Scalars.Sats, (row) => Scalars.sats(row.amount)],
    description: [Schema.String, (row) => row.description],
    status: [Refund.Status, (row) => row.status],
    voucher_id: [
      Schema.NullOr(Scalars.Uuid).annotate({ description: "The voucher behind its link; null where it has a destination" }),
      (row) => row.voucherId
    ],
    withdrawal_id: [
      Schema.NullOr(Scalars.Uuid).annotate({ description: "The withdrawal that pays it; null while its link is not claimed" }),
      (row) => row.withdrawalId
    ],
    checkout_id: [
      Schema.NullOr(Scalars.Uuid).annotate({ description: "The checkout whose page tells its payer of it; null where none does" }),
      (row) => row.checkoutId
    ],
    metadata: [Scalars.Metadata, (row) => row.metadata],
    created_at: [Scalars.Instant, (row) => Scalars.instant(row.createdAtMillis)],
    updated_at: [Scalars.Instant, (row) => Scalars.instant(row.updatedAtMillis)]
  }
)

/** The same, once, with its link. */
const made = View.make<Made>()(
  { identifier: "CreatedRefund" },
  {
    ...View.within(view.members, ({ refund }: Made) => refund),
    lnurl: [
      Schema.NullOr(Schema.String).annotate({
        description: "The LNURL (LUD-01) for the payer, in this response only; null where there is a destination"
      }),
      ({ url }) => url && link(url).lnurl
    ],
    lnurlw: [
      Schema.NullOr(Schema.String).annotate({ description: "The same as a lnurlw: link (LUD-17)" }),
      ({ url }) => url && link(url).lnurlw
    ]
  }
)

const example = (world: World): Refund.Refund => ({
  id: world.id("refund", 240_000),
  companyId: world.companyId,
  depositId: Deposits.example(world).id,
  amount: Deposits.example(world).amount,
  description: "Order 1042",
  metadata: world.metadata,
  status: "open",
  voucherId: world.id("voucher of the refund", 240_000),
  withdrawalId: null,
  checkoutId: null,
  sealedLink: null,
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
      "idempotency_mismatch",
      "idempotency_not_supported",
      "answer_not_readable",
      "conflict"
    )
  })
    .annotate(Scopes, ["send"])
    .annotate(Rules, issues)
    .annotate(OpenApi.Summary, "Refund a deposit")
    .annotate(
      OpenApi.Description,
      "With a `destination` the money is sent there; without one, the response has a link that the payer claims with an LNURL wallet, which the page of the deposit's checkout shows as well, unless `on_checkout` is false. Without an `amount`, all that is left of the deposit is refunded, in whole satoshis, or what the destination asks for. All refunds of a deposit together are never more than came in; what failed, expired or was canceled may be refunded again. Fees are on top, as of a withdrawal. Needs the scope `send`."
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
      const once = yield* creation.once(request, headers["idempotency-key"], id)
      const { destination, description, expiry_seconds, metadata, on_checkout } = payload
      const of = ofBody(payload)
      if (of === undefined) return yield* Effect.fail(Errors.malformedRequest([ofWhat]))
      return yield* creation.answer(
        yield* errors.answered(
          refunds.create({
            ...from,
            of,
            asked: yield* Amounts.asked(yield* Effect.orDie(request.text), payload),
            destination: destination ?? undefined,
            onCheckout: on_checkout === false ? undefined : { seal: sealer && ((url) => sealer.seal(Redacted.value(url), id)) },
            ...once,
            description: description ?? "",
            expirySeconds: expiry_seconds ?? Voucher.expirySeconds.default,
            metadata: metadata ?? Metadata.empty
          })
        ),
        id
      )
    })
  }
)

const page = Page.of(view, "Refunds", path)

const list = Section.company(
  HttpApiEndpoint.get("listRefunds", path, {
    query: Page.place(limit),
    success: page.success,
    error: errors.of("malformed", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "List refunds")
    .annotate(OpenApi.Description, "Newest first, without their links. The next page is in the `Link` header. Needs the scope `read`.")
    .annotate(Example, (world) => ({ message: "Refunds", data: [view.of(example(world))] })),
  Refunds,
  (refunds) =>
    Effect.fnUntraced(function* ({ query }) {
      const asked = Page.asked(query, limit)
      const { rows, next } = yield* errors.answered(refunds.list(yield* companyId, asked))
      return page.answer(rows, { limit: String(asked.limit) }, next)
    })
)

const get = Section.company(
  HttpApiEndpoint.get("getRefund", `${path}/:id`, {
    params,
    success: Envelope.success(200, view.schema),
    error: errors.of("not_found", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "Fetch a refund")
    .annotate(OpenApi.Description, "Why a refund failed is in its withdrawal, `withdrawal_id`. Needs the scope `read`.")
    .annotate(Example, (world) => {
      const row = example(world)
      return { params: { id: row.id }, message: "Refund", data: view.of(row) }
    }),
  Refunds,
  (refunds) =>
    Effect.fnUntraced(function* ({ params }) {
      return Envelope.ok("Refund", view.of(yield* errors.answered(refunds.get(yield* companyId, params.id.toLowerCase()))))
    })
)

const cancel = Section.company(
  HttpApiEndpoint.post("cancelRefund", `${path}/:id/cancel`, {
    params,
    success: Envelope.success(200, view.schema),
    error: errors.of("not_found", "refund_not_open", "store_unavailable")
  })
    .annotate(Scopes, ["send"])
    .annotate(OpenApi.Summary, "Cancel a refund")
    .annotate(
      OpenApi.Description,
      "Its link can no longer be claimed, its money is available again, and the deposit may be refunded again. One that is claimed or has a destination is refused; canceling again changes nothing. Needs the scope `send`."
    )
    .annotate(Example, (world) => {
      const row = example(world)
      return {
        params: { id: row.id },
        message: "Refund canceled",
        data: view.of({ ...row, status: "canceled", updatedAtMillis: world.millis(300_000) })
      }
    }),
  Refunds,
  (refunds) =>
    Effect.fnUntraced(function* ({ params }) {
      const row = yield* errors.answered(refunds.cancel(yield* companyId, params.id.toLowerCase()))
      return Envelope.ok("Refund canceled", view.of(row))
    })
)

/** Deposits that go back to who paid them. */
export const section = Section.make("refunds", { title: "Refunds", description: "Deposits that go back to who paid them" }, [
  create,
  list,
  get,
  cancel
])
