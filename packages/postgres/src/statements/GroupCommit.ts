import * as Measure from "@satrail/core/base/Measure"
import * as TraceContext from "@satrail/core/base/TraceContext"
import { Cause, Effect, Exit, Fiber, Option, type Tracer } from "effect"

/**
 * Flushes of one lane are sequential and those of different lanes overlap, so the number of lanes is the
 * number of flushes in flight.
 */
export interface Options<Item, A, E, Outage> {
  /** The name in metrics. */
  readonly operation: string
  /** Items of one lane are flushed in arrival order. */
  readonly laneOf: (item: Item) => string
  /**
   * Two items that share an identity never share a flush, because the second must see the effect of the first.
   * Reads have no identities.
   */
  readonly identitiesOf?: (item: Item) => ReadonlyArray<string>
  /**
   * Applies items as one and returns a result for each, in order. A failure or defect means that none was
   * applied.
   */
  readonly flush: (items: ReadonlyArray<Item>) => Effect.Effect<ReadonlyArray<Exit.Exit<A, E>>, Outage>
  readonly maxItemsPerFlush: number
  /** A flush ends before the load of its items exceeds `maxLoad`. By default, no item is a load. */
  readonly loadOf?: (item: Item) => number
  readonly maxLoad?: number
  /** Maximum number of items waiting in one lane. Further items are rejected immediately. */
  readonly maxWaiting: number
  /** The error for a rejected item: too many are waiting, or the store is closed. */
  readonly onTurnedAway: (why: "overloaded" | "closed") => Outage
}

/** Metrics, each labeled with its `operation`. */
const metrics = {
  waiting: Measure.gauge("satrail_store_waiting", "Changes in the queue when a flush begins", ["operation"]),
  items: Measure.histogram("satrail_store_flush_items", "Changes in one flush", {
    boundaries: [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    labels: ["operation"]
  }),
  seconds: Measure.histogram("satrail_store_flush_seconds", "Duration of a flush", {
    boundaries: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 5, 30],
    labels: ["operation"]
  }),
  outages: Measure.counter("satrail_store_outages_total", "Flushes that got no response from the database", [
    "operation"
  ]),
  turnedAway: Measure.counter(
    "satrail_store_turned_away_total",
    "Changes refused before the database was called: the queue was full (overloaded), or the store was closed",
    ["operation", "why"]
  )
} as const

interface Waiting<Item, A, E> {
  readonly item: Item
  readonly resume: (outcome: Effect.Effect<A, E>) => void
  /** The span of its commit, if it is traced. */
  readonly span: Tracer.AnySpan | undefined
  interrupted: boolean
}

