import { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import * as Metadata from "@satrail/core/base/Metadata"
import type { OnChainAddress } from "@satrail/core/receiving/OnChainAddress"
import { OnChainAddresses } from "@satrail/core/receiving/OnChainAddresses"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { companyId, Scopes } from "../api/Authentication.ts"
import { bodyIsOptional } from "../api/Base.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example, type World } from "../wire/Examples.ts"
import * as Idempotency from "../wire/Idempotency.ts"
import * as Page from "../wire/Page.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Section from "../api/Section.ts"
import * as View from "../wire/View.ts"

const path = "/v1/bitcoin/deposit/on-chain"

const Body = Schema.Struct({
  address_type: Scalars.given(AddressType.annotate({ description: "`taproot` by default" })),
  metadata: Scalars.given(Scalars.GivenMetadata)
}).annotate({ identifier: "CreateOnChainAddress" })

/** An on-chain address that was given out. */
export const view = View.make<OnChainAddress>()(
  { identifier: "OnChainAddress" },
  {
    id: [Scalars.Uuid, (row) => row.id],
    address: [Scalars.text("bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr"), (row) => row.address],
    company_id: [Scalars.Uuid, (row) => row.companyId],
    node_id: [Scalars.text("73c5da0a").annotate({ description: "Fingerprint of the wallet that can spend from it" }), (row) => row.nodeId],
    bitcoin_address_type: [AddressType, (row) => row.type],
    metadata: [Scalars.Metadata, (row) => row.metadata],
    created_at: [Scalars.Instant, (row) => Scalars.instant(row.createdAtMillis)]
  }
)

const example = ({ id, millis, companyId, address, metadata }: World): OnChainAddress => ({
  id: id("on-chain address"),
  companyId,
  nodeId: "73c5da0a",
  address: address.address,
  scriptPubKey: address.scriptPubKey,
  type: "taproot",
  index: 0,
  metadata,
  checkoutId: null,
  createdAtMillis: millis()
})

/** Answered one level deeper than other records. */
const nested = (row: OnChainAddress) => ({ address: view.of(row) })

const creation = Idempotency.creation(path, "On-chain address created", nested)

export const create = Section.company(
  HttpApiEndpoint.post("createOnChainAddress", path, {
    headers: Idempotency.headers,
    payload: [Body, Schema.Null],
    success: Envelope.success(201, Schema.Struct({ address: view.schema })),
    error: Errors.of("malformed", "paused", "idempotency_mismatch", "conflict", "chain_unavailable", "store_unavailable")
  })
    .annotate(Scopes, ["receive"])
    .annotate(OpenApi.Summary, "Create an on-chain address")
    .annotate(
      OpenApi.Description,
      "Any number may be created; each may be paid any number of times. The body is optional. Needs the scope `receive`."
    )
    .annotate(OpenApi.Transform, bodyIsOptional)
    .annotate(Example, (world) => ({
      body: { address_type: "taproot", metadata: world.metadata },
      message: "On-chain address created",
      data: nested(example(world))
    })),
  OnChainAddresses,
  (onChainAddresses) =>
    Effect.fnUntraced(function* ({ payload, headers, request }) {
      const once = yield* creation.once(request, headers["idempotency-key"])
      return creation.answer(
        yield* Errors.answered(
          onChainAddresses.create({
            companyId: yield* companyId,
            ...once,
            type: payload?.address_type ?? "taproot",
            metadata: payload?.metadata ?? Metadata.empty
          })
        )
      )
    })
)

export const get = Section.company(
  HttpApiEndpoint.get("getOnChainAddress", `${path}/:id`, {
    params: { id: Scalars.Uuid },
    success: Envelope.success(200, view.schema),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "Fetch an on-chain address")
    .annotate(OpenApi.Description, "Needs the scope `read`.")
    .annotate(Example, (world) => {
      const row = example(world)
      return { params: { id: row.id }, message: "On-chain address", data: view.of(row) }
    }),
  OnChainAddresses,
  (onChainAddresses) =>
    Effect.fnUntraced(function* ({ params }) {
      const row = yield* Errors.answered(onChainAddresses.get(yield* companyId, params.id.toLowerCase()))
      return Envelope.ok("On-chain address", view.of(row))
    })
)

const page = Page.of(view, "On-chain addresses", path)

export const list = Section.company(
  HttpApiEndpoint.get("listOnChainAddresses", path, {
    query: Page.place(),
    success: page.success,
    error: Errors.of("malformed", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "List on-chain addresses")
    .annotate(OpenApi.Description, "Newest first. The next page is in the `Link` header. Needs the scope `read`.")
    .annotate(Example, (world) => ({ message: "On-chain addresses", data: [view.of(example(world))] })),
  OnChainAddresses,
  (onChainAddresses) =>
    Effect.fnUntraced(function* ({ query }) {
      const asked = Page.asked(query)
      const { onChainAddresses: rows, next } = yield* Errors.answered(onChainAddresses.list(yield* companyId, asked))
      return page.answer(rows, { limit: String(asked.limit) }, next)
    })
)
