import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import {
  type Ask,
  type Holding,
  type InvoiceState,
  LightningReceiver,
  NodeUnavailable,
  PaymentHashTaken,
  type Settled
} from "@satrail/core/nodes/LightningReceiver"
import { Effect, Option, Redacted, Schema, Stream } from "effect"
import { createHmac } from "node:crypto"
import { Here, type LdkSocket, type Options, progressOf, unavailable } from "./LdkSocket.ts"

/** How long the node waits for a settlement before it returns an empty list. */
const waitMillis = 20_000

const Made = Schema.Struct({ request: Schema.String })
const noPreimage = Schema.Literal("")

const Invoice = Schema.Union([
  Schema.Struct({ state: Schema.Literal("settled"), received: Msat.FromString, preimage: Preimage.Preimage }),
  Schema.Struct({
    state: Schema.Literal("held"),
    held: Schema.Struct({ received: Msat.FromString, blocksLeft: Schema.Int })
  }),
  Schema.Struct({
    state: Schema.Literal("canceled"),
    preimage: Schema.Union([noPreimage, Preimage.Preimage])
  }),
  Schema.Struct({ state: Schema.Literals(["open", "claiming", "unknown"]) })
])
type Invoice = typeof Invoice.Type

const Settlements = Schema.Struct({
  lines: Schema.Array(
    Schema.Struct({
      hash: PaymentHash.PaymentHash,
      received: Msat.FromString,
      preimage: Preimage.Preimage,
      settledAt: Schema.Int,
      /** Our id of the paid offer; empty for an invoice. */
      offer: Schema.String,
      cursor: Schema.String
    })
  ),
  cursor: Schema.String
})

const settledOf = ({
  hash,
  received,
  preimage,
  settledAt,
  offer,
  cursor
}: (typeof Settlements.Type)["lines"][number]): Settled => ({
  paymentHash: hash,
  received,
  preimage,
  settledAtMillis: settledAt,
  ...(offer !== "" && { offerId: offer }),
  cursor
})

const stateOf = (invoice: Invoice): InvoiceState => {
  switch (invoice.state) {
    case "settled":
      return { _tag: "settled", received: invoice.received, preimage: invoice.preimage }
    case "held":
      return { _tag: "accepted", held: invoice.held }
    case "claiming":
      return { _tag: "accepted" }
    case "open":
    case "canceled":
    case "unknown":
      return { _tag: invoice.state }
  }
}

const asked = ({ amount, description, expirySeconds }: Ask) => ({
  amount: amount === null ? null : String(amount),
  description: description._tag === "Text" ? description.text : null,
  descriptionHash: description._tag === "Hash" ? description.sha256 : null,
  expirySeconds
})

const holdingOf = (ask: LdkSocket["ask"], preimageOf: (id: string) => Preimage.Preimage): Holding => {
  /**
   * Settles or cancels a hold invoice, and returns its resulting status. Fails if the invoice is still held, is
   * being claimed or is unknown.
   */
  const tell = Effect.fnUntraced(function* (method: "settle" | "cancelInvoice", params: object) {
    const invoice = yield* Effect.catchTag(ask(method, params, Invoice), "Refused", unavailable(method))
    switch (invoice.state) {
      case "settled":
      case "canceled":
      case "open":
        return invoice.state
      default:
        return yield* new NodeUnavailable({ operation: method, cause: `the invoice is ${invoice.state}` })
    }
  })
  return {
    createInvoice: Effect.fnUntraced(function* ({ paymentHash: given, ...hold }) {
      const preimage = given === undefined ? preimageOf(hold.id) : undefined
      const paymentHash = given ?? Preimage.hashOf(preimageOf(hold.id))
      const params = { hash: paymentHash, preimage: preimage ?? "", hold: true, ...asked(hold) }
      const { request } = yield* Effect.catchTag(
        ask("createInvoice", params, Made),
        "Refused",
        (refused): Effect.Effect<never, NodeUnavailable | PaymentHashTaken> =>
          refused.code === "taken"
            ? Effect.fail(new PaymentHashTaken({ paymentHash }))
            : unavailable("createInvoice")(refused)
      )
      return { paymentHash, paymentRequest: request }
    }),
    settle: ({ id, paymentHash }, preimage) =>
      tell("settle", { hash: paymentHash, preimage: preimage ?? preimageOf(id) }),
    cancel: ({ paymentHash }) =>
      Effect.flatMap(tell("cancelInvoice", { hash: paymentHash }), (state) =>
        state === "open"
          ? Effect.fail(new NodeUnavailable({ operation: "cancel", cause: "the invoice is open" }))
          : Effect.succeed(state)
      )
  }
}

/**
 * Receives payments. Each preimage is derived from the secret and the invoice's id, so a repeated request
 * returns the same invoice.
 */
export const make = (
  { ask }: LdkSocket,
  { identity, invoiceSecret }: Pick<Options, "identity"> & { readonly invoiceSecret: Redacted.Redacted }
): LightningReceiver["Service"] => {
  const preimageOf = (id: string, kind: "invoice" | "hold invoice") =>
    Preimage.make(
      createHmac("sha256", Redacted.value(invoiceSecret)).update(`ldk ${kind} ${id}`).digest("hex")
    )

  return LightningReceiver.of({
    ...identity,
    progress: Effect.catchTag(
      Effect.map(ask("hello", {}, Here), progressOf),
      "Refused",
      unavailable("hello")
    ),
    createInvoice: (invoice) => {
      const preimage = preimageOf(invoice.id, "invoice")
      const paymentHash = Preimage.hashOf(preimage)
      return ask("createInvoice", { hash: paymentHash, preimage, hold: false, ...asked(invoice) }, Made).pipe(
        Effect.catchTag("Refused", unavailable("createInvoice")),
        Effect.map(({ request }) => ({ paymentHash, paymentRequest: request }))
      )
    },
    holding: holdingOf(ask, (id) => preimageOf(id, "hold invoice")),
    lookupInvoice: (paymentHash) =>
      ask("lookupInvoice", { hash: paymentHash }, Invoice).pipe(
        Effect.catchTag("Refused", unavailable("lookupInvoice")),
        Effect.map(stateOf)
      ),
    cancelInvoice: Effect.fnUntraced(function* (paymentHash) {
      const invoice = yield* Effect.catchTag(
        ask("cancelInvoice", { hash: paymentHash }, Invoice),
        "Refused",
        unavailable("cancelInvoice")
      )
      const failed = (cause: string) => new NodeUnavailable({ operation: "cancelInvoice", cause })
      switch (invoice.state) {
        case "canceled":
          if (invoice.preimage === "") return yield* failed("a hold invoice")
          return { _tag: "canceled", preimage: Redacted.make(invoice.preimage) } as const
        case "held":
        case "claiming":
          return { _tag: "accepted" } as const
        case "settled":
          return { _tag: "settled" } as const
        case "open":
        case "unknown":
          return yield* failed(`the invoice is ${invoice.state}`)
      }
    }),
    settlements: (after) =>
      Stream.paginate<string, Settled, NodeUnavailable>(after ?? "0", (after) =>
        ask("settlements", { after, waitMillis }, Settlements, waitMillis).pipe(
          Effect.catchTag("Refused", unavailable("settlements")),
          Effect.map(({ lines, cursor }) => [lines.map(settledOf), Option.some(cursor)] as const)
        )
      )
  })
}
