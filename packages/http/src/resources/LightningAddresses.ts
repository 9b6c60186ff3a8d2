import { maxHandleLength, urlOf } from "@satrail/bitcoin/LightningAddressText"
import * as Lnurl from "@satrail/bitcoin/Lnurl"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Characters from "@satrail/core/base/Characters"
import type { Invalid } from "@satrail/core/base/Invalid"
import * as Metadata from "@satrail/core/base/Metadata"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import {
  handleIssue,
  LightningAddresses,
  successMessageIssue
} from "@satrail/core/receiving/LightningAddresses"
import { svg } from "@satrail/ui/checkout/Qr"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Caller, companyId, Scopes } from "../api/Authentication.ts"
import { bodyIsOptional } from "../api/Base.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example, type World } from "../wire/Examples.ts"
import * as Idempotency from "../wire/Idempotency.ts"
import * as Patch from "../wire/Patch.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Search from "../wire/Search.ts"
import * as Resource from "../api/Resource.ts"
import * as Section from "../api/Section.ts"
import * as Member from "../wire/Member.ts"
import * as SplitsView from "../wire/SplitsView.ts"
import * as View from "../wire/View.ts"

const path = "/v1/bitcoin/deposit/lightning-address"

/** Custom handle; empty for none. */
const Handle = Schema.String.annotate({
  description: "Custom handle, only on paid plans. Default: a random handle",
  examples: ["satoshi"]
}).check(
  Scalars.stated((text: string) => (text === "" ? undefined : handleIssue(text)), {
    maxLength: maxHandleLength,
    pattern: "^(?:[a-zA-Z0-9_-](?:[a-zA-Z0-9._-]*[a-zA-Z0-9_-])?)?$"
  })
)

/** Custom domain; empty for the service's domain. */
const OwnDomain = Schema.String.annotate({
  description: "Verified custom domain, only on paid plans. Default: the service's domain",
  examples: ["example.com"]
}).check(
  Scalars.stated((text: string) => (text === "" ? undefined : Scalars.domainIssue(text)), {
    pattern: "^$|[^.]\\.[^.]"
  })
)

/** Text shown by the payer's wallet; empty for none. */
const SuccessMessage = Schema.String.annotate({
  description: `Text shown by the payer's wallet after a payment, at most ${LightningAddress.maxSuccessMessageCharacters} characters. Default: none`,
  examples: ["Thank you!"]
}).check(
  Scalars.stated((text: string) => (text === "" ? undefined : successMessageIssue(text)), {
    maxLength: LightningAddress.maxSuccessMessageCharacters,
    pattern: "^$|\\S"
  })
)

const Body = Schema.Struct({
  handle: Scalars.given(Handle),
  domain: Scalars.given(OwnDomain),
  splits: SplitsView.given,
  metadata: Scalars.given(Scalars.GivenMetadata)
}).annotate({ identifier: "CreateLightningAddress" })

const SettingsBody = Schema.Struct({
  min_sats: Scalars.given(
    Scalars.GivenSats.annotate({ description: "Minimum payment, within the service's limits" })
  ),
  max_sats: Scalars.given(
    Scalars.GivenSats.annotate({
      description: "Maximum payment, at least `min_sats` and within the service's limits"
    })
  ),
  success_message: Scalars.given(SuccessMessage),
  splits: SplitsView.given,
  metadata: Scalars.given(Scalars.GivenMetadata)
}).annotate({ identifier: "ChangeLightningAddress" })

/** A Lightning address with its limits and the codes that payers scan. */
export const view = View.make<LightningAddress.LightningAddress>()(
  { identifier: "LightningAddress" },
  {
    id: Member.uuid((row) => row.id),
    handle: [Scalars.text("satoshi"), (row) => row.handle],
    domain: [Scalars.text("pay.example.com"), (row) => row.domain],
    address: [Scalars.text("satoshi@pay.example.com"), LightningAddress.text],
    metadata: [Scalars.Metadata, (row) => row.metadata],
    created_at: Member.instant((row) => row.createdAtMillis),
    updated_at: Member.instant((row) => row.updatedAtMillis),
    last_used_at: Member.instantOrNull(
      (row) => row.lastUsedAtMillis,
      "Time of the last use; null if never used"
    ),
    deleted_at: Member.instantOrNull((row) => row.deletedAtMillis, "Time of deletion; null if not deleted"),
    min_sats: [
      Schema.NullOr(Scalars.DueSats).annotate({
        description: "Minimum payment; null for the service's limit"
      }),
      (row) => Scalars.satsOrNull(row.minSendable)
    ],
    max_sats: Member.satsOrNull((row) => row.maxSendable, "Maximum payment; null for the service's limit"),
    success_message: Member.textOrNull(
      (row) => row.successMessage,
      "Text shown by the payer's wallet after a payment (LUD-09)"
    ),
    splits: SplitsView.splits,
    lnurl: Member.text((row) => Lnurl.encode(urlOf(row)), "The address as a bech32 LNURL (LUD-01)"),
    lnurlp: [
      Scalars.text("lnurlp://pay.example.com/.well-known/lnurlp/satoshi").annotate({
        description: "The address as a link (LUD-17)"
      }),
      (row) => urlOf(row).replace(/^https?:/, "lnurlp:")
    ]
  }
)

