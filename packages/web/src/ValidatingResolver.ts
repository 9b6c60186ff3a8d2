import { type Dns, DnsUnavailable, type Validated } from "@satrail/core/base/Dns"
import { Effect, Result } from "effect"
import type net from "node:net"
import * as DnsMessage from "./DnsMessage.ts"
import * as Outbound from "./Outbound.ts"

/** Maximum number of resolvers tried in sequence. */
export const maxResolvers = 3

/**
 * Limits per resolver. They are short enough that querying all resolvers and then a payee's server fits into
 * the time of one request.
 */
export const limits = {
  connectMillis: 1_500,
  totalMillis: 3_000,
  maxBytes: DnsMessage.maxBytes,
  maxRedirects: 0
}

const port = 53

/**
 * Parses a resolver's URL: `https:` (RFC 8484). For a resolver on this machine, `http:` or `tcp:` (RFC 7766) is
 * accepted too. Undefined if the URL is invalid.
 */
export const urlOf = (text: string): URL | undefined => {
  const url = /[\s\\]/.test(text) ? null : URL.parse(text)
  if (url === null || url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    return undefined
  const isHere = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)
  if (url.protocol === "tcp:") return isHere && /^\/?$/.test(url.pathname) ? url : undefined
  return url.protocol === "https:" || (url.protocol === "http:" && isHere) ? url : undefined
}

/** The response codes that are conclusive: the name has these records, or there is no such name. */
const [noError, noSuchName] = [0, 3]

/** Returns a TCP resolver's URL in the form that the guarded client accepts. */
const tcpOf = (url: URL): URL => new URL(`http://${url.hostname}:${url.port || port}`)
const originOf = (url: URL): URL => (url.protocol === "tcp:" ? tcpOf(url) : url)

/**
 * Exchanges messages over TCP. Before each message, its length is sent in two bytes. Anything after the
 * response is not read.
 */
const exchange = (socket: net.Socket, question: Uint8Array): Effect.Effect<Uint8Array, string> =>
  Effect.callback((resume) => {
    const chunks: Array<Uint8Array> = []
    const fail = () => resume(Effect.fail("the connection ended before the response"))
    socket.on("data", (chunk: Uint8Array) => {
      chunks.push(chunk)
      const bytes = Buffer.concat(chunks)
      const end = bytes.length < 2 ? Infinity : 2 + bytes.readUInt16BE(0)
      if (bytes.length >= end) resume(Effect.succeed(Uint8Array.from(bytes.subarray(2, end))))
    })
    socket.once("error", fail).once("end", fail).once("close", fail)
    socket.write(Buffer.from([question.length >> 8, question.length & 0xff, ...question]))
    return Effect.sync(() => socket.destroy())
  })

const overTcp = ({ connect }: Outbound.Outbound["Service"], url: URL, question: Uint8Array, millis: number) =>
  Effect.scoped(Effect.flatMap(connect(tcpOf(url).href), (socket) => exchange(socket, question))).pipe(
    Effect.timeoutOrElse({ duration: millis, orElse: () => Effect.fail("no response in time") })
  )

const overHttps = Effect.fnUntraced(function* (
  { ask }: Outbound.Outbound["Service"],
  resolver: URL,
  question: Uint8Array
) {
  const url = new URL(resolver)
  url.searchParams.set("dns", Buffer.from(question).toString("base64url"))
  const { status, body } = yield* ask({
    url: url.href,
    headers: { accept: "application/dns-message" },
    isBinary: true
  })
  return status === 200
    ? Uint8Array.from(body, (character) => character.charCodeAt(0))
    : yield* Effect.fail(`status ${status}`)
})

/** Returns the validated records of a response, or the reason if the response is not conclusive. */
const validatedOf = (bytes: Uint8Array, name: string): Result.Result<Validated, string> =>
  Result.flatMap(
    Result.mapError(DnsMessage.decode(bytes, name), ({ reason }) => `the response ${reason}`),
    ({ code, isAuthenticated, texts }) => {
      // A resolver returns 2 (SERVFAIL) for invalid signatures and unavailable name servers.
      if (code !== noError && code !== noSuchName) return Result.fail(`response code ${code}`)
      if (code === noSuchName && texts.length > 0) return Result.fail("records of a name that does not exist")
      return Result.succeed({ texts, isSigned: isAuthenticated })
    }
  )

/**
 * Queries resolvers that validate DNSSEC, in order, until one responds. The operator chooses the resolvers, and
 * their validation is trusted. Nothing is cached, because each result is used for a payment immediately.
 */
export const make = (
  resolvers: ReadonlyArray<URL>,
  { connectMillis, totalMillis, maxBytes, maxRedirects } = limits
): NonNullable<Dns["Service"]["validated"]> => {
  const allow = new Map(resolvers.map(originOf).map((url) => [url.host, new URL(url.origin)] as const))
  const outbound = Outbound.make({
    connectMillis,
    totalMillis,
    maxBytes,
    maxRedirects,
    allow,
    keepsConnections: true
  })

  const ask = Effect.fnUntraced(function* (
    name: string,
    resolver: URL
  ): Effect.fn.Return<Validated, unknown> {
    const question = DnsMessage.question(name)
    const bytes =
      resolver.protocol === "tcp:"
        ? yield* overTcp(outbound, resolver, question, totalMillis)
        : yield* overHttps(outbound, resolver, question)
    return yield* Effect.fromResult(validatedOf(bytes, name))
  })
  const noted = (name: string) => (resolver: URL) =>
    Effect.tapError(ask(name, resolver), (error) =>
      Effect.logDebug("names: no response from a resolver", { resolver: resolver.host, error })
    )

  return (name) =>
    DnsMessage.isName(name)
      ? Effect.mapError(Effect.firstSuccessOf(resolvers.map(noted(name))), () => new DnsUnavailable({ name }))
      : Effect.fail(new DnsUnavailable({ name }))
}
