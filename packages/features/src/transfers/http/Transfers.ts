import * as Msat from "@satrail/bitcoin/Msat"
import * as CompanyId from "@satrail/core/base/CompanyId"
import * as Metadata from "@satrail/core/base/Metadata"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Scopes, sender } from "@satrail/http/api/Authentication"
import { bodyIsOptional } from "@satrail/http/api/Base"
import * as OfCompany from "@satrail/http/api/OfCompany"
import * as Resource from "@satrail/http/api/Resource"
import * as Section from "@satrail/http/api/Section"
import * as Amounts from "@satrail/http/wire/Amounts"
import { Rules } from "@satrail/http/wire/Decoding"
import * as Envelope from "@satrail/http/wire/Envelope"
import { Example, type World } from "@satrail/http/wire/Examples"
import * as FiatView from "@satrail/http/wire/FiatView"
import * as Idempotency from "@satrail/http/wire/Idempotency"
import * as Member from "@satrail/http/wire/Member"
import * as OwnErrors from "@satrail/http/wire/OwnErrors"
import * as Scalars from "@satrail/http/wire/Scalars"
import * as Search from "@satrail/http/wire/Search"
import * as View from "@satrail/http/wire/View"
import * as Transfer from "../core/Transfer.ts"
import { Transfers } from "../core/Transfers.ts"

export const errors = OwnErrors.make({
  ReturnTooLarge: {
    code: "return_too_large",
    status: 409,
    meaning: "The returns of this transfer would exceed its amount. Nothing was sent.",
    remedy: "Return at most the amount in the message.",
    message: ({ left }: Transfer.ReturnTooLarge) =>
      left === 0n
        ? "This transfer is already returned in full."
        : `At most ${Msat.inSats(Msat.toDecimalSats(left))} of this transfer can still be returned.`
  }
})

const path = "/v1/transfers"

const Body = Schema.Struct({
  to: Scalars.GivenUuid.annotate({ description: "Another account's id" }),
  amount: Amounts.exact(Amounts.AmountNumber),
  currency: Amounts.Currency,
  description: Scalars.given(Scalars.Description),
  metadata: Scalars.given(Scalars.GivenMetadata)
}).annotate({ identifier: "CreateTransfer" })

const ReturnBody = Schema.Struct({
  amount: Scalars.given(Amounts.exact(Amounts.AmountNumber)),
  currency: Scalars.given(Amounts.Currency)
})
  .check(Scalars.stated(() => undefined, Amounts.withCurrency))
  .annotate({ identifier: "ReturnTransfer" })

export const view = View.make<Transfer.Transfer>()(
  { identifier: "Transfer" },
  {
    id: Member.uuid((row) => row.id),
    company_id: Member.uuid((row) => row.companyId, "Its sender"),
    to: Member.uuid((row) => row.recipientId, "Its recipient"),
    ledger_tx_id: Member.uuid((row) => row.ledgerTxId),
    amount_sats: Member.exactSats((row) => row.amount),
    returned_sats: Member.exactSats((row) => row.returned, "Returned part"),
    status: [Schema.Literal("completed"), () => "completed" as const],
    return_of: Member.uuidOrNull((row) => row.returnOf, "The transfer that this one returns, if any"),
    deposit_id: Member.uuidOrNull(
      (row) => row.depositId,
      "The sender's deposit of which this is a share, if any"
    ),
    description: Member.text((row) => row.description),
    metadata: [Scalars.Metadata, (row) => row.metadata],
    created_at: Member.instant((row) => row.createdAtMillis),
    ...FiatView.members
  }
)

const other = CompanyId.make("0197a1b2-7c00-7a3b-9c1d-2f5e6a7b8c9d")

export const example = ({ id, millis, companyId, metadata }: World): Transfer.Transfer =>
  Transfer.of({
    id: id("internal transfer", 120_000),
    companyId,
    recipientId: other,
    ledgerTxId: id("postings of the transfer", 120_000),
    amount: Msat.fromSats(1000),
    description: "Share of order 1042",
    metadata,
    createdAtMillis: millis(120_000)
  })

/** The first half of that transfer, returned. */
const returnExample = (world: World): Transfer.Transfer => {
  const original = example(world)
  return Transfer.of({
    id: world.id("return of the transfer", 180_000),
    companyId: original.recipientId,
    recipientId: original.companyId,
    ledgerTxId: world.id("postings of the return", 180_000),
    amount: Msat.fromSats(500),
    returnOf: original.id,
    returnedBefore: Msat.zero,
    description: original.description,
    metadata: original.metadata,
    createdAtMillis: world.millis(180_000)
  })
}

