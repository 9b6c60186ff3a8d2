import { assert, describe, it } from "@effect/vitest"
import * as Signals from "@satrail/core/ledger/Signals"
import { Context, Effect, Layer, Queue, Stream } from "effect"
import { SqlClient } from "effect/sql"
import * as PgClient from "../src/client/PgClient.ts"
import * as Storage from "@satrail/service/postgres/Storage"
import * as Database from "./Database.ts"

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
