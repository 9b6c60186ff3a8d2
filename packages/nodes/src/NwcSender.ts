import type * as PaymentHash from "@satrail/bitcoin/PaymentHash"
import * as Fee from "@satrail/core/accounts/Fee"
import type { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { type Ask, type FailureReason, LightningSender, type NotSent, type Payment, type Tariff } from "@satrail/core/nodes/LightningSender"
import { Clock, Deferred, Effect, Option, PubSub, Result, Schema, Stream } from "effect"
import { NotLookedAt } from "./NodeState.ts"
import { find, outgoing } from "./NwcTransaction.ts"
import { type NwcWallet, refusal, type Request } from "./NwcWallet.ts"

/** How long after it was asked for a payment may be sent off; how long the wallet may take it up after that; how long it may then take to have a record of it. */
const [arrivalMillis, lifeMillis, recordMillis] = [30_000, 60_000, 60_000]
/** How long `pay` waits for the end of a payment. The others are looked up. */
const settleMillis = 3_000
/** How many refusals, and requests without an answer, are remembered. */
const most = 10_000

/** With these a wallet says that it did not pay, and nothing is left to happen. Confirmed by its having no record of the payment. */
const failures: ReadonlyMap<string, FailureReason> = new Map([
  ["PAYMENT_FAILED", "error"],
  ["INSUFFICIENT_BALANCE", "insufficient_balance"],
  ["QUOTA_EXCEEDED", "insufficient_balance"]
])
/** With these it turns the app away before it looks at the payment. Confirmed likewise. */
const turnedAway = new Set(["RATE_LIMITED", "RESTRICTED", "UNAUTHORIZED", "NOT_IMPLEMENTED", "UNSUPPORTED_ENCRYPTION"])

const unknown = { _tag: "unknown" } as const
const notSent = { _tag: "notSent" } as const

/** No answer about a payment proves nothing about it. */
const orUnknown = <A>(answer: Effect.Effect<A, NodeUnavailable>) =>
  Effect.catchTag(answer, "NodeUnavailable", (outage) =>
    Effect.as(Effect.logWarning("wallet: payment status unavailable", outage), unknown)
  )

/** A map that forgets its oldest entries. */
const remember = <A>(map: Map<PaymentHash.PaymentHash, A>, paymentHash: PaymentHash.PaymentHash, value: A) => {
  for (const oldest of map.keys()) if (map.size >= most) map.delete(oldest)
  map.set(paymentHash, value)
}

export interface Wants {
  /** Whether the wallet pays for this connection at all. */
  readonly pays: boolean
  readonly tariff: Tariff
}

/** Pays. A wallet has no limit for what it takes: what its tariff may take beyond a payment's limit is not sent. */
export const make = Effect.fnUntraced(function* (wallet: NwcWallet, { pays, tariff }: Wants) {
  const scope = yield* Effect.scope
  const running = new Map<PaymentHash.PaymentHash, Deferred.Deferred<Payment | NotSent>>()
  // Requests that were not answered: asked again in their time, they are the very same event, which a wallet pays once.
  const requests = new Map<PaymentHash.PaymentHash, Request>()
  // Payments that the wallet said it did not make, and why.
  const refusals = new Map<PaymentHash.PaymentHash, FailureReason>()
  const ends = yield* PubSub.sliding<PaymentHash.PaymentHash>(256)

  /** What the wallet's record says. */
  const recorded = (paymentHash: PaymentHash.PaymentHash) =>
    Effect.map(find(wallet, paymentHash), (found): Payment | { readonly _tag: "notFound" } =>
      found === undefined ? { _tag: "notFound" } : outgoing(found)
    )

  /** The same. That there is none is the end of a request that the wallet refused in final words. */
  const judge = (paymentHash: PaymentHash.PaymentHash) =>
    Effect.map(recorded(paymentHash), (record): Payment | { readonly _tag: "notFound" } => {
      const reason = refusals.get(paymentHash)
      return record._tag !== "notFound" || reason === undefined ? record : { _tag: "failed", reason }
    })

  /** The event that asks for this payment. */
  const requestOf = Effect.fnUntraced(function* ({ invoice, amount }: Ask) {
    const nowMillis = yield* Clock.currentTimeMillis
    const before = requests.get(invoice.paymentHash)
    if (before !== undefined && nowMillis < before.expiresAtSeconds * 1000) return before
    const params = { invoice: invoice.paymentRequest, ...(invoice.amount === undefined && { amount: Number(amount) }) }
    const made = yield* wallet.request("pay_invoice", params, lifeMillis)
    remember(requests, invoice.paymentHash, made)
    return made
  })

  /** What an answer makes of a payment, once the wallet's record has been asked for: the record counts, and a refusal where there is none. */
  const concluded = Effect.fnUntraced(function* (paymentHash: PaymentHash.PaymentHash, code: string | undefined) {
    // Any other code leaves open whether the wallet had begun: that is for its record to say, and unknown until then.
    const reason = code === undefined ? undefined : failures.get(code)
    if (reason !== undefined) remember(refusals, paymentHash, reason)
    const after = yield* orUnknown(judge(paymentHash))
    if (after._tag !== "notFound") return after
    return code !== undefined && turnedAway.has(code) ? notSent : unknown
  })

  /** What has a record is not asked for again. */
  const run = Effect.fnUntraced(function* (asked: Ask, askedAtMillis: number): Effect.fn.Return<Payment | NotSent> {
    const { paymentHash } = asked.invoice
    const before = yield* Effect.result(recorded(paymentHash))
    if (Result.isFailure(before)) return notSent
    if (before.success._tag !== "notFound") return before.success
    if (!pays) return { _tag: "failed", reason: "error" }
    if (Fee.at(tariff, asked.amount) > asked.feeLimit) return { _tag: "failed", reason: "no_route" }
    const request = yield* Effect.option(requestOf(asked))
    if (Option.isNone(request) || (yield* Clock.currentTimeMillis) > askedAtMillis + arrivalMillis) return notSent
    refusals.delete(paymentHash)
    const answer = yield* Effect.result(wallet.send(request.value, lifeMillis + recordMillis))
    if (Result.isFailure(answer)) return answer.failure instanceof NotLookedAt ? notSent : yield* concluded(paymentHash, undefined)
    requests.delete(paymentHash)
    return yield* concluded(paymentHash, answer.success.error?.code)
  })

  const begin = Effect.fnUntraced(function* (asked: Ask, done: Deferred.Deferred<Payment | NotSent>) {
    const { paymentHash } = asked.invoice
    const outcome = run(asked, yield* Clock.currentTimeMillis)
    // Forgotten before it is answered: who asks again after an answer begins anew.
    const over = Effect.sync(() => running.delete(paymentHash))
    const payment = yield* Effect.ensuring(outcome, over)
    yield* Deferred.succeed(done, payment)
    if (payment._tag === "settled" || payment._tag === "failed") yield* PubSub.publish(ends, paymentHash)
  })

  return LightningSender.of({
    lacks: new Set(["fee_limit", "reason"]),
    tariff,
    graceMillis: arrivalMillis + lifeMillis + recordMillis,
    pay: Effect.fnUntraced(function* (asked) {
      const { paymentHash } = asked.invoice
      let done = running.get(paymentHash)
      if (done === undefined) {
        done = Deferred.makeUnsafe<Payment | NotSent>()
        running.set(paymentHash, done)
        yield* Effect.forkIn(begin(asked, done), scope)
      }
      return Option.getOrElse(yield* Effect.timeoutOption(Deferred.await(done), settleMillis), () => ({ _tag: "pending" }) as const)
    }),
    lookupPayment: (paymentHash) => orUnknown(judge(paymentHash)),
    // As requests are answered, and as the wallet tells of those that ended well.
    ends: Stream.merge(
      Stream.fromPubSub(ends),
      Stream.fromPubSub(wallet.notices).pipe(
        Stream.filter(({ type }) => type === "payment_sent"),
        Stream.map(({ paymentHash }) => paymentHash)
      )
    ),
    // A wallet tells no routes: what it may take is known, and that it is there.
    quote: ({ amount, feeLimit }) => {
      const fee = Fee.at(tariff, amount)
      const there = Effect.catchTag(wallet.ask("get_info", {}, Schema.Unknown), "Refused", refusal("get_info"))
      return Effect.as(there, !pays || fee > feeLimit ? undefined : { fee, probability: 0.9 })
    }
  })
})
