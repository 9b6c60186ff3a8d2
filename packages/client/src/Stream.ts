import type { CompanyRef } from "./Calls.ts"
import { SatrailError, unreachable } from "./Errors.ts"
import { eventOf, parsed, wireTypes } from "./Plain.ts"
import type { Event } from "./Records.ts"
import type { Transport } from "./Transport.ts"

/** Selects the events to read. */
export interface EventsQuery {
  /**
   * The id of the event after which to begin, or `"now"`. Defaults to the oldest stored event.
   */
  readonly after?: string | undefined
  /** Event types such as `deposit.settled`, or prefixes such as `deposit.*`. */
  readonly types?: ReadonlyArray<string> | undefined
  /** Selects only events of the record with this id. */
  readonly subject?: string | undefined
  readonly company?: CompanyRef | undefined
  readonly signal?: AbortSignal | undefined
}

/** The service sends a comment every 15 seconds, so a stream that is silent for longer than this is dead. */
const silenceMillis = 45_000

/** Yields a stream's lines, including empty ones. Doesn't yield an unfinished last line. */
async function* linesOf(body: ReadableStream<Uint8Array>, heard: () => void): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ""
  try {
    for (;;) {
      const { done, value } = await reader
        .read()
        .catch((cause: unknown) => unreachable("Stream broken", cause))
      if (done) return
      heard()
      // A line break of two characters may be split between two chunks.
      const lines = (rest + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/)
      rest = lines.pop() ?? ""
      yield* lines
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/**
 * Yields events until `signal` is aborted. If the connection is lost, reconnects and resumes after the last
 * event read. If `isOpenTold`, also yields positions: at the beginning of each connection, and after events that don't match.
 */
export async function* follow(
  { open, waitMillis, sleep }: Transport,
  keyOf: () => Promise<string>,
  { after, types, subject, signal }: EventsQuery,
  isOpenTold?: boolean
): AsyncGenerator<Event | string, void, undefined> {
  const query = new URLSearchParams()
  if (types?.length) query.set("types", types.flatMap(wireTypes).join(","))
  if (subject) query.set("subject", subject)
  if (after === undefined) query.set("cursor", "oldest")
  const path = `/v1/events/stream?${query}`
  let last = after === "now" ? undefined : after
  let retryMillis = 3000

  /** Yields the events of one connection until it ends. */
  const connection = async function* (
    limit: AbortController,
    heard: () => void
  ): AsyncGenerator<Event | string> {
    const headers = { accept: "text/event-stream", ...(last && { "last-event-id": last }) }
    const response = await open({ method: "GET", path, key: await keyOf(), headers, signal: limit.signal })
    if (!response.body) return
    let data: Array<string> = []
    let id: string | undefined
    for await (const line of linesOf(response.body, heard)) {
      const [, name, value = ""] = /^([^:]*):? ?(.*)$/.exec(line) ?? []
      if (name === "data") data.push(value)
      else if (name === "id") id = value
      else if (name === "retry") retryMillis = +value || retryMillis
      if (line !== "") continue
      const event = eventOf(parsed(data.join("\n")))
      // oxlint-disable-next-line typescript/consistent-type-assertions -- the service sends events
      if (event) yield event as Event
      else if (isOpenTold && id) yield id
      // Set the position only after the event was handled, so that an event whose handler throws is read again.
      last = id ?? last
      data = []
      id = undefined
    }
  }

  for (let failures = 0; ;) {
    const limit = new AbortController()
    const stop = () => limit.abort()
    let timer: ReturnType<typeof setTimeout> | undefined
    const heard = () => {
      clearTimeout(timer)
      timer = setTimeout(stop, silenceMillis)
    }
    signal?.addEventListener("abort", stop, { signal: limit.signal })
    let wait = retryMillis
    try {
      if (signal?.aborted) return
      heard()
      for await (const event of connection(limit, heard)) {
        failures = 0
        clearTimeout(timer)
        yield event
        heard()
      }
    } catch (error) {
      if (signal?.aborted) return
      if (!(error instanceof SatrailError) || !error.isRetryable) throw error
      wait = waitMillis(failures++, error)
    } finally {
      clearTimeout(timer)
      limit.abort()
    }
    await sleep(wait, signal)
  }
}