const refusals = [
  "malformed",
  "insufficient_balance",
  "limit_exceeded",
  "company_frozen",
  "paused",
  "idempotency_mismatch",
  "conflict",
  "rate_unavailable",
  "store_unavailable"
] as const

const create = Section.company(
  HttpApiEndpoint.post("createTransfer", path, {
    headers: Idempotency.headers,
    payload: Body,
    success: Envelope.success(201, view.schema),
    error: errors.of(...refusals, "not_found")
  })
    .annotate(Scopes, ["send"])
    .annotate(Rules, Amounts.issues)
    .annotate(OpenApi.Summary, "Send to another account")
    .annotate(
      OpenApi.Description,
      "Sends an amount to another account of this service, at once and without a fee. Both accounts see the description and the metadata. Freezes, pauses and limits apply as to a withdrawal. An amount above the approval threshold is rejected. A frozen account can receive. Requires the `send` scope."
    )
    .annotate(Example, (world) => {
      const { recipientId, description, metadata } = example(world)
      return {
        body: { to: recipientId, amount: 1000, currency: "sats", description, metadata },
        message: "Transfer sent",
        data: view.of(example(world))
      }
    }),
  Transfers,
  (transfers) => {
    const creation = Idempotency.creation(path, "Transfer sent", view.of)
    return Effect.fnUntraced(function* ({ payload, headers, request }) {
      const ask = {
        ...(yield* Amounts.wanted(payload)),
        to: payload.to,
        description: payload.description ?? "",
        metadata: payload.metadata ?? Metadata.empty
      }
      const once = yield* creation.once(request, headers["idempotency-key"], ask)
      return creation.answer(yield* errors.answered(transfers.send({ ...(yield* sender), ...ask, ...once })))
    })
  }
)

const returnTransfer = Section.company(
  HttpApiEndpoint.post("returnTransfer", `${path}/:id/return`, {
    params: { id: Scalars.Id },
    headers: Idempotency.headers,
    payload: [ReturnBody, Schema.Null],
    success: Envelope.success(201, view.schema),
    error: errors.of(...refusals, "not_found", "return_too_large")
  })
    .annotate(Scopes, ["send"])
    .annotate(Rules, Amounts.issues)
    .annotate(OpenApi.Transform, bodyIsOptional)
    .annotate(OpenApi.Summary, "Return a received transfer")
    .annotate(
      OpenApi.Description,
      "Sends a received transfer back, or a part of it. Without an `amount`, returns what is left of it. All returns together cannot exceed it. Requires the `send` scope."
    )
    .annotate(Example, (world) => {
      const { returnOf } = returnExample(world)
      return {
        params: { id: String(returnOf) },
        body: { amount: 500, currency: "sats" },
        message: "Transfer returned",
        data: view.of(returnExample(world))
      }
    }),
  Transfers,
  (transfers) => {
    const creation = Idempotency.creation(`${path}/:id/return`, "Transfer returned", view.of)
    return Effect.fnUntraced(function* ({ params: { id }, payload, headers, request }) {
      const ask = { asked: yield* Amounts.asked(payload ?? {}) }
      const once = yield* creation.once(request, headers["idempotency-key"], ask, `${path}/${id}/return`)
      return creation.answer(
        yield* errors.answered(transfers.returnTransfer({ ...(yield* sender), id, ...ask, ...once }))
      )
    })
  }
)

const resource = Resource.make({ path, names: ["Transfer", "Transfers"], view, example })

const list = Section.company(
  resource.list(
    "listTransfers",
    {
      scope: "read",
      summary: "List transfers",
      description: "Returns transfers that the account sent or received, newest first."
    },
    {
      ...Search.times,
      direction: Schema.optionalKey(
        Schema.Literals(["sent", "received"]).annotate({ description: "Only those sent, or received" })
      ),
      account_id: Schema.optionalKey(
        Scalars.Id.annotate({ description: "Only transfers to or from this account" })
      )
    }
  ),
  Transfers,
  (transfers) =>
    resource.lists((asked, { direction, account_id: accountId }) =>
      Resource.own(transfers.list)({ ...asked, direction, accountId })
    )
)

const get = Section.company(
  resource.get("getTransfer", {
    scope: "read",
    summary: "Get a transfer",
    description: "Returns a transfer that the account sent or received."
  }),
  Transfers,
  (transfers) => resource.gets(Resource.own(transfers.get))
)

export const section = Section.make(
  "transfers",
  { title: "Transfers", description: "Money sent to another account of this service" },
  [create, list, get, returnTransfer]
)

/** The same for the operator. */
export const ofCompany = [OfCompany.read(list)] as const
