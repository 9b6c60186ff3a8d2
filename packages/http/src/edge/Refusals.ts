import { HttpServerResponse, type HttpServerRequest } from "effect/http"
import * as Errors from "../wire/Errors.ts"

// Rejects ambiguous requests before routing, because a proxy in front could interpret them differently.

export const answer = (failure: Errors.Failure, headers: Record<string, string> = {}) =>
  HttpServerResponse.jsonUnsafe(failure, { status: failure.status, headers })

export const notFound = answer(Errors.failure("not_found", "No such route. Check the path and the method."))

export const trailingSlash = answer(
  Errors.failure("not_found", "No such route. The path must not end in a slash.")
)

const malformed = (path: string, message: string) => answer(Errors.malformedRequest([{ path, message }]))

const withoutHost = malformed("host", "is required")
const strangeHost = malformed("host", "must be a host name or IP address, with an optional port")
const withFragment = malformed("", "The request target must not contain a fragment. Encode # as %23")

/**
 * Headers that must not be repeated. Node reads the first one, but a proxy in front might use the second.
 */
const repeated = new Map(
  ["host", "authorization", "content-type"].map((name) => [name, malformed(name, "must be sent only once")])
)

/**
 * Returns whether a string is a single host name. Non-ASCII letters are allowed, because wallets send domains
 * as users type them.
 */
const isHost = (host: string): boolean => !/[\s,@/?#\\]/.test(host)

/** The router would treat a semicolon as the start of the query. */
const hasSemicolon = (url: string): boolean => url.includes(";") && /^[^?#]*;/.test(url)

/**
 * A letter can be percent-encoded (RFC 3986, section 2.3), and the router would decode it. A proxy that
 * blocks a path might match only the plain letters.
 */
const hasEscapedLetter = (url: string): boolean =>
  url.includes("%") && /^[^?#]*%(?:2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/i.test(url)

/**
 * Returns the path and query of an absolute-form target (`http://host/path?query`), without normalizing them.
 * Returns any other target unchanged.
 */
export const writtenIn = (target: string): string =>
  target.startsWith("/") ? target : target.slice(target.indexOf("/", target.indexOf("//") + 2))

/** Rejects a request that a proxy in front could interpret differently. */
export const of = (
  { source, url, headers: { host } }: HttpServerRequest.HttpServerRequest,
  wantsHost: boolean,
  allowsEscapedLetters: (url: string) => boolean
) => {
  if (host !== undefined && !isHost(host)) return strangeHost
  if (!url.startsWith("/") || hasSemicolon(url) || (hasEscapedLetter(url) && !allowsEscapedLetters(url)))
    return notFound
  const target = "url" in source && typeof source.url === "string" ? source.url : url
  if (target.includes("#")) return withFragment
  // Node keeps the raw header lines. Other servers expose only parsed headers.
  const lines = "rawHeaders" in source && Array.isArray(source.rawHeaders) ? source.rawHeaders : undefined
  if (lines === undefined) return wantsHost && host === undefined ? withoutHost : undefined
  // An absolute target is normalized as in browsers: http://host/a/../operator would become /operator.
  if (writtenIn(target) !== url) return notFound
  const seen = new Set<string>()
  for (let at = 0; at < lines.length; at += 2) {
    const name = String(lines[at]).toLowerCase()
    if (!repeated.has(name)) continue
    if (seen.has(name)) return repeated.get(name)
    seen.add(name)
  }
  return wantsHost && !seen.has("host") ? withoutHost : undefined
}
