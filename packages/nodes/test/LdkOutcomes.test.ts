import { assert, describe, it } from "@effect/vitest"
import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import * as Bolt12 from "@satrail/bitcoin/Bolt12"
import * as Msat from "@satrail/bitcoin/Msat"
import { Effect, Fiber, References, Result, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as LdkOffers from "../src/LdkOffers.ts"
import * as LdkPayments from "../src/LdkPayments.ts"
import * as LdkSender from "../src/LdkSender.ts"
import { type LdkSocket, Refused } from "../src/LdkSocket.ts"
import { NotLookedAt } from "../src/NodeState.ts"
import { hash, payment } from "./InLndsPlace.ts"

// Every response of the LDK node that decides a payment's outcome. Only a record of the node, or its statement that a
// request was malformed, is final.

type Reply = object | Refused | NodeUnavailable

const outage = new NodeUnavailable({ operation: "test", cause: "connection lost" })
const notLookedAt = new NotLookedAt({ operation: "test", cause: "the node is not running" })
const noRecord = { state: "notFound" }

/** A node that responds to each method as given. */
const socketOf = (replies: Readonly<Record<string, Reply>>) => {
  const calls: Array<readonly [method: string, params: object]> = []
  const socket: LdkSocket = {
    begin: Effect.die("not used"),
    see: Effect.void,
    ask: (method, params, result) =>
      Effect.suspend(() => {
        calls.push([method, params])
        const reply = replies[method] ?? outage
        return reply instanceof Refused || reply instanceof NodeUnavailable
          ? Effect.fail(reply)
          : Effect.mapError(Schema.decodeUnknownEffect(result)(reply), () => outage)
      })
  }
  return { socket, calls }
}

const offer = Result.getOrThrow(
  Bolt12.decode("lno1pgqpvggr3l9u9ppv79mzn7g9v98cf8zw900skucuz53zr5vvjss454zrnyes")
)
const attempt = "00000000-0000-4000-8000-000000000001"

/** Payments by invoice and by offer have the same outcomes. */
const kinds = {
  "an invoice": {
    methods: ["pay", "lookupPayment"],
    pay: (socket: LdkSocket) => LdkSender.make(socket).pay(payment),
    lookup: (socket: LdkSocket) => LdkSender.make(socket).lookupPayment(hash)
  },
  "an offer": {
    methods: ["payOffer", "lookupOffer"],
    pay: (socket: LdkSocket) => LdkOffers.make(socket).payOffer({ ...payment, attempt, offer }),
    lookup: (socket: LdkSocket) => LdkOffers.make(socket).lookupOffer(attempt)
  }
} as const

const reasons = [
  "timeout",
  "no_route",
  "error",
  "incorrect_payment_details",
  "insufficient_balance",
  "canceled",
  "channel_closed"
]

/** What the node's record of a payment means. */
const records: Record<string, readonly [reply: object, outcome: object]> = {
  pending: [{ state: "pending" }, { _tag: "pending" }],
  settled: [
    { state: "settled", hash, preimage: hash, fee: "7", index: "3" },
    { _tag: "settled", paymentHash: hash, preimage: hash, fee: 7n, index: "3" }
  ],
  ...Object.fromEntries(
    reasons.map((reason) => [
      `failed (${reason})`,
      [
        { state: "failed", reason },
        { _tag: "failed", reason }
      ]
    ])
  ),
  "failed for a reason that is not known, so unknown": [
    { state: "failed", reason: "new" },
    { _tag: "unknown" }
  ],
  "in a state that is not known, so unknown": [{ state: "new" }, { _tag: "unknown" }]
}

const quiet = Effect.provideService(References.MinimumLogLevel, "None")

describe("outcomes of payments at LDK", () => {
  for (const [kind, { methods, pay, lookup }] of Object.entries(kinds)) {
    const [paying, looking] = methods
    const paid = (replies: Readonly<Record<string, Reply>>) => pay(socketOf(replies).socket)
    const found = (reply: Reply) => lookup(socketOf({ [looking]: reply }).socket)

    for (const [state, [reply, expected]] of Object.entries(records)) {
      it.effect(
        `ldk: a payment of ${kind} is ${state}, in the response to the call, in a lookup, and after a refused call`,
        () =>
          Effect.gen(function* () {
            assert.deepStrictEqual<unknown>(yield* paid({ [paying]: reply }), expected, "the call")
            assert.deepStrictEqual<unknown>(yield* found(reply), expected, "a lookup")
            for (const code of ["bad_request", "refused"])
              assert.deepStrictEqual<unknown>(
                yield* paid({ [paying]: new Refused({ code, words: "words" }), [looking]: reply }),
                expected,
                `a call refused with ${code}`
              )
          }).pipe(quiet)
      )
    }

    // The codes of serve.go, and one that is not known. `run`, `late` and `unavailable` never arrive here, because
    // LdkSocket reports them as not sent.
    for (const code of [
      "bad_request",
      "refused",
      "taken",
      "stale",
      "internal",
      "run",
      "late",
      "unavailable",
      "new"
    ]) {
      const isFinal = code === "bad_request"
      it.effect(
        `C3: ldk: a call to pay ${kind} that is refused with ${code} and leaves no record ${isFinal ? "has failed" : "has an unknown outcome"}`,
        () =>
          Effect.gen(function* () {
            const refused = new Refused({ code, words: "words" })
            const expected = isFinal ? { _tag: "failed", reason: "error" } : { _tag: "unknown" }
            assert.deepStrictEqual<unknown>(yield* paid({ [paying]: refused, [looking]: noRecord }), expected)
          }).pipe(quiet)
      )
    }

    it.effect(
      `C3: ldk: after a refused call to pay ${kind}, a lookup without a response leaves the outcome unknown`,
      () =>
        Effect.gen(function* () {
          for (const code of ["bad_request", "internal"])
            for (const lookup of [
              outage,
              notLookedAt,
              new Refused({ code: "bad_request", words: "words" }),
              { state: "new" }
            ])
              assert.deepStrictEqual<unknown>(
                yield* paid({ [paying]: new Refused({ code, words: "words" }), [looking]: lookup }),
                {
                  _tag: "unknown"
                }
              )
        }).pipe(quiet)
    )

    it.effect(
      `C3: ldk: a call to pay ${kind} is not sent only if the node did not process it; otherwise the outcome is unknown`,
      () =>
        Effect.gen(function* () {
          assert.deepStrictEqual<unknown>(yield* paid({ [paying]: notLookedAt }), { _tag: "notSent" })
          assert.deepStrictEqual<unknown>(yield* paid({ [paying]: outage }), { _tag: "unknown" })
          // The node may still write the record of a call that it accepted.
          assert.deepStrictEqual<unknown>(yield* paid({ [paying]: noRecord }), { _tag: "unknown" })
        }).pipe(quiet)
    )

    it.effect(
      `C2: ldk: a payment of ${kind} is not found only if the node says so; every other response to a lookup is unknown`,
      () =>
        Effect.gen(function* () {
          assert.deepStrictEqual<unknown>(yield* found(noRecord), { _tag: "notFound" })
          assert.deepStrictEqual<unknown>(yield* found({ state: "notFound", lostBefore: 5 }), {
            _tag: "notFound",
            lostBeforeMillis: 5
          })
          for (const reply of [outage, notLookedAt, new Refused({ code: "bad_request", words: "words" })])
            assert.deepStrictEqual<unknown>(yield* found(reply), { _tag: "unknown" })
        }).pipe(quiet)
    )

    it.effect(
      `ldk: the node may start a payment of ${kind} until a minute after the call, and not later`,
      () =>
        Effect.gen(function* () {
          yield* TestClock.setTime(1_700_000_000_000)
          const { socket, calls } = socketOf({ [paying]: { state: "pending" } })
          yield* pay(socket)
          assert.deepInclude(calls[0]?.[1], { notAfter: 1_700_000_060_000, amount: "1000", feeLimit: "0" })
          assert.strictEqual(LdkPayments.graceMillis, 60_000)
        })
    )
  }

  it.effect(
    "ldk: a stream of ended payments begins with the node's newest and goes on after the last, one request at a time",
    () =>
      Effect.gen(function* () {
        const { socket, calls } = socketOf({ ends: { lines: [hash], cursor: "9" } })
        const { ends } = LdkSender.make(socket)
        const two = yield* Effect.forkChild(Stream.runCollect(Stream.take(ends, 2)), {
          startImmediately: true
        })
        yield* TestClock.adjust("50 millis")
        assert.deepStrictEqual<unknown>(yield* Fiber.join(two), [hash, hash])
        assert.deepStrictEqual(calls, [
          ["ends", {}],
          ["ends", { after: "9", waitMillis: 20_000 }]
        ])
      })
  )

  it.effect(
    "ldk: a request for a quote states the amount and the fee limit, and there is no quote without a route",
    () =>
      Effect.gen(function* () {
        const { socket, calls } = socketOf({
          quote: { fee: "7", probability: 0.5 },
          quoteOffer: { fee: null, probability: 0 }
        })
        const terms = { amount: Msat.make(21_000n), feeLimit: Msat.make(12n) }
        assert.deepStrictEqual<unknown>(yield* LdkSender.make(socket).quote({ ...payment, ...terms }), {
          fee: 7n,
          probability: 0.5
        })
        assert.isUndefined(yield* LdkOffers.make(socket).quote({ offer, ...terms }))
        const words = { amount: "21000", feeLimit: "12" }
        assert.deepStrictEqual(calls, [
          ["quote", { request: payment.invoice.paymentRequest, ...words }],
          ["quoteOffer", { destinations: [offer.issuerId], ...words }]
        ])
      })
  )
})
