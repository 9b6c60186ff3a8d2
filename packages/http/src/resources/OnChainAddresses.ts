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
import * as Scalars from "../wire/Scalars.ts"
import * as Search from "../wire/Search.ts"
import * as Resource from "../api/Resource.ts"
import * as Section from "../api/Section.ts"
import * as Member from "../wire/Member.ts"
import * as View from "../wire/View.ts"
import * as Purpose from "@satrail/core/receiving/Purpose"

const path = "/v1/bitcoin/deposit/on-chain"

const Body = Schema.Struct({
  address_type: Scalars.given(AddressType.annotate({ description: "Address type. Default: `taproot`" })),
  metadata: Scalars.given(Scalars.GivenMetadata)
}).annotate({ identifier: "CreateOnChainAddress" })

export const view = View.make<OnChainAddress>()(
  { identifier: "OnChainAddress" },
  {
    id: Member.uuid((row) => row.id),
    address: [
      Scalars.text("bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr"),
      (row) => row.address
    ],
    company_id: Member.uuid((row) => row.companyId),
    node_id: [
      Scalars.text("73c5da0a").annotate({
        description: "Fingerprint of the wallet that can spend from the address"
      }),
      (row) => row.nodeId
    ],
    bitcoin_address_type: [AddressType, (row) => row.type],
    metadata: [Scalars.Metadata, (row) => row.metadata],
    created_at: Member.instant((row) => row.createdAtMillis)
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
  ...Purpose.none,
  createdAtMillis: millis()
})

/** Wraps the record in an object, so that it is nested one level deeper than usual. */
const nested = (row: OnChainAddress) => ({ address: view.of(row) })

const creation = Idempotency.creation(path, "On-chain address created", nested)

export const create = Section.company(
  HttpApiEndpoint.post("createOnChainAddress", path, {
    headers: Idempotency.headers,
    payload: [Body, Schema.Null],
    success: Envelope.success(201, Schema.Struct({ address: view.schema })),
    error: Errors.of(
      "malformed",
      "paused",
      "idempotency_mismatch",
      "conflict",
      "chain_unavailable",
      "store_unavailable"
    )
  })
    .annotate(Scopes, ["receive"])
    .annotate(OpenApi.Summary, "Create an on-chain address")
    .annotate(
      OpenApi.Description,
      "Creates an on-chain address. It can be paid any number of times, and the number of addresses is not limited. The body is optional. Requires the `receive` scope."
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
      const ask = { type: payload?.address_type ?? "taproot", metadata: payload?.metadata ?? Metadata.empty }
      const once = yield* creation.once(request, headers["idempotency-key"], ask)
      return creation.answer(
        yield* Errors.answered(onChainAddresses.create({ companyId: yield* companyId, ...ask, ...once }))
      )
    })
)

const resource = Resource.make({ path, names: ["On-chain address", "On-chain addresses"], view, example })

export const get = Section.company(
  resource.get("getOnChainAddress", {
    scope: "read",
    summary: "Get an on-chain address",
    description: "Returns an on-chain address."
  }),
  OnChainAddresses,
  (onChainAddresses) => resource.gets(Resource.own(onChainAddresses.get))
)

export const list = Section.company(
  resource.list(
    "listOnChainAddresses",
    {
      scope: "read",
      summary: "List on-chain addresses",
      description: "Returns on-chain addresses, newest first."
    },
    Search.times
  ),
  OnChainAddresses,
  (onChainAddresses) => resource.lists(Resource.own(onChainAddresses.list))
)
