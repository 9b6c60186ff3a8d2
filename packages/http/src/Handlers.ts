import { Context, Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"

/**
 * The handlers of a group, as `HttpApiBuilder.group` makes them, but without the core's services around them when they run: they hold those they
 * were made with, and the framework copies whatever surrounds a handler into every request.
 */
export const layer: typeof HttpApiBuilder.group = (api, identifier, build) =>
  Layer.effectContext(
    Effect.contextWith((surrounding: Context.Context<never>) => {
      const others = [...surrounding.mapUnsafe].filter(([name]) => !name.startsWith("@satrail/core/"))
      const made: typeof build = (handlers) => {
        const result = build(handlers)
        // oxlint-disable-next-line typescript/consistent-type-assertions -- as it was, with what it asks for given: its type has no more to say
        return Effect.isEffect(result) ? (Effect.provideContext(result, surrounding) as typeof result) : result
      }
      return Effect.updateContext(Layer.build(HttpApiBuilder.group(api, identifier, made)), () => Context.makeUnsafe(new Map(others)))
    })
  )
