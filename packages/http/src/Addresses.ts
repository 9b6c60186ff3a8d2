import * as Msat from "@satrail/bitcoin/Msat"
import * as Metadata from "@satrail/core/base/Metadata"
import type { Settings } from "@satrail/core/receiving/LightningAddress"
import { LightningAddresses, limit } from "@satrail/core/receiving/LightningAddresses"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { encodeQR } from "qr"
import { Authentication, Caller, Scopes } from "./Authentication.ts"
import { base, bodyIsOptional } from "./Base.ts"
import { Decoding } from "./Decoding.ts"
import * as Envelope from "./Envelope.ts"
import * as Errors from "./Errors.ts"
import * as Field from "./Field.ts"
import * as Handlers from "./Handlers.ts"
import * as Page from "./Page.ts"
import * as Wire from "./Wire.ts"

const list = "/v1/bitcoin/deposit/lightning-address"
const params = { id: Wire.Uuid }

export const SettingsBody = Schema.Struct({
  min_sats: Field.given(Field.Sats.annotate({ description: "The least that one payment may be" })),
  max_sats: Field.given(Field.Sats.annotate({ description: "The most" })),
  success_message: Field.given(Field.SuccessMessage),
  metadata: Field.given(Field.Metadata)
}).annotate({ identifier: "ChangeLightningAddress" })

const listAddresses = HttpApiEndpoint.get("listLightningAddresses", list, {
  query: Page.place(limit),
  success: Page.success(Wire.OwnLightningAddress),
  error: Errors.of("malformed", "store_unavailable")
})
  .annotate(Scopes, ["read"])
  .annotate(OpenApi.Summary, "List Lightning addresses")
  .annotate(
    OpenApi.Description,
    "Newest first; deleted ones too, with `deleted_at`. The next page is in the `Link` header. Needs the scope `read`."
  )

const getAddress = HttpApiEndpoint.get("getLightningAddress", `${list}/:id`, {
  params,
  success: Envelope.success(200, Wire.OwnLightningAddress),
  error: Errors.of("not_found", "store_unavailable")
})
  .annotate(Scopes, ["read"])
  .annotate(OpenApi.Summary, "Fetch a Lightning address")
  .annotate(OpenApi.Description, "With what its owner decided, and its LNURL forms. Needs the scope `read`.")

const changeAddress = HttpApiEndpoint.put("changeLightningAddress", `${list}/:id`, {
  params,
  payload: [SettingsBody, Schema.Null],
  success: Envelope.success(200, Wire.OwnLightningAddress),
  error: Errors.of("malformed", "not_found", "store_unavailable")
})
  .annotate(Scopes, ["receive"])
  .annotate(OpenApi.Summary, "Change a Lightning address")
  .annotate(
    OpenApi.Description,
    "Replaces limits, message and metadata, all of them: what is not given is as if it had never been. Handle and domain stay. Needs the scope `receive`."
  )
  .annotate(OpenApi.Transform, bodyIsOptional)

const deleteAddress = HttpApiEndpoint.delete("deleteLightningAddress", `${list}/:id`, {
  params,
  success: Envelope.success(200, Wire.OwnLightningAddress),
  error: Errors.of("not_found", "store_unavailable")
})
  .annotate(Scopes, ["receive"])
  .annotate(OpenApi.Summary, "Delete a Lightning address")
  .annotate(
    OpenApi.Description,
    "Payers find nobody there from here on, and nobody gets it again. Invoices that wallets have already stay payable. Deleting it again changes nothing. Needs the scope `receive`."
  )

const Qr = Schema.Struct({
  text: Schema.String.annotate({ description: "What a wallet reads: the LNURL in upper case, which takes less room" }),
  svg: Schema.String.annotate({ description: "The QR code, an SVG document" })
}).annotate({ identifier: "QrCode" })

const getQr = HttpApiEndpoint.get("getLightningAddressQr", `${list}/:id/qr`, {
  params,
  success: Envelope.success(200, Qr),
  error: Errors.of("not_found", "store_unavailable")
})
  .annotate(Scopes, ["read"])
  .annotate(OpenApi.Summary, "Fetch a Lightning address as a QR code")
  .annotate(OpenApi.Description, "Any LNURL wallet can scan it. Needs the scope `read`.")

/** What is done with Lightning addresses after they were created. */
export class Group extends HttpApiGroup.make("lightningAddresses")
  .add(listAddresses, getAddress, changeAddress, deleteAddress, getQr)
  .middleware(Decoding)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Lightning addresses")
  .annotate(OpenApi.Description, "Lists them, changes what may be paid there, and deletes them") {}

const msatOrNull = (sats: number | null | undefined): Msat.Msat | null => (sats === null || sats === undefined ? null : Msat.fromSats(sats))

const settingsOf = (body: typeof SettingsBody.Type | null): Settings => ({
  minSendable: msatOrNull(body?.min_sats),
  maxSendable: msatOrNull(body?.max_sats),
  successMessage: Field.orNull(body?.success_message),
  metadata: body?.metadata ?? Metadata.empty
})

export const layer = Handlers.layer(
  base.add(Group),
  "lightningAddresses",
  Effect.fnUntraced(function* (handlers) {
    const lightningAddresses = yield* LightningAddresses
    const companyId = Effect.map(Caller, ({ apiKey }) => apiKey.companyId)

    return handlers.handleAll({
      listLightningAddresses: Effect.fnUntraced(function* ({ query }) {
        const asked = { limit: query.limit ?? limit.default, before: query.cursor?.id ?? null }
        const { lightningAddresses: rows, next } = yield* Errors.answered(lightningAddresses.list(yield* companyId, asked))
        return HttpApiSchema.withHeaders({
          body: Envelope.ok("Lightning addresses", rows.map(Wire.ownLightningAddress)),
          headers: next === undefined ? {} : { link: Page.link(list, { limit: asked.limit }, next) }
        })
      }),
      getLightningAddress: Effect.fnUntraced(function* ({ params }) {
        const row = yield* Errors.answered(lightningAddresses.get(yield* companyId, params.id.toLowerCase()))
        return Envelope.ok("Lightning address", Wire.ownLightningAddress(row))
      }),
      changeLightningAddress: Effect.fnUntraced(function* ({ params, payload }) {
        const row = yield* Errors.answered(lightningAddresses.change(yield* companyId, params.id.toLowerCase(), settingsOf(payload)))
        return Envelope.ok("Lightning address changed", Wire.ownLightningAddress(row))
      }),
      deleteLightningAddress: Effect.fnUntraced(function* ({ params }) {
        const row = yield* Errors.answered(lightningAddresses.remove(yield* companyId, params.id.toLowerCase()))
        return Envelope.ok("Lightning address deleted", Wire.ownLightningAddress(row))
      }),
      getLightningAddressQr: Effect.fnUntraced(function* ({ params }) {
        const row = yield* Errors.answered(lightningAddresses.get(yield* companyId, params.id.toLowerCase()))
        const text = `LIGHTNING:${Wire.ownLightningAddress(row).lnurl.toUpperCase()}`
        return Envelope.ok("QR code", { text, svg: encodeQR(text, "svg") })
      })
    })
  })
)
