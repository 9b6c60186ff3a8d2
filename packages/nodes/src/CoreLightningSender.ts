import * as Msat from "@satrail/bitcoin/Msat"
import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { type Ask as Sending, type FailureReason, LightningSender, type NotSent, type Payment } from "@satrail/core/nodes/LightningSender"
import { Clock, Deferred, Effect, Option, Result, Schema, Stream } from "effect"
import * as Parts from "./CoreLightningParts.ts"
import { Amount, type Ask, codes, Info, type Refused, unavailable } from "./CoreLightningRest.ts"
import * as Https from "./Https.ts"
import { NotLookedAt } from "./NodeState.ts"

/** How much later than it should a payment command may end. */
const marginMillis = 30_000
/** How long after it is asked for a command may be sent off: what is later than that is not. */
const arrivalMillis = 60_000
/** How many commands that failed are remembered. */
const maxEnded = 10_000
/** How long we stay to see a payment end. The others are looked up. */
const settleMillis = 2000

/** With these the payment command is over. The state of its parts is another question. */
const overReasons: ReadonlyMap<number, FailureReason> = new Map([
  [203, "incorrect_payment_details"],
  [204, "no_route"],
  [205, "no_route"],
  [206, "no_route"],
  [207, "error"],
  [209, "error"],
  [210, "timeout"],
  [219, "error"]
])

const Sent = Schema.Struct({ payment_preimage: Preimage.Preimage, amount_msat: Amount, amount_sent_msat: Amount })
const Routes = Schema.Struct({
  probability_ppm: Schema.Int,
  routes: Schema.NonEmptyArray(Schema.Struct({ path: Schema.NonEmptyArray(Schema.Struct({ amount_msat: Amount })) }))
})
/** No response about a payment proves nothing about it. */
const orUnknown = <A>(answer: Effect.Effect<A, NodeUnavailable | Refused>) =>
  Effect.matchEffect(answer, {
    onSuccess: Effect.succeed,
    onFailure: (outage) => Effect.as(Effect.logWarning("node: payment status unavailable", outage), { _tag: "unknown" } as const)
  })

/** By what the node knows of the network. */
const quoteFrom =
  (ask: Ask): LightningSender["Service"]["quote"] =>
  ({ invoice, amount, feeLimit }) =>
    Effect.flatMap(ask("getinfo", {}, Info), ({ id }) =>
      ask(
        "getroutes",
        {
          source: id,
          destination: invoice.payee,
          amount_msat: Number(amount),
          // What our own channels hold, and that we do not charge ourselves.
          layers: ["auto.localchans", "auto.sourcefree"],
          maxfee_msat: Number(feeLimit),
          final_cltv: invoice.minFinalCltvExpiry
        },
        Routes
      )
    ).pipe(
      Effect.map(({ probability_ppm, routes }) => ({
        fee: Msat.make(routes.reduce((sum, { path: [first] }) => sum + first.amount_msat, 0n) - amount),
        probability: probability_ppm / 1_000_000
      })),
      Effect.catchTag("Refused", (refused) => (codes.noRoute.has(refused.code) ? Effect.undefined : unavailable("getroutes")(refused)))
    )

