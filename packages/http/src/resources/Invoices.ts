import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import * as Metadata from "@satrail/core/base/Metadata"
import * as Pages from "@satrail/core/ledger/Page"
import * as Invoice from "@satrail/core/receiving/Invoice"
import { Invoices } from "@satrail/core/receiving/Invoices"
import * as LookupSchedule from "@satrail/core/receiving/LookupSchedule"
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
import * as Resource from "../api/Resource.ts"
import * as Section from "../api/Section.ts"
import * as Member from "../wire/Member.ts"
import * as SplitsView from "../wire/SplitsView.ts"
import * as View from "../wire/View.ts"
import * as Purpose from "@satrail/core/receiving/Purpose"
import * as FiatView from "../wire/FiatView.ts"

const path = "/v1/bitcoin/deposit/lightning-invoice"

/** The minimum or maximum amount that the company expects if the payer chooses the amount. */
const expected = (end: "least" | "most") =>
  Scalars.given(
    Scalars.GivenSats.annotate({
      description: `Only with \`amount: null\`: the ${end} you expect the payer to send. Wallets do not see it, and any amount that arrives is credited`
    })
  )

const shownExpected = (end: "least" | "most") =>
  Schema.NullOr(end === "least" ? Scalars.DueSats : Scalars.Sats).annotate({
    description: `The ${end} you expect when the payer chooses the amount; null if not set`
  })

const Body = Schema.Struct({
  amount: Amounts.exact(
    Schema.NullOr(Amounts.AmountNumber).annotate({
      description:
        "Amount in units of `currency`, as an exact decimal. If null and no currency is set, the payer chooses the amount"
    })
  ),
  currency: Scalars.given(Amounts.Currency),
  min_sats: expected("least"),
  max_sats: expected("most"),
  description: Scalars.given(Scalars.Description),
  expiry_seconds: Scalars.given(Scalars.expirySeconds(Invoice.expirySeconds)),
  hold: Scalars.given(Schema.Boolean).annotate({
    description:
      "Whether to hold the payment at the node until you settle or cancel the invoice. It is credited when you settle"
  }),
  payment_hash: Scalars.given(
    Search.hex32(
      "SHA-256 of your own preimage, only with `hold: true`. You reveal the preimage to settle. Default: the node generates one"
    )
  ),
  splits: SplitsView.given,
  metadata: Scalars.given(Scalars.GivenMetadata)
}).annotate({ identifier: "CreateLightningInvoice" })

const nodeId = "02eec7245d6b7d2ccb30380bfbe2a3648cd7a942653f5aa340edcea1f283686619"

/** An invoice as its company sees it. The preimage is hidden until the invoice is settled. */
export const view = View.make<Invoice.Shown>()(
  { identifier: "LightningInvoice" },
  {
    id: Member.uuid((row) => row.id),
    node_id: [
      Scalars.text(nodeId).annotate({ description: "Public key of the node that issued the invoice" }),
      (row) => row.nodeId
    ],
    memo: [Scalars.text("Order 1042"), (row) => row.memo],
    r_preimage: Member.text(
      (row) => (row.status === "settled" ? (row.preimage ?? "") : ""),
      "Payment preimage, in hex. Empty until settled"
    ),
    r_hash: Member.text((row) => row.paymentHash, "Payment hash, in hex"),
    amount_sats: Member.satsOrNull((row) => row.amount, "Invoice amount; null if the payer decides"),
    min_sats: [shownExpected("least"), (row) => Scalars.satsOrNull(row.minAmount)],
    max_sats: [shownExpected("most"), (row) => Scalars.satsOrNull(row.maxAmount)],
    hold: [
      Schema.Boolean.annotate({
        description: "Whether the payment is held until you settle or cancel the invoice"
      }),
      (row) => row.hold !== null
    ],
    held_sats: [
      Schema.NullOr(Scalars.Sats).annotate({
        description: "Amount currently held, in satoshis; null if none"
      }),
      (row) => (row.standing === "accepted" ? Scalars.satsOrNull(row.held) : null)
    ],
    held_until: [
      Schema.NullOr(Scalars.Instant).annotate({
        description: `Time when the held amount is returned unless you settle first: ${LookupSchedule.holdInvoices.marginBlocks} blocks before the payer's node would close the channel. Estimated at ten minutes per block`
      }),
      (row) => (row.standing === "accepted" ? Scalars.instantOrNull(row.heldUntilMillis) : null)
    ],
    settled: [Schema.Boolean, (row) => row.status === "settled"],
    payment_request: Member.text((row) => row.paymentRequest, "Lightning invoice (BOLT 11)"),
    metadata: [Scalars.Metadata, (row) => row.metadata],
    lightning_address_id: Member.uuidOrNull((row) => row.lightningAddressId),
    status: [
      Invoice.Standing.annotate({
        description:
          "`open`: can be paid. `accepted`: a payment is in flight, or held until you settle or cancel; not credited yet. `settled`: paid; final. `expired`: not paid in time. `canceled`: canceled by you, or a held payment was not settled in time. A payment already in flight can still settle an expired or canceled invoice"
      }),
      (row) => row.standing
    ],
    received_sats: [
      Scalars.Sats.annotate({
        description:
          "Credited amount, in whole satoshis, rounded down. 0 until settled. Can exceed `amount_sats`, or be less if the payer took back a part on-chain while the node was down",
        examples: [21_000]
      }),
      (row) => Scalars.sats(row.received ?? Msat.zero)
    ],
    created_at: Member.instant((row) => row.createdAtMillis),
    expires_at: Member.instant((row) => row.expiresAtMillis),
    settled_at: Member.instantOrNull((row) => row.settledAtMillis, "Time of settlement; null until settled"),
    canceled_at: Member.instantOrNull(
      (row) => row.canceledAtMillis,
      "Time when you canceled the invoice or the held amount was returned; null otherwise. A settled invoice can also have this time, if a payment was already in flight"
    ),
    deposit_id: Member.uuidOrNull(
      (row) => row.depositId,
      "Deposit that credited the payment; null until settled"
    ),
    splits: SplitsView.splits,
    ...FiatView.members
  }
)

