import { type Context, Effect, Layer } from "effect"
import { isTraced } from "./Trail.ts"

// Spans are put around a service where it is composed, not in each of its methods: a service without a tracer is the very object that its
// layer made, and costs what it cost.

/** `Withdrawals`, of `@satrail/core/sending/Withdrawals`. */
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
 * The same service, with a span named `<Service>.<method>` around each Effect that it offers: a trace shows who called it, how long it took and how
 * it ended. A span holds nothing of what a method was given or returned. Streams and plain functions are left as they are.
 *
 * Where no tracer is installed (effect's `Tracer` is the native one) or `TracerEnabled` is false, the service is not touched.
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
      // oxlint-disable-next-line typescript/consistent-type-assertions -- every member is what it was, or does the same within a span
      return Object.fromEntries(members) as S
    })
  )

/** A layer whose service is traced. */
export const over = <I, S extends object, E, R>(key: Context.Key<I, S>, made: Layer.Layer<I, E, R>): Layer.Layer<I, E, R> =>
  Layer.provide(layer(key), made)
