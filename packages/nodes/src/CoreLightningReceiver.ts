import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { type InvoiceState, LightningReceiver, NodeUnavailable, type Settled } from "@satrail/core/nodes/LightningReceiver"
import * as Versions from "@satrail/core/nodes/Versions"
import { Effect, Option, Redacted, Schema, Stream } from "effect"
import { createHmac } from "node:crypto"
import { Amount, type Ask, codes, Info, networks, type Refused, unavailable } from "./CoreLightningRest.ts"

/** How long the node keeps a question for the next settlement open. */
const waitSeconds = 20

const Issued = Schema.Struct({ payment_hash: PaymentHash.PaymentHash, bolt11: Schema.String })
const Paid = {
  payment_hash: PaymentHash.PaymentHash,
  payment_preimage: Preimage.Preimage,
  amount_received_msat: Amount,
  pay_index: Schema.Int,
  paid_at: Schema.Int
}
const Invoice = Schema.Union([
  Schema.Struct({ status: Schema.Literal("paid"), label: Schema.String, bolt11: Schema.String, ...Paid }),
  Schema.Struct({
    status: Schema.Literals(["unpaid", "expired"]),
    label: Schema.String,
    bolt11: Schema.String,
    payment_hash: PaymentHash.PaymentHash
  })
])
const Invoices = Schema.Struct({ invoices: Schema.Array(Invoice) })
const Notes = Schema.Struct({ datastore: Schema.Array(Schema.Struct({ string: Schema.String })) })

const settledOf = (paid: Schema.Struct<typeof Paid>["Type"]): Settled => ({
  paymentHash: paid.payment_hash,
  received: paid.amount_received_msat,
  preimage: paid.payment_preimage,
  settledAtMillis: paid.paid_at * 1000,
  cursor: String(paid.pay_index)
})

/** Takes payments. A preimage is derived from its invoice's id and the secret, so that an invoice that is asked for again is the same one. */
export const make = Effect.fnUntraced(function* (ask: Ask, invoiceSecret: Redacted.Redacted) {
  const info = yield* Effect.catchTag(ask("getinfo", {}, Info), "Refused", unavailable("getinfo"))
  yield* Versions.warn("Core Lightning", info.version)
  const preimageOf = (id: string) =>
    Preimage.make(createHmac("sha256", Redacted.value(invoiceSecret)).update(`cln invoice ${id}`).digest("hex"))
  const find = (by: { readonly label: string } | { readonly payment_hash: PaymentHash.PaymentHash }) =>
    Effect.map(ask("listinvoices", by, Invoices), ({ invoices }) => invoices.at(0))
  // The node knows no canceled invoices: they are deleted, after a note of what they were.
  const noteOf = (paymentHash: PaymentHash.PaymentHash) => ["satrail", "canceled", paymentHash]
  const canceled = (paymentHash: PaymentHash.PaymentHash) =>
    Effect.map(ask("listdatastore", { key: noteOf(paymentHash) }, Notes), ({ datastore }) => datastore.at(0)?.string)

  return LightningReceiver.of({
    nodeId: info.id,
    network: networks[info.network],
    createInvoice: Effect.fnUntraced(
      function* ({ id, amount, description, expirySeconds }) {
        if (description._tag === "Hash") {
          return yield* new NodeUnavailable({ operation: "invoice", cause: "it takes a description, and hashes that itself" })
        }
        const parameters = {
          label: id,
          amount_msat: amount === null ? "any" : Number(amount),
          description: description.text,
          expiry: expirySeconds,
          preimage: preimageOf(id)
        }
        return yield* ask("invoice", parameters, Issued).pipe(
          Effect.catchTag("Refused", (refused) =>
            refused.code === codes.labelTaken || refused.code === codes.preimageTaken
              ? Effect.flatMap(find({ label: id }), (known) => (known ? Effect.succeed(known) : Effect.fail(refused)))
              : Effect.fail(refused)
          ),
          Effect.map(({ payment_hash, bolt11 }) => ({ paymentHash: payment_hash, paymentRequest: bolt11 }))
        )
      },
      Effect.catchTag("Refused", unavailable("invoice"))
    ),
    lookupInvoice: Effect.fnUntraced(
      function* (paymentHash): Effect.fn.Return<InvoiceState, NodeUnavailable | Refused> {
        const invoice = yield* find({ payment_hash: paymentHash })
        if (invoice === undefined) return (yield* canceled(paymentHash)) === undefined ? { _tag: "unknown" } : { _tag: "canceled" }
        switch (invoice.status) {
          case "paid":
            return { _tag: "settled", received: invoice.amount_received_msat, preimage: invoice.payment_preimage }
          case "expired":
            return { _tag: "canceled" }
          case "unpaid":
            return { _tag: "open" }
        }
      },
      Effect.catchTag("Refused", unavailable("listinvoices"))
    ),
    cancelInvoice: Effect.fnUntraced(
      function* (paymentHash) {
        const invoice = yield* find({ payment_hash: paymentHash })
        const id = invoice?.label ?? (yield* canceled(paymentHash))
        if (id === undefined) return yield* new NodeUnavailable({ operation: "delinvoice", cause: "there is no such invoice" })
        if (invoice !== undefined && invoice.status !== "paid") {
          yield* ask("datastore", { key: noteOf(paymentHash), string: id, mode: "create-or-replace" }, Schema.Unknown)
          // Refused where it was paid, or expired, a moment ago: what is there now says which.
          yield* Effect.exit(ask("delinvoice", { label: id, status: invoice.status }, Schema.Unknown))
        }
        const now = yield* find({ payment_hash: paymentHash })
        if (now?.status === "paid") return { _tag: "settled" } as const
        if (now === undefined) return { _tag: "canceled", preimage: Redacted.make(preimageOf(id)) } as const
        return yield* new NodeUnavailable({ operation: "delinvoice", cause: `the invoice is ${now.status}` })
      },
      Effect.catchTag("Refused", unavailable("delinvoice"))
    ),
    // One question after another. The node counts what was paid, and forgets nothing.
    settlements: (after) =>
      Stream.paginate(Number(after ?? "0"), (lastpay_index) =>
        ask("waitanyinvoice", { lastpay_index, timeout: waitSeconds }, Schema.Struct(Paid), waitSeconds * 1000 + 10_000).pipe(
          Effect.map((paid) => [[settledOf(paid)], Option.some(paid.pay_index)] as const),
          Effect.catchTag("Refused", (refused) =>
            refused.code === codes.timedOut
              ? Effect.succeed([[], Option.some(lastpay_index)] as const)
              : unavailable("waitanyinvoice")(refused)
          )
        )
      )
  })
})
