import { isPublicName } from "@satrail/bitcoin/LightningAddressText"
import { Clock, Context, Effect, Layer, Result, Schema, type Scope } from "effect"
import http from "node:http"
import net from "node:net"
import os from "node:os"
import tls from "node:tls"
import * as Idle from "./Idle.ts"
import * as NameServers from "./NameServers.ts"
import * as PublicAddress from "./PublicAddress.ts"

/** The address is not allowed. No connection was made. `reason` completes "not contacted: …". */
export class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", { reason: Schema.String }) {}

/**
 * There was no response. A connection that fails always takes the same time. `reason` is a clause for the owner of
 * the URL, such as `connection refused`. Strangers must not see it, because it tells which ports are open.
 */
export class Unreachable extends Schema.TaggedError<Unreachable>()("Unreachable", {
  reason: Schema.String
}) {}

/** The response cannot be read completely. `reason` completes "its server …". */
export class Unusable extends Schema.TaggedError<Unusable>()("Unusable", { reason: Schema.String }) {}

/** A request to an untrusted server. A GET follows redirects, a POST does not. */
export interface Request {
  readonly url: string
  readonly method?: "GET" | "POST"
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Set to 0 to follow no redirects. By default, `maxRedirects` applies. */
  readonly redirects?: 0
  /** Reads only this many bytes of the response and doesn't wait for the rest. */
  readonly firstBytes?: number
  /** The response is binary: each byte is one character of `body`. */
  readonly isBinary?: true
}

/** A response with any status. */
export interface Answer {
  readonly status: number
  readonly body: string
  /** The raw `Retry-After` header, if there is one. */
  readonly retryAfter?: string
}

/** Limits on what an untrusted server can cost us. */
export interface Limits {
  /**
   * Timeout for a connection, including name resolution and TLS. An unreachable server times out after
   * exactly this time.
   */
  readonly connectMillis: number
  /** Total timeout, including redirects. */
  readonly totalMillis: number
  /** Maximum size of a response body: twice the largest image that LUD-06 allows. */
  readonly maxBytes: number
  readonly maxRedirects: number
}

export const defaults: Limits = {
  connectMillis: 5_000,
  totalMillis: 10_000,
  maxBytes: 300_000,
  maxRedirects: 3
}

/**
 * Maximum number of chunks and interim responses of a response. A server can send each byte as a chunk of its own,
 * which costs hundreds of times its memory.
 */
export const maxParts = 4096

export interface Options extends Partial<Limits> {
  /**
   * Hosts trusted by the operator, with the `http:` or `https:` origin to use for each, such as `pay.example`
   * at `http://127.0.0.1:8080`. No other check applies to these hosts. For development and tests.
   */
  readonly allow?: ReadonlyMap<string, URL>
  /**
   * For development: also reaches this machine's loopback addresses, and public hosts over http. Addresses of private
   * networks and of a cloud's metadata stay forbidden.
   */
  readonly allowsLoopback?: boolean
  /**
   * Keeps a connection open for a few seconds for further requests to the same target. Useful for many
   * requests. Off by default.
   */
  readonly keepsConnections?: boolean
  /**
   * Returns a name's addresses, none if there are none. Stops when the signal is aborted. Defaults to the
   * system's name servers.
   */
  readonly lookup?: (name: string, signal: AbortSignal) => Promise<ReadonlyArray<string>>
  /**
   * Returns whether connections to an address are allowed. By default, public addresses other than this
   * machine's are.
   */
  readonly isAllowed?: (address: string) => boolean
}

/**
 * The only client for servers named by a caller. It resolves each name once and connects to the address that it
 * checked, so changing the name's address after the check has no effect.
 */
export class Outbound extends Context.Service<
  Outbound,
  {
    /** Opens a TLS connection to the host of an `https:` or `wss:` URL, for protocols other than request and
     * response.
     */
    readonly connect: (url: string) => Effect.Effect<net.Socket, Forbidden | Unreachable, Scope.Scope>
    /**
     * Sends one request and returns its response. Nothing is kept between requests: no cookies, no cache, and
     * no connection unless `keepsConnections` is set.
     */
    readonly ask: (request: Request) => Effect.Effect<Answer, Forbidden | Unreachable | Unusable>
  }
