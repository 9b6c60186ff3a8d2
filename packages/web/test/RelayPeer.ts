import * as Nostr from "@satrail/bitcoin/Nostr"
import { Peer } from "@satrail/contracts/nodes/Relays"
import { freePort } from "@satrail/testing/freePort"
import { Effect, Layer, Schema } from "effect"
import * as Outbound from "../src/Outbound.ts"
import * as WebSocketRelays from "../src/WebSocketRelays.ts"
import * as LocalServer from "./LocalServer.ts"

const Said = Schema.fromJsonString(Schema.Tuple([Schema.Literal("EVENT"), Nostr.Event]))

/** A relay's response to an event: `["OK", id, …]` with these values, or none. */
export type Answer = readonly [isTaken: boolean, reason: string] | undefined

/** A local relay that stores the events it accepts. */
export const relay = (answer: Answer) =>
  Effect.gen(function* () {
    const events = new Map<string, Nostr.Event>()
    const { port, server } = yield* LocalServer.make
    server.on("connection", (socket) =>
      socket.on("message", (data) => {
        const [, event] = Schema.decodeUnknownSync(Said)(String(data))
        if (answer === undefined) return
        if (answer[0]) events.set(event.id, event)
        socket.send("an unrelated message")
        socket.send(JSON.stringify(["OK", "00".repeat(32), !answer[0], ""])) // about another event
        socket.send(JSON.stringify(["OK", event.id, ...answer]))
      })
    )
    return { port, events }
  })

const at = (port: number) => new URL(`http://127.0.0.1:${port}`)

/** Starts local relays with these responses, keyed by host, and routes outbound connections to them. */
export const relaysOf = (answers: Readonly<Record<string, Answer>>) =>
  Effect.gen(function* () {
    const made = yield* Effect.forEach(Object.entries(answers), ([host, answer]) =>
      Effect.map(relay(answer), (one) => ({ host, ...one }))
    )
    const allow = new Map([
      ...made.map(({ host, port }) => [host, at(port)] as const),
      ["away.example", at(yield* Effect.promise(freePort))] as const
    ])
    return {
      outbound: Outbound.layer({ allow, connectMillis: 3_000 }),
      events: (url: string) => [
        ...(made.find(({ host }) => host === new URL(url).hostname)?.events.values() ?? [])
      ]
    }
  })

/** The relays that the contract requires, and our guarded outbound connection to them. */
export const layer = Layer.unwrap(
  Effect.map(
    relaysOf({ "takes.example": [true, ""], "refuses.example": [false, "blocked: not you"] }),
    ({ outbound, events }) =>
      Layer.merge(
        Layer.provide(WebSocketRelays.layer, outbound),
        Layer.succeed(Peer, {
          takes: "wss://takes.example",
          refuses: "wss://refuses.example",
          away: "wss://away.example",
          events: (url) => Effect.sync(() => events(url))
        })
      )
  )
)
