import { assert, describe, it } from "@effect/vitest"
import * as Memory from "@satrail/service/memory/Memory"
import { Clock, Effect, Layer, PubSub, type Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Signals from "../src/ledger/Signals.ts"
import { Tasks } from "../src/ledger/Tasks.ts"
import * as Wakes from "../src/ledger/Wakes.ts"

const topic = "errands"
const second = 1000

/** Records when a worker that listens to the topic is woken. */
const listening = Effect.gen(function* () {
  const wake = yield* (yield* Wakes.Wakes).listen(topic)
  const at: Array<number> = []
  const note = Effect.map(Clock.currentTimeMillis, (millis) => at.push(millis))
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(wake, note)))
  return at
})

/** Polls rarely, so that a worker that is woken in time was not woken by a poll. */
const patient = <A, E>(
  story: Effect.Effect<A, E, Wakes.Wakes | Scope.Scope>,
  signals?: Signals.Signals,
  due: ReadonlyArray<number> = []
) =>
  story.pipe(
    Effect.provide(Layer.fresh(Wakes.layer)),
    Effect.updateService(Tasks, (tasks) =>
      Tasks.of({
        ...tasks,
        dueAt: () => Effect.sync(() => new Map(due.slice(0, 1).map((at) => [topic, at])))
      })
    ),
    Effect.provideService(Signals.Signals, signals),
    Effect.provideService(Wakes.PollMillis, 60 * second),
    Effect.provide(Memory.layer)
  )

describe("Due times", () => {
  it.effect(
    "wakes: a worker is woken at every time at which its work is due, in whatever order the times were reported",
    () =>
      patient(
        Effect.gen(function* () {
          const at = yield* listening
          const { note } = yield* Wakes.Wakes
          for (const seconds of [2, 1, 3, 1]) yield* note({ topic, atMillis: seconds * second })
          for (let n = 0; n < 50; n++) yield* TestClock.adjust("100 millis")
          assert.deepStrictEqual(at, [1 * second, 2 * second, 3 * second])
        })
      )
  )

  it.effect("wakes: work that is due at many times wakes a worker at most fifty times a second", () =>
    patient(
      Effect.gen(function* () {
        const at = yield* listening
        const { note } = yield* Wakes.Wakes
        for (let millis = 1; millis <= second; millis++) yield* note({ topic, atMillis: millis })
        for (let millis = 0; millis < 2 * second; millis++) yield* TestClock.adjust(1)
        assert.lengthOf(at, 50)
        assert.strictEqual(at.at(-1), second)
      })
    )
  )

  it.effect(
    "wakes: after a signal from another process about later work, every due time in the store is met",
    () =>
      Effect.gen(function* () {
        const received = yield* PubSub.unbounded<Signals.Signal | null>()
        const due: Array<number> = []
        const story = Effect.gen(function* () {
          const at = yield* listening
          // Later than this, an idle process polls once a minute.
          const beganMillis = 125 * second
          yield* TestClock.adjust(beganMillis)
          due.push(beganMillis + 1 * second, beganMillis + 2 * second, beganMillis + 4 * second)
          // The other process combined its three reports into one signal.
          yield* PubSub.publish(received, { topic, atMillis: beganMillis + 1 * second })
          for (let millis = 0; millis < 5 * second; millis += 100) {
            const [next] = due
            yield* TestClock.adjust("100 millis")
            // The work that is due is done when the worker is woken.
            if (next !== undefined && at.some((millis) => millis >= next)) due.shift()
          }
          assert.deepStrictEqual(due, [])
        })
        yield* patient(story, { send: () => {}, received: Stream.fromPubSub(received) }, due)
      })
  )
})
