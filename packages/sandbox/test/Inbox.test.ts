import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Inbox from "../src/Inbox.ts"

const request = (body: string) => ({ headers: { "content-type": "application/json" }, body })

it.effect(
  "sandbox inbox: an inbox shows received requests, newest first, and only the beginning of a long body",
  () =>
    Effect.gen(function* () {
      const inbox = Inbox.make()
      yield* inbox.receive("orders", request("first"))
      yield* TestClock.adjust(1000)
      yield* inbox.receive("orders", request("x".repeat(Inbox.maxBodyCharacters + 1)))
      const { count, requests } = yield* inbox.show("orders")
      assert.strictEqual(count, 2)
      assert.deepStrictEqual(
        requests.map(({ number, atMillis, status, isWhole, body }) => [
          number,
          atMillis,
          status,
          isWhole,
          body.length
        ]),
        [
          [2, 1000, 200, false, Inbox.maxBodyCharacters],
          [1, 0, 200, true, 5]
        ]
      )
      assert.deepStrictEqual((yield* inbox.show("others")).requests, [])
    })
)

it.effect(
  "sandbox inbox: an inbox fails a given number of times or for a given duration, then succeeds",
  () =>
    Effect.gen(function* () {
      const inbox = Inbox.make()
      const receive = inbox.receive("orders", request("{}"))
      yield* inbox.fail("orders", { status: 500, times: 2 })
      assert.deepStrictEqual([yield* receive, yield* receive, yield* receive], [500, 500, 200])
      yield* inbox.fail("orders", { status: 410, forSeconds: 60 })
      assert.strictEqual(yield* receive, 410)
      yield* TestClock.adjust("59 seconds")
      assert.strictEqual(yield* receive, 410)
      assert.deepStrictEqual((yield* inbox.show("orders")).failing, {
        status: 410,
        timesLeft: null,
        untilMillis: 60_000
      })
      yield* TestClock.adjust("1 second")
      assert.isNull((yield* inbox.show("orders")).failing)
      assert.strictEqual(yield* receive, 200)
      yield* inbox.fail("orders", { status: 500, forSeconds: 60 })
      yield* inbox.fail("orders", { status: 500 })
      assert.strictEqual(yield* receive, 200)
      assert.strictEqual(
        (yield* Effect.flip(inbox.fail("orders", { status: 500, times: 1, forSeconds: 1 }))).reason,
        "out_of_range"
      )
    })
)

it.effect(
  "sandbox inbox: when a limit is reached, the oldest request or the least recently used inbox is dropped",
  () =>
    Effect.gen(function* () {
      const inbox = Inbox.make()
      for (let at = 0; at <= Inbox.maxKept; at++) yield* inbox.receive("kept", request(String(at)))
      const { count, requests } = yield* inbox.show("kept")
      assert.deepStrictEqual(
        [count, requests.length, requests.at(-1)?.body],
        [Inbox.maxKept + 1, Inbox.maxKept, "1"]
      )
      yield* inbox.receive("idle", request("{}"))
      yield* inbox.receive("kept", request("{}"))
      for (let at = 1; at < Inbox.maxInboxes; at++) yield* inbox.receive(`more-${at}`, request("{}"))
      assert.strictEqual((yield* inbox.show("idle")).count, 0)
      assert.strictEqual((yield* inbox.show("kept")).count, Inbox.maxKept + 2)
    })
)
