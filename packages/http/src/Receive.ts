import { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import * as Metadata from "@satrail/core/base/Metadata"
import * as Invoice from "@satrail/core/receiving/Invoice"
import { Invoices } from "@satrail/core/receiving/Invoices"
import { LightningAddresses } from "@satrail/core/receiving/LightningAddresses"
import { OnChainAddresses } from "@satrail/core/receiving/OnChainAddresses"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication, Caller, Scopes } from "./Authentication.ts"
import { base, bodyIsOptional } from "./Base.ts"
import { Decoding, Rules } from "./Decoding.ts"
import * as Envelope from "./Envelope.ts"
import * as Errors from "./Errors.ts"
import * as Field from "./Field.ts"
import * as Handlers from "./Handlers.ts"
import * as Idempotency from "./Idempotency.ts"
import * as Wire from "./Wire.ts"

export const InvoiceBody = Schema.Struct({
  amount: Field.AmountNumber,
  currency: Field.Currency,
  description: Field.given(Field.Description),
  expiry_seconds: Field.given(Field.ExpirySeconds),
  metadata: Field.given(Field.Metadata)
}).annotate({ identifier: "CreateLightningInvoice" })

export const LightningAddressBody = Schema.Struct({
  handle: Field.given(Field.Handle),
  domain: Field.given(Field.OwnDomain),
  metadata: Field.given(Field.Metadata)
}).annotate({ identifier: "CreateLightningAddress" })

export const OnChainAddressBody = Schema.Struct({
  address_type: Field.given(AddressType.annotate({ description: "`taproot` unless given" })),
  metadata: Field.given(Field.Metadata)
}).annotate({ identifier: "CreateOnChainAddress" })

const paths = {
  invoice: "/v1/bitcoin/deposit/lightning-invoice",
  lightningAddress: "/v1/bitcoin/deposit/lightning-address",
  onChainAddress: "/v1/bitcoin/deposit/on-chain"
} as const

const createInvoice = HttpApiEndpoint.post("createInvoice", paths.invoice, {
  headers: Idempotency.headers,
  payload: InvoiceBody,
  success: Envelope.success(201, Wire.Invoice),
  error: Errors.of("malformed", "idempotency_mismatch", "conflict", "rate_unavailable", "node_unavailable", "store_unavailable")
})
  .annotate(Scopes, ["receive"])
  .annotate(Rules, Field.amountIssues)
  .annotate(OpenApi.Summary, "Create a Lightning invoice")
  .annotate(OpenApi.Description, "Whoever pays it credits the balance with what arrives. Needs the scope `receive`.")

const getInvoice = HttpApiEndpoint.get("getInvoice", `${paths.invoice}/:invoiceID`, {
  params: { invoiceID: Wire.Uuid },
  success: Envelope.success(200, Wire.Invoice),
  error: Errors.of("not_found", "store_unavailable")
})
  .annotate(Scopes, ["read"])
  .annotate(OpenApi.Summary, "Fetch a Lightning invoice")
  .annotate(OpenApi.Description, "`settled` is true, and `r_preimage` there, once it was paid. Needs the scope `read`.")

const createLightningAddress = HttpApiEndpoint.post("createLightningAddress", paths.lightningAddress, {
  headers: Idempotency.headers,
  payload: [LightningAddressBody, Schema.Null],
  success: Envelope.success(201, Wire.LightningAddress),
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
    "Any number may be created. The body is optional. Handle and domain of one's own need a paid plan. Needs the scope `receive`."
  )
  .annotate(OpenApi.Transform, bodyIsOptional)

const createOnChainAddress = HttpApiEndpoint.post("createOnChainAddress", paths.onChainAddress, {
  headers: Idempotency.headers,
  payload: [OnChainAddressBody, Schema.Null],
  success: Envelope.success(201, Schema.Struct({ address: Wire.OnChainAddress })),
  error: Errors.of("malformed", "idempotency_mismatch", "conflict", "chain_unavailable", "store_unavailable")
})
  .annotate(Scopes, ["receive"])
  .annotate(OpenApi.Summary, "Create an on-chain address")
  .annotate(
    OpenApi.Description,
    "Any number may be created; each may be paid any number of times. The body is optional. Needs the scope `receive`."
  )
  .annotate(OpenApi.Transform, bodyIsOptional)

/** Asking to be paid. */
export class Group extends HttpApiGroup.make("receive")
  .add(createInvoice, getInvoice, createLightningAddress, createOnChainAddress)
  .middleware(Decoding)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Receive")
  .annotate(OpenApi.Description, "Lightning invoices, Lightning addresses and on-chain addresses") {}

const invoiceCreation = Idempotency.creation(paths.invoice, "Invoice created", Wire.invoice)
const lightningAddressCreation = Idempotency.creation(paths.lightningAddress, "Lightning address created", Wire.lightningAddress)
const onChainAddressCreation = Idempotency.creation(
  paths.onChainAddress,
  "On-chain address created",
  (row: Parameters<typeof Wire.onChainAddress>[0]) => ({ address: Wire.onChainAddress(row) })
)

export const layer = Handlers.layer(
  base.add(Group),
  "receive",
  Effect.fnUntraced(function* (handlers) {
    const invoices = yield* Invoices
    const lightningAddresses = yield* LightningAddresses
    const onChainAddresses = yield* OnChainAddresses

    return handlers.handleAll({
      createInvoice: Effect.fnUntraced(function* ({ payload, headers, request }) {
        const {
          apiKey: { companyId }
        } = yield* Caller
        const once = yield* invoiceCreation.once(request, headers["idempotency-key"])
        const asked = yield* Field.asked(yield* Effect.orDie(request.text), payload)
        if (asked === undefined) return yield* Effect.fail(Errors.malformedRequest([{ path: "amount", message: "Missing" }]))
        return invoiceCreation.answer(
          yield* Errors.answered(
            invoices.create({
              companyId,
              ...asked,
              ...once,
              description: payload.description ?? "",
              expirySeconds: payload.expiry_seconds ?? Invoice.expirySeconds.default,
              metadata: payload.metadata ?? Metadata.empty
            })
          )
        )
      }),
      getInvoice: Effect.fnUntraced(function* ({ params }) {
        const {
          apiKey: { companyId }
        } = yield* Caller
        return Envelope.ok("Invoice", Wire.invoice(yield* Errors.answered(invoices.get(companyId, params.invoiceID.toLowerCase()))))
      }),
      createLightningAddress: Effect.fnUntraced(function* ({ payload, headers, request }) {
        const {
          apiKey: { companyId: id },
          plan
        } = yield* Caller
        const once = yield* lightningAddressCreation.once(request, headers["idempotency-key"])
        return lightningAddressCreation.answer(
          yield* Errors.answered(
            lightningAddresses.create({
              company: { id, plan },
              ...once,
              handle: Field.orNull(payload?.handle),
              domain: Field.orNull(payload?.domain),
              metadata: payload?.metadata ?? Metadata.empty
            })
          )
        )
      }),
      createOnChainAddress: Effect.fnUntraced(function* ({ payload, headers, request }) {
        const {
          apiKey: { companyId }
        } = yield* Caller
        const once = yield* onChainAddressCreation.once(request, headers["idempotency-key"])
        return onChainAddressCreation.answer(
          yield* Errors.answered(
            onChainAddresses.create({
              companyId,
              ...once,
              type: payload?.address_type ?? "taproot",
              metadata: payload?.metadata ?? Metadata.empty
            })
          )
        )
      })
    })
  })
)
