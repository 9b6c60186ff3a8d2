import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import type { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { type Ask, LightningSender, type NotSent, type Payment } from "@satrail/core/nodes/LightningSender"
import { Clock, Effect, Option, Schema, Stream } from "effect"
import { type LdkSocket, unavailable } from "./LdkSocket.ts"
import { NotLookedAt } from "./NodeState.ts"

/** After this the node does not begin a payment that it was asked for: it compares clocks, which are one machine's. */
const graceMillis = 60_000
/** How long the node waits for a payment to end before it says that none has. */
const waitMillis = 20_000

const Known = Schema.Union([
  Schema.Struct({ state: Schema.Literal("settled"), preimage: Preimage.Preimage, fee: Msat.FromString, index: Schema.String }),
  Schema.Struct({
    state: Schema.Literal("failed"),
    reason: Schema.Literals(["timeout", "no_route", "error", "incorrect_payment_details", "insufficient_balance", "canceled"])
  }),
  Schema.Struct({ state: Schema.Literals(["pending", "notFound"]) })
])

const paymentOf = (known: typeof Known.Type): Payment | { readonly _tag: "notFound" } => {
  switch (known.state) {
    case "settled":
      return { _tag: "settled", preimage: known.preimage, fee: known.fee, index: known.index }
    case "failed":
      return { _tag: "failed", reason: known.reason }
    case "pending":
    case "notFound":
      return { _tag: known.state }
  }
}

/** No response about a payment proves nothing about it. The outage is in the log already. */
const orUnknown = <A>(answer: Effect.Effect<A, NodeUnavailable>) =>
  Effect.catchTag(answer, "NodeUnavailable", (outage) =>
    Effect.as(Effect.logDebug("ldk: payment status unavailable", outage), { _tag: "unknown" } as const)
  )

const Ends = Schema.Struct({ lines: Schema.Array(PaymentHash.PaymentHash), cursor: Schema.String })
const Quoted = Schema.Struct({ fee: Schema.NullOr(Msat.FromString), probability: Schema.Finite })

const asked = ({ invoice, amount, feeLimit }: Ask) => ({
  request: invoice.paymentRequest,
  amount: String(amount),
  feeLimit: String(feeLimit)
})

/** Pays. The node has each payment on its disk before it sends it, and never sends one hash twice while it is pending or settled. */
export const make = ({ ask }: LdkSocket): LightningSender["Service"] => {
  const lookup = (paymentHash: PaymentHash.PaymentHash) =>
    ask("lookupPayment", { hash: paymentHash }, Known).pipe(Effect.catchTag("Refused", unavailable("lookupPayment")), Effect.map(paymentOf))

  const known = (payment: Payment | { readonly _tag: "notFound" }): Payment => (payment._tag === "notFound" ? { _tag: "unknown" } : payment)

  const pay = Effect.fnUntraced(function* (payment: Ask) {
    const notAfter = (yield* Clock.currentTimeMillis) + graceMillis
    return yield* ask("pay", { ...asked(payment), notAfter }, Known).pipe(
      Effect.map((answer) => known(paymentOf(answer))),
      Effect.catchTag("Refused", (refused) =>
        Effect.gen(function* () {
          // Not this time. What an earlier call did, its record says.
          const before = yield* lookup(payment.invoice.paymentHash)
          if (before._tag !== "notFound") return before
          yield* Effect.logWarning("ldk: payment refused", { paymentHash: payment.invoice.paymentHash, words: refused.words })
          return refused.code === "bad_request" ? ({ _tag: "failed", reason: "error" } as const) : ({ _tag: "unknown" } as const)
        })
      )
    )
  })

  return LightningSender.of({
    graceMillis,
    pay: (payment) =>
      Effect.catchTag(pay(payment), "NodeUnavailable", (outage): Effect.Effect<Payment | NotSent> =>
        outage instanceof NotLookedAt ? Effect.succeed({ _tag: "notSent" }) : orUnknown(Effect.fail(outage))
      ),
    lookupPayment: (paymentHash) => orUnknown(lookup(paymentHash)),
    ends: Stream.paginate<string | undefined, PaymentHash.PaymentHash, NodeUnavailable>(undefined, (after) =>
      ask("ends", after === undefined ? {} : { after, waitMillis }, Ends, waitMillis).pipe(
        Effect.catchTag("Refused", unavailable("ends")),
        Effect.map(({ lines, cursor }) => [lines, Option.some(cursor)] as const)
      )
    ),
    quote: (payment) =>
      ask("quote", asked(payment), Quoted).pipe(
        Effect.catchTag("Refused", unavailable("quote")),
        Effect.map(({ fee, probability }) => (fee === null ? undefined : { fee, probability }))
      )
  })
}
