import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as Metadata from "@satrail/core/base/Metadata"
import * as Pages from "@satrail/core/ledger/Page"
import * as Invoice from "@satrail/core/receiving/Invoice"
import { Invoices } from "@satrail/core/receiving/Invoices"
import * as LookUps from "@satrail/core/receiving/LookUps"
import { Effect, Predicate, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import * as Amounts from "../wire/Amounts.ts"
import { Caller, companyId, Scopes } from "../api/Authentication.ts"
import { bodyIsOptional } from "../api/Base.ts"
import { Rules } from "../wire/Decoding.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example, type World } from "../wire/Examples.ts"
import * as Idempotency from "../wire/Idempotency.ts"
import * as Page from "../wire/Page.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Search from "../wire/Search.ts"
import * as Section from "../api/Section.ts"
import * as View from "../wire/View.ts"

const path = "/v1/bitcoin/deposit/lightning-invoice"

/** What is expected of a payer who decides. */
const expected = (end: "least" | "most") =>
  Scalars.given(
    Scalars.GivenSats.annotate({
      description: `Only with \`amount: null\`: the ${end} that the payer is expected to send. No invoice can say it to a wallet; what arrives is credited whatever it is`
    })
  )

const shownExpected = (end: "least" | "most") =>
  Schema.NullOr(Scalars.Sats).annotate({ description: `The ${end} that is expected of a payer who decides; null where nothing was said` })

const Body = Schema.Struct({
  amount: Schema.NullOr(Amounts.AmountNumber).annotate({
    description: "In units of `currency`, read exactly. null, without a currency: the payer decides"
  }),
  currency: Scalars.given(Amounts.Currency),
  min_sats: expected("least"),
  max_sats: expected("most"),
  description: Scalars.given(Scalars.Description),
  expiry_seconds: Scalars.given(Scalars.expirySeconds(Invoice.expirySeconds)),
  hold: Scalars.given(Schema.Boolean).annotate({
    description: "What is paid waits at the node until you settle or cancel the invoice, and is credited when you have settled it"
  }),
  payment_hash: Scalars.given(
    Search.hex32.annotate({
      description:
        "Only with `hold: true`: the SHA-256 of a preimage that you keep, and give to settle the invoice. Without it the node makes one"
    })
  ),
  metadata: Scalars.given(Scalars.GivenMetadata)
}).annotate({ identifier: "CreateLightningInvoice" })

const nodeId = "02eec7245d6b7d2ccb30380bfbe2a3648cd7a942653f5aa340edcea1f283686619"

/** An invoice as its company sees it. The preimage is hidden until it is settled. */
export const view = View.make<Invoice.Shown>()(
  { identifier: "LightningInvoice" },
  {
    id: [Scalars.Uuid, (row) => row.id],
    node_id: [Scalars.text(nodeId).annotate({ description: "Public key of the node that issued it" }), (row) => row.nodeId],
    memo: [Scalars.text("Order 1042"), (row) => row.memo],
    r_preimage: [
      Schema.String.annotate({ description: "Hex; empty until it is settled" }),
      (row) => (row.status === "settled" ? (row.preimage ?? "") : "")
    ],
    r_hash: [Schema.String.annotate({ description: "Payment hash, hex" }), (row) => row.paymentHash],
    amount_sats: [
      Schema.NullOr(Scalars.Sats).annotate({ description: "null where the payer decides" }),
      (row) => Scalars.satsOrNull(row.amount)
    ],
    min_sats: [shownExpected("least"), (row) => Scalars.satsOrNull(row.minAmount)],
    max_sats: [shownExpected("most"), (row) => Scalars.satsOrNull(row.maxAmount)],
    hold: [
      Schema.Boolean.annotate({ description: "Whether what is paid waits at the node until you settle or cancel the invoice" }),
      (row) => row.hold !== null
    ],
    held_sats: [
      Schema.NullOr(Scalars.Sats).annotate({ description: "What waits at the node; null where nothing is held, or not any more" }),
      (row) => (row.standing === "accepted" ? Scalars.satsOrNull(row.held) : null)
    ],
    held_until: [
      Schema.NullOr(Scalars.Instant).annotate({
        description: `When what is held goes back unless you settle it before: ${LookUps.holds.marginBlocks} blocks before the payer's node would end it on the chain. An estimate, at ten minutes a block`
      }),
      (row) => (row.standing === "accepted" ? Scalars.instantOrNull(row.heldUntilMillis) : null)
    ],
    settled: [Schema.Boolean, (row) => row.status === "settled"],
    payment_request: [Schema.String.annotate({ description: "BOLT 11" }), (row) => row.paymentRequest],
    metadata: [Scalars.Metadata, (row) => row.metadata],
    lightning_address_id: [Schema.NullOr(Scalars.Uuid), (row) => row.lightningAddressId],
    status: [
      Invoice.Standing.annotate({
        description:
          "`open`: it may be paid. `accepted`: a payment is under way, or held for you to settle or cancel, and not credited yet. `settled`: paid, for ever. `expired`: not paid in time; a payment that was accepted in time may settle it all the same. `canceled`: by you, or since what was held was not settled in time; a payment that was on its way may settle it all the same"
      }),
      (row) => row.standing
    ],
    received_sats: [
      Schema.Int.annotate({
        description:
          "Whole satoshis that were received and credited, rounded down: 0 until it is settled, and then perhaps more than `amount_sats`",
        examples: [21_000]
      }),
      (row) => Scalars.sats(row.received ?? Msat.zero)
    ],
    created_at: [Scalars.Instant, (row) => Scalars.instant(row.createdAtMillis)],
    expires_at: [Scalars.Instant, (row) => Scalars.instant(row.expiresAtMillis)],
    settled_at: [
      Schema.NullOr(Scalars.Instant).annotate({ description: "null until it is settled" }),
      (row) => Scalars.instantOrNull(row.settledAtMillis)
    ],
    canceled_at: [
      Schema.NullOr(Scalars.Instant).annotate({
        description:
          "When you canceled it, or what was held went back; null otherwise. Of a settled one: a payment was on its way, and was credited"
      }),
      (row) => Scalars.instantOrNull(row.canceledAtMillis)
    ],
    deposit_id: [
      Schema.NullOr(Scalars.Uuid).annotate({ description: "The deposit that credited it; null until it is settled" }),
      (row) => row.depositId
    ]
  }
)

/** The invoice of the examples, before and after it was paid. */
export const example = ({ id, millis, companyId, asked, metadata }: World) => {
  const open: Invoice.Invoice = {
    id: id("invoice"),
    companyId,
    status: "pending",
    nodeId: asked.nodeId,
    memo: asked.memo,
    amount: asked.amount,
    minAmount: null,
    maxAmount: null,
    paymentHash: asked.paymentHash,
    paymentRequest: asked.paymentRequest,
    metadata,
    lightningAddressId: null,
    checkoutId: null,
    apiKeyId: null,
    callback: null,
    rate: null,
    rateAtMillis: null,
    received: null,
    hold: null,
    held: null,
    heldUntilMillis: null,
    preimage: null,
    claimedBy: null,
    createdAtMillis: millis(),
    expiresAtMillis: millis(3_600_000),
    settledAtMillis: null,
    canceledAtMillis: null
  }
  const settled: Invoice.Invoice = {
    ...open,
    status: "settled",
    received: asked.amount,
    preimage: asked.preimage,
    settledAtMillis: millis(9000)
  }
  const hold: Invoice.Invoice = {
    ...settled,
    hold: "node",
    held: asked.amount,
    heldUntilMillis: millis(30_000_000)
  }
  return {
    open: Invoice.shown(open, millis()),
    hold: Invoice.shown(hold, millis(9000), id("deposit", 9000)),
    settled: Invoice.shown(settled, millis(9000), id("deposit", 9000))
  }
}

const creation = Idempotency.creation(path, "Invoice created", (row: Invoice.Invoice) => view.of(Invoice.shown(row, row.createdAtMillis)))

const ofHold = (body: object): ReadonlyArray<Envelope.Issue> =>
  Amounts.isGiven(body, "payment_hash") && !(Predicate.hasProperty(body, "hold") && body.hold === true)
    ? [{ path: "payment_hash", message: "Only of a hold invoice: `hold: true`" }]
    : []

/** What is wrong with what a body asks for: what is expected of a payer who decides has no place beside an amount. */
const issues = (text: string, body: object): ReadonlyArray<Envelope.Issue> => [
  ...Amounts.issuesOrAny(text, body),
  ...["min_sats", "max_sats"].flatMap((path) =>
    Amounts.isGiven(body, "amount") && Amounts.isGiven(body, path)
      ? [{ path, message: "Only where the payer decides: `amount: null`" }]
      : []
  ),
  ...ofHold(body)
]

/** What a body asks for: an amount, or the payer's own. */
const askedOf = Effect.fnUntraced(function* (text: string, body: typeof Body.Type) {
  const wrong = issues(text, body)
  if (wrong.length > 0) return yield* Effect.fail(Errors.malformedRequest(wrong))
  const asked = yield* Amounts.asked(text, body)
  return asked ?? { amount: null, minAmount: Scalars.msatOrNull(body.min_sats), maxAmount: Scalars.msatOrNull(body.max_sats) }
})

const hashOf = (text: string | null | undefined) => (text === null || text === undefined ? null : PaymentHash.make(text.toLowerCase()))

export const create = Section.company(
  HttpApiEndpoint.post("createInvoice", path, {
    headers: Idempotency.headers,
    payload: Body,
    success: Envelope.success(201, view.schema),
    error: Errors.of(
      "malformed",
      "too_many_held",
      "paused",
      "idempotency_mismatch",
      "conflict",
      "rate_unavailable",
      "node_unavailable",
      "store_unavailable"
    )
  })
    .annotate(Scopes, ["receive"])
    .annotate(Rules, issues)
    .annotate(OpenApi.Summary, "Create a Lightning invoice")
    .annotate(
      OpenApi.Description,
      `A payment of it credits the received amount to the balance. With \`amount: null\` the payer decides what to pay. With \`hold: true\` what is paid waits until you settle or cancel the invoice: a few hours, see \`held_until\`. A hold invoice is paid from outside only, and a company has ${LookUps.holds.mostOpen} at most that have not ended. Needs the scope \`receive\`.`
    )
    .annotate(Example, (world) => {
      const { open } = example(world)
      const { metadata } = world
      return {
        body: { amount: 21_000, currency: "sats", description: open.memo, expiry_seconds: 3600, metadata },
        message: "Invoice created",
        data: view.of(open)
      }
    }),
  Invoices,
  (invoices) =>
    Effect.fnUntraced(function* ({ payload, headers, request }) {
      const {
        apiKey: { companyId, id: apiKeyId }
      } = yield* Caller
      const once = yield* creation.once(request, headers["idempotency-key"])
      const asked = yield* askedOf(yield* Effect.orDie(request.text), payload)
      return creation.answer(
        yield* Errors.answered(
          invoices.create({
            companyId,
            apiKeyId,
            ...asked,
            ...once,
            description: payload.description ?? "",
            expirySeconds: payload.expiry_seconds ?? Invoice.expirySeconds.default,
            metadata: payload.metadata ?? Metadata.empty,
            ...(payload.hold === true && { hold: { paymentHash: hashOf(payload.payment_hash) } })
          })
        )
      )
    })
)

export const get = Section.company(
  HttpApiEndpoint.get("getInvoice", `${path}/:invoiceID`, {
    params: { invoiceID: Scalars.Uuid },
    success: Envelope.success(200, view.schema),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "Fetch a Lightning invoice")
    .annotate(
      OpenApi.Description,
      "`status` says where it stands. `settled` is true, and `r_preimage` and `deposit_id` there, once it was paid. Needs the scope `read`."
    )
    .annotate(Example, (world) => {
      const { settled } = example(world)
      return { params: { invoiceID: settled.id }, message: "Invoice", data: view.of(settled) }
    }),
  Invoices,
  (invoices) =>
    Effect.fnUntraced(function* ({ params }) {
      const {
        apiKey: { companyId }
      } = yield* Caller
      return View.answer("Invoice", view.of(yield* Errors.answered(invoices.get(companyId, params.invoiceID.toLowerCase()))))
    })
)

export const cancel = Section.company(
  HttpApiEndpoint.post("cancelInvoice", `${path}/:invoiceID/cancel`, {
    params: { invoiceID: Scalars.Uuid },
    success: Envelope.success(200, view.schema),
    error: Errors.of("not_found", "invoice_not_open", "store_unavailable")
  })
    .annotate(Scopes, ["receive"])
    .annotate(OpenApi.Summary, "Cancel a Lightning invoice")
    .annotate(
      OpenApi.Description,
      "Nobody is to pay it any more: the node refuses payments of it, where it can, from now or from when it can be reached again. A payment that was on its way may settle it all the same, and is credited; what is held for a hold invoice goes back. One that was paid, is being paid, was settled by you, or has expired is refused; canceling again changes nothing. Needs the scope `receive`."
    )
    .annotate(Example, (world) => {
      const { open } = example(world)
      const canceledAtMillis = world.millis(60_000)
      return {
        params: { invoiceID: open.id },
        message: "Invoice canceled",
        data: view.of(Invoice.shown({ ...open, status: "canceled", canceledAtMillis }, canceledAtMillis))
      }
    }),
  Invoices,
  (invoices) =>
    Effect.fnUntraced(function* ({ params }) {
      const row = yield* Errors.answered(invoices.cancel(yield* companyId, params.invoiceID.toLowerCase()))
      return Envelope.ok("Invoice canceled", view.of(row))
    })
)

const SettleBody = Schema.Struct({
  preimage: Scalars.given(Search.hex32.annotate({ description: "Of an invoice that was made with your `payment_hash`, and of no other" }))
}).annotate({ identifier: "SettleLightningInvoice" })

export const settle = Section.company(
  HttpApiEndpoint.post("settleInvoice", `${path}/:invoiceID/settle`, {
    params: { invoiceID: Scalars.Uuid },
    payload: [SettleBody, Schema.Null],
    success: Envelope.success(200, view.schema),
    error: Errors.of("malformed", "not_found", "invoice_not_held", "store_unavailable")
  })
    .annotate(Scopes, ["receive"])
    .annotate(OpenApi.Transform, bodyIsOptional)
    .annotate(OpenApi.Summary, "Settle a hold invoice")
    .annotate(
      OpenApi.Description,
      "Takes what is held. The node is told at once, or when it can be reached again: the invoice is `accepted` until the node has the money, and `settled` then, with its deposit. One for which nothing is held, or not any more, is refused; settling again changes nothing. What you have settled cannot be canceled. The body is optional where the preimage is not yours. Needs the scope `receive`."
    )
    .annotate(Example, (world) => {
      const { hold } = example(world)
      return { params: { invoiceID: hold.id }, body: {}, message: "Invoice settled", data: view.of(hold) }
    }),
  Invoices,
  (invoices) =>
    Effect.fnUntraced(function* ({ params, payload }) {
      const preimage = payload?.preimage ?? null
      const given = preimage === null ? null : Preimage.make(preimage.toLowerCase())
      const row = yield* Errors.answered(invoices.settle(yield* companyId, params.invoiceID.toLowerCase(), given))
      return Envelope.ok(row.status === "settled" ? "Invoice settled" : "The node is to settle the invoice", view.of(row))
    })
)

const query = {
  ...Page.place(),
  status: Schema.optionalKey(Invoice.Standing),
  lightning_address_id: Schema.optionalKey(Search.Id.annotate({ description: "Of the Lightning address that wallets requested them for" })),
  ...Search.times,
  ...Search.label,
  ...Search.payment
}

const page = Page.of(view, "Lightning invoices", path)

export const list = Section.company(
  HttpApiEndpoint.get("listInvoices", path, {
    query,
    success: page.success,
    error: Errors.of("malformed", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "List Lightning invoices")
    .annotate(
      OpenApi.Description,
      `Newest first; with several filters, those that have all of it. \`from\` is inclusive and \`until\` exclusive. Those that wallets requested at a Lightning address are there too, until they are forgotten unpaid. The next page is in the \`Link\` header: a page that looked at ${Pages.looks} invoices ends there, with fewer rows or none. Needs the scope \`read\`.`
    )
    .annotate(Example, (world) => ({ message: "Lightning invoices", data: [view.of(example(world).settled)] })),
  Invoices,
  (invoices) =>
    Effect.fnUntraced(function* ({ query }) {
      const {
        apiKey: { companyId }
      } = yield* Caller
      const { chainTxId: _, ...search } = yield* Search.askedBy(query)
      const asked = {
        ...Page.asked(query),
        ...(query.status && { standing: query.status }),
        ...search,
        ...(query.lightning_address_id !== undefined && { lightningAddressId: query.lightning_address_id.toLowerCase() })
      }
      const { invoices: rows, next } = yield* Errors.answered(invoices.list(companyId, asked))
      return page.answer(rows, Search.written(query), next)
    })
)
