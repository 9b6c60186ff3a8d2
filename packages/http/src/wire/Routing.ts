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

/**
 * Returns the path of a target without its trailing slash, and a location for a redirect there; undefined if the
 * path has none. The location is relative, so it works under any base path. A target can have 16 kB, on which a
 * regular expression that tries every start of the name takes a quarter of a second.
 */
export const withoutSlash = (
  target: string
): { readonly path: string; readonly location: string } | undefined => {
  const [path = ""] = target.split("?", 1)
  const name = path.slice(path.lastIndexOf("/", path.length - 2) + 1, -1)
  return path.endsWith("/") && name !== ""
    ? { path: path.slice(0, -1), location: `../${name}${target.slice(path.length)}` }
    : undefined
}
