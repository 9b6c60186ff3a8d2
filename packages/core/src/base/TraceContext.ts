import { Context, Effect, Option, References, Tracer } from "effect"

// Later work for a record, by a worker or for a webhook, belongs to the trace of the request that created it.

/**
 * Maximum number of records whose traces this process remembers; the newest are kept. Work for other records starts a new
 * trace.
 */
export const most = 10_000

/**
 * Returns whether spans are exported: a tracer other than Effect's native one is installed, and
 * `TracerEnabled` is not false.
 */
export const isTracedIn = (context: Context.Context<never>): boolean =>
  Context.get(context, References.TracerEnabled) &&
  Context.get(context, Tracer.Tracer) !== Tracer.nativeTracer

export const isTraced = Effect.map(Effect.context<never>(), isTracedIn)

/**
 * For each record, the span in which it was first committed by this process. If another process continues
 * work on the record, it starts a new trace.
 */
const Spans = Context.Reference<Map<string, Tracer.AnySpan>>("@satrail/core/base/TraceContext/Spans", {
  defaultValue: () => new Map()
})

/** Stores the current span of `effect` as the record's origin, unless it has one. */
export const remembered =
  (recordId: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber((fiber) => {
      const spans = fiber.getRef(Spans)
      const span = Context.getOption(fiber.context, Tracer.ParentSpan)
      if (Option.isSome(span) && !spans.has(recordId)) {
        for (const oldest of spans.keys()) {
          if (spans.size < most) break
          spans.delete(oldest)
        }
        spans.set(recordId, span.value)
      }
      return effect
    })

type Around = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Returns a function that puts work for a record in a span of the record's trace. Does nothing if tracing is
 * off.
 */
export const make: Effect.Effect<(name: string, recordId: string) => Around> = Effect.gen(function* () {
  if (!(yield* isTraced)) return () => (effect) => effect
  const spans = yield* Spans
  return (name, recordId) => {
    const parent = spans.get(recordId)
    return Effect.withSpan(name, {
      attributes: { "satrail.record": recordId },
      ...(parent === undefined ? { root: true } : { parent })
    })
  }
})

/**
 * The W3C trace context headers of the current span (https://www.w3.org/TR/trace-context/); empty without a
 * span.
 */
export const headers: Effect.Effect<Readonly<Record<string, string>>> = Effect.map(
  Effect.option(Effect.currentSpan),
  Option.match({
    onNone: () => ({}),
    onSome: ({ traceId, spanId, sampled }) => ({
      traceparent: `00-${traceId.padStart(32, "0")}-${spanId}-${sampled ? "01" : "00"}`
    })
  })
)
