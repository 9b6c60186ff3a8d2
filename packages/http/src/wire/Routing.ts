import { Effect } from "effect"
import { type HttpRouter, HttpServerResponse } from "effect/http"

/**
 * Router settings that allow one spelling per path: letter case, repeated slashes and a trailing slash
 * matter.
 */
export const routerConfig = { caseSensitive: true, ignoreTrailingSlash: false, ignoreDuplicateSlashes: false }

/** Redirects the path of a page with a trailing slash to the page. The location is relative, whatever the base path. */
export const redirectSlash = (router: HttpRouter.HttpRouter, path: `/${string}`) =>
  router.add("GET", `${path}/`, ({ url }) => {
    const { pathname, search } = new URL(url, "http://inside")
    const location = `../${pathname.split("/").at(-2) ?? ""}${search}`
    return Effect.succeed(HttpServerResponse.empty({ status: 308, headers: { location } }))
  })
