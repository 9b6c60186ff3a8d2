import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { type Holding, NodeUnavailable, PaymentHashTaken } from "@satrail/core/nodes/LightningReceiver"
import { Effect, Schema } from "effect"
import { toBase64 } from "./LndBytes.ts"
import { asked, type Invoice } from "./LndInvoice.ts"
import { type LndRest, post, unavailable } from "./LndRest.ts"

const Added = Schema.Struct({ payment_request: Schema.String })
const Nothing = Schema.Struct({})

const words = { OPEN: "open", SETTLED: "settled", CANCELED: "canceled" } as const

/** Creates hold invoices (`invoicesrpc`). Their preimages differ from those of ordinary invoices with the same ids. */
export const make = (
  rest: LndRest,
  {
    recognised,
    find,
    preimageOf
  }: {
    readonly recognised: Effect.Effect<void, NodeUnavailable>
    readonly find: (operation: string, paymentHash: PaymentHash.PaymentHash) => Effect.Effect<Invoice | undefined, NodeUnavailable>
    readonly preimageOf: (id: string) => Preimage.Preimage
  }
): Holding => {
  /**
   * Settles or cancels a hold invoice. Returns the invoice's resulting status, even if lnd refused the call.
   * Fails if the invoice is still held.
   */
  const tell = Effect.fnUntraced(function* (operation: string, paymentHash: PaymentHash.PaymentHash, word: object) {
    yield* recognised
    yield* Effect.exit(rest.ask(operation, post(`/v2/invoices/${operation}`, word), Nothing))
    const invoice = yield* find(operation, paymentHash)
    if (invoice !== undefined && invoice.state !== "ACCEPTED") return invoice.state
    return yield* new NodeUnavailable({ operation, cause: `the invoice is ${invoice?.state ?? "missing"}` })
  })

  return {
    createInvoice: Effect.fnUntraced(function* ({ paymentHash: given, ...ask }) {
      const paymentHash = given ?? Preimage.hashOf(preimageOf(ask.id))
      yield* recognised
      const { payment_request } = yield* rest
        .ask("createInvoice", post("/v2/invoices/hodl", { hash: toBase64(paymentHash), ...asked(ask) }), Added)
        .pipe(
          Effect.catchTag("Refused", (refused) =>
            Effect.gen(function* () {
              const known = yield* find("createInvoice", paymentHash)
              if (known === undefined) return yield* unavailable("createInvoice")(refused)
              return given === undefined ? known : yield* new PaymentHashTaken({ paymentHash })
            })
          )
        )
      return { paymentHash, paymentRequest: payment_request }
    }),
    settle: ({ id, paymentHash }, preimage) =>
      Effect.map(tell("settle", paymentHash, { preimage: toBase64(preimage ?? preimageOf(id)) }), (state) => words[state]),
    cancel: ({ paymentHash }) =>
      Effect.flatMap(tell("cancel", paymentHash, { payment_hash: toBase64(paymentHash) }), (state) =>
        state === "OPEN"
          ? Effect.fail(new NodeUnavailable({ operation: "cancel", cause: "the invoice is open" }))
          : Effect.succeed(words[state])
      )
  }
}