const Qr = Schema.Struct({
  text: Schema.String.annotate({
    description: "Content of the QR code: the LNURL in upper case, which makes the code smaller"
  }),
  svg: Schema.String.annotate({ description: "QR code, as an SVG document" })
}).annotate({ identifier: "QrCode" })

const qrText = (row: LightningAddress.LightningAddress): string =>
  `LIGHTNING:${Lnurl.encode(urlOf(row)).toUpperCase()}`

/** Returns an address's QR code. */
export const qrOf = (row: LightningAddress.LightningAddress): typeof Qr.Type => {
  const text = qrText(row)
  return { text, svg: svg(text) }
}

const example = ({
  id,
  millis,
  companyId,
  serviceDomain,
  metadata
}: World): LightningAddress.LightningAddress => ({
  id: id("Lightning address"),
  companyId,
  handle: "satoshi",
  domain: serviceDomain,
  minSendable: Msat.fromSats(1000),
  maxSendable: Msat.fromSats(100_000),
  successMessage: "Thank you!",
  splits: null,
  metadata,
  createdAtMillis: millis(),
  updatedAtMillis: millis(),
  lastUsedAtMillis: null,
  deletedAtMillis: null
})

const creation = Idempotency.creation(path, "Lightning address created", view.of)

export const create = Section.company(
  HttpApiEndpoint.post("createLightningAddress", path, {
    headers: Idempotency.headers,
    payload: [Body, Schema.Null],
    success: Envelope.success(201, view.schema),
    error: Errors.of(
      "malformed",
      "plan_required",
      "domain_not_verified",
      "handle_taken",
      "idempotency_mismatch",
      "conflict",
      "store_unavailable"
    )
  })
    .annotate(Scopes, ["receive"])
    .annotate(OpenApi.Summary, "Create a Lightning address")
    .annotate(
      OpenApi.Description,
      "Creates a Lightning address. The number of addresses is not limited. The body is optional. A custom handle or domain requires a paid plan. Requires the `receive` scope."
    )
    .annotate(OpenApi.Transform, bodyIsOptional)
    // A body that companies on any plan can send.
    .annotate(Example, (world) => ({
      body: { metadata: world.metadata },
      message: "Lightning address created",
      data: view.of(example(world))
    })),
  LightningAddresses,
  (lightningAddresses) =>
    Effect.fnUntraced(function* ({ payload, headers, request }) {
      const {
        apiKey: { companyId: id },
        plan
      } = yield* Caller
      const ask = {
        handle: Scalars.orNull(payload?.handle),
        domain: Scalars.orNull(payload?.domain),
        splits: SplitsView.read(payload?.splits),
        metadata: payload?.metadata ?? Metadata.empty
      }
      const { handle, domain } = ask
      const asked = {
        ...ask,
        handle: handle && Characters.lowerAscii(handle),
        domain: domain && Scalars.domainOf(domain)
      }
      const once = yield* creation.once(request, headers["idempotency-key"], asked)
      return creation.answer(
        yield* Errors.answered(lightningAddresses.create({ company: { id, plan }, ...ask, ...once }))
      )
    })
)

const resource = Resource.make({ path, names: ["Lightning address", "Lightning addresses"], view, example })

export const list = Section.company(
  resource.list(
    "listLightningAddresses",
    {
      scope: "read",
      summary: "List Lightning addresses",
      description:
        "Returns Lightning addresses, newest first. Deleted addresses are included, with `deleted_at` set."
    },
    Search.times
  ),
  LightningAddresses,
  (lightningAddresses) => resource.lists(Resource.own(lightningAddresses.list))
)

export const get = Section.company(
  resource.get("getLightningAddress", {
    scope: "read",
    summary: "Get a Lightning address",
    description: "Returns a Lightning address with its limits, success message and LNURL forms."
  }),
  LightningAddresses,
  (lightningAddresses) => resource.gets(Resource.own(lightningAddresses.get))
)

