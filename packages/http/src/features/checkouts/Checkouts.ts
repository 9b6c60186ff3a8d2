import * as Msat from "@satrail/bitcoin/Msat"
import * as Characters from "@satrail/core/base/Characters"
import * as Metadata from "@satrail/core/base/Metadata"
import * as Checkout from "@satrail/core/features/checkouts/Checkout"
import { Checkouts, limit, colorIssue, originIssue, urlIssue } from "@satrail/core/features/checkouts/Checkouts"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import * as Amounts from "../../wire/Amounts.ts"
import { companyId, Scopes } from "../../api/Authentication.ts"
import { Rules } from "../../wire/Decoding.ts"
import * as Envelope from "../../wire/Envelope.ts"
import { Example, type World } from "../../wire/Examples.ts"
import * as Idempotency from "../../wire/Idempotency.ts"
import * as OwnErrors from "../../wire/OwnErrors.ts"
import * as Page from "../../wire/Page.ts"
import * as Scalars from "../../wire/Scalars.ts"
import * as Section from "../../api/Section.ts"
import * as View from "../../wire/View.ts"
import * as Invoices from "../../resources/Invoices.ts"

export const errors = OwnErrors.make({
  CheckoutNotOpen: {
    code: "checkout_not_open",
    status: 409,
    meaning: "The checkout was paid, is being paid, or has expired, and cannot be canceled.",
    remedy: "See its `status`. What was paid can be refunded.",
    message: ({ status }: Checkout.CheckoutNotOpen) => `The checkout is ${status} and cannot be canceled`
  }
})

const path = "/v1/checkouts"
const params = { id: Scalars.Uuid }

const givenUrl = (description: string) =>
  Scalars.given(
    Schema.String.annotate({
      description: `${description}. https, or http to this machine`,
      examples: ["https://shop.example/orders/1042"]
    })
      .check(Characters.atMost(Checkout.limits.urlCharacters))
      .check(Scalars.stated(urlIssue, { pattern: "^https?://" }))
  )

const Body = Schema.Struct({
  amount: Schema.NullOr(Amounts.AmountNumber).annotate({
    description: "In units of `currency`, read exactly. null, without a currency: the payer decides"
  }),
  currency: Scalars.given(Amounts.Currency),
  description: Scalars.given(Scalars.Description),
  order_id: Scalars.given(
    Schema.String.annotate({ description: "Yours, shown to the payer", examples: ["1042"] }).check(
      Characters.atMost(Checkout.limits.orderIdCharacters)
    )
  ),
  expiry_seconds: Scalars.given(Scalars.expirySeconds(Checkout.expirySeconds)),
  tolerance_percent: Scalars.given(
    Schema.Int.check(Schema.isBetween(Checkout.tolerancePercent)).annotate({
      description: "So much of the amount may be missing, and it is paid all the same: 0 by default",
      examples: [0]
    })
  ),
  return_url: givenUrl("Where the payer goes on once it is paid"),
  cancel_url: givenUrl("Where the payer goes who does not want to pay"),
  embed_origin: Scalars.given(
    Schema.String.annotate({
      description:
        "The origin of the page that may show it in a frame, with `/pay/embed.js`, and is told when it is paid. Nobody may by default",
      examples: ["https://shop.example"]
    })
      .check(Characters.atMost(Checkout.limits.urlCharacters))
      .check(Scalars.stated(originIssue, { pattern: "^https?://" }))
  ),
  color: Scalars.given(
    Schema.String.annotate({
      description: "The colour of its buttons. What is written on them is black or white, whichever is read better",
      examples: ["#1d4ed8"]
    }).check(Scalars.stated(colorIssue, { pattern: "^#[0-9a-f]{6}$" }))
  ),
  locale: Scalars.given(Checkout.Locale.annotate({ description: "The language of its page: `en` by default" })),
  metadata: Scalars.given(Scalars.GivenMetadata)
}).annotate({ identifier: "CreateCheckout" })

