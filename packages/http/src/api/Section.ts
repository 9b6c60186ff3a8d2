import { Context, Effect, Layer, Logger, References, Scope, Tracer } from "effect"
import {
  HttpApiBuilder,
  type HttpApiEndpoint,
  HttpApiGroup,
  type HttpApiMiddleware,
  OpenApi
} from "effect/http-api"
import { Authentication, OperatorAuthentication } from "./Authentication.ts"
import { base } from "./Base.ts"
import { Managing } from "./Credentials.ts"
import { Decoding } from "../wire/Decoding.ts"

/**
 * Handler of an endpoint. When it runs, it can require only services that the endpoint's middleware provides
 * (`Caller`).
 */
type Handler<Endpoint> = Endpoint extends HttpApiEndpoint.Constraint
  ? HttpApiEndpoint.Handler<
      Endpoint,
      HttpApiEndpoint.MiddlewareError<Endpoint>,
      HttpApiEndpoint.MiddlewareProvides<Endpoint>
    >
  : never

/** An endpoint and its handler, which is made once with the services it needs. */
export interface Operation<Endpoint, E, R> {
  readonly endpoint: Endpoint
  readonly handler: Effect.Effect<Handler<Endpoint>, E, R>
}

type Open<E> = HttpApiEndpoint.AddMiddleware<E, Decoding>
type Company<E> = HttpApiEndpoint.AddMiddleware<Open<E>, Authentication>
export type Operator<E> = HttpApiEndpoint.AddMiddleware<Open<E>, OperatorAuthentication>

/** The parts of an endpoint that do not depend on its type. */
export type Plain = HttpApiEndpoint.Constraint &
  Pick<HttpApiEndpoint.Top, "annotations" | "error" | "middlewares" | "params" | "path" | "query" | "success">

const behind = <Endpoint, Id extends HttpApiMiddleware.AnyId, S>(
  endpoint: Endpoint,
  middleware: Context.Key<Id, S>
): HttpApiEndpoint.AddMiddleware<Endpoint, Id> =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- the framework's own method, whose type is lost for a generic endpoint
  (endpoint as unknown as HttpApiEndpoint.Top).middleware(
    middleware
  ) as unknown as HttpApiEndpoint.AddMiddleware<Endpoint, Id>

/** Makes a public endpoint. `services` are resolved once, before the first request. */
export const open = <Endpoint extends HttpApiEndpoint.Constraint, Services, E, R>(
  endpoint: Endpoint,
  services: Effect.Effect<Services, E, R>,
  handle: (services: Services) => Handler<Open<Endpoint>>
): Operation<Open<Endpoint>, E, R> => ({
  endpoint: behind(endpoint, Decoding),
  handler: Effect.map(services, handle)
})

/** Makes an endpoint that accepts company API keys with any of its `Scopes`. */
export const company = <Endpoint extends HttpApiEndpoint.Constraint, Services, E, R>(
  endpoint: Endpoint,
  services: Effect.Effect<Services, E, R>,
  handle: (services: Services) => Handler<Company<Endpoint>>
): Operation<Company<Endpoint>, E, R> => ({
  endpoint: behind(behind(endpoint, Decoding), Authentication),
  handler: Effect.map(services, handle)
})

/** Makes an endpoint that accepts operator tokens. */
export const operator = <Endpoint extends HttpApiEndpoint.Constraint, Services, E, R>(
  endpoint: Endpoint,
  services: Effect.Effect<Services, E, R>,
  handle: (services: Services) => Handler<Operator<Endpoint>>
): Operation<Operator<Endpoint>, E, R> => ({
  endpoint: behind(behind(endpoint, Decoding), OperatorAuthentication),
  handler: Effect.map(services, handle)
})

/** A group of endpoints under one heading, in document order, and the layer with their handlers. */
export interface Section<Id extends string, Endpoint extends HttpApiEndpoint.Constraint, E, R> {
  readonly group: HttpApiGroup.HttpApiGroup<Id, Endpoint>
  readonly layer: Layer.Layer<HttpApiGroup.Service<"satrail", Id>, E, R>
}

/**
 * Context that a handler gets when it runs. The framework copies it into every request, so it contains only
 * these references and the endpoints' middleware. Handlers already have their services. Edge.ts adds each
 * request's log annotations.
 */
const carried = [
  Logger.CurrentLoggers,
  Logger.LogToStderr,
  References.MinimumLogLevel,
  References.TracerEnabled,
  Tracer.Tracer
] as const

interface AnyOperation {
  readonly endpoint: Plain
  readonly handler: Effect.Effect<unknown, unknown, unknown>
}

/**
 * `identifier` names the section for clients (`client.vouchers`) and begins each `operationId`. If `manages`, only the
 * company's own keys and people can use the section (Credentials.ts).
 */
export const make = <
  const Id extends string,
  const Operations extends readonly [AnyOperation, ...ReadonlyArray<AnyOperation>]
>(
  identifier: Id,
  about: { readonly title: string; readonly description: string; readonly manages?: true },
  operations: Operations
): Section<
  Id,
  Operations[number]["endpoint"],
  Effect.Error<Operations[number]["handler"]>,
  Effect.Services<Operations[number]["handler"]> | HttpApiEndpoint.Middleware<Operations[number]["endpoint"]>
> => {
  const [first, ...others] = operations
  const made = HttpApiGroup.make<string>(identifier)
    .add(first.endpoint, ...others.map(({ endpoint }) => endpoint))
    .annotate(OpenApi.Title, about.title)
    .annotate(OpenApi.Description, about.description)
  const group = about.manages === true ? made.annotate(Managing, true) : made
  const middlewares = operations.flatMap(({ endpoint }) => [...endpoint.middlewares])
  const layer = Layer.effectContext(
    Effect.gen(function* () {
      const handlers = yield* Effect.forEach(operations, ({ endpoint, handler }) =>
        Effect.map(handler, (made) => [endpoint.identifier, made] as const)
      )
      const built = HttpApiBuilder.group(base.add(group), group.identifier, (empty) =>
        // oxlint-disable-next-line typescript/consistent-type-assertions -- each Operation contains its endpoint's handler
        empty.handleAll(Object.fromEntries(handlers) as never)
      )
      return yield* Effect.updateContext(
        Layer.build(built),
        Context.pick(Scope.Scope, ...carried, ...middlewares)
      )
    })
  )
  // oxlint-disable-next-line typescript/consistent-type-assertions -- every operation has its endpoint in the group and its handler in the layer
  return { group, layer } as never
}

interface AnySection {
  readonly group: HttpApiGroup.Constraint
  readonly layer: Layer.Layer<never, unknown, unknown>
}

/** Combines sections: their groups in order, and one layer with all handlers. */
export const together = <const Sections extends readonly [AnySection, ...ReadonlyArray<AnySection>]>(
  sections: Sections
): {
  readonly groups: readonly [Sections[number]["group"], ...ReadonlyArray<Sections[number]["group"]>]
  readonly layer: Layer.Layer<
    Layer.Success<Sections[number]["layer"]>,
    Layer.Error<Sections[number]["layer"]>,
    Layer.Services<Sections[number]["layer"]>
  >
} => {
  const [first, ...others]: readonly [Sections[number], ...ReadonlyArray<Sections[number]>] = sections
  const layers: readonly [Sections[number]["layer"], ...ReadonlyArray<Sections[number]["layer"]>] = [
    first.layer,
    ...others.map(({ layer }) => layer)
  ]
  return { groups: [first.group, ...others.map(({ group }) => group)], layer: Layer.mergeAll(...layers) }
}