const settingsOf = (body: typeof SettingsBody.Type | null): LightningAddress.Settings => ({
  minSendable: Scalars.msatOrNull(body?.min_sats),
  maxSendable: Scalars.msatOrNull(body?.max_sats),
  successMessage: Scalars.orNull(body?.success_message),
  splits: SplitsView.read(body?.splits),
  metadata: body?.metadata ?? Metadata.empty
})

const changing = {
  ...resource.one,
  error: Errors.of("malformed", "not_found", "store_unavailable")
}
const changed = Effect.fnUntraced(function* (
  lightningAddresses: LightningAddresses["Service"],
  id: string,
  bodyFor: (
    current: LightningAddress.LightningAddress
  ) => Effect.Effect<typeof SettingsBody.Type | null, Invalid>
) {
  const settingsFor = (current: LightningAddress.LightningAddress) => Effect.map(bodyFor(current), settingsOf)
  const row = yield* Errors.answered(lightningAddresses.updateSettings(yield* companyId, id, settingsFor))
  return Envelope.ok("Lightning address changed", view.of(row))
})
const changeExample = (world: World) => {
  const row = example(world)
  const data = view.of(row)
  const { min_sats, max_sats, success_message, metadata } = data
  return {
    params: { id: row.id },
    body: { min_sats, max_sats, success_message, metadata },
    message: "Lightning address changed",
    data
  }
}

const change = Section.company(
  HttpApiEndpoint.put("changeLightningAddress", `${path}/:id`, {
    ...changing,
    payload: [SettingsBody, Schema.Null]
  })
    .annotate(Scopes, ["receive"])
    .annotate(OpenApi.Summary, "Replace a Lightning address's settings")
    .annotate(
      OpenApi.Description,
      "Replaces the limits, success message and metadata. Omitted fields get their defaults. The handle and domain do not change. Use PATCH to change individual settings. Requires the `receive` scope."
    )
    .annotate(OpenApi.Transform, bodyIsOptional)
    .annotate(Example, changeExample),
  LightningAddresses,
  (lightningAddresses) =>
    ({ params, payload }) =>
      changed(lightningAddresses, params.id, () => Effect.succeed(payload))
)

const update = Section.company(
  HttpApiEndpoint.patch("updateLightningAddress", `${path}/:id`, { ...changing, payload: SettingsBody })
    .annotate(Scopes, ["receive"])
    .annotate(OpenApi.Summary, "Update a Lightning address")
    .annotate(
      OpenApi.Description,
      "Changes the fields you send. Omitted fields keep their values, and null clears a value. Requires the `receive` scope."
    )
    .annotate(Example, (world) => ({
      ...changeExample(world),
      body: { min_sats: changeExample(world).body.min_sats }
    })),
  LightningAddresses,
  (lightningAddresses) =>
    ({ params, payload }) =>
      changed(lightningAddresses, params.id, (current) =>
        Patch.filled(SettingsBody, payload, view.of(current))
      )
)

const deleted = "Lightning address deleted"

const remove = Section.company(
  HttpApiEndpoint.delete("deleteLightningAddress", `${path}/:id`, {
    ...resource.one,
    error: Errors.of("not_found", "store_unavailable")
  }).annotateMerge(
    resource.about(
      deleted,
      {
        scope: "receive",
        summary: "Delete a Lightning address",
        description:
          "Deletes a Lightning address. Payers can no longer use it, and it cannot be created again. Invoices already issued for it can still be paid. Deleting twice has no further effect."
      },
      (row, world) => ({
        ...row,
        deletedAtMillis: world.millis(3_600_000),
        updatedAtMillis: world.millis(3_600_000)
      })
    )
  ),
  LightningAddresses,
  (lightningAddresses) =>
    resource.answers(deleted, (id) => Errors.answered(Resource.own(lightningAddresses.remove)(id)))
)

const getQr = Section.company(
  HttpApiEndpoint.get("getLightningAddressQr", `${path}/:id/qr`, {
    params: resource.one.params,
    success: Envelope.success(200, Qr),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "Get a Lightning address as a QR code")
    .annotate(
      OpenApi.Description,
      "Returns a QR code that any LNURL wallet can scan. Requires the `read` scope."
    )
    .annotate(Example, (world) => {
      const row = example(world)
      const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 49 49">…</svg>'
      return { params: { id: row.id }, message: "QR code", data: { text: qrText(row), svg } }
    }),
  LightningAddresses,
  (lightningAddresses) =>
    Effect.fnUntraced(function* ({ params }) {
      const row = yield* Errors.answered(lightningAddresses.get(yield* companyId, params.id))
      return Envelope.ok("QR code", qrOf(row))
    })
)

export const section = Section.make(
  "lightningAddresses",
  { title: "Lightning addresses", description: "List, change and delete Lightning addresses" },
  [list, get, change, update, remove, getQr]
)
