import * as Msat from "@satrail/bitcoin/Msat"
import * as Characters from "@satrail/core/base/Characters"
import * as Metadata from "@satrail/core/base/Metadata"
import * as Checkout from "../core/Checkout.ts"
import * as CheckoutUri from "../core/CheckoutUri.ts"
import * as Language from "@satrail/core/base/Language"
import {
  Checkouts,
  colorIssue,
  contactIssue,
  orderIdIssue,
  originIssue,
  urlIssue
} from "../core/Checkouts.ts"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import * as Amounts from "@satrail/http/wire/Amounts"
import { companyId, Scopes } from "@satrail/http/api/Authentication"
import { Rules } from "@satrail/http/wire/Decoding"
import * as Envelope from "@satrail/http/wire/Envelope"
import { Example, type World } from "@satrail/http/wire/Examples"
import * as Idempotency from "@satrail/http/wire/Idempotency"
import * as OwnErrors from "@satrail/http/wire/OwnErrors"
import * as Scalars from "@satrail/http/wire/Scalars"
import * as Search from "@satrail/http/wire/Search"
import * as Resource from "@satrail/http/api/Resource"
import * as Section from "@satrail/http/api/Section"
import * as Member from "@satrail/http/wire/Member"
import * as SplitsView from "@satrail/http/wire/SplitsView"
import * as View from "@satrail/http/wire/View"
import * as Invoices from "@satrail/http/resources/Invoices"
import * as FiatView from "@satrail/http/wire/FiatView"

export const errors = OwnErrors.make({
  CheckoutNotOpen: {
    code: "checkout_not_open",
    status: 409,
    meaning: "The checkout was paid, is being paid, or has expired, so it cannot be canceled.",
    remedy: "Check its `status`. If it was paid, you can refund the deposit.",
    message: ({ status }: Checkout.CheckoutNotOpen) => `This checkout is ${status} and cannot be canceled.`
  }
})

const path = "/v1/checkouts"

const givenUrl = (description: string) =>
  Scalars.given(
    Schema.String.annotate({
      description: `${description}. Must use https, or http on localhost`,
      examples: ["https://shop.example/orders/1042"]
    })
      .check(Characters.atMost(Checkout.limits.urlCharacters))
      .check(Scalars.stated(urlIssue, { pattern: "^https?://" }))
  )

const options = Schema.Array(Checkout.Option).check(Schema.isMaxLength(Checkout.Option.literals.length))

const Body = Schema.Struct({
  amount: Amounts.exact(
    Schema.NullOr(Amounts.AmountNumber).annotate({
      description:
        "Amount in units of `currency`, with at most the currency's decimals: 12.50 eur, 1250 jpy. If null and no currency is set, the payer chooses the amount"
    })
  ),
  currency: Scalars.given(Amounts.Currency),
  description: Scalars.given(Scalars.Description),
  order_id: Scalars.given(
    Schema.String.annotate({ description: "Your order id, shown to the payer", examples: ["1042"] }).check(
      Characters.atMost(Checkout.limits.orderIdCharacters)
    )
  ),
  expiry_seconds: Scalars.given(Scalars.expirySeconds(Checkout.expirySeconds)),
  tolerance_percent: Scalars.given(
    Schema.Int.check(Schema.isBetween(Checkout.tolerancePercent)).annotate({
      description: "Accepted underpayment, in percent of the amount. Default: 0",
      examples: [0]
    })
  ),
  return_url: givenUrl("URL to link to after payment"),
  cancel_url: givenUrl(
    "URL to link to if the payer cancels. Default: once the checkout has ended unpaid, the origin of `return_url`"
  ),
  embed_origin: Scalars.given(
    Schema.String.annotate({
      description:
        "Origin allowed to embed the checkout with `/pay/embed.js` and to receive its `paid` message. Default: none",
      examples: ["https://shop.example"]
    })
      .check(Characters.atMost(Checkout.limits.urlCharacters))
      .check(Scalars.stated(originIssue, { pattern: "^https?://" }))
  ),
  color: Scalars.given(
    Schema.String.annotate({
      description: "Button color, as `#rrggbb`. Text is black or white, whichever contrasts more",
      examples: ["#1d4ed8"]
    }).check(Scalars.stated(colorIssue, { pattern: "^#[0-9a-f]{6}$" }))
  ),
  contact: Scalars.given(
    Schema.String.annotate({
      description: "Email address or https URL where payers can reach you, shown when they may need help",
      examples: ["help@shop.example"]
    })
      .check(Characters.atMost(Checkout.limits.urlCharacters))
      .check(Scalars.stated(contactIssue, { pattern: "@|^https?://" }))
  ),
  options: Scalars.given(
    options.annotate({
      description:
        "Lets the payer get a `new_quote` after expiry, add a `tip`, or leave an `email` address for a receipt, which you send. Default: none",
      examples: [["new_quote"]]
    })
  ),
  locale: Scalars.given(
    Schema.String.annotate({
      description:
        "Language of the page, as a language tag or a POSIX locale: `pt-BR`, `de_DE.UTF-8`. The region is ignored. `auto`, or a language in which the page is not available: the language of the payer's browser, or else English. Default: `auto`",
      examples: ["pt-BR"]
    }).check(
      Scalars.stated(Language.tagIssue, {
        maxLength: Language.maxTagCharacters,
        pattern: `^$|^${Language.tagPattern}$`
      })
    )
  ),
  splits: SplitsView.given,
  metadata: Scalars.given(Scalars.GivenMetadata)
}).annotate({ identifier: "CreateCheckout" })

