import * as Msat from "@satrail/bitcoin/Msat"
import * as Metadata from "@satrail/core/base/Metadata"
import * as SecretHash from "@satrail/core/base/SecretHash"
import * as Voucher from "@satrail/core/features/vouchers/Voucher"
import type { Issued } from "@satrail/core/features/vouchers/VoucherDrafts"
import { limit, Vouchers } from "@satrail/core/features/vouchers/Vouchers"
import { Effect, Redacted, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import * as Amounts from "../../wire/Amounts.ts"
import { companyId, Scopes, sender } from "../../api/Authentication.ts"
import { Rules } from "../../wire/Decoding.ts"
import * as Envelope from "../../wire/Envelope.ts"
import * as Errors from "../../wire/Errors.ts"
import * as OwnErrors from "../../wire/OwnErrors.ts"
import { Example, type World } from "../../wire/Examples.ts"
import * as Idempotency from "../../wire/Idempotency.ts"
import * as Page from "../../wire/Page.ts"
import * as Scalars from "../../wire/Scalars.ts"
import { Seal } from "../../wire/Seal.ts"
import * as Section from "../../api/Section.ts"
import * as View from "../../wire/View.ts"
import { link } from "./Link.ts"

export const errors = OwnErrors.make({
  VoucherNotOpen: {
    code: "voucher_not_open",
    status: 409,
    meaning: "The voucher was claimed: it is a withdrawal now, and cannot be canceled.",
    remedy: "See its withdrawal, `withdrawal_id`.",
    message: ({ status }: Voucher.VoucherNotOpen) => `The voucher is ${status} and cannot be canceled`
  }
})

const path = "/v1/vouchers"
const params = { id: Scalars.Uuid }

const Body = Schema.Struct({
  amount: Amounts.AmountNumber,
  currency: Amounts.Currency,
  description: Scalars.given(Scalars.Description.annotate({ description: "Shown by the claimer's wallet" })),
  expiry_seconds: Scalars.given(Scalars.expirySeconds(Voucher.expirySeconds)),
  metadata: Scalars.given(Scalars.GivenMetadata)
}).annotate({ identifier: "CreateVoucher" })

/** Money that is held for the first wallet that claims it. */
export const view = View.make<Voucher.Voucher>()(
  { identifier: "Voucher" },
  {
    id: [Scalars.Uuid, (row) => row.id],
    company_id: [Scalars.Uuid, (row) => row.companyId],
    ledger_tx_id: [Scalars.Uuid, (row) => row.ledgerTxId],
    amount_sats: [Scalars.Sats, (row) => Scalars.sats(row.amount)],
    fee_sats: [Scalars.Fee, (row) => Scalars.exactSats(Voucher.fee(row))],
    description: [Schema.String.annotate({ description: "Shown by the claimer's wallet" }), (row) => row.description],
    status: [Voucher.Status, (row) => row.status],
    withdrawal_id: [
      Schema.NullOr(Scalars.Uuid).annotate({ description: "The withdrawal that it became when it was claimed" }),
      (row) => row.withdrawalId
    ],
    refund_id: [Schema.NullOr(Scalars.Uuid).annotate({ description: "The refund that it pays" }), (row) => row.refundId],
    metadata: [Scalars.Metadata, (row) => row.metadata],
    created_at: [Scalars.Instant, (row) => Scalars.instant(row.createdAtMillis)],
    expires_at: [Scalars.Instant, (row) => Scalars.instant(row.expiresAtMillis)],
    updated_at: [Scalars.Instant, (row) => Scalars.instant(row.updatedAtMillis)]
  }
)

/** The same, once, with its link. */
const issued = View.make<Issued>()(
  { identifier: "IssuedVoucher" },
  {
    ...View.within(view.members, ({ voucher }: Issued) => voucher),
    lnurl: [
      Schema.String.annotate({
        description: "The LNURL (LUD-01). Anyone who has it can claim the money; it is in this response only"
      }),
      ({ url }) => link(url).lnurl
    ],
    lnurlw: [Schema.String.annotate({ description: "The same as a lnurlw: link (LUD-17)" }), ({ url }) => link(url).lnurlw]
  }
)

const example = ({ id, millis, companyId, metadata, k1 }: World) =>
  Voucher.open({
    id: id("voucher", 120_000),
    companyId,
    ledgerTxId: id("transfer of the voucher", 120_000),
    amount: Msat.fromSats(1000),
    serviceFee: Msat.fromSats(14),
    networkAllowance: Msat.fromSats(5),
    description: "A coffee on us",
    metadata,
    secretHash: SecretHash.of(k1),
    createdAtMillis: millis(120_000),
    expiresAtMillis: millis(120_000) + Voucher.expirySeconds.default * 1000
  })

const create = Section.company(
  HttpApiEndpoint.post("createVoucher", path, {
    headers: Idempotency.headers,
    payload: Body,
    success: Envelope.success(201, issued.schema),
    error: Errors.of(
      "malformed",
      "insufficient_balance",
      "fee_changed",
      "limit_exceeded",
      "company_frozen",
      "paused",
      "idempotency_mismatch",
      "idempotency_not_supported",
      "answer_not_readable",
      "conflict",
      "rate_unavailable",
      "store_unavailable"
    )
  })
    .annotate(Scopes, ["send"])
    .annotate(Rules, Amounts.issues)
    .annotate(OpenApi.Summary, "Create a voucher")
    .annotate(
      OpenApi.Description,
      "Holds amount and fee for the first LNURL wallet that claims it (LUD-03). The response has the only copy of the link. Needs the scope `send`."
    )
    .annotate(Example, (world) => {
      const [voucher, { metadata, serviceDomain, k1 }] = [example(world), world]
      const { description } = voucher
      return {
        body: { amount: 1000, currency: "sats", description, expiry_seconds: Voucher.expirySeconds.default, metadata },
        message: "Voucher created",
        data: issued.of({ voucher, url: Redacted.make(Voucher.urlOf(serviceDomain, k1)) })
      }
    }),
  Effect.all([Vouchers, Seal]),
  ([vouchers, sealer]) => {
    const creation = Idempotency.sealedCreation(path, "Voucher created", issued.of, sealer)
    return Effect.fnUntraced(function* ({ payload, headers, request }) {
      const from = yield* sender
      const { id } = from.company
      const once = yield* creation.once(request, headers["idempotency-key"], id)
      const asked = yield* Amounts.wanted(yield* Effect.orDie(request.text), payload)
      return yield* creation.answer(
        yield* Errors.answered(
          vouchers.create({
            ...from,
            ...asked,
            ...once,
            description: payload.description ?? "",
            expirySeconds: payload.expiry_seconds ?? Voucher.expirySeconds.default,
            metadata: payload.metadata ?? Metadata.empty
          })
        ),
        id
      )
    })
  }
)

const page = Page.of(view, "Vouchers", path)

export const list = Section.company(
  HttpApiEndpoint.get("listVouchers", path, {
    query: Page.place(limit),
    success: page.success,
    error: Errors.of("malformed", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "List vouchers")
    .annotate(OpenApi.Description, "Newest first, without their links. The next page is in the `Link` header. Needs the scope `read`.")
    .annotate(Example, (world) => ({ message: "Vouchers", data: [view.of(example(world))] })),
  Vouchers,
  (vouchers) =>
    Effect.fnUntraced(function* ({ query }) {
      const asked = Page.asked(query, limit)
      const { vouchers: rows, next } = yield* Errors.answered(vouchers.list(yield* companyId, asked))
      return page.answer(rows, { limit: String(asked.limit) }, next)
    })
)

export const get = Section.company(
  HttpApiEndpoint.get("getVoucher", `${path}/:id`, {
    params,
    success: Envelope.success(200, view.schema),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "Fetch a voucher")
    .annotate(OpenApi.Description, "For a claimed voucher, see the withdrawal in `withdrawal_id`. Needs the scope `read`.")
    .annotate(Example, (world) => {
      const row = example(world)
      return { params: { id: row.id }, message: "Voucher", data: view.of(row) }
    }),
  Vouchers,
  (vouchers) =>
    Effect.fnUntraced(function* ({ params }) {
      return View.answer("Voucher", view.of(yield* Errors.answered(vouchers.get(yield* companyId, params.id.toLowerCase()))))
    })
)

const cancel = Section.company(
  HttpApiEndpoint.post("cancelVoucher", `${path}/:id/cancel`, {
    params,
    success: Envelope.success(200, view.schema),
    error: errors.of("not_found", "voucher_not_open", "store_unavailable")
  })
    .annotate(Scopes, ["send"])
    .annotate(OpenApi.Summary, "Cancel a voucher")
    .annotate(
      OpenApi.Description,
      "The voucher can no longer be claimed, and its money is available again. A claimed one is refused; canceling again changes nothing. Needs the scope `send`."
    )
    .annotate(Example, (world) => {
      const row = example(world)
      return {
        params: { id: row.id },
        message: "Voucher canceled",
        data: view.of({ ...row, status: "canceled", updatedAtMillis: world.millis(180_000) })
      }
    }),
  Vouchers,
  (vouchers) =>
    Effect.fnUntraced(function* ({ params }) {
      const row = yield* errors.answered(vouchers.cancel(yield* companyId, params.id.toLowerCase()))
      return Envelope.ok("Voucher canceled", view.of(row))
    })
)

/** Money for the bearer of a link. */
export const section = Section.make(
  "vouchers",
  { title: "Vouchers", description: "Money that is held for the first LNURL wallet that claims it" },
  [create, list, get, cancel]
)
