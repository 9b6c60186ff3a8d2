import type { CompanyRef } from "./Calls.ts"
import { isCode } from "./Errors.ts"
import { fail } from "./Plain.ts"
import type { Event } from "./Records.ts"
import type { EventsQuery } from "./Stream.ts"
import type { Cursors, Options, World } from "./Transport.ts"

/** The name and starting point of a consumer. */
export interface OnOptions {
  /** The consumer's position is stored under this name. Defaults to the event types. */
  readonly name?: string | undefined
  /**
   * The event id after which the consumer begins when it is first started, or `"now"`. By default it begins
   * with the oldest stored event. Later starts resume at the stored position.
   */
  readonly after?: string | undefined
  readonly company?: CompanyRef | undefined
}

/** A running consumer of events. */
export interface Consumer {
  readonly name: string
  /**
   * Stops the consumer after its running handlers finish, so a handler must not await it. The next start
   * resumes from that position.
   */
  readonly stop: () => Promise<void>
}

/** A consumer's source of events. */
interface Source {
  /** Yields events, and positions: at the beginning of each connection, and after events that don't match. */
  readonly events: (query: EventsQuery) => AsyncIterable<Event | string>
  readonly get: (id: string, company: CompanyRef | undefined) => Promise<Event>
}

/** A consumer's position: all events up to `after` have been handled, except those in `open`. */
interface Place {
  readonly after: string | undefined
  readonly open: ReadonlyArray<string>
}

type Handler = (event: Event) => unknown

/** Maximum number of handlers that run concurrently, each for a different record. */
const atOnce = 16
/** Maximum number of events that were read but not handled, because the stored position contains the id of each. */
const maxOpen = 1000

interface Ask {
  readonly name: string
  readonly types: ReadonlyArray<string>
  readonly handler: Handler
  readonly begin: string | undefined
  readonly company: CompanyRef | undefined
  readonly cursors: Cursors
  readonly onError: (error: unknown, consumer: string) => void
}

const consume = async (
  { name, types, handler, begin, company, cursors, onError }: Ask,
  { events, get }: Source,
  { sleep }: World,
  signal: AbortSignal
) => {
  /** The events of each record that are open. `failing` contains only events at the head of a queue. */
  const queues = new Map<string, Promise<void>>()
  const open = new Set<string>()
  const failing = new Set<string>()
  let after = begin
  let saving: Promise<unknown> = Promise.resolve()
  let wake = () => {}
  signal.addEventListener("abort", () => wake())

  /** Repeats `work` until it succeeds. Returns undefined if the consumer is stopped first. */
  const persist = async <A>(work: () => A | Promise<A>, failed = () => {}): Promise<A | undefined> => {
    for (let millis = 1000; !signal.aborted; millis = Math.min(300_000, 2 * millis)) {
      try {
        return await work()
      } catch (error) {
        failed()
        onError(error, name)
        await sleep(millis, signal)
      }
    }
    return undefined
  }
  const save = async () => cursors.save(name, JSON.stringify({ after, open: [...open] } satisfies Place))
  const persistPlace = () => (saving = saving.then(() => persist(save)))

  /** Handles the events of one record in order, one at a time. */
  const dispatch = (event: Event) => {
    const { id, subject } = event
    const handle = () =>
      persist(
        async () => {
          await handler(event)
          failing.delete(id)
          open.delete(id)
          if (queues.get(subject) === queue) queues.delete(subject)
          wake()
          void persistPlace()
        },
        () => {
          failing.add(id)
          wake()
        }
      )
    open.add(id)
    const queue: Promise<void> = (queues.get(subject) ?? Promise.resolve()).then(handle)
    queues.set(subject, queue)
  }

  const place = await persist(
    async (): Promise<Place> => JSON.parse((await cursors.load(name)) ?? "null") ?? { after, open: [] }
  )
  if (place === undefined) return
  after = place.after
  for (const id of place.open) {
    open.add(id)
    await persist(() =>
      get(id, company).then(dispatch, (error: unknown) => {
        if (!isCode(error, "not_found")) throw error
        // The event was deleted, so it is never handled.
        onError(error, name)
        open.delete(id)
      })
    )
  }
  await persist(async () => {
    try {
      for await (const event of events({ after, types, company, signal })) {
        if (typeof event === "string") {
          // The position of "now" is known only from here on. Store it before the first event.
          after = event
          await persistPlace()
          continue
        }
        while (!signal.aborted && (queues.size - failing.size >= atOnce || open.size >= maxOpen))
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        if (signal.aborted) return
        // Update `after` and `open` without an `await` in between, so that the stored position accounts for
        // each event exactly once.
        after = event.id
        dispatch(event)
      }
    } catch (error) {
      if (isCode(error, "cursor_too_old")) after = undefined
      throw error
    }
  })
  await Promise.all(queues.values())
  await saving
  await save()
}

const report = (error: unknown, name: string) => console.error(`satrail: ${name}`, error)

/** Implements a client's `on`. */
export const consuming = ({ cursors, onError = report }: Options, world: World, source: Source) => {
  const running = new Set<string>()
  return (
    type: string | ReadonlyArray<string>,
    handler: Handler,
    { name, after: begin, company }: OnOptions = {}
  ): Consumer => {
    if (!cursors) return fail("on needs cursors")
    const types = [type].flat()
    const called = name ?? types.join(", ")
    if (running.has(called)) fail(`${called} is already running`)
    running.add(called)
    const controller = new AbortController()
    const ask = { name: called, types, handler, begin, company, cursors, onError }
    const ended = consume(ask, source, world, controller.signal).finally(() => running.delete(called))
    return {
      name: called,
      stop: () => {
        controller.abort()
        return ended
      }
    }
  }
}
