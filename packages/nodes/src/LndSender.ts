import type { Bolt11 } from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Preimage from "@satrail/bitcoin/Preimage"
import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import {
  type Ask as Sending,
  type FailureReason,
  LightningSender,
  type Payment
} from "@satrail/core/nodes/LightningSender"
import { Clock, Deferred, Effect, Schema, Stream } from "effect"
import { NotAfter } from "./Https.ts"
import { toBase64Url } from "./LndBytes.ts"
import * as LndInfo from "./LndInfo.ts"
import {
  get,
  isAbsent,
  type LndRest,
  post,
  type Refused,
  code as statusCode,
  unavailable
} from "./LndRest.ts"
import { NotLookedAt } from "./NodeState.ts"

/**
 * How long lnd may start new attempts of a payment. Attempts in flight continue after that, and the payment is
 * final only when they end.
 */
const attemptSeconds = 60
/** How long we wait for a payment to become final. Most do within a second; the others are polled. */
const settleMillis = 2000
/**
 * How long lnd may take to end a response after its last message. Only a connection read to the end is reused;
 * otherwise the next payment needs a new handshake.
 */
const endMillis = 100

// lnd's responses.

const Sent = Schema.Struct({
  // lnd never sends UNKNOWN. Treat any other value as an outage rather than guess.
  status: Schema.Literals(["INITIATED", "IN_FLIGHT", "SUCCEEDED", "FAILED"]),
  failure_reason: Schema.String,
  payment_preimage: Preimage.Preimage,
  fee_msat: Msat.FromString,
  payment_index: Schema.String,
  htlcs: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        status: Schema.String,
        route: Schema.optionalKey(Schema.NullOr(Schema.Struct({ total_time_lock: Schema.Int })))
      })
    )
  )
})

/** A payment as `TrackPayments` reports it. */
const Tracked = Schema.Struct({ payment_hash: PaymentHash.PaymentHash, status: Sent.fields.status })

const Routes = Schema.Struct({
  routes: Schema.NonEmptyArray(Schema.Struct({ total_fees_msat: Msat.FromString })),
  success_prob: Schema.Finite
})

// lnd's failure reasons in our terms.

const reasons: ReadonlyMap<string, FailureReason> = new Map([
  ["FAILURE_REASON_TIMEOUT", "timeout"],
  ["FAILURE_REASON_NO_ROUTE", "no_route"],
  ["FAILURE_REASON_INCORRECT_PAYMENT_DETAILS", "incorrect_payment_details"],
  ["FAILURE_REASON_INSUFFICIENT_BALANCE", "insufficient_balance"],
  ["FAILURE_REASON_CANCELED", "canceled"]
])

const isFinal = ({ status }: Pick<typeof Sent.Type, "status">) =>
  status === "SUCCEEDED" || status === "FAILED"

/**
 * Returns the last time lock of all attempts; undefined if one is unknown, or if the payee has claimed a part.
 */
const expiryOf = ({ htlcs = [] }: typeof Sent.Type): number | undefined => {
  const locks = htlcs.map(({ route }) => route?.total_time_lock || Infinity)
  const last = Math.max(...locks)
  return Number.isFinite(last) && htlcs.every(({ status }) => status === "IN_FLIGHT" || status === "FAILED")
    ? last
    : undefined
}

const paymentOf = (sent: typeof Sent.Type): Payment => {
  switch (sent.status) {
    case "INITIATED":
      return { _tag: "pending" }
    case "IN_FLIGHT": {
      const expiryHeight = expiryOf(sent)
      return { _tag: "pending", ...(expiryHeight !== undefined && { expiryHeight }) }
    }
    case "SUCCEEDED":
      return {
        _tag: "settled",
        preimage: sent.payment_preimage,
        fee: sent.fee_msat,
        index: sent.payment_index
      }
    case "FAILED":
      // All attempts have ended and lnd has stopped trying, so this is final even for an unknown reason.
      return { _tag: "failed", reason: reasons.get(sent.failure_reason) ?? "error" }
  }
}

