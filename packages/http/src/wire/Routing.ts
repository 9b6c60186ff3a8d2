import { Effect } from "effect"
import { HttpServerError, type HttpServerRequest } from "effect/http"

/**
 * Router settings that allow one spelling per path: letter case, repeated slashes and a trailing slash
 * matter.
 */
export const routerConfig = { caseSensitive: true, ignoreTrailingSlash: false, ignoreDuplicateSlashes: false }

/**
 * Answers as if no route matched. A route's last parameter also matches an empty part, so a path with a
 * trailing slash can reach a route that is not the page. Dies, because every layer's type would have to list a
 * failure.
 */
export const noRoute = (request: HttpServerRequest.HttpServerRequest) =>
  Effect.die(new HttpServerError.HttpServerError({ reason: new HttpServerError.RouteNotFound({ request }) }))