/** Turns many single commits into few flushes: all items that arrive during a flush are flushed together. */
export const make = Effect.fnUntraced(function* <Item, A, E, Outage>(options: Options<Item, A, E, Outage>) {
  type Entry = Waiting<Item, A, E | Outage>
  const lanes = new Map<string, Array<Entry>>()
  const draining = new Set<Fiber.Fiber<void>>()
  const context = yield* Effect.context<never>()
  const fork = Effect.runForkWith(context)
  const { operation } = options
  const isTraced = yield* TraceContext.isTraced
  const waitingNow = metrics.waiting({ operation })
  const items = metrics.items({ operation })
  const seconds = metrics.seconds({ operation })
  const outages = metrics.outages({ operation })
  const turnedAway = {
    overloaded: metrics.turnedAway({ operation, why: "overloaded" }),
    closed: metrics.turnedAway({ operation, why: "closed" })
  }
  let waitingCount = 0
  let closed = false

  const turnAway = (why: "overloaded" | "closed") => {
    turnedAway[why].updateUnsafe(1, context)
    return Effect.fail(options.onTurnedAway(why))
  }

  /** Takes the items of the next flush in order, except those with an identity that is already in it. */
  const take = (waiting: Array<Entry>): ReadonlyArray<Entry> => {
    const identities = new Set<string>()
    const taken: Array<Entry> = []
    const left: Array<Entry> = []
    let looked = 0
    let load = 0
    for (const entry of waiting) {
      if (taken.length >= options.maxItemsPerFlush) break
      load += options.loadOf?.(entry.item) ?? 0
      if (load > (options.maxLoad ?? load) && taken.length > 0) break
      looked++
      if (entry.interrupted) continue
      const own = options.identitiesOf?.(entry.item)
      if (own?.some((identity) => identities.has(identity))) left.push(entry)
      else taken.push(entry)
      if (own !== undefined) for (const identity of own) identities.add(identity)
    }
    waiting.splice(0, looked, ...left)
    waitingCount -= looked - left.length
    return taken
  }

  /** One span for the flush: in the trace of the first item, linked to those of the others. */
  const flushed = (entries: ReadonlyArray<Entry>) => {
    const flush = options.flush(entries.map(({ item }) => item))
    if (!isTraced) return flush
    const [parent, ...others] = entries.flatMap(({ span }) => span ?? [])
    const links = others.map((span) => ({ span, attributes: {} }))
    return Effect.withSpan(flush, `${operation}.flush`, { links, ...(parent && { parent }) })
  }

  /**
   * An outage fails all items. A defect may be one item's fault, so each item is retried alone, and only the
   * faulty one dies.
   */
  const deliver = (entries: ReadonlyArray<Entry>): Effect.Effect<void> => {
    const begunMillis = performance.now()
    waitingNow.updateUnsafe(waitingCount, context)
    items.updateUnsafe(entries.length, context)
    return Effect.flatMap(Effect.exit(Effect.suspend(() => flushed(entries))), (exit) => {
      seconds.updateUnsafe((performance.now() - begunMillis) / 1000, context)
      if (Exit.isSuccess(exit)) {
        return Effect.sync(() =>
          entries.forEach((entry, i) =>
            entry.resume(exit.value[i] ?? Effect.die(new Error("no result was returned for an item")))
          )
        )
      }
      if (entries.length > 1 && Cause.hasDies(exit.cause))
        return Effect.forEach(entries, (entry) => deliver([entry]), { discard: true })
      if (!Cause.hasDies(exit.cause)) outages.updateUnsafe(1, context)
      return Effect.sync(() => entries.forEach((entry) => entry.resume(Effect.failCause(exit.cause))))
    })
  }

  /** Flushes until nothing waits. The tick before each flush lets concurrent commits join it. */
  const drain = Effect.fnUntraced(function* (lane: string, waiting: Array<Entry>) {
    while (waiting.length > 0) {
      yield* nextTick
      const taken = take(waiting)
      if (taken.length > 0) yield* deliver(taken)
    }
    lanes.delete(lane)
  })

  const commitIn = (item: Item, span?: Tracer.AnySpan): Effect.Effect<A, E | Outage> =>
    Effect.callback((resume) => {
      const lane = options.laneOf(item)
      const waiting = lanes.get(lane)
      if (closed) return resume(turnAway("closed"))
      if (waiting !== undefined && waiting.length >= options.maxWaiting) return resume(turnAway("overloaded"))
      waitingCount++
      const entry: Entry = { item, resume, span, interrupted: false }
      if (waiting !== undefined) waiting.push(entry)
      else {
        const first = [entry]
        lanes.set(lane, first)
        const fiber = fork(drain(lane, first))
        draining.add(fiber)
        fiber.addObserver(() => draining.delete(fiber))
      }
      return Effect.sync(() => {
        entry.interrupted = true // not in a flush yet, and never will be
      })
    })

  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      closed = true
      return Fiber.awaitAll(draining)
    })
  )
  if (!isTraced) return (item: Item) => commitIn(item)
  return (item: Item) =>
    Effect.flatMap(Effect.option(Effect.currentParentSpan), (span) =>
      commitIn(item, Option.getOrUndefined(span))
    )
})

const nextTick = Effect.callback<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})
