import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { type Holding, NodeUnavailable, PaymentHashTaken } from "@satrail/core/nodes/LightningReceiver"
import { Effect, Schema } from "effect"
import { toBase64 } from "./LndBytes.ts"
import * as LndInfo from "./LndInfo.ts"
import { asked, claimBlocks, heldOf, type Invoice } from "./LndInvoice.ts"
import { type LndRest, post, unavailable } from "./LndRest.ts"

const Added = Schema.Struct({ payment_request: Schema.String })
const Nothing = Schema.Struct({})

const words = { OPEN: "open", SETTLED: "settled", CANCELED: "canceled" } as const

/** Creates hold invoices (`invoicesrpc`). Their preimages differ from those of ordinary invoices with the same ids. */
export const make = (
  rest: LndRest,
  {
    identity,
    recognised,
    find,
    preimageOf
  }: {
    readonly identity: LndInfo.Identity
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

  /**
   * Fails if the payer may have taken back the held payment. lnd then returns it, and reports the invoice as canceled.
   * For a moment after a start, lnd would settle it.
   */
  const inTime = Effect.fnUntraced(function* (paymentHash: PaymentHash.PaymentHash) {
    const invoice = yield* find("settle", paymentHash)
    if (invoice?.state !== "ACCEPTED") return
    const { height, isSynced } = yield* LndInfo.chain(rest)
    const failed = (cause: string) => new NodeUnavailable({ operation: "settle", cause })
    // On regtest, blocks are mined only on demand.
    if (!isSynced && identity.network !== "regtest") return yield* failed("lnd does not have the newest blocks yet")
    const { held } = heldOf(invoice, height)
    if (held === undefined || held.blocksLeft <= claimBlocks) return yield* failed("the held payment is about to expire, or has expired")
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
      Effect.andThen(
        inTime(paymentHash),
        Effect.map(tell("settle", paymentHash, { preimage: toBase64(preimage ?? preimageOf(id)) }), (state) => words[state])
      ),
    cancel: ({ paymentHash }) =>
      Effect.flatMap(tell("cancel", paymentHash, { payment_hash: toBase64(paymentHash) }), (state) =>
        state === "OPEN"
          ? Effect.fail(new NodeUnavailable({ operation: "cancel", cause: "the invoice is open" }))
          : Effect.succeed(words[state])
      )
  }
}
