import { Effect, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"

const isSocket = Schema.is(
  Schema.Struct({ destroy: Schema.declare((value): value is () => void => typeof value === "function") })
)

/** The controllers of open streams to web requests, which end them. */
const streams = new WeakMap<object, AbortController>()

/**
 * Returns an effect that ends a streamed response whose reader has stopped reading: closes the connection to a Node
 * server, or fails the body of a web `Response`, whose connection is not known.
 */
export const make = ({ source }: HttpServerRequest.HttpServerRequest): Effect.Effect<void> => {
  if ("socket" in source && isSocket(source.socket)) {
    const { socket } = source
    return Effect.sync(() => socket.destroy())
  }
  const controller = new AbortController()
  streams.set(source, controller)
  return Effect.sync(() =>
    controller.abort(new Error("the response was cut short: its reader stopped reading"))
  )
}

/**
 * Makes the stream of a response to a web request fail when it is ended. On its own, a stream that waits for its
 * reader does not notice anything until the reader continues.
 */
export const endable = (request: Request, response: Response): Response => {
  const signal = streams.get(request)?.signal
  if (signal === undefined || response.body === null) return response
  const reader = response.body.getReader()
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) =>
        signal.addEventListener("abort", () => {
          controller.error(signal.reason)
          void reader.cancel().catch(() => {}) // the stream may have failed at the same time
        }),
      pull: async (controller) => {
        const next = await reader.read()
        if (next.done) controller.close()
        else controller.enqueue(next.value)
      },
      cancel: (reason) => reader.cancel(reason)
    },
    // The inner stream already reads one chunk ahead.
    { highWaterMark: 0 }
  )
  return new Response(body, response)
}