/** A checkout as its company sees it. */
export const view = View.make<Checkout.Shown>()(
  { identifier: "Checkout" },
  {
    id: [Scalars.Uuid, (row) => row.id],
    company_id: [Scalars.Uuid, (row) => row.companyId],
    url: [
      Scalars.text("https://pay.example.com/pay/9f0d1c1e52a54f7c8f430b8f6a6c1042").annotate({
        description: "The page on which it is paid. Whoever has it sees what is to be paid, and for what"
      }),
      Checkout.urlOf
    ],
    status: [
      Checkout.Status.annotate({
        description:
          "`open`: it may be paid. `underpaid`: a part was credited, and the rest may be paid. `paid`: enough was credited, for ever. `expired`: not paid in time; `canceled`: by you. What is paid all the same is credited, and then it is `paid`, with `late: true`"
      }),
      (row) => row.status
    ],
    late: [Schema.Boolean.annotate({ description: "It was paid when it had expired or was canceled" }), Checkout.isLate],
    amount_sats: [
      Schema.NullOr(Scalars.Sats).annotate({ description: "null where the payer decides" }),
      (row) => Scalars.satsOrNull(row.amount)
    ],
    fiat_amount: [
      Schema.NullOr(Scalars.text("12.5")).annotate({ description: "As it was asked for; null where that was in bitcoin" }),
      (row) => row.fiatAmount
    ],
    fiat_currency: [Schema.NullOr(Scalars.text("eur")), (row) => row.fiatCurrency],
    rate: [
      Schema.NullOr(Scalars.text("61234.5")).annotate({ description: "Fiat units for one bitcoin, fixed for its life" }),
      (row) => row.rate
    ],
    tolerance_percent: [Schema.Int, (row) => row.tolerancePercent],
    received_sats: [
      Schema.Int.annotate({ description: "Whole satoshis that were credited, rounded down" }),
      (row) => Scalars.sats(row.received)
    ],
    pending_sats: [
      Schema.Int.annotate({ description: "Whole satoshis that were seen on-chain and are not confirmed yet" }),
      (row) => Scalars.sats(row.pending)
    ],
    description: [Schema.String, (row) => row.description],
    order_id: [Schema.NullOr(Schema.String), (row) => row.orderId],
    metadata: [Scalars.Metadata, (row) => row.metadata],
    return_url: [Schema.NullOr(Schema.String), (row) => row.returnUrl],
    cancel_url: [Schema.NullOr(Schema.String), (row) => row.cancelUrl],
    embed_origin: [Schema.NullOr(Schema.String), (row) => row.embedOrigin],
    color: [Schema.NullOr(Schema.String), (row) => row.color],
    locale: [Checkout.Locale, (row) => row.locale],
    invoice_id: [Scalars.Uuid.annotate({ description: "The Lightning invoice of what is still to be paid" }), (row) => row.invoiceId],
    payment_request: [Schema.String.annotate({ description: "BOLT 11" }), (row) => row.paymentRequest],
    address: [Schema.String.annotate({ description: "The on-chain address" }), (row) => row.address],
    created_at: [Scalars.Instant, (row) => Scalars.instant(row.createdAtMillis)],
    expires_at: [Scalars.Instant, (row) => Scalars.instant(row.expiresAtMillis)],
    paid_at: [
      Schema.NullOr(Scalars.Instant).annotate({ description: "null until it is recorded as paid" }),
      (row) => Scalars.instantOrNull(row.paidAtMillis)
    ]
  }
)

const example = (world: World): Checkout.Shown => {
  const { id, companyId, metadata, serviceDomain, asked, address } = world
  const { open } = Invoices.example(world)
  const millis = world.millis()
  return {
    id: id("checkout"),
    companyId,
    publicId: "9f0d1c1e52a54f7c8f430b8f6a6c1042",
    domain: serviceDomain,
    amount: asked.amount,
    fiatAmount: null,
    fiatCurrency: null,
    rate: null,
    rateAtMillis: null,
    tolerancePercent: 0,
    description: asked.memo,
    orderId: "1042",
    metadata,
    returnUrl: "https://shop.example/orders/1042",
    cancelUrl: null,
    embedOrigin: null,
    color: null,
    locale: "en",
    invoiceId: open.id,
    paymentRequest: open.paymentRequest,
    onChainAddressId: id("on-chain address"),
    address: address.address,
    status: "open",
    received: Msat.zero,
    pending: Msat.zero,
    pendingHeight: null,
    isAsking: true,
    paidAtMillis: null,
    endedAtMillis: null,
    revision: 0,
    createdAtMillis: millis,
    expiresAtMillis: millis + Checkout.expirySeconds.default * 1000,
    updatedAtMillis: millis
  }
}

const creation = Idempotency.creation(path, "Checkout created", view.of)