export const view = View.make<Checkout.Shown>()(
  { identifier: "Checkout" },
  {
    id: Member.uuid((row) => row.id),
    company_id: Member.uuid((row) => row.companyId),
    url: [
      Scalars.text("https://pay.example.com/pay/9f0d1c1e52a54f7c8f430b8f6a6c1042").annotate({
        description: "URL of the payment page. Anyone with this URL can see the amount and the description"
      }),
      Checkout.urlOf
    ],
    reference: Member.text(
      (row) => row.publicId,
      "Reference on the payment page and the receipt, which payers quote. `GET /v1/search` finds it"
    ),
    status: [
      Checkout.Status.annotate({
        description:
          "`open`: can be paid. `underpaid`: part was credited, and the rest can be paid. `paid`: enough was credited; final. `expired`: not paid in time. `canceled`: canceled by you. Payments that arrive after `expired` or `canceled` are credited. The status becomes `paid` with `late: true` if enough is credited and not refunded"
      }),
      (row) => row.status
    ],
    late: [
      Schema.Boolean.annotate({
        description:
          "Whether the payment arrived after the checkout expired, or was credited after you canceled it. An on-chain payment arrives when it is first seen"
      }),
      Checkout.isLate
    ],
    amount_sats: Member.satsOrNull((row) => row.amount, "Requested amount; null if the payer decides"),
    fiat_amount: [
      Schema.NullOr(Scalars.text("12.5")).annotate({
        description: "Amount in fiat, as requested; null if requested in bitcoin"
      }),
      (row) => row.fiatAmount
    ],
    fiat_currency: [Schema.NullOr(Scalars.text("eur")), (row) => row.fiatCurrency],
    rate: [
      Schema.NullOr(Scalars.text("61234.5")).annotate({
        description: "Exchange rate in fiat per bitcoin, fixed when the checkout is created"
      }),
      (row) => row.rate
    ],
    tolerance_percent: [Schema.Int, (row) => row.tolerancePercent],
    received_sats: Member.sats(
      (row) => row.received,
      "Credited amount, including refunded payments, in whole satoshis, rounded down"
    ),
    pending_sats: Member.sats(
      (row) => row.pending,
      "Unconfirmed on-chain amount, in whole satoshis. `payment_request` does not ask for it"
    ),
    description: Member.text((row) => row.description),
    order_id: Member.textOrNull((row) => row.orderId),
    metadata: [Scalars.Metadata, (row) => row.metadata],
    return_url: Member.textOrNull((row) => row.returnUrl),
    cancel_url: Member.textOrNull((row) => row.cancelUrl),
    embed_origin: Member.textOrNull((row) => row.embedOrigin),
    color: Member.textOrNull((row) => row.color),
    locale: [
      Schema.Literals([...Language.Locale.literals, Language.auto]).annotate({
        description: "Language of the page; `auto` if the payer's browser decides"
      }),
      (row) => (row.localeSource === "browser" ? Language.auto : row.locale)
    ],
    contact: Member.textOrNull((row) => row.contact),
    options: [options, (row) => row.options],
    tip_sats: [
      Schema.NullOr(Scalars.Sats).annotate({
        description: "Tip that the payer chose, in addition to `amount_sats`"
      }),
      (row) => (row.tipPercent === null ? null : Scalars.satsOrNull(Checkout.tipOf(row)))
    ],
    payer_email: Member.textOrNull((row) => row.payerEmail, "Email address that the payer left"),
    deposit_ids: [
      Schema.NullOr(Schema.Array(Scalars.Uuid)).annotate({
        description: `Deposits toward it, pending or credited, newest first, at most ${Checkout.shownDeposits}; null in events`
      }),
      (row) => row.depositIds
    ],
    invoice_id: Member.uuid(
      (row) => row.invoiceId,
      "Lightning invoice for the amount neither credited nor pending. Canceled once payments cover the checkout"
    ),
    payment_request: Member.text((row) => row.paymentRequest, "Lightning invoice (BOLT 11)"),
    address: Member.text((row) => row.address, "On-chain address"),
    bip21: [
      Schema.NullOr(
        Scalars.text(
          "bitcoin:bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080?amount=0.00021000&lightning=lnbcrt210u1…"
        )
      ).annotate({
        description:
          "URI for the page's QR code, with amount, address and invoice (BIP 321). If the amount due is too small on-chain, a `lightning:` URI. Null if nothing can be paid now, and in events. It contains no BOLT 12 offer, because an offer cannot be revoked when the checkout ends"
      }),
      (row) => row.bip21
    ],
    created_at: Member.instant((row) => row.createdAtMillis),
    expires_at: Member.instant((row) => row.expiresAtMillis),
    paid_at: Member.instantOrNull((row) => row.paidAtMillis, "Time of payment; null until recorded as paid"),
    splits: SplitsView.splits,
    ...FiatView.members
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
    rateSource: null,
    tolerancePercent: 0,
    description: asked.memo,
    orderId: "1042",
    metadata,
    returnUrl: "https://shop.example/orders/1042",
    cancelUrl: null,
    embedOrigin: null,
    color: null,
    locale: "en",
    localeSource: "browser",
    options: [],
    contact: null,
    tipPercent: null,
    payerEmail: null,
    splits: null,
    invoiceId: open.id,
    paymentRequest: open.paymentRequest,
    onChainAddressId: id("on-chain address"),
    address: address.address,
    status: "open",
    received: Msat.zero,
    deducted: Msat.zero,
    pending: Msat.zero,
    pendingHeight: null,
    depositIds: [],
    isAsking: true,
    bip21: CheckoutUri.make({
      address: address.address,
      invoice: open.paymentRequest,
      due: asked.amount,
      minOnChain: Msat.zero
    }),
    paidAtMillis: null,
    endedAtMillis: null,
    revision: 0,
    createdAtMillis: millis,
    quotedAtMillis: null,
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
      "Creates a payment page at `url`. The payer can use Lightning or, unless the amount due is too small to be credited on-chain, on-chain; paying one closes the other. Payments are recorded as deposits. Set `amount` to `null` to let the payer choose the amount. Requires the `receive` scope."
    )
    .annotate(Example, (world) => {
      const row = example(world)
      const { description, orderId, returnUrl, metadata } = row
      return {
        body: {
          amount: 21_000,
          currency: "sats",
          description,
          order_id: orderId,
          return_url: returnUrl,
          metadata
        },
        message: "Checkout created",
        data: view.of(row)
      }
    }),
  Checkouts,
  (checkouts) =>
    Effect.fnUntraced(function* ({ payload, headers, request }) {
      const ask = {
        asked: (yield* Amounts.askedOrAny(payload)) ?? null,
        description: payload.description ?? "",
        orderId: Scalars.orNull(payload.order_id),
        expirySeconds: payload.expiry_seconds ?? Checkout.expirySeconds.default,
        tolerancePercent: payload.tolerance_percent ?? Checkout.tolerancePercent.default,
        returnUrl: payload.return_url ?? null,
        cancelUrl: payload.cancel_url ?? null,
        embedOrigin: payload.embed_origin ?? null,
        color: payload.color ?? null,
        locale: payload.locale ?? null,
        contact: payload.contact ?? null,
        options: payload.options ?? [],
        splits: SplitsView.read(payload.splits),
        metadata: payload.metadata ?? Metadata.empty
      }
      const once = yield* creation.once(request, headers["idempotency-key"], {
        ...ask,
        options: new Set(ask.options)
      })
      return creation.answer(
        yield* errors.answered(checkouts.create({ companyId: yield* companyId, ...ask, ...once }))
      )
    })
)

