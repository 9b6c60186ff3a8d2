import { assert, describe, it } from "@effect/vitest"
import { NodeUnavailable } from "@satrail/core/nodes/LightningReceiver"
import { Effect, Fiber, References, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { code as status, type LndRest, Refused } from "../src/LndRest.ts"
import * as LndSender from "../src/LndSender.ts"
import { NotLookedAt } from "../src/NodeState.ts"
import { hash, nodeId, payment } from "./InLndsPlace.ts"

// Every response of lnd that decides a payment's outcome. Only a record of lnd, or its refusal to make one, is final.

/** A response of lnd: a message in JSON, an error, or none within any time. `[]` is a stream that ends without a message. */
type Reply = object | Refused | NodeUnavailable | "silence" | readonly []

const isReply = (reply: Reply): reply is Refused | NodeUnavailable =>
  reply instanceof Refused || reply instanceof NodeUnavailable

const outage = new NodeUnavailable({ operation: "test", cause: "connection lost" })
const notLookedAt = new NotLookedAt({ operation: "test", cause: "lnd is locked" })
const noRecord = new Refused({ code: status.notFound, words: "payment isn't initiated" })

interface Replies {
  readonly pay?: Reply
  readonly lookupPayment?: Reply
  readonly identity?: Reply
  readonly ends?: ReadonlyArray<Reply>
}

/** An lnd that responds to each operation as given. By default it is the expected node and has no record. */
const restOf = (replies: Replies) => {
  const calls: Array<string> = []
  const given = (operation: string): ReadonlyArray<Reply> => {
    calls.push(operation)
    if (operation === "pay") return [replies.pay ?? "silence"]
    if (operation === "lookupPayment") return [replies.lookupPayment ?? noRecord]
    if (operation === "ends") return replies.ends ?? []
    return [replies.identity ?? { identity_pubkey: nodeId, chains: [{ network: "regtest" }] }]
  }
  const answered = <A, I>(
    reply: Reply,
    answer: Schema.Codec<A, I>
  ): Effect.Effect<A, Refused | NodeUnavailable> =>
    reply === "silence"
      ? Effect.never
      : isReply(reply)
        ? Effect.fail(reply)
        : Effect.mapError(Schema.decodeUnknownEffect(answer)(reply), () => outage)
  const rest: LndRest = {
    deadlineMillis: 10_000,
    returns: () => 0,
    ask: (operation, _request, answer) =>
      Effect.suspend(() => answered(given(operation)[0] ?? outage, answer)),
    listen: (operation, _request, answer) =>
      Stream.suspend(() =>
        Stream.fromIterable(given(operation).filter((reply) => !Array.isArray(reply))).pipe(
          Stream.mapEffect((reply) => answered(reply, answer))
        )
      ),
    recognise: (found, expected) => (found === expected ? Effect.void : Effect.fail(outage)),
    noAnswer: () => Effect.fail(outage)
  }
  return { rest, calls }
}

const senderOf = (replies: Replies) =>
  LndSender.make(restOf(replies).rest, { identity: { nodeId, network: "regtest" } })

const quiet = Effect.provideService(References.MinimumLogLevel, "None")

/** Runs a call to lnd, and lets all of its waits end. */
const outcome = <A>(call: Effect.Effect<A>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(call, { startImmediately: true })
    yield* TestClock.adjust("1 minute")
    return yield* Fiber.join(fiber)
  }).pipe(quiet)

const record = (state: string, reason = "FAILURE_REASON_NONE") => ({
  status: state,
  failure_reason: reason,
  payment_preimage: hash,
  fee_msat: "7",
  payment_index: "3"
})

const settled = { _tag: "settled", preimage: hash, fee: 7n, index: "3" }