>()("@satrail/web/Outbound") {}

/**
 * A permitted URL, and how to reach its host. If `name` is set, it must be resolved and its addresses checked;
 * otherwise `host` is trusted.
 */
interface Target {
  readonly url: URL
  readonly name?: string
  readonly host: string
  readonly port: number
  readonly isSecure: boolean
}

const forbid = (reason: string) => Result.fail(new Forbidden({ reason }))

// Names without public servers (RFC 6761, RFC 6762, RFC 7686, RFC 8375, RFC 9476, and names common in private
// networks).
const reserved =
  /(?:^|\.)(?:localhost|local|internal|intranet|corp|home|lan|private|svc|test|example|invalid|alt|onion|home\.arpa)$/

/**
 * Parses a URL strictly. The parser silently drops or rewrites white space, control characters and
 * backslashes, which could turn it into another address.
 */
const parse = (text: string, base?: URL): URL | null =>
  /[\s\p{Cc}\\]/u.test(text) ? null : URL.parse(text, base?.href)

/** Validates a URL as far as possible without network access. */
const targetOf = (
  text: string,
  vouched: (url: URL) => URL | undefined = () => undefined,
  isLocal = false
): Result.Result<Target, Forbidden> => {
  const url = parse(text)
  if (url === null) return forbid("it is not a URL")
  if (url.username !== "" || url.password !== "") return forbid("it has a user or a password in it")
  const instead = vouched(url)
  if (instead !== undefined) {
    const isSecure = instead.protocol === "https:"
    return Result.succeed({
      url,
      host: instead.hostname,
      port: Number(instead.port || (isSecure ? 443 : 80)),
      isSecure
    })
  }
  const name = url.hostname
  if (name.endsWith(".onion"))
    return forbid("an .onion address can only be reached through Tor, which this service does not use")
  const isSecure = url.protocol !== "http:"
  if (isSecure ? !/^(?:https|wss):$/.test(url.protocol) : !isLocal) return forbid("only https is used")
  // Guides name `.example` hosts, which have no address. A sandbox accepts them like the hosts they stand for.
  const isReserved = reserved.test(name) && !(isLocal && name.endsWith(".example"))
  if (!isPublicName(name) || isReserved) return forbid("its host is not a public name")
  const usual = isSecure ? 443 : 80
  const port = Number(url.port || usual)
  // Refuse other ports below 1024: a non-TLS service there could act on the first bytes we send.
  if (port !== usual && port < 1024) return forbid(`port ${port} is not a web server's`)
  return Result.succeed({ url, name, host: name, port, isSecure })
}

// The parser writes every IPv4 address in four decimal numbers, and IPv6 in its shortest form.
const isLoopback = ({ hostname }: URL): boolean => /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)

/** Returns the address of a trusted host. */
const vouchedBy =
  ({ allowsLoopback = false, allow = new Map<string, URL>() }: Pick<Options, "allowsLoopback" | "allow">) =>
  (url: URL): URL | undefined =>
    allowsLoopback && /^https?:$/.test(url.protocol) && isLoopback(url)
      ? new URL(url.origin)
      : allow.get(url.host)

/**
 * Returns why a URL is not allowed, as far as that can be determined without network access; undefined if it is
 * allowed. The reason completes "not contacted: …".
 */
export const issueOf = (
  url: string,
  options: Pick<Options, "allowsLoopback" | "allow"> = {}
): string | undefined => {
  const target = targetOf(url, vouchedBy(options), options.allowsLoopback)
  return Result.isFailure(target) ? target.failure.reason : undefined
}

const isOwn = (address: string): boolean =>
  Object.values(os.networkInterfaces()).some((addresses) => addresses?.some((one) => one.address === address))

