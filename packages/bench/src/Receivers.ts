import { Effect, Schema, type Scope } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { text } from "node:stream/consumers"
import { setTimeout as pass } from "node:timers/promises"
import type * as Client from "./Client.ts"

/** Webhook receivers on ports of this process. */
export interface Receivers {
  readonly ports: ReadonlyArray<number>
  /** Removes and returns the time from commit to receipt of each event received so far. */
  readonly received: () => ReadonlyArray<number>
}

/**
 * Starts receivers. If `slowMillis` is positive, the last receiver responds only after this time, and its
 * events are not counted.
 */
export const start = (count: number, slowMillis: number): Effect.Effect<Receivers, never, Scope.Scope> => {
  const late: Array<number> = []
  const receiver = (isSlow: boolean) =>
    Effect.acquireRelease(
      Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
        const received = async (request: IncomingMessage, response: ServerResponse) => {
          const body = await text(request)
          const nowMillis = Date.now()
          const timestamp: unknown = JSON.parse(body).timestamp
          if (isSlow) await pass(slowMillis, undefined, { ref: false })
          else late.push(nowMillis - Date.parse(String(timestamp)))
          response.writeHead(204).end()
        }
        const server = createServer((request, response) => void received(request, response)).listen(0, "127.0.0.1", () => {
          const address = server.address()
          const port = typeof address === "object" && address !== null ? address.port : 0
          resume(Effect.succeed({ port, close: () => server.close().closeAllConnections() }))
        })
      }),
      ({ close }) => Effect.sync(close)
    )
  const all = Array.from({ length: count }, (_, at) => receiver(slowMillis > 0 && at === count - 1))
  return Effect.map(Effect.all(all), (servers) => ({
    ports: servers.map(({ port }) => port),
    received: () => late.splice(0)
  }))
}

/** Creates a webhook endpoint that sends to a receiver. Returns an effect that deletes the endpoint. */
export const endpoint = (client: Client.Client, receiver: number) =>
  Effect.map(
    client("POST", "/v1/webhook-endpoints", Schema.Struct({ id: Schema.String }), { url: `http://127.0.0.1:${receiver}/` }),
    ({ id }) => client("DELETE", `/v1/webhook-endpoints/${id}`, Schema.Unknown)
  )
