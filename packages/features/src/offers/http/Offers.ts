import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import * as LightningAddressText from "@satrail/bitcoin/LightningAddressText"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Amount from "@satrail/core/base/Amount"
import * as Metadata from "@satrail/core/base/Metadata"
import type * as IssuedOffer from "../core/IssuedOffer.ts"
import { Offers } from "../core/Offers.ts"
import * as IssuedOffers from "@satrail/core/receiving/IssuedOffers"
import * as Instructions from "@satrail/core/sending/Instructions"
import { Effect, Result, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { companyId, Scopes } from "@satrail/http/api/Authentication"
import { bodyIsOptional } from "@satrail/http/api/Base"
import * as Amounts from "@satrail/http/wire/Amounts"
import * as Envelope from "@satrail/http/wire/Envelope"
import * as Errors from "@satrail/http/wire/Errors"
import { Example, type World } from "@satrail/http/wire/Examples"
import * as Idempotency from "@satrail/http/wire/Idempotency"
import * as Scalars from "@satrail/http/wire/Scalars"
import * as Search from "@satrail/http/wire/Search"
import * as Resource from "@satrail/http/api/Resource"
import * as Section from "@satrail/http/api/Section"
import * as Member from "@satrail/http/wire/Member"
import * as View from "@satrail/http/wire/View"

const path = "/v1/bitcoin/deposit/offer"

const Body = Schema.Struct({
  amount: Schema.optionalKey(
    Amounts.exact(
      Schema.NullOr(Amounts.AmountNumber).annotate({
        description: "Minimum amount of each payment. Requires a description. Default: the payer decides"
      })
    )
  ),
  currency: Scalars.given(
    Schema.String.annotate({
      description: "`sats` or `btc`, case-insensitive. Required when `amount` is set",
      examples: ["sats"]
    }).check(
      Scalars.stated(
        (text: string) => ["sats", "btc"].includes(text.toLowerCase()) || "must be sats or btc for an offer",
        Amounts.currencies(["sats", "btc"])
      )
    )
  ),
  description: Scalars.given(Scalars.Description),
  lightning_address_id: Scalars.given(
    Scalars.inLowerCase(
      Scalars.Uuid.annotate({
        description:
          "One of your Lightning addresses that has no offer yet. The response contains the DNS record to publish for it"
      })
    )
  ),
  metadata: Scalars.given(Scalars.GivenMetadata)
})
  .check(Scalars.stated(() => undefined, Amounts.withCurrency))
  .annotate({ identifier: "CreateOffer" })

/** Returns the DNS record that lets wallets find the offer by its Lightning address. */
const recordOf = ({ lightningAddress, offer }: IssuedOffer.IssuedOffer): string | null => {
  const address =
    lightningAddress === null
      ? undefined
      : Result.getOrUndefined(LightningAddressText.parse(lightningAddress))
  const name = address && Instructions.nameOf(address)
  return name === undefined ? null : Instructions.zoneLine(name, offer)
}

/** Returns the exact amount in the body, or null if it has none. */
const amountOf = Effect.fnUntraced(function* (body: typeof Body.Type) {
  const asked = yield* Amounts.asked(body)
  return asked === undefined || Amount.isFiat(asked.currency)
    ? null
    : Result.getOrThrow(Amount.toMsat(asked.amount, asked.currency))
})

export const view = View.make<IssuedOffer.IssuedOffer>()(
  { identifier: "Offer" },
  {
    id: Member.uuid((row) => row.id),
    company_id: Member.uuid((row) => row.companyId),
    node_id: Member.text((row) => row.nodeId, "Public key of the node that issued the offer"),
    offer: Member.text((row) => row.offer, "Offer (BOLT 12). Wallets can pay it any number of times"),
    amount_sats: [
      Schema.NullOr(Scalars.Sats).annotate({
        description: "Minimum amount of each payment; null if the payer decides"
      }),
      (row) => {
        const amount = IssuedOffers.amountOf(row)
        return amount === null ? null : Number(Msat.toSats(amount))
      }
    ],
    memo: [Scalars.text("Order 1042"), (row) => row.memo],
    lightning_address_id: Member.uuidOrNull((row) => row.lightningAddressId),
    lightning_address: Member.textOrNull((row) => row.lightningAddress),
    dns_record: Member.textOrNull(
      recordOf,
      "Record to add to your domain's DNS zone, so that wallets find the offer by the Lightning address (BIP 353); null without an address"
    ),
    metadata: [Scalars.Metadata, (row) => row.metadata],
    created_at: Member.instant((row) => row.createdAtMillis)
  }
)

const example = ({
  id,
  millis,
  companyId,
  network,
  asked,
  serviceDomain,
  metadata
}: World): IssuedOffer.IssuedOffer => ({
  id: id("offer"),
  companyId,
  nodeId: asked.nodeId,
  offer: Result.getOrThrow(
    Bolt12.encode({ networks: [network], description: asked.memo, metadata: "00", issuerId: asked.nodeId })
  ),
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
    error: Errors.of(
      "malformed",
      "not_found",
      "paused",
      "idempotency_mismatch",
      "conflict",
      "node_unavailable",
      "store_unavailable"
    )
  })
    .annotate(Scopes, ["receive"])
    .annotate(OpenApi.Summary, "Create an offer")
    .annotate(
      OpenApi.Description,
      "Creates a BOLT 12 offer. It can be paid any number of times, and each payment is credited as its own invoice and deposit. With `amount`, each payment must be at least that amount; without it, the payer decides. An offer does not expire and cannot be canceled. If the node cannot issue offers, the request returns an error. The body is optional. Requires the `receive` scope."
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
      const ask = {
        memo: payload?.description ?? "",
        amount: payload === null ? null : yield* amountOf(payload),
        metadata: payload?.metadata ?? Metadata.empty,
        lightningAddressId: payload?.lightning_address_id ?? null
      }
      const once = yield* creation.once(request, headers["idempotency-key"], ask)
      return creation.answer(
        yield* Errors.answered(offers.create({ companyId: yield* companyId, ...ask, ...once }))
      )
    })
)

const resource = Resource.make({ path, names: ["Offer", "Offers"], view, example })

const get = Section.company(
  resource.get("getOffer", { scope: "read", summary: "Get an offer", description: "Returns an offer." }),
  Offers,
  (offers) => resource.gets(Resource.own(offers.get))
)

const list = Section.company(
  resource.list(
    "listOffers",
    { scope: "read", summary: "List offers", description: "Returns offers, newest first." },
    Search.times
  ),
  Offers,
  (offers) => resource.lists(Resource.own(offers.list))
)

export const operations = [create, get, list] as const
