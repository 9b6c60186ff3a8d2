import { maxHandleLength, urlOf } from "@satrail/bitcoin/LightningAddressText"
import * as Lnurl from "@satrail/bitcoin/Lnurl"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Metadata from "@satrail/core/base/Metadata"
import * as LightningAddress from "@satrail/core/receiving/LightningAddress"
import { handleIssue, LightningAddresses, limit, successMessageIssue } from "@satrail/core/receiving/LightningAddresses"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { encodeQR } from "qr"
import { Caller, companyId, Scopes } from "../api/Authentication.ts"
import { bodyIsOptional } from "../api/Base.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example, type World } from "../wire/Examples.ts"
import * as Idempotency from "../wire/Idempotency.ts"
import * as Page from "../wire/Page.ts"
import * as Patch from "../wire/Patch.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Section from "../api/Section.ts"
import * as View from "../wire/View.ts"

const path = "/v1/bitcoin/deposit/lightning-address"
const params = { id: Scalars.Uuid }

/** A handle of one's own; the empty text is none. */
const Handle = Schema.String.annotate({ description: "Paid plans only; empty for a random one", examples: ["satoshi"] }).check(
  Scalars.stated((text: string) => (text === "" ? undefined : handleIssue(text)), {
    maxLength: maxHandleLength,
    pattern: "^(?:[a-zA-Z0-9_-](?:[a-zA-Z0-9._-]*[a-zA-Z0-9_-])?)?$"
  })
)

/** A domain of one's own; the empty text is the service's. */
const OwnDomain = Schema.String.annotate({
  description: "Paid plans only, a verified domain; empty for the service's own",
  examples: ["example.com"]
}).check(Scalars.stated((text: string) => (text === "" ? undefined : Scalars.domainIssue(text)), { pattern: "^$|[^.]\\.[^.]" }))

/** What a payer's wallet shows; the empty text is none. */
const SuccessMessage = Schema.String.annotate({
  description: `Shown by the payer's wallet after a payment, at most ${LightningAddress.maxSuccessMessageCharacters} characters; empty for none`,
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
  metadata: Scalars.given(Scalars.GivenMetadata)
}).annotate({ identifier: "CreateLightningAddress" })

const SettingsBody = Schema.Struct({
  min_sats: Scalars.given(Scalars.GivenSats.annotate({ description: "The smallest payment, within the service's limits" })),
  max_sats: Scalars.given(
    Scalars.GivenSats.annotate({ description: "The largest payment, not below `min_sats` and within the service's limits" })
  ),
  success_message: Scalars.given(SuccessMessage),
  metadata: Scalars.given(Scalars.GivenMetadata)
}).annotate({ identifier: "ChangeLightningAddress" })

/** A Lightning address that was given out. */
const view = View.make<LightningAddress.LightningAddress>()(
  { identifier: "LightningAddress" },
  {
    id: [Scalars.Uuid, (row) => row.id],
    handle: [Scalars.text("satoshi"), (row) => row.handle],
    domain: [Scalars.text("pay.example.com"), (row) => row.domain],
    address: [Scalars.text("satoshi@pay.example.com"), LightningAddress.text],
    metadata: [Scalars.Metadata, (row) => row.metadata],
    created_at: [Scalars.Instant, (row) => Scalars.instant(row.createdAtMillis)],
    updated_at: [Scalars.Instant, (row) => Scalars.instant(row.updatedAtMillis)],
    last_used_at: [
      Schema.NullOr(Scalars.Instant).annotate({ description: "null when it was never used" }),
      (row) => Scalars.instantOrNull(row.lastUsedAtMillis)
    ],
    deleted_at: [
      Schema.NullOr(Scalars.Instant).annotate({ description: "null when it was not deleted" }),
      (row) => Scalars.instantOrNull(row.deletedAtMillis)
    ]
  }
)

