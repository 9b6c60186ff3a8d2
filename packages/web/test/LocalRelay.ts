import * as Nostr from "@satrail/bitcoin/Nostr"
import { Effect, Schema } from "effect"
import type { WebSocket } from "ws"
import * as LocalServer from "./LocalServer.ts"

const Filter = Schema.Struct({
  kinds: Schema.optionalKey(Schema.Array(Schema.Int)),
  authors: Schema.optionalKey(Schema.Array(Schema.String)),
  "#p": Schema.optionalKey(Schema.Array(Schema.String)),
  "#e": Schema.optionalKey(Schema.Array(Schema.String)),
  since: Schema.optionalKey(Schema.Int),
  limit: Schema.optionalKey(Schema.Int)
})
const Said = Schema.fromJsonString(
  Schema.Union([
    Schema.Tuple([Schema.Literal("EVENT"), Nostr.Event]),
    Schema.Tuple([Schema.Literal("REQ"), Schema.String, Filter]),
    Schema.Tuple([Schema.Literal("CLOSE"), Schema.String])
  ])
)

const fits = (
  { kinds, authors, "#p": to, "#e": about, since }: typeof Filter.Type,
  event: Nostr.Event
): boolean => {
  const has = (name: string, wanted: ReadonlyArray<string> | undefined) =>
    wanted === undefined ||
    event.tags.some(([first, value]) => first === name && value !== undefined && wanted.includes(value))
  return (
    (kinds === undefined || kinds.includes(event.kind)) &&
    (authors === undefined || authors.includes(event.pubkey)) &&
    has("p", to) &&
    has("e", about) &&
    (since === undefined || event.created_at >= since)
  )
}

/** A local relay that stores every event, verifies none, and can close all its connections. */
export const make = Effect.gen(function* () {
  const events: Array<Nostr.Event> = []
  const subscriptions = new Map<WebSocket, Map<string, typeof Filter.Type>>()
  const { port, server } = yield* LocalServer.make
  /** Stores an event and sends it to every matching subscription, as if its author had published it. */
  const send = (event: Nostr.Event) => {
    events.push(event)
    for (const [socket, filters] of subscriptions)
      for (const [id, filter] of filters)
        if (fits(filter, event)) socket.send(JSON.stringify(["EVENT", id, event]))
  }
  server.on("connection", (socket) => {
    const own = new Map<string, typeof Filter.Type>()
    subscriptions.set(socket, own)
    socket.on("close", () => subscriptions.delete(socket))
    socket.on("message", (data) => {
      const said = Schema.decodeUnknownSync(Said)(String(data))
      if (said[0] === "CLOSE") own.delete(said[1])
      else if (said[0] === "REQ") {
        own.set(said[1], said[2])
        for (const event of events)
          if (fits(said[2], event)) socket.send(JSON.stringify(["EVENT", said[1], event]))
        socket.send(JSON.stringify(["EOSE", said[1]]))
      } else {
        send(said[1])
        socket.send(JSON.stringify(["OK", said[1].id, true, ""]))
      }
    })
  })
  return {
    port,
    events,
    send,
    /** Closes every connection, as a restarting relay does. */
    cut: () => {
      for (const client of server.clients) client.terminate()
    },
    /** The number of subscriptions to events of this kind. */
    listeners: (kind: number) =>
      [...subscriptions.values()]
        .flatMap((one) => [...one.values()])
        .filter(({ kinds }) => kinds?.includes(kind) === true).length
  }
})
export type LocalRelay = Effect.Success<typeof make>
