import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { type InvoiceState, LightningReceiver, NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { Effect, Option, Redacted, Schema, Stream } from "effect"
import { createHmac } from "node:crypto"
import { hex, toBase64 } from "./LndBytes.ts"
import * as LndHolding from "./LndHolding.ts"
import * as LndInfo from "./LndInfo.ts"
import {
  asked,
  hasSettled,
  Invoice,
  isHold,
  isSettled,
  Listed,
  Page,
  receivedOf,
  type Settled,
  settledOf,
  stateOf
} from "./LndInvoice.ts"
import { get, isAbsent, type LndRest, post, type Refused, unavailable } from "./LndRest.ts"

/** Page size for reading all invoices. */
const pageSize = 1000
/** Interval at which a node that has never been paid is polled for its first payment. */
const firstMillis = 1000

const Added = Schema.Struct({ r_hash: hex(PaymentHash.PaymentHash), payment_request: Schema.String })
const Nothing = Schema.Struct({})

const noteLate = (invoice: Settled) => {
  const missing = Msat.make(invoice.amt_paid_msat - receivedOf(invoice))
  const text =
    "lnd: parts of a payment are not credited, because the payer may have taken them back on the chain"
  return missing === 0n
    ? Effect.void
    : Effect.logError(text, { paymentHash: invoice.r_hash, sats: Msat.toDecimalSats(missing) })
}

/**
 * Waits for the first settled invoice, by reading all invoices. Only needed without a cursor, or if lnd has lost it,
 * because lnd treats a settle index of 0 as "new settlements only".
 */
const firstSettlement = (rest: LndRest): Effect.Effect<Settled, NodeUnavailable | Refused> => {
  const firstSettled = Effect.gen(function* () {
    let first: Settled | undefined
    for (let offset = 0n; ;) {
      const request = get("/v1/invoices", {
        urlParams: { index_offset: String(offset), num_max_invoices: pageSize }
      })
      const { invoices, last_index_offset } = yield* rest.ask("settlements", request, Page)
      for (const invoice of invoices) {
        if (isSettled(invoice) && (first === undefined || invoice.settle_index < first.settle_index))
          first = invoice
      }
      if (invoices.length < pageSize) return first
      offset = last_index_offset
    }
  })

  const settled: Effect.Effect<Settled, NodeUnavailable | Refused> = Effect.flatMap(firstSettled, (first) =>
    first === undefined ? Effect.andThen(Effect.sleep(firstMillis), settled) : Effect.succeed(first)
  )
  return settled
}

/**
 * Receives payments. Each preimage is derived from the secret and the invoice's id, so a repeated request
 * returns the same invoice.
 */
export const make = (
  rest: LndRest,
  {
    identity,
    invoiceSecret,
    holds = true
  }: {
    readonly identity: LndInfo.Identity
    readonly invoiceSecret: Redacted.Redacted
    readonly holds?: boolean
  }
): LightningReceiver["Service"] => {
  const recognised = LndInfo.recognise(rest, identity)
  const preimageOf = (id: string, kind: "invoice" | "hold invoice" = "invoice") =>
    Preimage.make(
      createHmac("sha256", Redacted.value(invoiceSecret)).update(`lnd ${kind} ${id}`).digest("hex")
    )

  const find = (
    operation: string,
    paymentHash: PaymentHash.PaymentHash
  ): Effect.Effect<Invoice | undefined, NodeUnavailable> =>
    Effect.andThen(recognised, rest.ask(operation, get(`/v1/invoice/${paymentHash}`), Invoice)).pipe(
      Effect.catchTag("Refused", (refused) =>
        // As with payments, a missing record counts only if the expected node reports it.
        isAbsent(refused)
          ? Effect.as(LndInfo.confirm(rest, identity), undefined)
          : unavailable(operation)(refused)
      )
    )

  const settledAfter = (index: string) =>
    rest
      .listen("settlements", get("/v1/invoices/subscribe", { urlParams: { settle_index: index } }), Listed)
      .pipe(
        // The stream also contains new, unpaid invoices.
        Stream.filter(isSettled),
        Stream.tap(noteLate),
        Stream.map(settledOf)
      )

  return LightningReceiver.of({
    ...identity,
    progress: Effect.map(LndInfo.chain(rest), Option.some),
    createInvoice: (ask) => {
      const preimage = preimageOf(ask.id)
      const body = { r_preimage: toBase64(preimage), ...asked(ask) }
      return Effect.andThen(recognised, rest.ask("createInvoice", post("/v1/invoices", body), Added)).pipe(
        // lnd refuses a second invoice with the same preimage, so the invoice may already exist.
        Effect.catchTag("Refused", (refused) =>
          Effect.flatMap(find("createInvoice", Preimage.hashOf(preimage)), (known) =>
            known ? Effect.succeed(known) : unavailable("createInvoice")(refused)
          )
        ),
        Effect.map(({ r_hash, payment_request }) => ({
          paymentHash: r_hash,
          paymentRequest: payment_request
        }))
      )
    },
    ...(holds && {
      holding: LndHolding.make(rest, {
        identity,
        recognised,
        find,
        preimageOf: (id) => preimageOf(id, "hold invoice")
      })
    }),
    lookupInvoice: Effect.fnUntraced(function* (paymentHash): Effect.fn.Return<
      InvoiceState,
      NodeUnavailable
    > {
      const invoice = yield* find("lookupInvoice", paymentHash)
      if (invoice === undefined) return { _tag: "unknown" }
      return stateOf(
        invoice,
        invoice.state === "ACCEPTED" && isHold(invoice) ? (yield* LndInfo.chain(rest)).height : 0
      )
    }),
    cancelInvoice: Effect.fnUntraced(function* (paymentHash) {
      yield* recognised
      // The result is the invoice's resulting status, even if lnd refused the call. Fails if the invoice is
      // still open.
      yield* Effect.exit(
        rest.ask(
          "cancelInvoice",
          post("/v2/invoices/cancel", { payment_hash: toBase64(paymentHash) }),
          Nothing
        )
      )
      const invoice = yield* find("cancelInvoice", paymentHash)
      switch (invoice?.state) {
        case "CANCELED":
          if (invoice.r_preimage === "")
            return yield* new NodeUnavailable({ operation: "cancelInvoice", cause: "a hold invoice" })
          return { _tag: "canceled", preimage: Redacted.make(invoice.r_preimage) } as const
        case "ACCEPTED":
          return { _tag: "accepted" } as const
        case "SETTLED":
          return { _tag: "settled" } as const
        case "OPEN":
        case undefined:
          return yield* new NodeUnavailable({
            operation: "cancelInvoice",
            cause: `the invoice is ${invoice?.state ?? "missing"}`
          })
      }
    }),
    settlements: (after) =>
      Stream.unwrap(
        Effect.gen(function* () {
          yield* recognised
          if (after !== null && (yield* hasSettled(rest, BigInt(after)))) return settledAfter(after)
          const first = settledOf(yield* firstSettlement(rest))
          return Stream.concat(Stream.make(first), settledAfter(first.cursor))
        })
      ).pipe(Stream.catchTag("Refused", (refused) => Stream.fromEffect(unavailable("settlements")(refused))))
  })
}