/** What lnd's record of a payment means. */
const records: Record<string, readonly [reply: object, outcome: object]> = {
  "INITIATED: pending": [record("INITIATED"), { _tag: "pending" }],
  "IN_FLIGHT: pending": [record("IN_FLIGHT"), { _tag: "pending" }],
  "IN_FLIGHT with a failure reason: still pending": [
    record("IN_FLIGHT", "FAILURE_REASON_NO_ROUTE"),
    { _tag: "pending" }
  ],
  "SUCCEEDED: settled": [record("SUCCEEDED"), settled],
  "FAILED for a timeout: failed": [
    record("FAILED", "FAILURE_REASON_TIMEOUT"),
    { _tag: "failed", reason: "timeout" }
  ],
  "FAILED without a route: failed": [
    record("FAILED", "FAILURE_REASON_NO_ROUTE"),
    { _tag: "failed", reason: "no_route" }
  ],
  "FAILED with an error: failed": [
    record("FAILED", "FAILURE_REASON_ERROR"),
    { _tag: "failed", reason: "error" }
  ],
  "FAILED at the payee: failed": [
    record("FAILED", "FAILURE_REASON_INCORRECT_PAYMENT_DETAILS"),
    { _tag: "failed", reason: "incorrect_payment_details" }
  ],
  "FAILED without liquidity: failed": [
    record("FAILED", "FAILURE_REASON_INSUFFICIENT_BALANCE"),
    { _tag: "failed", reason: "insufficient_balance" }
  ],
  "FAILED by cancellation: failed": [
    record("FAILED", "FAILURE_REASON_CANCELED"),
    { _tag: "failed", reason: "canceled" }
  ],
  "FAILED for a reason that is not known: failed": [
    record("FAILED", "FAILURE_REASON_NEW"),
    { _tag: "failed", reason: "error" }
  ],
  "UNKNOWN: unknown": [record("UNKNOWN"), { _tag: "unknown" }],
  "a state that is not known: unknown": [record("NEW"), { _tag: "unknown" }]
}

/** gRPC's status codes. Only these three of lnd are a refusal of the request itself. */
const codes = Array.from({ length: 17 }, (_, code) => code)
const refusing: ReadonlyArray<number> = [status.unknown, status.invalidArgument, status.failedPrecondition]

