import { assert } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { WebhookReads } from "../../../src/webhooks/core/records/WebhookReads.ts"
import { readsAtOnce } from "../../../src/webhooks/core/Runner.ts"
import { StoreUnavailable } from "@satrail/core/ledger/Journal"
import { endpoint, second, sending, types, world } from "../../../../core/test/Receivers.ts"
import { company, invoice, replace, scenario } from "../../../../core/test/World.ts"

/** Webhooks whose store counts concurrent reads of deliveries, and fails them while `isAway` is true. */
const counting = () => {
  const made = world()
  const reads = { now: 0, most: 0, isAway: false }
  const away = new StoreUnavailable({
    operation: "test",
    cause: new Error("away"),
    reason: "the database does not respond"
  })
  const change: typeof made.change = (ports) =>
    replace(WebhookReads, (one) => ({
      ...one,
      pendingDeliveries: (...asked) =>
        Effect.suspend(() => {
          reads.most = Math.max(reads.most, ++reads.now)
          const answer = reads.isAway ? Effect.fail(away) : one.pendingDeliveries(...asked)
          return Effect.ensuring(
            Effect.andThen(Effect.sleep(1), answer),
            Effect.sync(() => reads.now--)
          )
        })
    }))(made.change(ports))
  return { ...made, reads, change }
}

const count = 2 * readsAtOnce
const companies = Effect.gen(function* () {
  const rows = yield* Effect.forEach(Array.from({ length: count }), () => company())
  yield* Effect.forEach(rows, (row) => endpoint(row))
  return rows
})

scenario(
  "webhooks: a process that begins to send for many endpoints reads the store for a few of them at a time",
  counting,
  function* ({ reads, sent }) {
    const rows = yield* companies
    yield* sending
    yield* second
    assert.strictEqual(reads.most, readsAtOnce)
    yield* Effect.forEach(rows, (row) => invoice(row, 1))
    yield* second
    assert.lengthOf(types(sent), count)
  }
)

scenario(
  "webhooks: an outage of the store is logged once, not for each endpoint",
  counting,
  function* ({ reads, sent }) {
    const logged: Array<string> = []
    const logger = Logger.make(({ logLevel, message }) => {
      if (logLevel === "Warn") logged.push(String(message))
    })
    const rows = yield* companies
    reads.isAway = true
    yield* Effect.gen(function* () {
      yield* sending
      for (let seconds = 0; seconds < 5; seconds++) yield* second
      assert.deepStrictEqual(logged, [
        "webhook: sending to an endpoint failed; will retry: the database does not respond"
      ])
      reads.isAway = false
      for (let seconds = 0; seconds < 60; seconds++) yield* second
      yield* Effect.forEach(rows, (row) => invoice(row, 1))
      yield* second
    }).pipe(Effect.provide(Logger.layer([logger])))
    assert.lengthOf(types(sent), count)
  }
)
