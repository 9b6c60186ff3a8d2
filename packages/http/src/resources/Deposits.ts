import * as Msat from "@satrail/bitcoin/Msat"
import { Network } from "@satrail/bitcoin/Network"
import { Rail, Status } from "@satrail/core/ledger/Rail"
import * as Deposit from "@satrail/core/receiving/Deposit"
import type { Callback } from "@satrail/core/receiving/Invoice"
import { Transactions } from "@satrail/core/reports/Transactions"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { companyId, Scopes } from "../api/Authentication.ts"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example, type World } from "../wire/Examples.ts"
import * as Scalars from "../wire/Scalars.ts"
import * as Resource from "../api/Resource.ts"
import * as Section from "../api/Section.ts"
import * as Member from "../wire/Member.ts"
import * as View from "../wire/View.ts"
import * as Purpose from "@satrail/core/receiving/Purpose"

const path = "/v1/transactions/deposits"

export const view = View.make<Deposit.Deposit>()(
  { identifier: "Deposit" },
  {
    id: Member.uuid((row) => row.id),
    company_id: Member.uuid((row) => row.companyId),
    ledger_tx_id: Member.uuid((row) => row.ledgerTxId),
    recipient: Member.text((row) => row.recipient, "Invoice or address that was paid"),
    amount_sats: Member.sats((row) => row.amount),
    network_type: [Network, (row) => row.network],
    rail_type: [Rail, (row) => row.rail],
    status: [Status, (row) => row.status],
    chain_tx_id: Member.textOrNull(
      (row) => row.chainTxId,
      "On-chain transaction; null for a Lightning deposit"
    ),
    lightning_invoice_id: Member.uuidOrNull((row) => row.lightningInvoiceId),
    fee_sats: [Scalars.Fee.annotate({ description: "Always 0. Receiving is free", examples: [0] }), () => 0],
    refunded_sats: [
      Scalars.Sats.annotate({
        description: "Total amount of the deposit's open, pending and completed refunds",
        examples: [0]
      }),
      (row) => Scalars.sats(row.refunded)
    ],
    metadata: [
      Scalars.Metadata.annotate({ description: "Metadata of the invoice or address at the time of payment" }),
      (row) => row.metadata
    ],
    created_at: Member.instant((row) => row.createdAtMillis),
    updated_at: Member.instant((row) => row.updatedAtMillis)
  }
)

/**
 * Payer data that a wallet sent with its payment request (LUD-12, LUD-18, NIP-57), as received and
 * unverified.
 */
export const payer = View.make<Callback | undefined>()(
  { identifier: "Payer" },
  {
    comment: [
      Schema.NullOr(Schema.String).annotate({ examples: ["For the coffee"] }),
      (callback) => callback?.comment ?? null
    ],
    payer_data: [
      Schema.NullOr(Schema.String).annotate({
        description: "LUD-18 payer data: JSON, byte for byte as received",
        examples: ['{"name":"Satoshi"}']
      }),
      (callback) => callback?.payerData ?? null
    ],
    zap_request: Member.textOrNull(
      (callback) => callback?.zapRequest ?? null,
      "Signed zap request (NIP-57): JSON, byte for byte as received"
    )
  }
)

export const example = ({ id, millis, companyId, asked, network, metadata }: World): Deposit.Deposit => ({
  id: id("deposit", 9000),
  companyId,
  ledgerTxId: id("transfer of the deposit", 9000),
  recipient: asked.paymentRequest,
  amount: asked.amount,
  network,
  rail: "lightning",
  status: "settled",
  chainTxId: null,
  vout: null,
  height: null,
  ...Purpose.none,
  lightningInvoiceId: id("invoice"),
  metadata,
  absorbed: Msat.zero,
  ...Deposit.unrefunded,
  paidAtMillis: null,
  revision: 0,
  createdAtMillis: millis(9000),
  updatedAtMillis: millis(9000)
})

const resource = Resource.make({ path, param: "depositID", names: ["Deposit", "Deposits"], view, example })

export const get = Section.company(
  resource.get("deposit", {
    scope: "read",
    summary: "Get a deposit",
    description: "Returns a deposit. An on-chain deposit is `pending` until it has enough confirmations."
  }),
  Transactions,
  (transactions) => resource.gets(Resource.own(transactions.deposit))
)

export const getPayer = Section.company(
  HttpApiEndpoint.get("payer", `${path}/:depositID/payer`, {
    params: resource.one.params,
    success: Envelope.success(200, payer.schema),
    error: Errors.of("not_found", "store_unavailable")
  })
    .annotate(Scopes, ["read"])
    .annotate(OpenApi.Summary, "Get payer data")
    .annotate(
      OpenApi.Description,
      "Returns the comment, payer data and zap request of a payment to a Lightning address; each is null if the payer did not send it. Requires the `read` scope."
    )
    .annotate(Example, (world) => ({
      params: { depositID: example(world).id },
      message: "Payer",
      data: payer.of({
        metadata: "",
        comment: "For the coffee",
        payerData: '{"name":"Satoshi"}',
        zapRequest: null
      })
    })),
  Transactions,
  (transactions) =>
    Effect.fnUntraced(function* ({ params }) {
      const callback = yield* Errors.answered(transactions.callback(yield* companyId, params.depositID))
      return Envelope.ok("Payer", payer.of(callback))
    })
)
