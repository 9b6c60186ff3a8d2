import type * as Satrail from "@satrail/core/service/Satrail"
import { OperatorToken } from "@satrail/http/api/Authentication"
import * as Http from "@satrail/http/Http"
import { Readiness } from "@satrail/http/api/Readiness"
import * as Seal from "@satrail/http/wire/Seal"
import { Context, Effect, Layer, Redacted } from "effect"

/** What a process consists of. */
export type Services = Layer.Success<ReturnType<typeof Satrail.layer>>

export const operatorToken = "an operator's token"

/** Which process serves a request. */
export const Serving = Context.Reference<Context.Context<never>>("@satrail/simulator/world/Front/Serving", {
  defaultValue: () => Context.empty()
})

/** A function from a web request to its answer. The context says by whom it is served, and when. */
export type Handler = (request: Request, context: Context.Context<never>) => Promise<Response>

/** A service that stands for the same one of whichever process serves: to build the routes again for each takes longer than their use. */
const standIn = (key: string, template: object): object => {
  const serving = (name: string): Effect.Effect<unknown> =>
    Effect.withFiber((fiber) => Effect.succeed(Context.get(fiber.context, Serving).mapUnsafe.get(key)[name]))
  return Object.fromEntries(
    Object.entries(template).map(([name, member]: [string, unknown]) => {
      if (Effect.isEffect(member)) return [name, Effect.flatMap(serving(name), (own) => (Effect.isEffect(own) ? own : Effect.die(name)))]
      if (typeof member !== "function") return [name, member]
      return [
        name,
        (...args: ReadonlyArray<unknown>) =>
          Effect.flatMap(serving(name), (own) => {
            const result: unknown = typeof own === "function" ? own(...args) : undefined
            return Effect.isEffect(result) ? result : Effect.die(`${key}.${name} answers no effect`)
          })
      ]
    })
  )
}

/** The routes, over the services of whoever serves. `template` is any process, of which only the shape is looked at. */
export const make = async (template: Context.Context<Services>): Promise<Handler> => {
  const members = [...template.mapUnsafe].flatMap(([key, service]: [string, object]) =>
    key.startsWith("@satrail/core/") ? [[key, standIn(key, service)] as const] : []
  )
  // oxlint-disable-next-line typescript/consistent-type-assertions -- each stands for the one of its key
  const services = Context.makeUnsafe(new Map(members)) as Context.Context<Services>
  const { handler } = Http.webHandler(
    Http.layer().pipe(
      Layer.provide(Layer.succeed(OperatorToken, Redacted.make(operatorToken))),
      Layer.provide(Layer.succeed(Readiness, [])),
      Layer.provide(Layer.succeed(Seal.Seal, Seal.make(Redacted.make("what seals answers")))),
      Layer.provide(Layer.succeedContext(services))
    )
  )
  await handler(new Request("http://service/healthz")) // the routes are there when this is answered
  return handler
}
