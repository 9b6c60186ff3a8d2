import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { Effect, Logger, Metric } from "effect"
import { TestClock } from "effect/testing"
import * as Channels from "../src/nodes/Channels.ts"
import { type Capacity, LightningBooks } from "../src/nodes/LightningBooks.ts"
import { NodeUnavailable } from "../src/nodes/LightningReceiver.ts"

const sats = (
  outgoing: number,
  incoming: number,
  channels: Partial<NonNullable<Capacity["channels"]>> = {}
): Capacity => ({
  outgoing: Msat.fromSats(outgoing),
  incoming: Msat.fromSats(incoming),
  channels: { active: 1, inactive: 0, opening: 0, closing: 0, forceClosing: 0, ...channels }
})

const codes = (capacity: Capacity) => Channels.judge(capacity).map(({ code }) => code)

/** The service over a node that reports this capacity, and its log. */
const over = <A, E>(
  capacity: LightningBooks["Service"]["capacity"],
  use: (channels: Channels.Channels["Service"], logged: ReadonlyArray<string>) => Effect.Effect<A, E>
) => {
  const logged: Array<string> = []
  const books = { capacity, owned: Effect.never, sent: () => Effect.never, taken: () => Effect.never }
  return Effect.scoped(Effect.flatMap(Channels.make, (channels) => use(channels, logged))).pipe(
    Effect.provideService(LightningBooks, books),
    Effect.provide(
      Logger.layer([
        Logger.make(
          ({ message }) =>
            void logged.push(
              [message]
                .flat()
                .filter((one) => typeof one === "string")
                .join(" ")
            )
        )
      ])
    )
  )
}

const beyond = Metric.value(
  Metric.counter("satrail_invoices_beyond_inbound_total", {
    description: "Lightning invoices issued for more than the channels could receive at that moment",
    incremental: true,
    attributes: {}
  })
)

describe("channels", () => {
  it("channels: each problem causes its own warning, and nothing else causes a warning", () => {
    assert.deepStrictEqual(codes(sats(100, 100)), [])
    assert.deepStrictEqual(codes(sats(90, 10)), [])
    assert.deepStrictEqual(codes(sats(91, 9)), ["inbound_low"])
    assert.deepStrictEqual(codes(sats(9, 91)), ["outbound_low"])
    assert.deepStrictEqual(codes(sats(0, 0, { active: 0 })), ["no_active_channel"])
    assert.deepStrictEqual(codes(sats(50, 50, { active: 0, inactive: 2 })), [
      "no_active_channel",
      "channels_inactive"
    ])
    assert.deepStrictEqual(codes(sats(50, 50, { opening: 1, closing: 1 })), [])
    assert.deepStrictEqual(codes(sats(50, 50, { forceClosing: 1 })), ["channels_force_closing"])
  })

  it("channels: for a node that does not report channel counts, all warnings are about amounts", () => {
    assert.deepStrictEqual(codes({ outgoing: Msat.fromSats(1), incoming: Msat.zero }), ["inbound_low"])
    assert.deepStrictEqual(codes({ outgoing: Msat.zero, incoming: Msat.zero }), [])
  })

  it.effect(
    "channels: the counter of invoices beyond the inbound capacity begins at 0, so that an alarm sees the first one",
    () =>
      Effect.gen(function* () {
        const registry: typeof Metric.MetricRegistry.Service = new Map()
        yield* Effect.provideService(
          over(Effect.succeed(sats(50, 50)), () => Effect.void),
          Metric.MetricRegistry,
          registry
        )
        assert.match([...registry.keys()].join(), /satrail_invoices_beyond_inbound_total/)
      })
  )

  it.effect(
    "channels: an outage does not cause a warning, and an unresponsive node delays a caller by at most two seconds",
    () =>
      Effect.gen(function* () {
        const away = Effect.fail(new NodeUnavailable({ operation: "capacity", cause: "away" }))
        yield* over(away, ({ now, warnings }) =>
          Effect.gen(function* () {
            assert.isNull(yield* now)
            assert.deepStrictEqual(yield* warnings, [])
          })
        )
        yield* over(Effect.never, ({ warnings }) =>
          Effect.gen(function* () {
            const asked = yield* Effect.forkChild(warnings)
            yield* TestClock.adjust(Channels.answerMillis)
            assert.deepStrictEqual(asked.pollUnsafe()?._tag, "Success")
          })
        )
      })
  )

  it.effect(
    "channels: repeated requests query the node at most once every ten seconds, and a clock that is set back does not stop them",
    () =>
      Effect.gen(function* () {
        let asked = 0
        const counted = Effect.sync(() => {
          asked++
          return sats(1, 1)
        })
        yield* over(counted, ({ now }) =>
          Effect.gen(function* () {
            yield* Effect.replicateEffect(now, 100, { concurrency: "unbounded" })
            yield* TestClock.adjust(Channels.keptMillis - 1)
            yield* now
            assert.strictEqual(asked, 1)
            yield* TestClock.adjust(1)
            yield* now
            assert.strictEqual(asked, 2)
            // The clock is set back.
            yield* TestClock.setTime(0)
            yield* now
            assert.strictEqual(asked, 3)
          })
        )
      })
  )

  it.effect(
    "channels: a problem is logged once with its remedy when it begins, and logged once more when it ends",
    () =>
      Effect.gen(function* () {
        let said = sats(0, 0, { active: 0 })
        yield* over(
          Effect.sync(() => said),
          ({ now }, logged) =>
            Effect.gen(function* () {
              for (const next of [said, said, sats(1, 1), sats(1, 1)]) {
                said = next
                yield* now
                yield* TestClock.adjust(Channels.keptMillis)
              }
              const reason =
                "the Lightning node has no active channel, so Lightning payments can be neither sent nor received"
              assert.deepStrictEqual(logged, [
                `channels: ${reason}. Open a channel, and have one opened to your node.`,
                `channels: resolved: ${reason}`
              ])
            })
        )
      })
  )

  it.effect(
    "channels: every invoice above the inbound liquidity is counted, but only the first is logged until an invoice can be paid again",
    () =>
      Effect.gen(function* () {
        const before = (yield* beyond).count
        yield* over(Effect.succeed(sats(100, 50)), ({ issued }, logged) =>
          Effect.gen(function* () {
            for (const amount of [50, 51, 52, 50, 51]) {
              yield* issued(Msat.fromSats(amount))
              yield* Effect.yieldNow
            }
            yield* TestClock.adjust(1)
            assert.strictEqual((yield* beyond).count - before, 3)
            assert.lengthOf(logged, 2)
            assert.match(logged[0] ?? "", /cannot be paid over the network/)
          })
        )
      })
  )

  it.effect("channels: the capacity of inactive channels does not count as inbound liquidity", () =>
    Effect.gen(function* () {
      const before = (yield* beyond).count
      yield* over(Effect.succeed(sats(100, 50, { active: 0, inactive: 1 })), ({ issued }) =>
        Effect.andThen(issued(Msat.fromSats(1)), TestClock.adjust(1))
      )
      assert.strictEqual((yield* beyond).count - before, 1)
    })
  )
})