describe("outcomes of payments at lnd", () => {
  for (const [what, [reply, expected]] of Object.entries(records)) {
    it.effect(
      `lnd: a payment that is ${what}, in the response to the call, in the lookup after 2 s, and after a refused call`,
      () =>
        Effect.gen(function* () {
          assert.deepStrictEqual<unknown>(
            yield* outcome(senderOf({ pay: reply }).pay(payment)),
            expected,
            "the call"
          )
          assert.deepStrictEqual<unknown>(
            yield* outcome(senderOf({ lookupPayment: reply }).lookupPayment(hash)),
            expected,
            "a lookup"
          )
          for (const pay of ["silence", [], new Refused({ code: 2, words: "invoice expired" })] as const)
            assert.deepStrictEqual<unknown>(
              yield* outcome(senderOf({ pay, lookupPayment: reply }).pay(payment)),
              expected,
              `${pay}`
            )
        })
    )
  }

  for (const code of codes) {
    const isRefusal = refusing.includes(code)
    it.effect(
      `C3: lnd: a payment call that ends with gRPC code ${code} and leaves no record ${isRefusal ? "has failed" : "has an unknown outcome"}`,
      () =>
        Effect.gen(function* () {
          const sender = senderOf({ pay: new Refused({ code, words: "words" }) })
          const expected = isRefusal ? { _tag: "failed", reason: "error" } : { _tag: "unknown" }
          assert.deepStrictEqual<unknown>(yield* outcome(sender.pay(payment)), expected)
        })
    )
  }

  it.effect(
    "C3: lnd: after a refused call, nothing but lnd's word that it has no record makes the payment fail",
    () =>
      Effect.gen(function* () {
        const pay = new Refused({ code: 2, words: "invoice expired" })
        const lookups = [
          outage,
          notLookedAt,
          "silence",
          [],
          new Refused({ code: status.notFound, words: "Not Found" }),
          new Refused({ code: status.unknown, words: "payment isn't initiated" })
        ] as const
        for (const lookupPayment of lookups)
          assert.deepStrictEqual<unknown>(yield* outcome(senderOf({ pay, lookupPayment }).pay(payment)), {
            _tag: "unknown"
          })
      })
  )

  it.effect(
    "C2: lnd: a payment is not found only if lnd says so; every other response to a lookup is unknown",
    () =>
      Effect.gen(function* () {
        assert.deepStrictEqual<unknown>(yield* outcome(senderOf({}).lookupPayment(hash)), {
          _tag: "notFound"
        })
        for (const code of codes) {
          for (const words of ["Not Found", "payment isn't initiated"]) {
            if (code === status.notFound && words !== "Not Found") continue
            const sender = senderOf({ lookupPayment: new Refused({ code, words }) })
            assert.deepStrictEqual<unknown>(
              yield* outcome(sender.lookupPayment(hash)),
              { _tag: "unknown" },
              `${code} ${words}`
            )
          }
        }
        for (const lookupPayment of [outage, notLookedAt, "silence", []] as const)
          assert.deepStrictEqual<unknown>(yield* outcome(senderOf({ lookupPayment }).lookupPayment(hash)), {
            _tag: "unknown"
          })
      })
  )

  it.effect(
    "C3: lnd: a payment call is not sent only if lnd did not process it; a lost connection has an unknown outcome",
    () =>
      Effect.gen(function* () {
        assert.deepStrictEqual<unknown>(yield* outcome(senderOf({ pay: notLookedAt }).pay(payment)), {
          _tag: "notSent"
        })
        assert.deepStrictEqual<unknown>(yield* outcome(senderOf({ pay: outage }).pay(payment)), {
          _tag: "unknown"
        })
        for (const lookupPayment of [outage, notLookedAt, "silence", noRecord, []] as const)
          for (const pay of ["silence", []] as const)
            assert.deepStrictEqual<unknown>(yield* outcome(senderOf({ pay, lookupPayment }).pay(payment)), {
              _tag: "unknown"
            })
      })
  )

  it.effect(
    "C4: lnd: no payment call is made, and none counts as sent, until the expected lnd responds",
    () =>
      Effect.gen(function* () {
        const stranger = { identity_pubkey: `03${"22".repeat(32)}`, chains: [{ network: "regtest" }] }
        for (const identity of [outage, notLookedAt, stranger, new Refused({ code: 2, words: "words" })]) {
          const { rest, calls } = restOf({ pay: record("SUCCEEDED"), identity })
          const sender = LndSender.make(rest, { identity: { nodeId, network: "regtest" } })
          assert.deepStrictEqual<unknown>(yield* outcome(sender.pay(payment)), { _tag: "notSent" })
          assert.deepStrictEqual<unknown>(yield* outcome(sender.lookupPayment(hash)), { _tag: "unknown" })
          assert.deepStrictEqual([...new Set(calls)], ["identity"])
        }
      })
  )

  it.effect("lnd: payments are reported as ended only when they succeeded or failed", () =>
    Effect.gen(function* () {
      const states = ["INITIATED", "IN_FLIGHT", "SUCCEEDED", "FAILED"]
      const ends = states.map((state, n) => ({ payment_hash: `0${n}`.repeat(32), status: state }))
      assert.deepStrictEqual<unknown>(yield* Stream.runCollect(senderOf({ ends }).ends), [
        "02".repeat(32),
        "03".repeat(32)
      ])
      const refused = senderOf({ ends: [new Refused({ code: 2, words: "words" })] }).ends
      assert.strictEqual((yield* Effect.flip(Stream.runCollect(refused)))._tag, "NodeUnavailable")
    })
  )
})
