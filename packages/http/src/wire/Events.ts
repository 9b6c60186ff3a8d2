import { Effect, Stream } from "effect"
import * as Sse from "effect/encoding/Sse"
import { HttpServerResponse } from "effect/http"

/** A server-sent event. A line break in `event` or `id` would start another field, so it is replaced with a space. */
export interface Event {
  /** If absent, an EventSource stores the id and dispatches no event. */
  readonly data?: string
  readonly event?: string
  /** Sent by a reconnecting EventSource in `Last-Event-ID`. */
  readonly id?: string
}

/** Interval at which a comment is sent, because intermediaries drop silent connections. */
export const heartbeatMillis = 15_000

const heartbeat = ":\n\n"

const inLine = (text: string): string => text.replaceAll(/[\r\n\0]/g, " ")

const written = ({ event = "message", id, data }: Event): string =>
  data === undefined
    ? `id: ${inLine(id ?? "")}\n\n`
    : Sse.encoder.write({
        _tag: "Event",
        event: inLine(event),
        id: id === undefined ? undefined : inLine(id),
        data
      })

/**
 * Responds with events in EventSource format (https://html.spec.whatwg.org/multipage/server-sent-events.html).
 * Nothing may cache or buffer the response. A disconnected reader reconnects after `retryMillis`. The
 * extension's policy limits the duration. `id` is the position where the stream starts. It is sent before the
 * first event, and an EventSource stores an id sent without an event, so a reader that is disconnected before
 * the first event misses none.
 */
export const answer = <E>(
  events: Stream.Stream<Event, E>,
  { retryMillis, id }: { readonly retryMillis?: number; readonly id?: string } = {}
): HttpServerResponse.HttpServerResponse => {
  const heartbeats = Stream.fromEffectRepeat(Effect.as(Effect.sleep(heartbeatMillis), heartbeat))
  const text = Stream.merge(Stream.map(events, written), heartbeats, { haltStrategy: "left" })
  const fields = [
    retryMillis === undefined ? "" : `retry: ${retryMillis}\n`,
    id === undefined ? "" : `id: ${inLine(id)}\n`
  ].join("")
  const first = fields === "" ? heartbeat : `${fields}\n`
  // Send the first bytes immediately, so that the reader knows it is connected.
  return HttpServerResponse.stream(Stream.encodeText(Stream.concat(Stream.succeed(first), text)), {
    contentType: "text/event-stream",
    headers: { "cache-control": "no-store", "x-accel-buffering": "no" }
  })
}
