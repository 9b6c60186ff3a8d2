import * as Lnurl from "@satrail/bitcoin/Lnurl"
import * as Metadata from "@satrail/core/base/Metadata"
import * as Voucher from "@satrail/core/sending/Voucher"
import { type Issued, limit, Vouchers } from "@satrail/core/sending/Vouchers"
import { Effect, Redacted, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Authentication, Caller, Scopes } from "./Authentication.ts"
import { base } from "./Base.ts"
import { Decoding, Rules } from "./Decoding.ts"
import * as Envelope from "./Envelope.ts"
import * as Errors from "./Errors.ts"
import * as Field from "./Field.ts"
import * as Handlers from "./Handlers.ts"
import * as Idempotency from "./Idempotency.ts"
import * as Page from "./Page.ts"
import { Seal } from "./Seal.ts"
import * as Wire from "./Wire.ts"

const path = "/v1/vouchers"
const params = { id: Wire.Uuid }

const Body = Schema.Struct({
  amount: Field.AmountNumber,
  currency: Field.Currency,
  description: Field.given(Field.Description.annotate({ description: "What a claimer's wallet shows" })),
  expiry_seconds: Field.given(Field.expirySeconds(Voucher.expirySeconds)),
  metadata: Field.given(Field.Metadata)
}).annotate({ identifier: "CreateVoucher" })

const IssuedVoucher = Schema.Struct({
  ...Wire.Voucher.fields,
  lnurl: Schema.String.annotate({
    description: "What a wallet scans (LUD-01). Whoever has it can claim the money; it cannot be asked for again"
  }),
  lnurlw: Schema.String.annotate({ description: "The same as a link (LUD-17)" })
}).annotate({ identifier: "IssuedVoucher" })

const issued = ({ voucher, url }: Issued): typeof IssuedVoucher.Type => {
  const text = Redacted.value(url)
  return { ...Wire.voucher(voucher), lnurl: Lnurl.encode(text), lnurlw: text.replace(/^https?:/, "lnurlw:") }
}

const createVoucher = HttpApiEndpoint.post("createVoucher", path, {
  headers: Idempotency.headers,
  payload: Body,
  success: Envelope.success(201, IssuedVoucher),
  error: Errors.of(
    "malformed",
    "insufficient_balance",
    "idempotency_mismatch",
    "idempotency_not_supported",
    "answer_not_readable",
    "conflict",
    "rate_unavailable",
    "store_unavailable"
  )
})
  .annotate(Scopes, ["send"])
  .annotate(Rules, Field.amountIssues)
  .annotate(OpenApi.Summary, "Create a voucher")
  .annotate(
    OpenApi.Description,
    "Holds amount and fee for whoever claims it first, with any LNURL wallet (LUD-03). The answer has the only copy of the link. Needs the scope `send`."
  )

const listVouchers = HttpApiEndpoint.get("listVouchers", path, {
  query: Page.place(limit),
  success: Page.success(Wire.Voucher),
  error: Errors.of("malformed", "store_unavailable")
})
  .annotate(Scopes, ["read"])
  .annotate(OpenApi.Summary, "List vouchers")
  .annotate(OpenApi.Description, "Newest first, without their links. The next page is in the `Link` header. Needs the scope `read`.")

const getVoucher = HttpApiEndpoint.get("getVoucher", `${path}/:id`, {
  params,
  success: Envelope.success(200, Wire.Voucher),
  error: Errors.of("not_found", "store_unavailable")
})
  .annotate(Scopes, ["read"])
  .annotate(OpenApi.Summary, "Fetch a voucher")
  .annotate(OpenApi.Description, "What became of a claimed one, its withdrawal says: `withdrawal_id`. Needs the scope `read`.")

const cancelVoucher = HttpApiEndpoint.delete("cancelVoucher", `${path}/:id`, {
  params,
  success: Envelope.success(200, Wire.Voucher),
  error: Errors.of("not_found", "voucher_not_open", "store_unavailable")
})
  .annotate(Scopes, ["send"])
  .annotate(OpenApi.Summary, "Cancel a voucher")
  .annotate(
    OpenApi.Description,
    "It cannot be claimed any more, and what it held is available again. One that was claimed is refused; canceling again changes nothing. Needs the scope `send`."
  )

/** Money for whoever has the link. */
export class Group extends HttpApiGroup.make("vouchers")
  .add(createVoucher, listVouchers, getVoucher, cancelVoucher)
  .middleware(Decoding)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Vouchers")
  .annotate(OpenApi.Description, "Money that is held for whoever claims it first, with any LNURL wallet") {}

export const layer = Handlers.layer(
  base.add(Group),
  "vouchers",
  Effect.fnUntraced(function* (handlers) {
    const vouchers = yield* Vouchers
    const creation = Idempotency.sealedCreation(path, "Voucher created", issued, yield* Seal)
    const companyId = Effect.map(Caller, ({ apiKey }) => apiKey.companyId)

    return handlers.handleAll({
      createVoucher: Effect.fnUntraced(function* ({ payload, headers, request }) {
        const {
          apiKey: { companyId: id },
          plan
        } = yield* Caller
        const once = yield* creation.once(request, headers["idempotency-key"], id)
        const asked = yield* Field.asked(yield* Effect.orDie(request.text), payload)
        if (asked === undefined) return yield* Effect.fail(Errors.malformedRequest([{ path: "amount", message: "Missing" }]))
        return yield* creation.answer(
          yield* Errors.answered(
            vouchers.create({
              company: { id, plan },
              ...asked,
              ...once,
              description: payload.description ?? "",
              expirySeconds: payload.expiry_seconds ?? Voucher.expirySeconds.default,
              metadata: payload.metadata ?? Metadata.empty
            })
          ),
          id
        )
      }),
      listVouchers: Effect.fnUntraced(function* ({ query }) {
        const asked = { limit: query.limit ?? limit.default, before: query.cursor?.id ?? null }
        const { vouchers: rows, next } = yield* Errors.answered(vouchers.list(yield* companyId, asked))
        return HttpApiSchema.withHeaders({
          body: Envelope.ok("Vouchers", rows.map(Wire.voucher)),
          headers: next === undefined ? {} : { link: Page.link(path, { limit: asked.limit }, next) }
        })
      }),
      getVoucher: Effect.fnUntraced(function* ({ params }) {
        return Envelope.ok("Voucher", Wire.voucher(yield* Errors.answered(vouchers.get(yield* companyId, params.id.toLowerCase()))))
      }),
      cancelVoucher: Effect.fnUntraced(function* ({ params }) {
        const row = yield* Errors.answered(vouchers.cancel(yield* companyId, params.id.toLowerCase()))
        return Envelope.ok("Voucher canceled", Wire.voucher(row))
      })
    })
  })
)
