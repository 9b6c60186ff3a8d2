import { HttpServerResponse, type HttpServerRequest } from "effect/http"
import * as Errors from "../wire/Errors.ts"

// What is refused before it is looked at what is asked for, since a server in front of us could read it otherwise than we would.

export const answer = (failure: Errors.Failure, headers: Record<string, string> = {}) =>
  HttpServerResponse.jsonUnsafe(failure, { status: failure.status, headers })

export const notFound = answer(Errors.failure("not_found", "There is no such route"))

const malformed = (path: string, message: string) => answer(Errors.malformedRequest([{ path, message }]))

const withoutHost = malformed("host", "Missing: every request names the host it is for")
const strangeHost = malformed("host", "Must be a host name or an IP address, and a port where there is one")
const withFragment = malformed("", "A request target has no fragment: write # as %23")

/** Headers that are sent once: of two lines Node reads the first, and a server in front of us might go by the second. */
const repeated = new Map(["host", "authorization", "content-type"].map((name) => [name, malformed(name, "Given more than once")]))

/** What is more than one name, or more than a name. Letters beyond ASCII are read: wallets send domains as people write them. */
const isHost = (host: string): boolean => !/[\s,@/?#\\]/.test(host)

/** The router would take it for the beginning of a query. */
const hasSemicolon = (url: string): boolean => url.includes(";") && /^[^?#]*;/.test(url)

/**
 * A letter may be written as its number too (RFC 3986, section 2.3), and the router would read it: a proxy in front of us that keeps a
 * path from the outside may know the letters only.
 */
const hasEscapedLetter = (url: string): boolean =>
  url.includes("%") && /^[^?#]*%(?:2[de]|3\d|4[1-9a-f]|5[\daf]|6[1-9a-f]|7[\dae])/i.test(url)

/** The path and query of a target in absolute form, `http://host/path?query`, as they are written; of another, all of it. */
const writtenIn = (target: string): string =>
  target.startsWith("/") ? target : target.slice(target.indexOf("/", target.indexOf("//") + 2))

/** A request that a server in front of us could read otherwise than we would: its meaning is ambiguous, and nothing is done. */
export const of = (
  { source, url, headers: { host } }: HttpServerRequest.HttpServerRequest,
  wantsHost: boolean,
  allowsEscapedLetters: (url: string) => boolean
) => {
  if (host !== undefined && !isHost(host)) return strangeHost
  if (!url.startsWith("/") || hasSemicolon(url) || (hasEscapedLetter(url) && !allowsEscapedLetters(url))) return notFound
  const target = "url" in source && typeof source.url === "string" ? source.url : url
  if (target.includes("#")) return withFragment
  // Node keeps the lines of the headers as they came; of others we know what they made of them.
  const lines = "rawHeaders" in source && Array.isArray(source.rawHeaders) ? source.rawHeaders : undefined
  if (lines === undefined) return wantsHost && host === undefined ? withoutHost : undefined
  // An absolute target is taken apart as browsers take addresses apart: http://host/a/../operator would be /operator.
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