const create = Section.company(
  HttpApiEndpoint.post("createCheckout", path, {
    headers: Idempotency.headers,
    payload: Body,
    success: Envelope.success(201, view.schema),
    error: errors.of(
      "malformed",
      "paused",
      "idempotency_mismatch",
      "conflict",
      "rate_unavailable",
      "node_unavailable",
      "chain_unavailable",
      "store_unavailable"
    )
  })
    .annotate(Scopes, ["receive"])
    .annotate(Rules, Amounts.issuesOrAny)
    .annotate(OpenApi.Summary, "Create a checkout")
    .annotate(
      OpenApi.Description,
      "One thing to pay, over Lightning or on-chain, at `url`. Whichever is paid closes the other. What it receives are deposits like any other. With `amount: null` the payer decides what to pay. Needs the scope `receive`."
    )
    .annotate(Example, (world) => {
      const row = example(world)
      const { description, orderId, returnUrl, metadata } = row
      return {
        body: { amount: 21_000, currency: "sats", description, order_id: orderId, return_url: returnUrl, metadata },
        message: "Checkout created",
        data: view.of(row)
      }
    }),
  Checkouts,
  (checkouts) =>
    Effect.fnUntraced(function* ({ payload, headers, request }) {
      const once = yield* creation.once(request, headers["idempotency-key"])
      const asked = yield* Amounts.askedOrAny(yield* Effect.orDie(request.text), payload)
      return creation.answer(
        yield* errors.answered(
          checkouts.create({
            companyId: yield* companyId,
            ...once,
            asked: asked ?? null,
            description: payload.description ?? "",
            orderId: Scalars.orNull(payload.order_id),
            expirySeconds: payload.expiry_seconds ?? Checkout.expirySeconds.default,
            tolerancePercent: payload.tolerance_percent ?? Checkout.tolerancePercent.default,
            returnUrl: payload.return_url ?? null,
            cancelUrl: payload.cancel_url ?? null,
            embedOrigin: payload.embed_origin ?? null,
            color: payload.color ?? null,
            locale: payload.locale ?? "en",
            metadata: payload.metadata ?? Metadata.empty
          })
        )
      )
    })
)

const page = Page.of(view, "Checkouts", path)

const list = Section.company(
  HttpApiEndpoint.get("listCheckouts", path, {
    query: Page.place(limit),
    success: page.success,
    error: errors.of("malformed", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "List checkouts")
    .annotate(OpenApi.Description, "Newest first. The next page is in the `Link` header. Needs the scope `read`.")
    .annotate(Example, (world) => ({ message: "Checkouts", data: [view.of(example(world))] })),
  Checkouts,
  (checkouts) =>
    Effect.fnUntraced(function* ({ query }) {
      const asked = Page.asked(query, limit)
      const { checkouts: rows, next } = yield* errors.answered(checkouts.list(yield* companyId, asked))
      return page.answer(rows, { limit: String(asked.limit) }, next)
    })
)

const get = Section.company(
  HttpApiEndpoint.get("getCheckout", `${path}/:id`, {
    params,
    success: Envelope.success(200, view.schema),
    error: errors.of("not_found", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "Fetch a checkout")
    .annotate(OpenApi.Description, "As it stands now. Needs the scope `read`.")
    .annotate(Example, (world) => {
      const row = example(world)
      return { params: { id: row.id }, message: "Checkout", data: view.of(row) }
    }),
  Checkouts,
  (checkouts) =>
    Effect.fnUntraced(function* ({ params }) {
      return View.answer("Checkout", view.of(yield* errors.answered(checkouts.get(yield* companyId, params.id.toLowerCase()))))
    })
)

const cancel = Section.company(
  HttpApiEndpoint.post("cancelCheckout", `${path}/:id/cancel`, {
    params,
    success: Envelope.success(200, view.schema),
    error: errors.of("not_found", "checkout_not_open", "store_unavailable")
  })
    .annotate(Scopes, ["receive"])
    .annotate(OpenApi.Summary, "Cancel a checkout")
    .annotate(
      OpenApi.Description,
      "Nobody is to pay it any more, and its invoice is canceled. What is paid on-chain all the same is credited, and the checkout is `paid`, late. One that was paid or has expired is refused; canceling again changes nothing. Needs the scope `receive`."
    )
    .annotate(Example, (world) => {
      const row = example(world)
      return { params: { id: row.id }, message: "Checkout canceled", data: view.of({ ...row, status: "canceled" }) }
    }),
  Checkouts,
  (checkouts) =>
    Effect.fnUntraced(function* ({ params }) {
      const row = yield* errors.answered(checkouts.cancel(yield* companyId, params.id.toLowerCase()))
      return Envelope.ok("Checkout canceled", view.of(row))
    })
)

/** One thing to pay, over Lightning or on-chain. */
export const section = Section.make("checkouts", { title: "Checkouts", description: "One thing to pay, over Lightning or on-chain" }, [
  create,
  list,
  get,
  cancel
])
