import * as Msat from "@satrail/bitcoin/Msat"
import { type Duration, Effect, Schema, Stream } from "effect"
import * as Sse from "effect/encoding/Sse"
import { CommandFailed } from "@satrail/http/commands/CommandFailed"
import * as Operator from "./Operator.ts"

/** An event of a company. `body` has the same bytes as a webhook's body. */
export interface Event {
  readonly id: string
  readonly type: string
  readonly body: string
}

export interface Ask {
  /** The id of the event to resume after. Without it, only new events are sent. */
  readonly after?: string | undefined
  /** Types or prefixes such as `deposit.*`, separated by commas. */
  readonly types?: string | undefined
}

/** Callbacks about the connection. */
export interface Watch {
  readonly opened: Effect.Effect<void>
  readonly lost: (why: string) => Effect.Effect<void>
}

const silent: Watch = { opened: Effect.void, lost: () => Effect.void }

/** Pause before reconnecting, unless the service specifies one. */
const pauseMillis = 1000

const Members = Schema.fromJsonString(
  Schema.Struct({
    timestamp: Schema.String,
    data: Schema.Struct({
      id: Schema.optionalKey(Schema.String),
      amount_sats: Schema.optionalKey(Schema.NullOr(Schema.Finite))
    })
  })
)

const decode = Schema.decodeUnknownOption(Members)

/** Formats an event as text: local time, type, amount, record id and event id. */
export const line = ({ id, type, body }: Event): string => {
  const found = decode(body)
  if (found._tag === "None") return `${type}  ${id}`
  const { timestamp, data } = found.value
  const time = new Date(timestamp).toTimeString().slice(0, 8)
  const amount =
    data.amount_sats === undefined || data.amount_sats === null ? "" : Msat.inSats(data.amount_sats)
  return [time, type.padEnd(32), amount.padStart(14), data.id ?? "-", id].join("  ")
}

/**
 * Passes events to `take`, one after the other, until interrupted. After a lost connection, it resumes after
 * the last event, or the last position that the service sent.
 */
export const follow = <E>(ask: Ask, take: (event: Event) => Effect.Effect<void, E>, watch: Watch = silent) =>
  Effect.gen(function* () {
    let last = ask.after
    let isFirst = true
    let pause: Duration.Input = pauseMillis
    const query = ask.types === undefined ? "" : `?${new URLSearchParams({ types: ask.types })}`
    const connected = Effect.gen(function* () {
      const found: Array<Event> = []
      let id: string | undefined
      const parser = Sse.makeParser((event) => {
        if (event._tag === "Retry") pause = event.duration
        else if (event.id !== undefined) found.push({ id: event.id, type: event.event, body: event.data })
      })
      const bytes = yield* Operator.stream(
        `/v1/events/stream${query}`,
        last === undefined ? {} : { "last-event-id": last }
      )
      isFirst = false
      yield* watch.opened
      yield* bytes.pipe(
        Stream.mapError(() => new CommandFailed({ message: "The connection was lost.", isRetryable: true })),
        Stream.decodeText(),
        Stream.splitLines,
        Stream.runForEach((line) => {
          // The parser skips a message with only an id, which moves the position.
          if (line.startsWith("id:")) id = line.slice(3).trim()
          parser.feed(`${line}\n`)
          return Effect.andThen(
            Effect.forEach(found.splice(0), take),
            Effect.sync(() => {
              if (line === "") last = id ?? last
            })
          )
        })
      )
    })
    const isTemporary = (error: unknown): error is CommandFailed =>
      error instanceof CommandFailed && error.isRetryable === true && !isFirst
    const resumed = connected.pipe(
      Effect.catchIf(isTemporary, ({ message }) => watch.lost(message)),
      Effect.andThen(Effect.suspend(() => Effect.sleep(pause)))
    )
    return yield* Effect.forever(resumed)
  })