/**
 * Returns whether lnd processed the request and refused it. A call that was canceled, timed out or lost its
 * internal connection fails in the same form but with another code. Such a call may have reached lnd, and its
 * record may still be written.
 */
const isRefusal = (refused: Refused): boolean =>
  [statusCode.unknown, statusCode.invalidArgument, statusCode.failedPrecondition].some(
    (code) => code === refused.code
  )

/** lnd's reasons for having no route (v0.21, routing/payment_session.go). */
const noRoute =
  /unable to find a path to destination|insufficient local balance|unknown required feature|missing dependent feature|destination hop doesn't understand/
const isNoRoute = ({ words }: Refused): boolean => noRoute.test(words)

const notSent = { _tag: "notSent" } as const

/**
 * Reports the status as unknown during an outage, because a missing response proves nothing about a payment.
 * The outage is already logged.
 */
const orUnknown = <A>(answer: Effect.Effect<A, NodeUnavailable>) =>
  Effect.catchTag(answer, "NodeUnavailable", (outage) =>
    Effect.as(Effect.logDebug("node: payment status unavailable", outage), { _tag: "unknown" } as const)
  )

const hintsOf = ({ routes }: Bolt11) =>
  routes.map((hops) => ({
    hop_hints: hops.map((hop) => {
      const [block = 0n, transaction = 0n, output = 0n] = hop.shortChannelId.split("x").map(BigInt)
      return {
        node_id: hop.pubkey,
        chan_id: String((block << 40n) | (transaction << 16n) | output),
        fee_base_msat: Number(hop.feeBaseMsat),
        fee_proportional_millionths: hop.feeProportionalMillionths,
        cltv_expiry_delta: hop.cltvExpiryDelta
      }
    })
  }))

/**
 * Quotes a fee from lnd's knowledge of the network. Probing a route with a payment that must fail would cost
 * other nodes money and take seconds.
 */
const quoteFrom =
  (rest: LndRest, recognised: Effect.Effect<void, NodeUnavailable>): LightningSender["Service"]["quote"] =>
  ({ invoice, amount, feeLimit }) => {
    const body = {
      amt_msat: String(amount),
      fee_limit: { fixed_msat: String(feeLimit) },
      final_cltv_delta: invoice.minFinalCltvExpiry,
      use_mission_control: true,
      route_hints: hintsOf(invoice)
    }
    return Effect.andThen(
      recognised,
      rest.ask("quote", post(`/v1/graph/routes/${invoice.payee}/0`, body), Routes)
    ).pipe(
      Effect.map(({ routes: [route], success_prob }) => ({
        fee: route.total_fees_msat,
        probability: success_prob
      })),
      Effect.catchTag("Refused", (refused) =>
        isNoRoute(refused) ? Effect.undefined : unavailable("quote")(refused)
      )
    )
  }

/**
 * Sends payments. `graceMillis` is how long a call can still reach lnd after it was made; 60 s by default.
 */