/** The example invoice, before and after payment. */
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
    ...Purpose.none,
    apiKeyId: null,
    callback: null,
    rate: null,
    rateAtMillis: null,
    fiatCurrency: null,
    rateSource: null,
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

const creation = Idempotency.creation(path, "Invoice created", (row: Invoice.Invoice) =>
  view.of(Invoice.shown(row, row.createdAtMillis))
)

const ofHold = (body: object): ReadonlyArray<Envelope.Issue> =>
  Amounts.isGiven(body, "payment_hash") && !(Predicate.hasProperty(body, "hold") && body.hold === true)
    ? [{ path: "payment_hash", message: "requires hold: true" }]
    : []

/** Returns issues of fields that require a null amount or `hold: true`. */
const besides = (body: object): ReadonlyArray<Envelope.Issue> => [
  ...["min_sats", "max_sats"].flatMap((path) =>
    Amounts.isGiven(body, "amount") && Amounts.isGiven(body, path)
      ? [{ path, message: "requires amount: null" }]
      : []
  ),
  ...ofHold(body)
]

const issues = (text: string, body: object): ReadonlyArray<Envelope.Issue> => [
  ...Amounts.issuesOrAny(text, body),
  ...besides(body)
]

/** Returns the requested amount, or undefined if the payer chooses it. */
const askedOf = Effect.fnUntraced(function* (body: typeof Body.Type) {
  const wrong = [...Amounts.decodedIssuesOrAny(body), ...besides(body)]
  if (wrong.length > 0) return yield* Effect.fail(Errors.malformedRequest(wrong))
  const asked = yield* Amounts.asked(body)
  return (
    asked ?? {
      amount: null,
      minAmount: Scalars.msatOrNull(body.min_sats),
      maxAmount: Scalars.msatOrNull(body.max_sats)
    }
  )
})

const hashOf = (text: string | null | undefined) =>
  text === null || text === undefined ? null : PaymentHash.make(text)

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
      `Creates a Lightning invoice. The received amount is credited when the invoice is paid. Set \`amount\` to \`null\` to let the payer choose the amount. With \`hold: true\`, the payment is held until you settle or cancel the invoice, but not beyond \`held_until\`, about 9 hours later (20 if the node is LDK). Hold invoices can only be paid from outside this service. A company can have ${LookupSchedule.holdInvoices.mostOpen} open hold invoices. Requires the \`receive\` scope.`
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
      const ask = {
        ...(yield* askedOf(payload)),
        description: payload.description ?? "",
        expirySeconds: payload.expiry_seconds ?? Invoice.expirySeconds.default,
        metadata: payload.metadata ?? Metadata.empty,
        splits: SplitsView.read(payload.splits),
        ...(payload.hold === true && { hold: { paymentHash: hashOf(payload.payment_hash) } })
      }
      const once = yield* creation.once(request, headers["idempotency-key"], ask)
      return creation.answer(
        yield* Errors.answered(invoices.create({ companyId, apiKeyId, ...ask, ...once }))
      )
    })
)