/** The same for its owner, who decides what may be paid there, with everything that payers scan. */
export const own = View.make<LightningAddress.LightningAddress>()(
  { identifier: "OwnLightningAddress" },
  {
    ...view.members,
    min_sats: [
      Schema.NullOr(Scalars.Sats).annotate({ description: "The smallest payment; null for the service's limit" }),
      (row) => Scalars.satsOrNull(row.minSendable)
    ],
    max_sats: [
      Schema.NullOr(Scalars.Sats).annotate({ description: "The largest payment; null for the service's limit" }),
      (row) => Scalars.satsOrNull(row.maxSendable)
    ],
    success_message: [
      Schema.NullOr(Schema.String).annotate({ description: "Shown by the payer's wallet after a payment (LUD-09)" }),
      (row) => row.successMessage
    ],
    lnurl: [Schema.String.annotate({ description: "The address as a bech32 LNURL (LUD-01)" }), (row) => Lnurl.encode(urlOf(row))],
    lnurlp: [
      Scalars.text("lnurlp://pay.example.com/.well-known/lnurlp/satoshi").annotate({ description: "The address as a link (LUD-17)" }),
      (row) => urlOf(row).replace(/^https?:/, "lnurlp:")
    ]
  }
)

const Qr = Schema.Struct({
  text: Schema.String.annotate({ description: "The content of the QR code: the LNURL in upper case, which needs less space" }),
  svg: Schema.String.annotate({ description: "The QR code, an SVG document" })
}).annotate({ identifier: "QrCode" })

const qrText = (row: LightningAddress.LightningAddress): string => `LIGHTNING:${Lnurl.encode(urlOf(row)).toUpperCase()}`

const example = ({ id, millis, companyId, serviceDomain, metadata }: World): LightningAddress.LightningAddress => ({
  id: id("Lightning address"),
  companyId,
  handle: "satoshi",
  domain: serviceDomain,
  minSendable: Msat.fromSats(1000),
  maxSendable: Msat.fromSats(100_000),
  successMessage: "Thank you!",
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
      "Any number may be created. The body is optional. A chosen handle and an own domain need a paid plan. Needs the scope `receive`."
    )
    .annotate(OpenApi.Transform, bodyIsOptional)
    // A body that a company on any plan may send.
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
      const once = yield* creation.once(request, headers["idempotency-key"])
      return creation.answer(
        yield* Errors.answered(
          lightningAddresses.create({
            company: { id, plan },
            ...once,
            handle: Scalars.orNull(payload?.handle),
            domain: Scalars.orNull(payload?.domain),
            metadata: payload?.metadata ?? Metadata.empty
          })
        )
      )
    })
)

const page = Page.of(own, "Lightning addresses", path)

