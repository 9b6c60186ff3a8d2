import { Context, Effect, Option, References, Tracer } from "effect"

// What is done later for a record, by a worker or for a webhook, belongs to the trace of the request that asked for it.

/** How many records' traces this process remembers: the newest. What is done for another begins a trace of its own. */
export const most = 10_000

/** Whether spans go anywhere: a tracer is installed, which is not effect's native one, and `TracerEnabled` is not false. */
export const isTracedIn = (context: Context.Context<never>): boolean =>
  Context.get(context, References.TracerEnabled) && Context.get(context, Tracer.Tracer) !== Tracer.nativeTracer

export const isTraced = Effect.map(Effect.context<never>(), isTracedIn)

/** The spans in which records were committed first, by record. Of this process: another one that goes on with a record begins a trace of its own. */
const Spans = Context.Reference<Map<string, Tracer.AnySpan>>("@satrail/core/base/Trail/Spans", { defaultValue: () => new Map() })

/** Notes the span that `effect` runs in as the one that the record comes from, unless there is one. */
export const noted =
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

/** Puts spans around what is done for a record, in its trace. Where nothing is traced, it does nothing. */
export const make: Effect.Effect<(name: string, recordId: string) => Around> = Effect.gen(function* () {
  if (!(yield* isTraced)) return () => (effect) => effect
  const spans = yield* Spans
  return (name, recordId) => {
    const parent = spans.get(recordId)
    return Effect.withSpan(name, { attributes: { "satrail.record": recordId }, ...(parent === undefined ? { root: true } : { parent }) })
  }
})

/** The span that is running, as a request to another server names it (https://www.w3.org/TR/trace-context/); nothing where there is none. */
export const headers: Effect.Effect<Readonly<Record<string, string>>> = Effect.map(
  Effect.option(Effect.currentSpan),
  Option.match({
    onNone: () => ({}),
    onSome: ({ traceId, spanId, sampled }) => ({ traceparent: `00-${traceId.padStart(32, "0")}-${spanId}-${sampled ? "01" : "00"}` })
  })
)