export const make = (
  rest: LndRest,
  { identity, graceMillis = 60_000 }: { readonly identity: LndInfo.Identity; readonly graceMillis?: number }
): LightningSender["Service"] => {
  const recognised = LndInfo.recognise(rest, identity)
  const channelsBack = LndInfo.channelsBack(rest).pipe(Effect.catchTag("Refused", unavailable("pay")))

  const lookup = (paymentHash: PaymentHash.PaymentHash) =>
    Effect.andThen(
      recognised,
      // The first message is the current state; later ones would be updates.
      Stream.runHead(rest.listen("lookupPayment", get(`/v2/router/track/${toBase64Url(paymentHash)}`), Sent))
    ).pipe(
      Effect.timeoutOrElse({
        duration: rest.deadlineMillis,
        orElse: () => rest.noAnswer("lookupPayment")
      }),
      Effect.flatMap((first) =>
        first._tag === "Some"
          ? Effect.succeed(paymentOf(first.value))
          : Effect.fail(
              new NodeUnavailable({
                operation: "lookupPayment",
                cause: "the connection ended without a response"
              })
            )
      ),
      Effect.catchTag("Refused", (refused) =>
        // A missing record has the greatest consequences of all responses, so confirm that it comes from the
        // expected node.
        isAbsent(refused)
          ? Effect.as(LndInfo.confirm(rest, identity), { _tag: "notFound" } as const)
          : unavailable("lookupPayment")(refused)
      )
    )

  /** Returns the outcome of a call that lnd refused: the record of an earlier call if there is one. */
  const refused = Effect.fnUntraced(function* (
    paymentHash: PaymentHash.PaymentHash,
    refusal: Refused
  ): Effect.fn.Return<Payment, NodeUnavailable> {
    const known = yield* lookup(paymentHash)
    if (known._tag !== "notFound") return known
    yield* Effect.logWarning("lnd: payment refused", { paymentHash, words: refusal.words })
    return isRefusal(refusal) ? { _tag: "failed", reason: "error" } : { _tag: "unknown" }
  })

  /** Sends a payment and waits briefly. The payment continues when we stop waiting. */
  const send = Effect.fnUntraced(function* ({ invoice, amount, feeLimit }: Sending) {
    const ended = yield* Deferred.make<void>()
    let seen: typeof Sent.Type | undefined
    const body = {
      payment_request: invoice.paymentRequest,
      // lnd refuses an explicit amount for an invoice that has one.
      ...(invoice.amount === undefined && { amt_msat: String(amount) }),
      fee_limit_msat: String(feeLimit), // always set: without it lnd uses only free routes
      timeout_seconds: attemptSeconds,
      cancelable: false,
      no_inflight_updates: true // each update would repeat the whole payment
    }
    const watch = rest.listen("pay", post("/v2/router/send", body), Sent).pipe(
      Stream.runForEach((sent) => {
        seen = sent
        return Deferred.succeed(ended, undefined)
      })
    )
    const patience = Effect.raceFirst(
      Effect.sleep(settleMillis),
      Effect.andThen(Deferred.await(ended), Effect.sleep(endMillis))
    )
    const broken = yield* Effect.raceFirst(
      Effect.matchEffect(watch, { onFailure: Effect.succeed, onSuccess: () => Effect.undefined }),
      Effect.as(patience, undefined)
    )
    if (seen !== undefined) return paymentOf(seen)
    if (broken instanceof NotLookedAt) return notSent
    if (broken?._tag === "Refused") return yield* refused(invoice.paymentHash, broken)
    if (broken !== undefined) return yield* broken
    // The payment is in flight or has not started. A record proves that it is in flight. A missing record
    // proves nothing while the call may still reach lnd.
    const known = yield* lookup(invoice.paymentHash)
    return known._tag === "notFound" ? ({ _tag: "unknown" } as const) : known
  })

  return LightningSender.of({
    graceMillis,
    pay: (payment) =>
      Effect.flatMap(Clock.currentTimeMillis, (nowMillis) =>
        Effect.matchEffect(Effect.andThen(recognised, channelsBack), {
          onFailure: () => Effect.succeed(notSent),
          onSuccess: (isReady) => (isReady ? orUnknown(send(payment)) : Effect.succeed(notSent))
        }).pipe(Effect.provideService(NotAfter, nowMillis + graceMillis))
      ),
    lookupPayment: (paymentHash) => orUnknown(lookup(paymentHash)),
    ends: Stream.unwrap(
      Effect.as(
        recognised,
        rest.listen("ends", get("/v2/router/payments", { urlParams: { no_inflight_updates: true } }), Tracked)
      )
    ).pipe(
      Stream.filter(isFinal),
      Stream.map(({ payment_hash }) => payment_hash),
      Stream.catchTag("Refused", (refused) => Stream.fromEffect(unavailable("ends")(refused)))
    ),
    quote: quoteFrom(rest, recognised)
  })
}
