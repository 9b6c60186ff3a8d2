import * as Worker from "@satrail/core/base/Worker"
import * as Core from "@satrail/core/ledger/Signals"
import { Clock, Deferred, Effect, Latch, Layer, Option, PubSub, Schema, Stream } from "effect"
import type { SqlError } from "effect/sql"
import type Pg from "pg"
import { translate } from "./client/Outage.ts"
import { Beside } from "./client/PgClient.ts"
import { asking, failed } from "./client/PgConnection.ts"

// NOTIFY takes a server-wide lock when its transaction commits. So it never runs inside a Change's transaction.
// It is a separate statement on its own connection, sent at least this long after the previous one.
const gapMillis = 10
const answerMillis = 5000

// Each notification costs a statement, so a process that is alone sends only one every `presentMillis`. It shows
// others that the process is there, and shows the process whether its connection still works. A process is alone if
// it received nothing for as long as `aloneMillis`.
const presentMillis = 20_000
const aloneMillis = 60_000

const channel = "satrail"

/**
 * The content of a notification: the first and the last time at which each topic has work, or null if the list
 * would be too long.
 */
const Sent = Schema.fromJsonString(
  Schema.NullOr(Schema.Record(Schema.String, Schema.Tuple([Schema.Finite, Schema.Finite])))
)
const sentOf = Schema.decodeUnknownOption(Sent)
const maxPayload = 7900

/** The server process of a connection. Notifications contain the sender's process id. */
const pidOf = (client: Pg.ClientBase & { readonly processID?: number | null }) => client.processID

/**
 * Signals as PostgreSQL notifications. No notification arrives while the connection is down, or if a pooler
 * doesn't pass notifications on.
 */
export const make = Effect.gen(function* () {
  const { connection } = yield* Beside
  const received = yield* PubSub.unbounded<Core.Signal | null>()
  const waiting = new Map<string, readonly [number, number]>()
  const isWaiting = yield* Latch.make(false)
  const clock = yield* Clock.Clock
  let aloneFromMillis = 0
  const isAlone = () => clock.currentTimeMillisUnsafe() >= aloneFromMillis
  const expectOthers = () => {
    aloneFromMillis = clock.currentTimeMillisUnsafe() + aloneMillis
  }

  const payload = () => {
    const text = JSON.stringify(Object.fromEntries(waiting))
    waiting.clear()
    isWaiting.closeUnsafe()
    return Buffer.byteLength(text) > maxPayload ? "null" : text
  }

  const session = Effect.gen(function* () {
    const client = yield* connection
    const pid = pidOf(client)
    const ended = yield* Deferred.make<never, SqlError.SqlError>()
    client.on("error", (cause) => void Deferred.doneUnsafe(ended, Effect.fail(failed(cause, "listen"))))
    client.on(
      "end",
      () => void Deferred.doneUnsafe(ended, Effect.fail(failed(new Error("the connection ended"), "listen")))
    )
    client.on("notification", ({ processId, payload = "" }) => {
      if (processId === pid) return
      // Another process is there, and may not know of what waits.
      if (isAlone()) isWaiting.openUnsafe()
      expectOthers()
      const sent = Option.getOrNull(sentOf(payload))
      if (sent === null) return void PubSub.publishUnsafe(received, null)
      for (const [topic, times] of Object.entries(sent))
        for (const atMillis of new Set(times)) PubSub.publishUnsafe(received, { topic, atMillis })
    })
    const query = asking(client, undefined, { limitMillis: answerMillis })
    const ask = (text: string, values: ReadonlyArray<string> = []) =>
      Effect.uninterruptible(query({ text, values: [...values] }))
    yield* ask(`listen ${channel}`)
    // Signals sent before this connection was open are lost.
    yield* PubSub.publish(received, null)
    expectOthers()
    const send = Effect.suspend(() => ask("select pg_notify($1, $2)", [channel, payload()]))
    const due = Effect.timeoutOption(isWaiting.await, presentMillis)
    const next = Effect.andThen(due, Effect.andThen(send, Effect.sleep(gapMillis)))
    // A stopping process sends its pending signals.
    const last = Effect.suspend(() => (waiting.size === 0 ? Effect.void : Effect.ignore(send)))
    // Others learn from the first notification that this process is there.
    isWaiting.openUnsafe()
    yield* Effect.raceFirst(Effect.ensuring(Effect.forever(next), last), Deferred.await(ended))
  }).pipe(Effect.scoped, Effect.catch(translate("Signals.receive")))

  yield* Worker.runOpen("signals", session, Effect.void)
  return {
    send: ({ topic, atMillis }: Core.Signal) => {
      const [first, last] = waiting.get(topic) ?? [atMillis, atMillis]
      waiting.set(topic, [Math.min(first, atMillis), Math.max(last, atMillis)])
      if (!isAlone()) isWaiting.openUnsafe()
    },
    received: Stream.fromPubSub(received)
  }
})

export const layer = Layer.effect(Core.Signals, make)