const resource = Resource.make({ path, names: ["Checkout", "Checkouts"], view, example })

const list = Section.company(
  resource.list(
    "listCheckouts",
    { scope: "read", summary: "List checkouts", description: "Returns checkouts, newest first." },
    {
      order_id: Schema.optionalKey(
        Schema.String.annotate({
          description: "Exact `order_id`, such as that of a request whose response was lost",
          examples: ["1042"]
        }).check(Scalars.stated(orderIdIssue, { maxLength: Checkout.limits.orderIdCharacters }))
      ),
      status: Schema.optionalKey(Checkout.Status),
      ...Search.times
    }
  ),
  Checkouts,
  (checkouts) =>
    resource.lists((asked, { order_id: orderId, status }) =>
      Resource.own(checkouts.list)({ ...asked, orderId, status })
    )
)

const get = Section.company(
  resource.get("getCheckout", {
    scope: "read",
    summary: "Get a checkout",
    description: "Returns the current state of a checkout."
  }),
  Checkouts,
  (checkouts) => resource.gets(Resource.own(checkouts.get))
)

const canceled = "Checkout canceled"

const cancel = Section.company(
  HttpApiEndpoint.post("cancelCheckout", `${path}/:id/cancel`, {
    ...resource.one,
    error: errors.of("not_found", "checkout_not_open", "store_unavailable")
  }).annotateMerge(
    resource.about(
      canceled,
      {
        scope: "receive",
        summary: "Cancel a checkout",
        description:
          "Cancels an open checkout and its invoice. On-chain payments that still arrive are credited. If they are enough, the checkout becomes `paid` with `late: true`. A paid or expired checkout returns `checkout_not_open`. Canceling twice has no further effect."
      },
      (row) => ({ ...row, status: "canceled", bip21: null })
    )
  ),
  Checkouts,
  (checkouts) => resource.answers(canceled, (id) => errors.answered(Resource.own(checkouts.cancel)(id)))
)

export const section = Section.make(
  "checkouts",
  { title: "Checkouts", description: "Payment pages that accept Lightning and on-chain payments" },
  [create, list, get, cancel]
)
