import * as Msat from "@satrail/bitcoin/Msat"
import { Companies } from "@satrail/core/accounts/Companies"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Metadata from "@satrail/core/base/Metadata"
import * as SecretHash from "@satrail/core/base/SecretHash"
import * as Voucher from "../core/Voucher.ts"
import type { Issued } from "../core/VoucherDrafts.ts"
import { Vouchers } from "../core/Vouchers.ts"
import { Effect, Redacted, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import * as Amounts from "@satrail/http/wire/Amounts"
import { companyId, OperatorScopes, Scopes, sender } from "@satrail/http/api/Authentication"
import * as CauseView from "@satrail/http/wire/CauseView"
import { Rules } from "@satrail/http/wire/Decoding"
import * as Envelope from "@satrail/http/wire/Envelope"
import * as Errors from "@satrail/http/wire/Errors"
import * as OwnErrors from "@satrail/http/wire/OwnErrors"
import { Example, type World } from "@satrail/http/wire/Examples"
import * as Idempotency from "@satrail/http/wire/Idempotency"
import * as Scalars from "@satrail/http/wire/Scalars"
import * as Search from "@satrail/http/wire/Search"
import { Seal } from "@satrail/http/wire/Seal"
import * as Resource from "@satrail/http/api/Resource"
import * as Section from "@satrail/http/api/Section"
import * as Member from "@satrail/http/wire/Member"
import * as View from "@satrail/http/wire/View"
import { link } from "@satrail/http/wire/LnurlLink"
import * as FiatView from "@satrail/http/wire/FiatView"

export const errors = OwnErrors.make({
  VoucherNotOpen: {
    code: "voucher_not_open",
    status: 409,
    meaning: "The voucher was claimed or has expired, so it cannot be canceled.",
    remedy: "If it was claimed, see the withdrawal named by `withdrawal_id`.",
    message: ({ status }: Voucher.VoucherNotOpen) => `This voucher is ${status} and cannot be canceled.`
  }
})

const path = "/v1/vouchers"

const Body = Schema.Struct({
  amount: Amounts.exact(Amounts.AmountNumber),
  currency: Amounts.Currency,
  description: Scalars.given(
    Scalars.Description.annotate({ description: "Text shown by the wallet that claims the voucher" })
  ),
  expiry_seconds: Scalars.given(Scalars.expirySeconds(Voucher.expirySeconds)),
  metadata: Scalars.given(Scalars.GivenMetadata)
}).annotate({ identifier: "CreateVoucher" })

/** The maker of a record with a link. */
export const createdBy = <Row>(of: (row: Row) => string | null) =>
  Member.textOrNull(
    of,
    "Id of the API key or person that created it; null if another program or an older version did"
  )

/** Money held for the first wallet that claims it. */
export const view = View.make<Voucher.Voucher>()(
  { identifier: "Voucher" },
  {
    id: Member.uuid((row) => row.id),
    company_id: Member.uuid((row) => row.companyId),
    ledger_tx_id: Member.uuid((row) => row.ledgerTxId),
    amount_sats: Member.sats((row) => row.amount),
    fee_sats: [Scalars.Fee, (row) => Scalars.exactSats(Voucher.fee(row))],
    description: Member.text((row) => row.description, "Text shown by the wallet that claims the voucher"),
    status: [Voucher.Status, (row) => row.status],
    withdrawal_id: Member.uuidOrNull(
      (row) => row.withdrawalId,
      "Withdrawal created by the claim; null until claimed"
    ),
    ...CauseView.members("voucher"),
    metadata: [Scalars.Metadata, (row) => row.metadata],
    created_by: createdBy((row: Voucher.Voucher) => row.createdBy),
    created_at: Member.instant((row) => row.createdAtMillis),
    expires_at: Member.instant((row) => row.expiresAtMillis),
    updated_at: Member.instant((row) => row.updatedAtMillis),
    ...FiatView.members
  }
)

/** A new voucher with its link, which is shown only once. */
export const issued = View.make<Issued>()(
  { identifier: "IssuedVoucher" },
  {
    ...View.within(view.members, ({ voucher }: Issued) => voucher),
    lnurl: Member.text(
      ({ url }) => link(url).lnurl,
      "LNURL (LUD-01). Anyone with this link can claim the money. Only this response contains it"
    ),
    lnurlw: Member.text(({ url }) => link(url).lnurlw, "The LNURL as an lnurlw: link (LUD-17)")
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
      ...Idempotency.sealedErrors,
      "rate_unavailable",
      "store_unavailable"
    )
  })
    .annotate(Scopes, ["send"])
    .annotate(Rules, Amounts.issues)
    .annotate(OpenApi.Summary, "Create a voucher")
    .annotate(
      OpenApi.Description,
      "Creates a voucher (LUD-03) and holds its amount and fee. The first wallet to claim the link is paid. Only this response contains the link. Requires the `send` scope."
    )
    .annotate(Example, (world) => {
      const [voucher, { metadata, serviceDomain, k1 }] = [example(world), world]
      const { description } = voucher
      return {
        body: {
          amount: 1000,
          currency: "sats",
          description,
          expiry_seconds: Voucher.expirySeconds.default,
          metadata
        },
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
      const ask = {
        ...(yield* Amounts.wanted(payload)),
        description: payload.description ?? "",
        expirySeconds: payload.expiry_seconds ?? Voucher.expirySeconds.default,
        metadata: payload.metadata ?? Metadata.empty
      }
      const once = yield* creation.once(request, headers["idempotency-key"], ask, id)
      return yield* creation.answer(yield* Errors.answered(vouchers.create({ ...from, ...ask, ...once })), id)
    })
  }
)

