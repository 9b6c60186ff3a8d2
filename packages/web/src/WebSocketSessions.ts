import * as Nostr from "@satrail/bitcoin/Nostr"
import * as JsonText from "@satrail/core/base/JsonText"
import { Deferred, Effect, Exit, Layer, Option, Queue, Schema } from "effect"
import { randomBytes } from "node:crypto"
import type net from "node:net"
import type { RawData } from "ws"
import { Outbound } from "./Outbound.ts"
import * as RelaySocket from "./RelaySocket.ts"

/**
 * Maximum size of a relay's message, which is one line of text; a longer one closes the connection. An
 * encrypted response with 20 transactions fits.
 */
export const maxBytes = 128 * 1024

/**
 * Maximum number of values in a relay's message, such as tags and their items. Each takes many times its size in memory.
 * Longer events are ignored, because anyone can publish one.
 */
export const maxValues = 1000

/** Maximum number of unread events. At this number, the socket is paused. */
export const maxWaiting = 64

/**
 * Maximum number of events read in a second. At this number, the socket is paused. Otherwise, a relay that sends events
 * as fast as it can would delay requests. All apps of one relay together rarely send this many.
 */
export const maxPerSecond = 500

/** Ping interval. A relay that has not responded by the next ping counts as disconnected. */
export const pingMillis = 30_000

/**
 * Maximum number of other messages, pings and pongs in this interval. A relay that sends them as fast as it can would
 * occupy the thread.
 */
export const maxOthers = 600

/** The ID of a connection's only subscription. */
const subscription = "satrail"

const Said = Schema.fromJsonString(Schema.Array(Schema.Unknown))
const saidOf = Schema.decodeUnknownOption(Said)
const eventOf = Schema.decodeUnknownOption(
  Schema.Tuple([Schema.Literal("EVENT"), Schema.Literal(subscription), Nostr.Event])
)
const verdictOf = Schema.decodeUnknownOption(
  Schema.Tuple([Schema.Literal("OK"), Schema.String, Schema.Boolean, Schema.String])
)
const closedOf = Schema.decodeUnknownOption(
  Schema.Tuple([Schema.Literal("CLOSED"), Schema.Literal(subscription), Schema.String])
)

const asked = ({ kinds, to, by, sinceSeconds }: Nostr.Filter) =>
  JSON.stringify([
    "REQ",
    subscription,
    { kinds, "#p": [to], since: sinceSeconds, ...(by !== undefined && { authors: [by] }) }
  ])

/** Opens a connection and subscribes. The connection's end is reported once, with a reason. */
const connect = Effect.fnUntraced(function* (relay: string, socket: net.Socket, filter: Nostr.Filter) {
  const events = yield* Queue.unbounded<Nostr.Event>()
  const opened = yield* Deferred.make<void, Nostr.RelayUnreachable>()
  const ended = yield* Deferred.make<never, Nostr.RelayUnreachable>()
  const verdicts = new Map<string, Deferred.Deferred<"taken" | "refused", Nostr.RelayUnreachable>>()
  const fail = (message: string, cause?: unknown) => {
    const exit = Exit.fail(new Nostr.RelayUnreachable({ relay, cause: cause ?? new Error(message) }))
    Deferred.doneUnsafe(opened, exit)
    Deferred.doneUnsafe(ended, exit)
    connection.terminate()
  }

  const connection = RelaySocket.over(relay, socket, { maxPayload: maxBytes })
  let inSecond = 0
  const pace = () => {
    if (inSecond >= maxPerSecond || Queue.sizeUnsafe(events) >= maxWaiting) connection.pause()
    else connection.resume()
  }
  let others = 0
  const count = () => {
    if (++others === maxOthers + 1)
      fail(`the relay sent more than ${maxOthers} other messages in ${pingMillis / 1000} seconds`)
  }
  const heard = (data: RawData) => {
    // A closed connection still reports messages that had arrived.
    if (others > maxOthers) return
    const text = String(data)
    const isTooMuch = JsonText.hasMoreValues(text, maxValues)
    if (isTooMuch && text.startsWith('["EVENT"')) {
      inSecond++
      return pace()
    }
    const said = isTooMuch ? undefined : Option.getOrUndefined(saidOf(text))
    if (said === undefined) return count()
    const event = eventOf(said)
    if (Option.isSome(event)) {
      Queue.offerUnsafe(events, event.value[2])
      inSecond++
      return pace()
    }
    const verdict = verdictOf(said)
    if (Option.isSome(verdict)) {
      const [, id, isTaken] = verdict.value
      const waiting = verdicts.get(id)
      if (waiting === undefined) return count()
      Deferred.doneUnsafe(waiting, Exit.succeed(isTaken ? "taken" : "refused"))
      return
    }
    const closed = closedOf(said)
    if (Option.isSome(closed)) fail(`the relay closed the subscription: ${closed.value[2].slice(0, 200)}`)
    else count()
  }
  // A relay that does not read what we send, which then fills our memory, cannot know the ping's payload.
  let ping = ""
  let isThere = true
  connection
    .once("open", () => {
      connection.send(asked(filter))
      Deferred.doneUnsafe(opened, Exit.void)
    })
    .on("message", heard)
    .on("ping", count)
    .on("pong", (payload) => {
      if (String(payload) === ping) isThere = true
      count()
    })
    .on("error", (cause) => fail("the connection failed", cause))
    .once("close", () => fail("the relay closed the connection"))
  yield* Effect.addFinalizer(() => Effect.sync(() => connection.terminate()))
  yield* Deferred.await(opened)
  yield* Effect.forkScoped(
    Effect.forever(
      Effect.andThen(
        Effect.sleep(pingMillis),
        Effect.sync(() => {
          if (!isThere) return fail("the relay no longer responds")
          isThere = false
          others = 0
          ping = randomBytes(8).toString("hex")
          connection.ping(ping)
        })
      )
    )
  )

  const second = Effect.sync(() => {
    inSecond = 0
    pace()
  })
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep("1 second"), second)))

  const next = Effect.tap(Queue.take(events), () => Effect.sync(pace))
  return {
    publish: (event: Nostr.Event) =>
      Effect.suspend(() => {
        const verdict = Deferred.makeUnsafe<"taken" | "refused", Nostr.RelayUnreachable>()
        verdicts.set(event.id, verdict)
        connection.send(JSON.stringify(["EVENT", event]))
        return Effect.ensuring(
          Effect.raceFirst(Deferred.await(verdict), Deferred.await(ended)),
          Effect.sync(() => verdicts.delete(event.id))
        )
      }),
    next: Effect.raceFirst(next, Deferred.await(ended))
  }
})

/** Subscriptions to relays over WebSocket (NIP-01, RFC 6455), over the guarded client. */
export const layer = Layer.effect(
  Nostr.Sessions,
  Effect.map(Outbound, (outbound) =>
    Nostr.Sessions.of({
      open: (relay, filter) =>
        Effect.flatMap(outbound.connect(relay), (socket) => connect(relay, socket, filter)).pipe(
          Effect.catchTags({
            Forbidden: ({ reason }) =>
              Effect.fail(
                new Nostr.RelayUnreachable({
                  relay,
                  cause: new Error(`the relay was not contacted: ${reason}`)
                })
              ),
            Unreachable: (cause) => Effect.fail(new Nostr.RelayUnreachable({ relay, cause }))
          })
        )
    })
  )
)
