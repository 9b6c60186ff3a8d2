import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { type InvoiceState, LightningReceiver, NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { Effect, Redacted, Schema, Stream } from "effect"
import { createHmac } from "node:crypto"
import { hex, toBase64 } from "./LndBytes.ts"
import * as LndHolding from "./LndHolding.ts"
import * as LndInfo from "./LndInfo.ts"
import { asked, Invoice, isHold, isSettled, Page, type Settled, settledOf, stateOf } from "./LndInvoice.ts"
import { get, isAbsent, type LndRest, post, type Refused, unavailable } from "./LndRest.ts"

/** Invoices on one page when all are read. */
const pageSize = 1000
/** How often a node that has never been paid is asked whether it has. */
const firstMillis = 1000

const Added = Schema.Struct({ r_hash: hex(PaymentHash.PaymentHash), payment_request: Schema.String })
const Nothing = Schema.Struct({})

/** Takes payments. A preimage is derived from its invoice's id and the secret, so that an invoice that is asked for again is the same one. */
export const make = (
  rest: LndRest,
  {
    identity,
    invoiceSecret,
    holds = true
  }: { readonly identity: LndInfo.Identity; readonly invoiceSecret: Redacted.Redacted; readonly holds?: boolean }
): LightningReceiver["Service"] => {
  const recognised = LndInfo.recognise(rest, identity)
  const preimageOf = (id: string, kind: "invoice" | "hold invoice" = "invoice") =>
    Preimage.make(createHmac("sha256", Redacted.value(invoiceSecret)).update(`lnd ${kind} ${id}`).digest("hex"))

  const find = (operation: string, paymentHash: PaymentHash.PaymentHash): Effect.Effect<Invoice | undefined, NodeUnavailable> =>
    Effect.andThen(recognised, rest.ask(operation, get(`/v1/invoice/${paymentHash}`), Invoice)).pipe(
      Effect.catchTag("Refused", (refused) =>
        // As of a payment: it has to be this very node that has no record.
        isAbsent(refused) ? Effect.as(LndInfo.confirm(rest, identity), undefined) : unavailable(operation)(refused)
      )
    )

  /** Pages through all invoices for the one that was settled first. Only needed for a node without a checkpoint. */
  const firstSettled = Effect.gen(function* () {
    let first: Settled | undefined
    for (let offset = 0n; ;) {
      const request = get("/v1/invoices", { urlParams: { index_offset: String(offset), num_max_invoices: pageSize } })
      const { invoices, last_index_offset } = yield* rest.ask("settlements", request, Page)
      for (const invoice of invoices) {
        if (isSettled(invoice) && (first === undefined || invoice.settle_index < first.settle_index)) first = invoice
      }
      if (invoices.length < pageSize) return first
      offset = last_index_offset
    }
  })

  // "Everything after 0" means "only new ones" to lnd: the first has to be found otherwise.
  const settledFirst: Effect.Effect<Settled, NodeUnavailable | Refused> = Effect.flatMap(firstSettled, (first) =>
    first === undefined ? Effect.andThen(Effect.sleep(firstMillis), settledFirst) : Effect.succeed(first)
  )

  const settledAfter = (index: string) =>
    rest.listen("settlements", get("/v1/invoices/subscribe", { urlParams: { settle_index: index } }), Invoice).pipe(
      // New invoices are reported as well.
      Stream.filter(isSettled),
      Stream.map(settledOf)
    )

  return LightningReceiver.of({
    ...identity,
    createInvoice: (ask) => {
      const preimage = preimageOf(ask.id)
      const body = { r_preimage: toBase64(preimage), ...asked(ask) }
      return Effect.andThen(recognised, rest.ask("createInvoice", post("/v1/invoices", body), Added)).pipe(
        // A second one with its preimage is refused: then it is there.
        Effect.catchTag("Refused", (refused) =>
          Effect.flatMap(find("createInvoice", Preimage.hashOf(preimage)), (known) =>
            known ? Effect.succeed(known) : unavailable("createInvoice")(refused)
          )
        ),
        Effect.map(({ r_hash, payment_request }) => ({ paymentHash: r_hash, paymentRequest: payment_request }))
      )
    },
    ...(holds && { holding: LndHolding.make(rest, { recognised, find, preimageOf: (id) => preimageOf(id, "hold invoice") }) }),
    lookupInvoice: Effect.fnUntraced(function* (paymentHash): Effect.fn.Return<InvoiceState, NodeUnavailable> {
      const invoice = yield* find("lookupInvoice", paymentHash)
      if (invoice === undefined) return { _tag: "unknown" }
      return stateOf(invoice, invoice.state === "ACCEPTED" && isHold(invoice) ? yield* LndInfo.height(rest) : 0)
    }),
    cancelInvoice: Effect.fnUntraced(function* (paymentHash) {
      yield* recognised
      // Refused or not, how it stands now is the answer; that it is still open is none.
      yield* Effect.exit(rest.ask("cancelInvoice", post("/v2/invoices/cancel", { payment_hash: toBase64(paymentHash) }), Nothing))
      const invoice = yield* find("cancelInvoice", paymentHash)
      switch (invoice?.state) {
        case "CANCELED":
          if (invoice.r_preimage === "") return yield* new NodeUnavailable({ operation: "cancelInvoice", cause: "a hold invoice" })
          return { _tag: "canceled", preimage: Redacted.make(invoice.r_preimage) } as const
        case "ACCEPTED":
          return { _tag: "accepted" } as const
        case "SETTLED":
          return { _tag: "settled" } as const
        case "OPEN":
        case undefined:
          return yield* new NodeUnavailable({ operation: "cancelInvoice", cause: `the invoice is ${invoice?.state ?? "not there"}` })
      }
    }),
    settlements: (after) =>
      Stream.unwrap(
        Effect.gen(function* () {
          yield* recognised
          if (after !== null) return settledAfter(after)
          const first = settledOf(yield* settledFirst)
          return Stream.concat(Stream.make(first), settledAfter(first.cursor))
        })
      ).pipe(Stream.catchTag("Refused", (refused) => Stream.fromEffect(unavailable("settlements")(refused))))
  })
}
