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
    readonly find: (
      operation: string,
      paymentHash: PaymentHash.PaymentHash
    ) => Effect.Effect<Invoice | undefined, NodeUnavailable>
    readonly preimageOf: (id: string) => Preimage.Preimage
  }
): Holding => {
  /**
   * Settles or cancels a hold invoice. Returns the invoice's resulting status, even if lnd refused the call.
   * Fails if the invoice is still held.
   */
  const tell = Effect.fnUntraced(function* (
    operation: string,
    paymentHash: PaymentHash.PaymentHash,
    word: object
  ) {
    yield* recognised
    yield* Effect.exit(rest.ask(operation, post(`/v2/invoices/${operation}`, word), Nothing))
    const invoice = yield* find(operation, paymentHash)
    if (invoice !== undefined && invoice.state !== "ACCEPTED") return invoice.state
    return yield* new NodeUnavailable({ operation, cause: `the invoice is ${invoice?.state ?? "missing"}` })
  })

  /**
   * Returns whether the payer cannot have taken back the held payment. For a moment after a start, lnd would settle one
   * that the payer has taken back.
   */
  const isInTime = Effect.fnUntraced(function* (paymentHash: PaymentHash.PaymentHash) {
    const invoice = yield* find("settle", paymentHash)
    if (invoice?.state !== "ACCEPTED") return true
    const { height, isSynced } = yield* LndInfo.chain(rest)
    // On regtest, blocks are mined only on demand.
    if (!isSynced && identity.network !== "regtest")
      return yield* new NodeUnavailable({
        operation: "settle",
        cause: "lnd does not have the newest blocks yet"
      })
    const { held } = heldOf(invoice, height)
    return held !== undefined && held.blocksLeft > claimBlocks
  })

  const cancel = (paymentHash: PaymentHash.PaymentHash) =>
    tell("cancel", paymentHash, { payment_hash: toBase64(paymentHash) })

  return {
    createInvoice: Effect.fnUntraced(function* ({ paymentHash: given, ...ask }) {
      const paymentHash = given ?? Preimage.hashOf(preimageOf(ask.id))
      yield* recognised
      const { payment_request } = yield* rest
        .ask(
          "createInvoice",
          post("/v2/invoices/hodl", { hash: toBase64(paymentHash), ...asked(ask) }),
          Added
        )
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
    // Depending on its configuration, lnd itself does not return a late payment.
    settle: ({ id, paymentHash }, preimage) =>
      Effect.flatMap(isInTime(paymentHash), (isInTime) =>
        Effect.map(
          isInTime
            ? tell("settle", paymentHash, { preimage: toBase64(preimage ?? preimageOf(id)) })
            : cancel(paymentHash),
          (state) => words[state]
        )
      ),
    cancel: ({ paymentHash }) =>
      Effect.flatMap(cancel(paymentHash), (state) =>
        state === "OPEN"
          ? Effect.fail(new NodeUnavailable({ operation: "cancel", cause: "the invoice is open" }))
          : Effect.succeed(words[state])
      )
  }
}