/** Makes a connection use the checked addresses instead of resolving the name again. */
const pinned =
  (addresses: ReadonlyArray<string>): net.LookupFunction =>
  (_name, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: net.isIP(address) }))
    )

const socketTo = ({ host, port, isSecure, name }: Target, addresses: ReadonlyArray<string>): net.Socket => {
  const to = { host, port, ...(name !== undefined && { lookup: pinned(addresses), autoSelectFamily: true }) }
  // An IP address is not a valid server name (RFC 6066, section 3).
  const servername = name ?? (/[a-z]/i.test(host) && !host.includes(":") ? host : "")
  return isSecure ? tls.connect({ ...to, servername, ALPNProtocols: ["http/1.1"] }) : net.connect(to)
}

const codes: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection reset",
  EHOSTUNREACH: "no route to the host",
  ENETUNREACH: "no route to the host",
  CERT_HAS_EXPIRED: "the certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "the certificate is self-signed",
  SELF_SIGNED_CERT_IN_CHAIN: "the certificate is self-signed",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "an intermediate certificate is missing, or its issuer is not trusted",
  ERR_TLS_CERT_ALTNAME_INVALID: "the certificate is for another host name",
  ENOTFOUND: "the host name could not be resolved",
  EAI_AGAIN: "the host name could not be resolved"
}

/** Returns why a connection failed, without the address. Certificates are checked only by TLS. */
const failureOf = (error: unknown): string => {
  const {
    code,
    message,
    reason = message
  } = Object(error instanceof AggregateError ? error.errors[0] : error)
  const known = codes[String(code)]
  const isTls = /^(?:ERR_(?:TLS|SSL)|EPROTO|CERT_|DEPTH_|SELF_|UNABLE_|HOSTNAME_)/.test(String(code))
  if (isTls) return `TLS failed: ${known ?? `${String(reason).split(/[\n:]/)[0]} (${code})`}`
  return known ?? `connection failed (${code ?? "no reason"})`
}

const opened = (target: Target, addresses: ReadonlyArray<string>) =>
  Effect.callback<net.Socket, Unreachable>((resume) => {
    const socket = socketTo(target, addresses)
    const fail = (error?: unknown) =>
      resume(
        Effect.fail(
          new Unreachable({
            reason:
              error instanceof Error
                ? failureOf(error)
                : "the server closed the connection before it was ready"
          })
        )
      )
    socket.once(target.isSecure ? "secureConnect" : "connect", () => resume(Effect.succeed(socket)))
    socket.on("error", fail).once("close", () => fail())
    return Effect.sync(() => socket.destroy())
  })

/** Identifies targets that can share a connection. */
const placeOf = ({ host, port, isSecure }: Target): string => `${isSecure ? "tls" : "tcp"} ${host} ${port}`

const utf8 = new TextDecoder("utf-8", { fatal: true })

const textOf = (chunks: ReadonlyArray<Uint8Array>): Effect.Effect<string, Unusable> =>
  Effect.try({
    try: () => utf8.decode(Buffer.concat(chunks)),
    catch: () => new Unusable({ reason: "did not return text" })
  })

const redirection = (response: http.IncomingMessage): string | undefined =>
  [301, 302, 303, 307, 308].includes(response.statusCode ?? 0) ? response.headers.location : undefined

interface Exchanged {
  readonly answer: Effect.Effect<Answer, Unusable>
  readonly location: string | undefined
}

/**
 * Makes one request over an open connection. `begun` is called when the response begins. `free` is called when
 * the connection can take another request; without it, the connection is not reused.
 */