export const list = Section.company(
  HttpApiEndpoint.get("listLightningAddresses", path, {
    query: Page.place(limit),
    success: page.success,
    error: Errors.of("malformed", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "List Lightning addresses")
    .annotate(
      OpenApi.Description,
      "Newest first; deleted ones too, with `deleted_at`. The next page is in the `Link` header. Needs the scope `read`."
    )
    .annotate(Example, (world) => ({ message: "Lightning addresses", data: [own.of(example(world))] })),
  LightningAddresses,
  (lightningAddresses) =>
    Effect.fnUntraced(function* ({ query }) {
      const asked = Page.asked(query, limit)
      const { lightningAddresses: rows, next } = yield* Errors.answered(lightningAddresses.list(yield* companyId, asked))
      return page.answer(rows, { limit: String(asked.limit) }, next)
    })
)

export const get = Section.company(
  HttpApiEndpoint.get("getLightningAddress", `${path}/:id`, {
    params,
    success: Envelope.success(200, own.schema),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "Fetch a Lightning address")
    .annotate(OpenApi.Description, "With its limits, success message and LNURL forms. Needs the scope `read`.")
    .annotate(Example, (world) => {
      const row = example(world)
      return { params: { id: row.id }, message: "Lightning address", data: own.of(row) }
    }),
  LightningAddresses,
  (lightningAddresses) =>
    Effect.fnUntraced(function* ({ params }) {
      const row = yield* Errors.answered(lightningAddresses.get(yield* companyId, params.id.toLowerCase()))
      return Envelope.ok("Lightning address", own.of(row))
    })
)

const settingsOf = (body: typeof SettingsBody.Type | null): LightningAddress.Settings => ({
  minSendable: Scalars.msatOrNull(body?.min_sats),
  maxSendable: Scalars.msatOrNull(body?.max_sats),
  successMessage: Scalars.orNull(body?.success_message),
  metadata: body?.metadata ?? Metadata.empty
})

const changing = {
  params,
  success: Envelope.success(200, own.schema),
  error: Errors.of("malformed", "not_found", "store_unavailable")
}
const changed = Effect.fnUntraced(function* (
  lightningAddresses: LightningAddresses["Service"],
  id: string,
  body: typeof SettingsBody.Type | null
) {
  const row = yield* Errors.answered(lightningAddresses.change(yield* companyId, id.toLowerCase(), settingsOf(body)))
  return Envelope.ok("Lightning address changed", own.of(row))
})
const changeExample = (world: World) => {
  const row = example(world)
  const data = own.of(row)
  const { min_sats, max_sats, success_message, metadata } = data
  return { params: { id: row.id }, body: { min_sats, max_sats, success_message, metadata }, message: "Lightning address changed", data }
}

const change = Section.company(
  HttpApiEndpoint.put("changeLightningAddress", `${path}/:id`, { ...changing, payload: [SettingsBody, Schema.Null] })
    .annotate(Scopes, ["receive"])
    .annotate(OpenApi.Summary, "Replace a Lightning address's settings")
    .annotate(
      OpenApi.Description,
      "Replaces limits, message and metadata. A member that is left out gets its default. Handle and domain stay. Use PATCH to change some of them. Needs the scope `receive`."
    )
    .annotate(OpenApi.Transform, bodyIsOptional)
    .annotate(Example, changeExample),
  LightningAddresses,
  (lightningAddresses) =>
    ({ params, payload }) =>
      changed(lightningAddresses, params.id, payload)
)

const update = Section.company(
  HttpApiEndpoint.patch("updateLightningAddress", `${path}/:id`, { ...changing, payload: SettingsBody })
    .annotate(Scopes, ["receive"])
    .annotate(OpenApi.Summary, "Update a Lightning address")
    .annotate(
      OpenApi.Description,
      "Changes the members you send. Members you leave out keep their values, and null clears one. Needs the scope `receive`."
    )
    .annotate(Example, (world) => ({ ...changeExample(world), body: { min_sats: changeExample(world).body.min_sats } })),
  LightningAddresses,
  (lightningAddresses) =>
    Effect.fnUntraced(function* ({ params, payload }) {
      const row = yield* Errors.answered(lightningAddresses.get(yield* companyId, params.id.toLowerCase()))
      return yield* changed(lightningAddresses, params.id, yield* Patch.filled(SettingsBody, payload, own.of(row)))
    })
)

const remove = Section.company(
  HttpApiEndpoint.delete("deleteLightningAddress", `${path}/:id`, {
    params,
    success: Envelope.success(200, own.schema),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(Scopes, ["receive"])
    .annotate(OpenApi.Summary, "Delete a Lightning address")
    .annotate(
      OpenApi.Description,
      "The address is unknown to payers from now on, and is never given out again. Invoices already issued for it stay payable. Deleting it again changes nothing. Needs the scope `receive`."
    )
    .annotate(Example, (world) => {
      const [row, atMillis] = [example(world), world.millis(3_600_000)]
      return {
        params: { id: row.id },
        message: "Lightning address deleted",
        data: own.of({ ...row, deletedAtMillis: atMillis, updatedAtMillis: atMillis })
      }
    }),
  LightningAddresses,
  (lightningAddresses) =>
    Effect.fnUntraced(function* ({ params }) {
      const row = yield* Errors.answered(lightningAddresses.remove(yield* companyId, params.id.toLowerCase()))
      return Envelope.ok("Lightning address deleted", own.of(row))
    })
)

const getQr = Section.company(
  HttpApiEndpoint.get("getLightningAddressQr", `${path}/:id/qr`, {
    params,
    success: Envelope.success(200, Qr),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "Fetch a Lightning address as a QR code")
    .annotate(OpenApi.Description, "Any LNURL wallet can scan it. Needs the scope `read`.")
    .annotate(Example, (world) => {
      const row = example(world)
      const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 49 49">…</svg>'
      return { params: { id: row.id }, message: "QR code", data: { text: qrText(row), svg } }
    }),
  LightningAddresses,
  (lightningAddresses) =>
    Effect.fnUntraced(function* ({ params }) {
      const text = qrText(yield* Errors.answered(lightningAddresses.get(yield* companyId, params.id.toLowerCase())))
      return Envelope.ok("QR code", { text, svg: encodeQR(text, "svg") })
    })
)

/** What is done with Lightning addresses after they were created. */
export const section = Section.make(
  "lightningAddresses",
  { title: "Lightning addresses", description: "List, change and delete Lightning addresses" },
  [list, get, change, update, remove, getQr]
)