const resource = Resource.make({
  path,
  param: "invoiceID",
  names: ["Invoice", "Invoices"],
  view,
  example: (world) => example(world).settled
})

export const get = Section.company(
  resource.get("getInvoice", {
    scope: "read",
    summary: "Get a Lightning invoice",
    description:
      "Returns an invoice. Once it is paid, `settled` is true and `r_preimage` and `deposit_id` are set."
  }),
  Invoices,
  (invoices) => resource.gets(Resource.own(invoices.get))
)

const canceled = "Invoice canceled"

export const cancel = Section.company(
  HttpApiEndpoint.post("cancelInvoice", `${path}/:invoiceID/cancel`, {
    ...resource.one,
    error: Errors.of("not_found", "invoice_not_open", "store_unavailable")
  }).annotateMerge(
    resource.about(
      canceled,
      {
        scope: "receive",
        summary: "Cancel a Lightning invoice",
        description:
          "Cancels an unpaid invoice. If the node supports cancellation, it refuses further payments, now or as soon as it is reachable. A payment already in flight may still settle the invoice and is credited. Funds held for a hold invoice are returned to the payer. An invoice that is paid, being paid, settled by you or expired returns `invoice_not_open`. Canceling twice has no further effect."
      },
      (_, world) => {
        const canceledAtMillis = world.millis(60_000)
        return Invoice.shown(
          { ...example(world).open, status: "canceled", canceledAtMillis },
          canceledAtMillis
        )
      }
    )
  ),
  Invoices,
  (invoices) => resource.answers(canceled, (id) => Errors.answered(Resource.own(invoices.cancel)(id)))
)

const SettleBody = Schema.Struct({
  preimage: Scalars.given(
    Search.hex32("Preimage. Send it only if you created the invoice with your own `payment_hash`")
  )
}).annotate({ identifier: "SettleLightningInvoice" })

export const settle = Section.company(
  HttpApiEndpoint.post("settleInvoice", `${path}/:invoiceID/settle`, {
    ...resource.one,
    payload: [SettleBody, Schema.Null],
    error: Errors.of("malformed", "not_found", "invoice_not_held", "store_unavailable")
  })
    .annotate(Scopes, ["receive"])
    .annotate(OpenApi.Transform, bodyIsOptional)
    .annotate(OpenApi.Summary, "Settle a hold invoice")
    .annotate(
      OpenApi.Description,
      "Settles a hold invoice and claims the held funds. The invoice stays `accepted` until the node has the funds, then becomes `settled` with a deposit. If nothing is held, the request returns `invoice_not_held`. A settled invoice cannot be canceled. Settling twice has no further effect. Send `preimage` only if you created the invoice with your own `payment_hash`. Requires the `receive` scope."
    )
    .annotate(Example, (world) => {
      const { hold } = example(world)
      return { params: { invoiceID: hold.id }, body: {}, message: "Invoice settled", data: view.of(hold) }
    }),
  Invoices,
  (invoices) =>
    Effect.fnUntraced(function* ({ params, payload }) {
      const preimage = payload?.preimage ?? null
      const given = preimage === null ? null : Preimage.make(preimage)
      const row = yield* Errors.answered(invoices.settle(yield* companyId, params.invoiceID, given))
      return Envelope.ok(row.status === "settled" ? "Invoice settled" : "Settlement requested", view.of(row))
    })
)

const query = {
  ...Page.place(),
  status: Schema.optionalKey(Invoice.Standing),
  lightning_address_id: Schema.optionalKey(
    Search.id("Selects invoices that wallets requested for this Lightning address")
  ),
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
      `Returns invoices, newest first. If there are several filters, all must match. \`from\` is inclusive and \`until\` exclusive. Invoices that wallets requested for a Lightning address are included until they expire unpaid and are deleted. The next page is in the \`Link\` header. At most ${Pages.looks} invoices are checked per page, so a page can have few rows or none. Requires the \`read\` scope.`
    )
    .annotate(Example, (world) => ({
      message: "Lightning invoices",
      data: [view.of(example(world).settled)]
    })),
  Invoices,
  (invoices) =>
    Effect.fnUntraced(function* ({ query }) {
      const { chainTxId: _, ...search } = yield* Search.askedBy(query)
      const asked = {
        ...Page.asked(query),
        ...(query.status && { standing: query.status }),
        ...search,
        ...(query.lightning_address_id !== undefined && { lightningAddressId: query.lightning_address_id })
      }
      const { rows, next } = yield* Errors.answered(invoices.list(yield* companyId, asked))
      return page.answer(rows, Search.written(query), next)
    })
)
