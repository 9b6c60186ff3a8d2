import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import * as LightningAddressText from "@satrail/bitcoin/LightningAddressText"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Amount from "@satrail/core/base/Amount"
import * as Metadata from "@satrail/core/base/Metadata"
import type * as Offer from "@satrail/core/features/offers/Offer"
import { Offers } from "@satrail/core/features/offers/Offers"
import * as IssuedOffers from "@satrail/core/receiving/IssuedOffers"
import * as Instructions from "@satrail/core/sending/Instructions"
import { Effect, Result, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { companyId, Scopes } from "../../api/Authentication.ts"
import { bodyIsOptional } from "../../api/Base.ts"
import * as Amounts from "../../wire/Amounts.ts"
import * as Envelope from "../../wire/Envelope.ts"
import * as Errors from "../../wire/Errors.ts"
import { Example, type World } from "../../wire/Examples.ts"
import * as Idempotency from "../../wire/Idempotency.ts"
import * as Page from "../../wire/Page.ts"
import * as Scalars from "../../wire/Scalars.ts"
import * as Section from "../../api/Section.ts"
import * as View from "../../wire/View.ts"

const path = "/v1/bitcoin/deposit/offer"

const Body = Schema.Struct({
  amount: Scalars.given(
    Amounts.AmountNumber.annotate({
      description: "The least that each payment must be. Without it the payer decides. Requires a description"
    })
  ),
  currency: Scalars.given(
    Schema.String.annotate({ description: "`sats` or `btc`, in any letter case. Required when `amount` is set", examples: ["sats"] }).check(
      Scalars.stated(
        (text: string) => ["sats", "btc"].includes(text.toLowerCase()) || "currency of an offer must be sats or btc",
        Amounts.currencies(["sats", "btc"])
      )
    )
  ),
  description: Scalars.given(Scalars.Description),
  lightning_address_id: Scalars.given(
    Scalars.Uuid.annotate({ description: "A Lightning address of yours without an offer yet: the answer has the record to publish for it" })
  ),
  metadata: Scalars.given(Scalars.GivenMetadata)
})
  .check(Scalars.stated(() => undefined, Amounts.withCurrency))
  .annotate({ identifier: "CreateOffer" })

/** The line of a zone with which wallets find the offer by its Lightning address. */
const recordOf = ({ lightningAddress, offer }: Offer.Offer): string | null => {
  const address = lightningAddress === null ? undefined : Result.getOrUndefined(LightningAddressText.parse(lightningAddress))
  const name = address && Instructions.nameOf(address)
  return name === undefined ? null : Instructions.zoneLine(name, offer)
}

/** The amount of the body, exactly as its text says; null if it has none. */
const amountOf = Effect.fnUntraced(function* (text: string, body: typeof Body.Type) {
  const asked = yield* Amounts.asked(text, body)
  return asked === undefined || Amount.isFiat(asked.currency) ? null : Result.getOrThrow(Amount.toMsat(asked.amount, asked.currency))
})

/** An offer that was given out. */
export const view = View.make<Offer.Offer>()(
  { identifier: "Offer" },
  {
    id: [Scalars.Uuid, (row) => row.id],
    company_id: [Scalars.Uuid, (row) => row.companyId],
    node_id: [Schema.String.annotate({ description: "Public key of the node that issued it" }), (row) => row.nodeId],
    offer: [Schema.String.annotate({ description: "For wallets that pay BOLT 12 offers, any number of times" }), (row) => row.offer],
    amount_sats: [
      Schema.NullOr(Schema.Int).annotate({ description: "The least that each payment must be; null if the payer decides" }),
      (row) => {
        const amount = IssuedOffers.amountOf(row)
        return amount === null ? null : Number(Msat.toSats(amount))
      }
    ],
    memo: [Scalars.text("Order 1042"), (row) => row.memo],
    lightning_address_id: [Schema.NullOr(Scalars.Uuid), (row) => row.lightningAddressId],
    lightning_address: [Schema.NullOr(Schema.String), (row) => row.lightningAddress],
    dns_record: [
      Schema.NullOr(Schema.String).annotate({
        description: "The line of your domain's zone with which wallets find the offer by the Lightning address (BIP 353); null without one"
      }),
      recordOf
    ],
    metadata: [Scalars.Metadata, (row) => row.metadata],
    created_at: [Scalars.Instant, (row) => Scalars.instant(row.createdAtMillis)]
  }
)

const example = ({ id, millis, companyId, network, asked, serviceDomain, metadata }: World): Offer.Offer => ({
  id: id("offer"),
  companyId,
  nodeId: asked.nodeId,
  offer: Result.getOrThrow(Bolt12.encode({ networks: [network], description: asked.memo, metadata: "00", issuerId: asked.nodeId })),
  memo: asked.memo,
  metadata,
  lightningAddressId: id("Lightning address"),
  lightningAddress: `satoshi@${serviceDomain}`,
  createdAtMillis: millis()
})

const creation = Idempotency.creation(path, "Offer created", view.of)

const create = Section.company(
  HttpApiEndpoint.post("createOffer", path, {
    headers: Idempotency.headers,
    payload: [Body, Schema.Null],
    success: Envelope.success(201, view.schema),
    error: Errors.of("malformed", "not_found", "paused", "idempotency_mismatch", "conflict", "node_unavailable", "store_unavailable")
  })
    .annotate(Scopes, ["receive"])
    .annotate(OpenApi.Summary, "Create an offer")
    .annotate(
      OpenApi.Description,
      "Creates a BOLT 12 offer. It can be paid any number of times, and each payment is credited as its own invoice and deposit. With `amount`, each payment must be at least that; without it the payer decides. An offer does not expire and cannot be canceled. Refused if the node cannot issue offers. The body is optional. Requires the scope `receive`."
    )
    .annotate(OpenApi.Transform, bodyIsOptional)
    .annotate(Example, (world) => ({
      body: { description: world.asked.memo, metadata: world.metadata },
      message: "Offer created",
      data: view.of(example(world))
    })),
  Offers,
  (offers) =>
    Effect.fnUntraced(function* ({ payload, headers, request }) {
      const once = yield* creation.once(request, headers["idempotency-key"])
      return creation.answer(
        yield* Errors.answered(
          offers.create({
            companyId: yield* companyId,
            ...once,
            memo: payload?.description ?? "",
            amount: payload === null ? null : yield* amountOf(yield* Effect.orDie(request.text), payload),
            metadata: payload?.metadata ?? Metadata.empty,
            lightningAddressId: payload?.lightning_address_id?.toLowerCase() ?? null
          })
        )
      )
    })
)

const get = Section.company(
  HttpApiEndpoint.get("getOffer", `${path}/:id`, {
    params: { id: Scalars.Uuid },
    success: Envelope.success(200, view.schema),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "Fetch an offer")
    .annotate(OpenApi.Description, "Needs the scope `read`.")
    .annotate(Example, (world) => {
      const row = example(world)
      return { params: { id: row.id }, message: "Offer", data: view.of(row) }
    }),
  Offers,
  (offers) =>
    Effect.fnUntraced(function* ({ params }) {
      const row = yield* Errors.answered(offers.get(yield* companyId, params.id.toLowerCase()))
      return Envelope.ok("Offer", view.of(row))
    })
)

const page = Page.of(view, "Offers", path)

const list = Section.company(
  HttpApiEndpoint.get("listOffers", path, {
    query: Page.place(),
    success: page.success,
    error: Errors.of("malformed", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "List offers")
    .annotate(OpenApi.Description, "Newest first. The next page is in the `Link` header. Needs the scope `read`.")
    .annotate(Example, (world) => ({ message: "Offers", data: [view.of(example(world))] })),
  Offers,
  (offers) =>
    Effect.fnUntraced(function* ({ query }) {
      const asked = Page.asked(query)
      const { offers: rows, next } = yield* Errors.answered(offers.list(yield* companyId, asked))
      return page.answer(rows, { limit: String(asked.limit) }, next)
    })
)

/** The operations of the section `receive`. */
export const operations = [create, get, list] as const
