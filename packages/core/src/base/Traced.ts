import { type Context, Effect, Layer } from "effect"
import { isTraced } from "./TraceContext.ts"

// Spans are added to a service where it is composed, not in each of its methods. Without a tracer, a service
// is the object that its layer created, at no extra cost.

/** Returns `Withdrawals` for `@satrail/core/sending/Withdrawals`. */
const shortName = (key: string): string => key.slice(key.lastIndexOf("/") + 1)

const spanned = (name: string, member: unknown): unknown => {
  if (Effect.isEffect(member)) return Effect.withSpan(member, name)
  if (typeof member !== "function") return member
  return (...given: ReadonlyArray<unknown>) => {
    const result: unknown = Reflect.apply(member, undefined, given)
    return Effect.isEffect(result) ? Effect.withSpan(result, name) : result
  }
}

/**
 * Adds a span named `<Service>.<method>` to each Effect of a service. A trace shows the caller, duration and
 * outcome of each call. Spans contain no arguments or return values. Streams and plain functions are unchanged.
 *
 * Does nothing if no tracer is installed (Effect's `Tracer` is the native one) or `TracerEnabled` is false.
 */
export const layer = <I, S extends object>(key: Context.Key<I, S>): Layer.Layer<I, never, I> =>
  Layer.effect(
    key,
    Effect.gen(function* () {
      const service = yield* key
      if (!(yield* isTraced)) return service
      const members = Object.entries(service).map(
        ([method, member]) => [method, spanned(`${shortName(key.key)}.${method}`, member)] as const
      )
      // oxlint-disable-next-line typescript/consistent-type-assertions -- every member is unchanged or has the same type within a span
      return Object.fromEntries(members) as S
    })
  )

/** Returns a layer with its service traced. */
export const over = <I, S extends object, E, R>(
  key: Context.Key<I, S>,
  made: Layer.Layer<I, E, R>
): Layer.Layer<I, E, R> => Layer.provide(layer(key), made)
