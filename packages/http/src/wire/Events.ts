import { Effect, Stream } from "effect"
import * as Sse from "effect/encoding/Sse"
import { HttpServerResponse } from "effect/http"

/** One server-sent event. A line break in `event` or `id` would begin another field, and becomes a space. */
export interface Event {
  readonly data: string
  readonly event?: string
  /** What an EventSource says when it comes back, in `Last-Event-ID`. */
  readonly id?: string
}

/** Where nothing happens for so long, a comment is sent: what stands between would take a silent connection for a dead one. */
export const heartbeatMillis = 15_000

const heartbeat = ":\n\n"

const inLine = (text: string): string => text.replaceAll(/[\r\n\0]/g, " ")

const written = ({ event = "message", id, data }: Event): string =>
  Sse.encoder.write({ _tag: "Event", event: inLine(event), id: id === undefined ? undefined : inLine(id), data })

/**
 * Events as an EventSource reads them (https://html.spec.whatwg.org/multipage/server-sent-events.html), in an answer that nobody keeps or gathers.
 * After `retryMillis` a reader comes back whose connection was lost. Its extension's policy says how long it may last; the reader comes back by itself.
 */
export const answer = <E>(
  events: Stream.Stream<Event, E>,
  { retryMillis }: { readonly retryMillis?: number } = {}
): HttpServerResponse.HttpServerResponse => {
  const heartbeats = Stream.fromEffectRepeat(Effect.as(Effect.sleep(heartbeatMillis), heartbeat))
  const text = Stream.merge(Stream.map(events, written), heartbeats, { haltStrategy: "left" })
  const first = retryMillis === undefined ? heartbeat : `retry: ${retryMillis}\n\n`
  // The first bytes at once: the reader knows that it is connected.
  return HttpServerResponse.stream(Stream.encodeText(Stream.concat(Stream.succeed(first), text)), {
    contentType: "text/event-stream",
    headers: { "cache-control": "no-store", "x-accel-buffering": "no" }
  })
}