const exchange = (
  socket: net.Socket,
  url: URL,
  { method = "GET", headers = {}, body, firstBytes, isBinary }: Request,
  maxBytes: number,
  begun: () => void,
  free?: () => void
) =>
  Effect.callback<Exchanged, Unreachable | Unusable>((resume) => {
    const fail = (error: Unreachable | Unusable) => {
      resume(Effect.fail(error))
      asked.destroy()
    }
    const lost = () =>
      fail(new Unreachable({ reason: "the server closed the connection before its response was complete" }))
    let parts = 0
    const count = () => {
      if (++parts > maxParts) fail(new Unusable({ reason: `responded in more than ${maxParts} parts` }))
    }
    let ended: Effect.Effect<Exchanged> | undefined
    const asked = http.request({
      createConnection: () => socket,
      method,
      path: url.pathname + url.search,
      setHost: false,
      headers: {
        ...headers,
        host: url.host,
        "user-agent": "satrail",
        connection: free === undefined ? "close" : "keep-alive",
        ...(body !== undefined && { "content-length": Buffer.byteLength(body) })
      }
    })
    asked.on("information", count).once("response", (response) => {
      begun()
      const tooLong = () => fail(new Unusable({ reason: `returned more than ${maxBytes} bytes` }))
      const retryAfter = response.headers["retry-after"]
      const head = { status: response.statusCode ?? 0, ...(retryAfter !== undefined && { retryAfter }) }
      if (firstBytes === undefined && Number(response.headers["content-length"] ?? 0) > maxBytes)
        return tooLong()
      // No encoding was requested, because a small compressed body can expand to any size.
      if (firstBytes === undefined && (response.headers["content-encoding"] ?? "identity") !== "identity")
        return fail(new Unusable({ reason: "used an encoding that was not requested" }))
      const chunks: Array<Uint8Array> = []
      let bytes = 0
      response.on("data", (chunk: Uint8Array) => {
        count()
        bytes += chunk.length
        chunks.push(chunk)
        if (firstBytes !== undefined && bytes >= firstBytes) {
          const body = Buffer.concat(chunks).subarray(0, firstBytes).toString()
          resume(
            Effect.succeed({ answer: Effect.succeed({ ...head, body }), location: redirection(response) })
          )
          asked.destroy()
        } else if (bytes > maxBytes) tooLong()
      })
      response.once("error", lost)
      response.once("end", () => {
        const text =
          firstBytes === undefined && !isBinary
            ? textOf(chunks)
            : Effect.succeed(Buffer.concat(chunks).toString(isBinary ? "latin1" : "utf8"))
        ended = Effect.succeed({
          answer: Effect.map(text, (body) => ({ ...head, body })),
          location: redirection(response)
        })
        if (free === undefined) resume(ended)
      })
      return undefined
    })
    asked.on("error", lost).once("close", () => {
      if (ended === undefined) return lost()
      // Reuse the connection only if both sides keep it open and Node has released it.
      if (!socket.destroyed) free?.()
      return resume(ended)
    })
    asked.end(body)
    return Effect.sync(() => asked.destroy())
  })