/** Id of an API key or of a person. */
const maker = (description: string) =>
  Schema.String.annotate({ description, examples: ["7Kq2mVx9TbZc"] }).check(
    Schema.isPattern(/^[0-9a-zA-Z-]{1,36}$/u, { message: "must be the id of an API key or of a person" })
  )

const resource = Resource.make({ path, names: ["Voucher", "Vouchers"], view, example })

export const list = Section.company(
  resource.list(
    "listVouchers",
    {
      scope: "read",
      summary: "List vouchers",
      description: "Returns vouchers without their links, newest first."
    },
    {
      ...Search.times,
      created_by: Schema.optionalKey(maker("Only vouchers created by this API key or person")),
      status: Schema.optionalKey(Voucher.Status.annotate({ description: "Only vouchers with this status" }))
    }
  ),
  Vouchers,
  (vouchers) =>
    resource.lists((asked, { created_by: createdBy, status }) =>
      Effect.flatMap(companyId, (id) => vouchers.list(id, { ...asked, createdBy, status }))
    )
)

export const get = Section.company(
  resource.get("getVoucher", {
    scope: "read",
    summary: "Get a voucher",
    description: "Returns a voucher. If it was claimed, see the withdrawal in `withdrawal_id`."
  }),
  Vouchers,
  (vouchers) => resource.gets(Resource.own(vouchers.get))
)

const canceled = "Voucher canceled"

const cancel = Section.company(
  HttpApiEndpoint.post("cancelVoucher", `${path}/:id/cancel`, {
    ...resource.one,
    error: errors.of("not_found", "voucher_not_open", "store_unavailable")
  }).annotateMerge(
    resource.about(
      canceled,
      {
        scope: "send",
        summary: "Cancel a voucher",
        description:
          "Cancels an unclaimed voucher and releases its funds. A claimed or expired voucher returns `voucher_not_open`. Canceling twice has no further effect."
      },
      (row, world) => ({ ...row, status: "canceled", updatedAtMillis: world.millis(180_000) })
    )
  ),
  Vouchers,
  (vouchers) => resource.answers(canceled, (id) => errors.answered(Resource.own(vouchers.cancel)(id)))
)

const ofMaker = {
  payload: Schema.Struct({ created_by: maker("The API key or person") }).annotate({
    identifier: "CancelVouchers"
  }),
  success: Envelope.success(
    200,
    Schema.Struct({ canceled: Schema.Int.annotate({ description: "Number of canceled vouchers" }) })
  ),
  error: Errors.of("malformed", "store_unavailable")
}
const cancelsOfMaker =
  "Cancels every open voucher that an API key or person created, including those of refund links, and releases their funds. Revoke a stolen key or remove the person first. Other vouchers are unchanged; for example, rotating a key cancels none. Canceling again cancels only what was created since."

const canceledOf = (
  vouchers: Vouchers["Service"],
  companyId: CompanyId.CompanyId,
  { created_by }: { readonly created_by: string }
) =>
  Effect.map(Errors.answered(vouchers.cancelCreatedBy(companyId, created_by)), (canceled) =>
    Envelope.ok("Vouchers canceled", { canceled })
  )

const ofMakerExample = ({ apiKey: { id } }: World) => ({
  body: { created_by: id },
  message: "Vouchers canceled",
  data: { canceled: 2 }
})

const cancelAll = Section.company(
  HttpApiEndpoint.post("cancelVouchers", `${path}/cancel`, ofMaker)
    .annotate(Scopes, ["admin"])
    .annotate(OpenApi.Summary, "Cancel vouchers of a key or person")
    .annotate(OpenApi.Description, `${cancelsOfMaker} Requires the \`admin\` scope.`)
    .annotate(Example, ofMakerExample),
  Vouchers,
  (vouchers) =>
    Effect.fnUntraced(function* ({ payload }) {
      return yield* canceledOf(vouchers, yield* companyId, payload)
    })
)

/** The same for the operator, whose `stop` tokens may tighten access. */
export const operatorCancel = Section.operator(
  HttpApiEndpoint.post("operatorCancelVouchers", "/operator/companies/:companyId/vouchers/cancel", {
    ...ofMaker,
    params: { companyId: Scalars.Id },
    error: Errors.of("malformed", "not_found", "store_unavailable")
  })
    .annotate(OperatorScopes, ["companies", "stop"])
    .annotate(OpenApi.Summary, "Cancel vouchers of a company's key or person")
    .annotate(OpenApi.Description, cancelsOfMaker)
    .annotate(Example, (world) => ({ params: { companyId: world.companyId }, ...ofMakerExample(world) })),
  Effect.all([Vouchers, Companies]),
  ([vouchers, companies]) =>
    Effect.fnUntraced(function* ({ params, payload }) {
      const { id } = yield* Errors.answered(companies.get(CompanyId.make(params.companyId)))
      return yield* canceledOf(vouchers, id, payload)
    })
)

export const section = Section.make(
  "vouchers",
  { title: "Vouchers", description: "Links that pay the first LNURL wallet to claim them" },
  [create, list, get, cancel, cancelAll]
)
