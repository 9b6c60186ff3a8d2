import { Context, Effect, Layer, Logger, References, Scope, Tracer } from "effect"
import { HttpApiBuilder, type HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authentication, OperatorAuthentication } from "./Authentication.ts"
import { base } from "./Base.ts"
import { Decoding } from "../wire/Decoding.ts"

/** What answers an endpoint. When it runs it may ask for what the endpoint's middleware provides (`Caller`), and for nothing else. */
type Handler<Endpoint> = Endpoint extends HttpApiEndpoint.Constraint
  ? HttpApiEndpoint.Handler<Endpoint, HttpApiEndpoint.MiddlewareError<Endpoint>, HttpApiEndpoint.MiddlewareProvides<Endpoint>>
  : never

/** An endpoint and what answers it: made once, with the services it needs. */
export interface Operation<Endpoint, E, R> {
  readonly endpoint: Endpoint
  readonly handler: Effect.Effect<Handler<Endpoint>, E, R>
}

type Open<E> = HttpApiEndpoint.AddMiddleware<E, Decoding>
type Company<E> = HttpApiEndpoint.AddMiddleware<Open<E>, Authentication>
type Operator<E> = HttpApiEndpoint.AddMiddleware<Open<E>, OperatorAuthentication>

/** The same endpoint, of whatever type, with the methods that every endpoint has. */
export const plain = (endpoint: HttpApiEndpoint.Constraint): HttpApiEndpoint.Top =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- what is generic here is what a request has in it, which nothing here looks at
  endpoint as unknown as HttpApiEndpoint.Top

/** An endpoint that anybody may call. `services` are looked up once, before the first request. */
export const open = <Endpoint extends HttpApiEndpoint.Constraint, Services, E, R>(
  endpoint: Endpoint,
  services: Effect.Effect<Services, E, R>,
  handle: (services: Services) => Handler<Open<Endpoint>>
): Operation<Open<Endpoint>, E, R> => ({
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the endpoint's own type, which `plain` took away
  endpoint: plain(endpoint).middleware(Decoding) as unknown as Open<Endpoint>,
  handler: Effect.map(services, handle)
})

/** An endpoint that a company's API key opens: one with any of its `Scopes`. */
export const company = <Endpoint extends HttpApiEndpoint.Constraint, Services, E, R>(
  endpoint: Endpoint,
  services: Effect.Effect<Services, E, R>,
  handle: (services: Services) => Handler<Company<Endpoint>>
): Operation<Company<Endpoint>, E, R> => ({
  // oxlint-disable-next-line typescript/consistent-type-assertions -- as above
  endpoint: plain(endpoint).middleware(Decoding).middleware(Authentication) as unknown as Company<Endpoint>,
  handler: Effect.map(services, handle)
})

/** An endpoint that the operator's token opens. */
export const operator = <Endpoint extends HttpApiEndpoint.Constraint, Services, E, R>(
  endpoint: Endpoint,
  services: Effect.Effect<Services, E, R>,
  handle: (services: Services) => Handler<Operator<Endpoint>>
): Operation<Operator<Endpoint>, E, R> => ({
  // oxlint-disable-next-line typescript/consistent-type-assertions -- as above
  endpoint: plain(endpoint).middleware(Decoding).middleware(OperatorAuthentication) as unknown as Operator<Endpoint>,
  handler: Effect.map(services, handle)
})

/** Endpoints under one heading of the documents, in that order, and the layer that answers them. */
export interface Section<Id extends string, Endpoint extends HttpApiEndpoint.Constraint, E, R> {
  readonly group: HttpApiGroup.HttpApiGroup<Id, Endpoint>
  readonly layer: Layer.Layer<HttpApiGroup.Service<"satrail", Id>, E, R>
}

/**
 * What surrounds a handler when it runs: the framework copies it into every request, so it is no more than this and the endpoints' middleware.
 * Services are the handlers' own, who were made with them. Annotations of logs are the request's (Edge.ts).
 */
const carried = [Logger.CurrentLoggers, Logger.LogToStderr, References.MinimumLogLevel, References.TracerEnabled, Tracer.Tracer] as const

interface AnyOperation {
  readonly endpoint: HttpApiEndpoint.Constraint
  readonly handler: Effect.Effect<unknown, unknown, unknown>
}

/** `identifier` names the section for clients (`client.vouchers`) and begins each `operationId`. */
export const make = <const Id extends string, const Operations extends readonly [AnyOperation, ...ReadonlyArray<AnyOperation>]>(
  identifier: Id,
  about: { readonly title: string; readonly description: string },
  operations: Operations
): Section<
  Id,
  Operations[number]["endpoint"],
  Effect.Error<Operations[number]["handler"]>,
  Effect.Services<Operations[number]["handler"]> | HttpApiEndpoint.Middleware<Operations[number]["endpoint"]>
> => {
  const [first, ...others] = operations
  const group = HttpApiGroup.make<string>(identifier)
    .add(plain(first.endpoint), ...others.map(({ endpoint }) => plain(endpoint)))
    .annotate(OpenApi.Title, about.title)
    .annotate(OpenApi.Description, about.description)
  const middlewares = operations.flatMap(({ endpoint }) => [...plain(endpoint).middlewares])
  const layer = Layer.effectContext(
    Effect.gen(function* () {
      const handlers = yield* Effect.forEach(operations, ({ endpoint, handler }) =>
        Effect.map(handler, (made) => [endpoint.identifier, made] as const)
      )
      const built = HttpApiBuilder.group(base.add(group), identifier, (empty) => {
        // oxlint-disable-next-line typescript/consistent-type-assertions -- an Operation has the handler of its endpoint
        for (const [name, handler] of handlers) empty.handle(name as never, handler as never)
        // oxlint-disable-next-line typescript/consistent-type-assertions -- all are handled
        return empty as never
      })
      return yield* Effect.updateContext(Layer.build(built), Context.pick(Scope.Scope, ...carried, ...middlewares))
    })
  )
  // oxlint-disable-next-line typescript/consistent-type-assertions -- every operation has its endpoint in the group and its handler in the layer
  return { group, layer } as never
}

interface AnySection {
  readonly group: HttpApiGroup.Constraint
  readonly layer: Layer.Layer<never, unknown, unknown>
}

/** Several sections: their groups, in that order, and the one layer that answers all of them. */
export const together = <const Sections extends readonly [AnySection, ...ReadonlyArray<AnySection>]>(
  sections: Sections
): {
  readonly groups: { readonly [Index in keyof Sections]: Sections[Index]["group"] }
  readonly layer: Layer.Layer<
    Layer.Success<Sections[number]["layer"]>,
    Layer.Error<Sections[number]["layer"]>,
    Layer.Services<Sections[number]["layer"]>
  >
} => {
  const [first, ...others] = sections
  // oxlint-disable-next-line typescript/consistent-type-assertions -- one by one, as the types are
  return { groups: sections.map(({ group }) => group), layer: Layer.mergeAll(first.layer, ...others.map(({ layer }) => layer)) } as never
}
