import * as Nostr from "@satrail/bitcoin/Nostr"
import { Effect, Layer, Option, Schema } from "effect"
import type net from "node:net"
import { WebSocket } from "ws"
import { Outbound } from "./Outbound.ts"

/** A relay's message is a line of text; a longer one is not read. */
export const maxBytes = 64 * 1024

/** `["OK", <event id>, <whether it was taken>, <why>]` (NIP-01). A reason begins with a word and a colon. */
const Verdict = Schema.fromJsonString(Schema.Tuple([Schema.Literal("OK"), Schema.String, Schema.Boolean, Schema.String]))
const verdictOf = Schema.decodeUnknownOption(Verdict)

/** Reasons that hold for a while only: the event may be offered again. */
const isPassing = (reason: string): boolean => /^(rate-limited|error):/.test(reason)

/** Says an event over an open connection, and listens for what the relay makes of it. */
const told = (relay: string, socket: net.Socket, event: Nostr.Event) =>
  Effect.callback<"taken" | "refused", Nostr.RelayUnreachable>((resume) => {
    const fail = (cause: unknown) => resume(Effect.fail(new Nostr.RelayUnreachable({ relay, cause })))
    const connection = new WebSocket(relay, {
      createConnection: () => socket, // the guarded one: the relay's name is not looked up again
      perMessageDeflate: false,
      followRedirects: false,
      maxPayload: maxBytes
    })
    connection.once("open", () => connection.send(JSON.stringify(["EVENT", event])))
    connection.on("message", (data) => {
      const verdict = verdictOf(String(data))
      if (Option.isNone(verdict)) return
      const [, id, isTaken, reason] = verdict.value
      if (id !== event.id) return
      if (isTaken) resume(Effect.succeed("taken"))
      else if (isPassing(reason)) fail(new Error(`the relay does not take it now: ${reason.slice(0, 200)}`))
      else resume(Effect.succeed("refused"))
    })
    connection.on("error", fail).once("close", () => fail(new Error("the relay closed the connection before it answered")))
    return Effect.sync(() => connection.terminate())
  })

/**
 * Relays over WebSocket (NIP-01, RFC 6455), each offer over a connection of its own. A relay that we would not connect to has refused. How long one is
 * listened to is whoever asks to say: an offer that is broken off ends its connection.
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