/** Pays. `nodeId` is which node it must be, the first that answers when absent; `retrySeconds` how long it may begin new attempts of one payment. */
export const make = Effect.fnUntraced(function* (
  ask: Ask,
  { nodeId, retrySeconds = 60 }: { readonly nodeId?: string; readonly retrySeconds?: number }
) {
  const scope = yield* Effect.scope
  const commandMillis = retrySeconds * 1000 + marginMillis
  // Commands of ours that are not over: each hash has one.
  const running = new Map<PaymentHash.PaymentHash, Deferred.Deferred<Payment | NotSent>>()
  // Commands of ours that ended without success, which the node itself forgets. What is forgotten here is only asked about for longer.
  const ended = new Map<PaymentHash.PaymentHash, FailureReason>()
  const remember = (paymentHash: PaymentHash.PaymentHash, reason: FailureReason) => {
    for (const oldest of ended.keys()) if (ended.size >= maxEnded) ended.delete(oldest)
    ended.set(paymentHash, reason)
  }

  let ours = nodeId
  const recognised = Effect.flatMap(ask("getinfo", {}, Info), ({ id }) => {
    ours ??= id
    return id === ours
      ? Effect.void
      : Effect.fail(new NodeUnavailable({ operation: "getinfo", cause: `it is another node: ${id}, and was ${ours}` }))
  })

  const partsOf = (paymentHash: PaymentHash.PaymentHash) =>
    Effect.map(ask("listsendpays", { payment_hash: paymentHash }, Parts.Parts), ({ payments }) => payments)

  /** Why a part failed: the node reports it again to a caller that waits for the part. */
  const reasonOf = (paymentHash: PaymentHash.PaymentHash, { groupid, partid }: Parts.Part) =>
    Effect.matchEffect(ask("waitsendpay", { payment_hash: paymentHash, groupid, partid: partid ?? 0, timeout: 1 }, Schema.Unknown), {
      onFailure: (error) => Effect.succeed(error._tag === "Refused" ? overReasons.get(error.code) : undefined),
      onSuccess: () => Effect.undefined
    })

  /** The state of a payment. */
  const judge = Effect.fnUntraced(function* (paymentHash: PaymentHash.PaymentHash) {
    const parts = yield* partsOf(paymentHash)
    const reason = ended.get(paymentHash)
    const nowMillis = yield* Clock.currentTimeMillis
    const verdict = Parts.verdictOf(parts, { hasEnded: reason !== undefined, nowMillis, commandMillis })
    if (verdict._tag === "none") return yield* Effect.as(recognised, { _tag: "notFound" } as const) // it has to be this very node that has none
    if (verdict._tag !== "failed") return verdict
    const last = parts.at(-1)
    const ofLast = last === undefined ? undefined : yield* reasonOf(paymentHash, last)
    return { _tag: "failed", reason: ofLast ?? reason ?? "error" } as const
  })

  /** The command to its end, which may be long after anybody waits for it. */
  const command = Effect.fnUntraced(function* ({ invoice, amount, feeLimit }: Sending) {
    const parameters = {
      invstring: invoice.paymentRequest,
      ...(invoice.amount === undefined && { amount_msat: Number(amount) }),
      maxfee: Number(feeLimit), // always said: without one it is a share of the amount
      retry_for: retrySeconds
    }
    const sent = yield* Effect.result(ask("xpay", parameters, Sent, commandMillis))
    if (Result.isSuccess(sent)) {
      const { payment_preimage, amount_msat, amount_sent_msat } = sent.success
      return { _tag: "settled", preimage: payment_preimage, fee: Msat.make(amount_sent_msat - amount_msat), index: null } as const
    }
    // An error is the end of the command, and says nothing about parts that are still under way.
    const reason = sent.failure._tag === "Refused" ? overReasons.get(sent.failure.code) : undefined
    if (reason === undefined) return yield* sent.failure
    remember(invoice.paymentHash, reason)
    return undefined
  })

  const known = (judged: Effect.Success<ReturnType<typeof judge>>): Payment => (judged._tag === "notFound" ? { _tag: "unknown" } : judged)

  const begin = Effect.fnUntraced(function* (payment: Sending, done: Deferred.Deferred<Payment | NotSent>) {
    const { paymentHash } = payment.invoice
    // The node would pay a hash again that it is paying, in unwanted parts: its payments are looked up first.
    const run = Effect.gen(function* (): Effect.fn.Return<Payment | NotSent | undefined, NodeUnavailable | Refused> {
      const parts = yield* Effect.result(Effect.andThen(ours === undefined ? recognised : Effect.void, partsOf(paymentHash)))
      if (Result.isFailure(parts)) return { _tag: "notSent" }
      if (!parts.success.every(({ status }) => status === "failed")) return undefined
      return yield* command(payment).pipe(
        Effect.catch((problem) => (problem instanceof NotLookedAt ? Effect.succeed({ _tag: "notSent" } as const) : Effect.fail(problem)))
      )
    }).pipe(
      Effect.provideService(Https.NotAfter, (yield* Clock.currentTimeMillis) + arrivalMillis),
      Effect.ensuring(Effect.sync(() => running.delete(paymentHash)))
    )
    const outcome = Effect.gen(function* (): Effect.fn.Return<Payment | NotSent, NodeUnavailable | Refused> {
      return (yield* run) ?? known(yield* judge(paymentHash))
    })
    yield* Deferred.succeed(done, yield* orUnknown(outcome))
  })

  const pay = Effect.fnUntraced(function* (payment: Sending) {
    const { paymentHash } = payment.invoice
    let done = running.get(paymentHash)
    if (done === undefined) {
      done = Deferred.makeUnsafe<Payment | NotSent>()
      running.set(paymentHash, done)
      yield* Effect.forkIn(begin(payment, done), scope)
    }
    const outcome = yield* Effect.timeoutOption(Deferred.await(done), settleMillis)
    return Option.getOrElse(outcome, () => ({ _tag: "pending" }) as const)
  })

  return LightningSender.of({
    graceMillis: commandMillis + arrivalMillis,
    pay,
    lookupPayment: (paymentHash) => orUnknown(judge(paymentHash)),
    // Its REST interface sends no notifications.
    ends: Stream.empty,
    quote: quoteFrom(ask)
  })
})
