// Receivers of webhooks, in a process of their own. A message says how many there are, and after how long the last of them answers; their ports are the
// answer. Every other message asks what came of it since the last one.
import { Schema } from "effect"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { text } from "node:stream/consumers"
import { setTimeout as pass } from "node:timers/promises"
import * as Receivers from "./Receivers.ts"

const decode = Schema.decodeUnknownSync(Schema.Union([Receivers.Begin, Receivers.Ask]))
let lateMillis: Array<number> = []

const listen = async (answer: () => Promise<void>, counts: boolean): Promise<number> => {
  const received = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request)
    const nowMillis = Date.now()
    const timestamp: unknown = JSON.parse(body).timestamp
    if (counts) lateMillis.push(nowMillis - Date.parse(String(timestamp)))
    await answer()
    response.writeHead(204).end()
  }
  const server = createServer((request, response) => void received(request, response)).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

process.on("message", (message) => {
  const asked = decode(message)
  if ("count" in asked) {
    const ports = Array.from({ length: asked.count }, (_, at) =>
      at === asked.count - 1 && asked.slowMillis > 0 ? listen(() => pass(asked.slowMillis), false) : listen(async () => {}, true)
    )
    void Promise.all(ports).then((all) => process.send?.({ ports: all }))
    return
  }
  process.send?.({ lateMillis })
  lateMillis = []
})
process.once("SIGTERM", () => process.exit(0))