export const make = (options: Options = {}): Outbound["Service"] => {
  const { connectMillis, totalMillis, maxBytes, maxRedirects } = { ...defaults, ...options }
  const { keepsConnections = false } = options
  const idle = keepsConnections ? Idle.make() : undefined
  const {
    lookup = NameServers.addresses(),
    isAllowed = (address) => PublicAddress.is(address) && !isOwn(address)
  } = options

  const vouched = vouchedBy(options)

  /** Resolves the target to at least one allowed address. */
  const addressesOf = Effect.fnUntraced(function* ({ name }: Target) {
    if (name === undefined) return []
    const found = yield* Effect.tryPromise({
      try: (signal) => lookup(name, signal),
      catch: () => new Unreachable({ reason: "the host name could not be resolved" })
    })
    const addresses = found.filter(isAllowed)
    // A missing name and a private network's name must look the same from outside.
    return addresses.length > 0
      ? addresses
      : yield* new Forbidden({ reason: "its host has no public address" })
  })

  const dial = Effect.fnUntraced(function* (target: Target) {
    const startedMillis = yield* Clock.currentTimeMillis
    const socket = yield* Effect.flatMap(addressesOf(target), (addresses) => opened(target, addresses)).pipe(
      Effect.timeoutOrElse({
        duration: connectMillis,
        orElse: () =>
          Effect.fail(new Unreachable({ reason: `no connection within ${connectMillis / 1000} seconds` }))
      }),
      Effect.tapErrorTag("Unreachable", () =>
        // The time must not tell a stranger whether a port is closed. A trusted host's is no secret.
        target.name === undefined
          ? Effect.void
          : Effect.flatMap(Clock.currentTimeMillis, (nowMillis) =>
              Effect.sleep(Math.max(0, startedMillis + connectMillis - nowMillis))
            )
      )
    )
    return { socket, atMillis: startedMillis }
  })

  /** Makes one request over a connection, and then closes the connection unless it can be reused. */
  const over = <E>(
    target: Target,
    request: Request,
    connected: Effect.Effect<Idle.Opened, E>,
    begun: () => void
  ) => {
    let isFree = false
    const connection = Effect.acquireRelease(
      connected,
      ({ socket }) => Effect.sync(() => isFree || socket.destroy()),
      {
        interruptible: true
      }
    )
    const keep = (one: Idle.Opened) =>
      idle &&
      (() => {
        isFree = true
        idle.give(placeOf(target), one)
      })
    return Effect.scoped(
      Effect.flatMap(connection, (one) =>
        exchange(one.socket, target.url, request, maxBytes, begun, keep(one))
      )
    )
  }

  const once = Effect.fnUntraced(function* (target: Target, request: Request, begun: () => void) {
    const anew = over(target, request, dial(target), begun)
    const kept = idle?.take(placeOf(target), yield* Clock.currentTimeMillis)
    if (kept === undefined) return yield* anew
    let hasBegun = false
    const first = over(target, request, Effect.succeed(kept), () => {
      hasBegun = true
      begun()
    })
    // The server may have just closed the idle connection, so retry once on a new one.
    return yield* Effect.catchTag(first, "Unreachable", (error) => (hasBegun ? Effect.fail(error) : anew))
  })

  const follow = (
    request: Request,
    redirects: number,
    begun: () => void
  ): Effect.Effect<Answer, Forbidden | Unreachable | Unusable> =>
    Effect.gen(function* () {
      const target = yield* Effect.fromResult(targetOf(request.url, vouched, options.allowsLoopback))
      const { answer, location } = yield* once(target, request, begun)
      if (location === undefined || request.method === "POST") return yield* answer
      if (redirects === 0)
        return yield* new Unusable({
          reason: `redirects more often than ${request.redirects ?? maxRedirects} times`
        })
      return yield* follow({ ...request, url: parse(location, target.url)?.href ?? "" }, redirects - 1, begun)
    })

  return Outbound.of({
    connect: (url) => {
      const connected = Effect.flatMap(Effect.fromResult(targetOf(url, vouched)), dial)
      const close = ({ socket }: Idle.Opened) => Effect.sync(() => socket.destroy())
      return Effect.map(
        Effect.acquireRelease(connected, close, { interruptible: true }),
        ({ socket }) => socket
      )
    },
    ask: (request) =>
      Effect.suspend(() => {
        let hasBegun = false
        return follow(request, request.redirects ?? maxRedirects, () => {
          hasBegun = true
        }).pipe(
          Effect.timeoutOrElse({
            duration: totalMillis,
            orElse: () =>
              Effect.fail(
                hasBegun
                  ? new Unusable({ reason: `did not complete within ${totalMillis / 1000} seconds` })
                  : new Unreachable({ reason: `no response within ${totalMillis / 1000} seconds` })
              )
          }),
          // Record only the host, because a path or a query may be a secret.
          Effect.withSpan("Outbound.ask", {
            kind: "client",
            attributes: { "server.address": URL.parse(request.url)?.hostname ?? "" }
          })
        )
      })
  })
}

export const layer = (options?: Options): Layer.Layer<Outbound> => Layer.sync(Outbound, () => make(options))
