import { assert, describe, it } from "@effect/vitest"
import * as Signals from "@satrail/core/ledger/Signals"
import { Context, Effect, Layer, Queue, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import Pg from "pg"
import * as PgSignals from "../src/Signals.ts"
import * as PgClient from "../src/client/PgClient.ts"
import * as Storage from "@satrail/service/postgres/Storage"
import * as Database from "./Database.ts"

/** A connection that only records what it is asked. */
const recorder = () => {
  const asked: Array<string> = []
  const query = (
    { text, values = [] }: Pg.QueryConfig,
    done: (error: null, result: { rows: [] }) => void
  ): void => {
    asked.push([text, ...values.slice(1)].join(" "))
    done(null, { rows: [] })
  }
  return { asked, client: Object.assign(new Pg.Client(), { query }) }
}

it.effect("signals: a process that is alone only shows that it is there, until another one appears", () =>
  Effect.gen(function* () {
    const recorded = recorder()
    const { client } = recorded
    const { send } = yield* Effect.provideService(
      PgSignals.make,
      PgClient.Beside,
      PgClient.Beside.of({ connection: Effect.succeed(client) })
    )
    const asked = Effect.fnUntraced(function* (millis: number) {
      yield* TestClock.adjust(millis)
      return recorded.asked.splice(0)
    })
    const notified = (payload: string) => `select pg_notify($1, $2) ${payload}`
    const hello = notified("{}")
    assert.deepStrictEqual(yield* asked(1000), ["listen satrail", hello])
    send({ topic: "a", atMillis: 1 })
    assert.deepStrictEqual(yield* asked(1000), [notified(`{"a":[1,1]}`)])
    // It also shows the process whether its connection still works.
    const hellos = [hello, hello, hello, hello, hello]
    assert.deepStrictEqual(yield* asked(100_500), hellos)
    send({ topic: "a", atMillis: 2 })
    assert.deepStrictEqual(yield* asked(1000), [])
    client.emit("notification", { processId: 2, channel: "satrail", payload: "{}" })
    assert.deepStrictEqual(yield* asked(1000), [notified(`{"a":[2,2]}`)])
    send({ topic: "a", atMillis: 3 })
    assert.deepStrictEqual(yield* asked(1000), [notified(`{"a":[3,3]}`)])
    assert.deepStrictEqual(yield* asked(100_500), hellos)
  })
)

describe.skipIf(Database.server === undefined)(
  "signals between two stores of one server (skipped where there is none)",
  () => {
    it.live(
      "signals: a topic's first and last time reach the other store, even after a reconnect, but not the sender",
      () =>
        Effect.gen(function* () {
          const url = yield* Database.make
          const listening = Effect.gen(function* () {
            const services = yield* Layer.build(Storage.layer({ url }))
            const signals =
              Context.get(services, Signals.Signals) ?? assert.fail("a server's store has signals")
            const heard = yield* Queue.unbounded<Signals.Signal | null>()
            yield* Effect.forkScoped(
              Stream.runForEach(signals.received, (signal) => Queue.offer(heard, signal)),
              { startImmediately: true }
            )
            return { signals, heard }
          })
          const [one, other] = [yield* listening, yield* listening]
          /** Sends until a signal is received, because a new listener may have missed the first one. */
          const arrives = (topic: string) =>
            Effect.gen(function* () {
              const sends = Effect.forever(
                Effect.andThen(
                  Effect.sync(() => one.signals.send({ topic, atMillis: 7 })),
                  Effect.sleep(50)
                )
              )
              const hears = Effect.repeat(Queue.take(other.heard), {
                until: (signal) => signal?.topic === topic
              })
              return yield* Effect.raceFirst(hears, sends)
            })
          assert.deepStrictEqual(yield* arrives("first"), { topic: "first", atMillis: 7 })
          const third = Effect.repeat(Queue.take(other.heard), {
            until: (signal) => signal?.topic === "third"
          })
          const thirds = Effect.map(Effect.all([third, third]), (both) =>
            both.map((signal) => signal?.atMillis)
          )
          const outside = yield* Layer.build(PgClient.layer({ url, maxConnections: 1 }))
          yield* Effect.provide(
            Effect.flatMap(
              SqlClient.SqlClient,
              (sql) =>
                sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
            ),
            outside
          )
          assert.deepStrictEqual(yield* arrives("second"), { topic: "second", atMillis: 7 })
          for (const atMillis of [5, 9, 8]) one.signals.send({ topic: "third", atMillis })
          assert.deepStrictEqual(yield* thirds, [5, 9])
          const own = (yield* Queue.takeAll(one.heard)).filter((signal) => signal !== null)
          assert.deepStrictEqual(own, [])
        })
    )
  }
)
