import { Context, Effect } from "effect"
import { HttpServerRequest } from "effect/http"

/**
 * Runs `f` with the current request. Every request does this several times, so it is a single step, whereas
 * reading the service and `Effect.flatMap` are three.
 */
export const withRequest = <A, E, R>(
  f: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | HttpServerRequest.HttpServerRequest> =>
  Effect.withFiber<A, E, R | HttpServerRequest.HttpServerRequest>((fiber) =>
    f(Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest))
  )

/** Returns whether a request has no body. */
export const isEmpty = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["transfer-encoding"] === undefined && (headers["content-length"] ?? "0") === "0"

/** Waits until a request's body has arrived. If that fails, reading the body fails later in the same way. */
export const wholeBody = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<void> =>
  Effect.ignore(request.arrayBuffer)

/** The text of the current request's body, once it has been read. */
export const BodyText = Context.Reference<string | undefined>("@satrail/http/wire/Received/BodyText", {
  defaultValue: () => undefined
})
