import * as Nostr from "@satrail/bitcoin/Nostr"
import { Effect, Layer, Option, Schema } from "effect"
import type net from "node:net"
import { Outbound } from "./Outbound.ts"
import * as RelaySocket from "./RelaySocket.ts"

/** Maximum size of a relay's message: a verdict and its reason. A longer one closes the connection. */
export const maxBytes = 4 * 1024

/**
 * Maximum number of other messages, pings and interim responses before the relay's verdict. Payers choose relays, and
 * one that sends nothing else as fast as it can would occupy the thread. `ws` ends a connection with more than 60 pings
 * that it has not yet answered.
 */
export const maxOthers = 60

/** `["OK", <event id>, <accepted>, <reason>]` (NIP-01). A reason begins with a one-word prefix and a colon. */
const Verdict = Schema.fromJsonString(
  Schema.Tuple([Schema.Literal("OK"), Schema.String, Schema.Boolean, Schema.String])
)
const verdictOf = Schema.decodeUnknownOption(Verdict)

/** Returns whether a refusal with this reason is temporary, so that the event may be published again. */
const isPassing = (reason: string): boolean => /^(rate-limited|error):/.test(reason)

/** Publishes an event over an open connection and waits for the relay's verdict. */
const told = (relay: string, socket: net.Socket, event: Nostr.Event) =>
  Effect.callback<"taken" | "refused", Nostr.RelayUnreachable>((resume) => {
    const fail = (cause: unknown) => resume(Effect.fail(new Nostr.RelayUnreachable({ relay, cause })))
    let others = 0
    const count = () => {
      if (++others <= maxOthers) return
      socket.destroy()
      fail(new Error(`the relay sent more than ${maxOthers} other messages before it responded`))
    }
    const connection = RelaySocket.over(relay, socket, {
      finishRequest: (request) => request.on("information", count).end(),
      maxPayload: maxBytes
    })
    connection.once("open", () => connection.send(JSON.stringify(["EVENT", event])))
    connection.on("message", (data) => {
      if (others > maxOthers) return
      const verdict = verdictOf(String(data))
      if (Option.isNone(verdict)) return count()
      const [, id, isTaken, reason] = verdict.value
      if (id !== event.id) return count()
      if (isTaken) resume(Effect.succeed("taken"))
      else if (isPassing(reason)) fail(new Error(`the relay does not accept it now: ${reason.slice(0, 200)}`))
      else resume(Effect.succeed("refused"))
    })
    connection.on("ping", count).on("pong", count)
    connection
      .on("error", fail)
      .once("close", () => fail(new Error("the relay closed the connection before it responded")))
    return Effect.sync(() => connection.terminate())
  })

/**
 * Connects to relays over WebSocket (NIP-01, RFC 6455), with a new connection for each event. A relay at a
 * forbidden address counts as having refused the event. The caller sets the timeout. Interrupting the effect
 * closes the connection.
 */
export const layer = Layer.effect(
  Nostr.Relays,
  Effect.map(Outbound, (outbound) =>
    Nostr.Relays.of({
      publish: (relay, event) =>
        Effect.scoped(Effect.flatMap(outbound.connect(relay), (socket) => told(relay, socket, event))).pipe(
          Effect.catchTags({
            Forbidden: () => Effect.succeed("refused" as const),
            Unreachable: (cause) => Effect.fail(new Nostr.RelayUnreachable({ relay, cause }))
          })
        )
    })
  )
)
