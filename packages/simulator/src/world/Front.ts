import type * as Satrail from "@satrail/service/core/Satrail"
import { OperatorToken } from "@satrail/http/api/Authentication"
import * as Http from "@satrail/service/http/Http"
import { Readiness } from "@satrail/http/api/Readiness"
import * as Seal from "@satrail/http/wire/Seal"
import { Context, Effect, Layer, Redacted } from "effect"

/** A process's services. */
export type Services = Layer.Success<ReturnType<typeof Satrail.layer>>

export const operatorToken = "an operator's token"

/** The process that serves a request. */
export const Serving = Context.Reference<Context.Context<never>>("@satrail/simulator/world/Front/Serving", {
  defaultValue: () => Context.empty()
})

/** Handles a web request. The context holds the serving process and the clock. */
export type Handler = (request: Request, context: Context.Context<never>) => Promise<Response>

/**
 * Returns a proxy for a service that forwards to the serving process. The routes are shared, because rebuilding
 * them for each process would take longer than using them.
 */
const standIn = (key: string, template: object): object => {
  const serving = (name: string): Effect.Effect<unknown> =>
    Effect.withFiber((fiber) => Effect.succeed(Context.get(fiber.context, Serving).mapUnsafe.get(key)[name]))
  return Object.fromEntries(
    Object.entries(template).map(([name, member]: [string, unknown]) => {
      if (Effect.isEffect(member))
        return [name, Effect.flatMap(serving(name), (own) => (Effect.isEffect(own) ? own : Effect.die(name)))]
      if (typeof member !== "function") return [name, member]
      return [
        name,
        (...args: ReadonlyArray<unknown>) =>
          Effect.flatMap(serving(name), (own) => {
            const result: unknown = typeof own === "function" ? own(...args) : undefined
            return Effect.isEffect(result) ? result : Effect.die(`${key}.${name} returned no effect`)
          })
      ]
    })
  )
}

/**
 * Builds the routes over the services of the serving process. `template` may be any process, because only its
 * shape is used.
 */
export const make = async (template: Context.Context<Services>): Promise<Handler> => {
  const members = [...template.mapUnsafe].flatMap(([key, service]: [string, object]) =>
    /^@satrail\/(?:core|features)\//.test(key)
      ? [[key, Array.isArray(service) ? service : standIn(key, service)] as const]
      : []
  )
  // oxlint-disable-next-line typescript/consistent-type-assertions -- each proxy has the type of its key
  const services = Context.makeUnsafe(new Map(members)) as Context.Context<Services>
  const { handler } = Http.webHandler(
    Http.layer().pipe(
      Layer.provide(Layer.succeed(OperatorToken, Redacted.make(operatorToken))),
      Layer.provide(Layer.succeed(Readiness, [])),
      Layer.provide(Layer.succeed(Seal.Seal, Seal.make(Redacted.make("secret for responses")))),
      Layer.provide(Layer.succeedContext(services))
    )
  )
  await handler(new Request("http://service/healthz")) // waits until the routes are built
  return handler
}
