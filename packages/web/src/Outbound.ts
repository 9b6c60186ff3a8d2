import { isPublicName } from "@satrail/bitcoin/LightningAddressText"
import { Clock, Context, Effect, Layer, Result, Schema, type Scope } from "effect"
import dns from "node:dns/promises"
import http from "node:http"
import net from "node:net"
import os from "node:os"
import tls from "node:tls"
import * as Idle from "./Idle.ts"
import * as PublicAddress from "./PublicAddress.ts"

/** The address may not be asked. No connection was made. `reason` completes "it was not asked, for …". */
export class Forbidden extends Schema.TaggedError<Forbidden>()("Forbidden", { reason: Schema.String }) {}

/** No response. The error has no reason, and takes the same time in every case: it reveals no open ports to a stranger. */
export class Unreachable extends Schema.TaggedError<Unreachable>()("Unreachable", {}) {}

/** There was an answer that is not to be read to its end. `reason` completes "its server …". */
export class Unusable extends Schema.TaggedError<Unusable>()("Unusable", { reason: Schema.String }) {}

/** A request to an untrusted server. A GET follows a redirect, a POST none. */
export interface Request {
  readonly url: string
  readonly method?: "GET" | "POST"
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** How many redirects are followed, of those that the limits allow: all of them unless given. */
  readonly redirects?: 0
  /** Only so many bytes of the answer are read: the rest is not waited for. */
  readonly firstBytes?: number
  /** The answer is no text: each of its bytes is a character of `body`. */
  readonly isBinary?: true
}

/** What came back, whatever the status says. */
export interface Answer {
  readonly status: number
  readonly body: string
  /** The `Retry-After` header, as it is, where there is one. */
  readonly retryAfter?: string
}

/** The numbers. All of them limit what an untrusted server can do to us. */
export interface Limits {
  /** Until a connection stands, names looked up and TLS agreed upon. An unreachable server times out after exactly this time. */
  readonly connectMillis: number
  /** For everything, redirects included. */
  readonly totalMillis: number
  /** Of an answer's body: room for the largest image that LUD-06 allows, twice. */
  readonly maxBytes: number
  readonly maxRedirects: number
}

export const defaults: Limits = { connectMillis: 5_000, totalMillis: 10_000, maxBytes: 300_000, maxRedirects: 1 }

export interface Options extends Partial<Limits> {
  /**
   * Hosts that the operator vouches for, and the `http:` or `https:` origin where each is asked instead: `pay.example` at
   * `http://127.0.0.1:8080`. For development and tests; nothing else of the guard applies to them.
   */
  readonly allow?: ReadonlyMap<string, URL>
  /** Every http or https origin is vouched for, this machine's too: for trying and developing. */
  readonly isOpen?: boolean
  /** A connection waits a few seconds for the next question to the same place: for who has many. None unless given. */
  readonly keepsConnections?: boolean
  /** Where a name is. The system's answer unless given. */
  readonly lookup?: (name: string) => Promise<ReadonlyArray<string>>
  /** Which addresses may be connected to: public ones that are not this machine's, unless given. */
  readonly isAllowed?: (address: string) => boolean
}

/**
 * The only client for servers named by a caller. Names are looked up once, here, and the connection goes to an address that was checked: a
 * name that points elsewhere a moment later is not asked again.
 */
export class Outbound extends Context.Service<
  Outbound,
  {
    /** A connection to the host of an `https:` or `wss:` URL, TLS agreed upon: for what is not one question and one answer. */
    readonly connect: (url: string) => Effect.Effect<net.Socket, Forbidden | Unreachable, Scope.Scope>
    /** One question and its answer. Nothing is kept in between: no cookies, no cache, and no connection unless that was asked for. */
    readonly ask: (request: Request) => Effect.Effect<Answer, Forbidden | Unreachable | Unusable>
  }
>()("@satrail/web/Outbound") {}

/** A URL that may be asked, and how its host is reached. `name` is to be looked up and checked; without one `host` is vouched for. */
interface Target {
  readonly url: URL
  readonly name?: string
  readonly host: string
  readonly port: number
  readonly isSecure: boolean
}

const forbid = (reason: string) => Result.fail(new Forbidden({ reason }))

// Names that no public server answers for (RFC 6761, RFC 6762, RFC 7686, RFC 8375, RFC 9476, and what private networks are wont to use).
const reserved = /(?:^|\.)(?:localhost|local|internal|intranet|corp|home|lan|private|svc|test|example|invalid|alt|onion|home\.arpa)$/

/** A URL as it was meant. Parsing quietly drops or turns white space, control characters and backslashes: who writes those means another place. */
const parse = (text: string, base?: URL): URL | null => (/[\s\p{Cc}\\]/u.test(text) ? null : URL.parse(text, base?.href))

/** What may be asked under a URL: everything about it that can be known without asking anybody. */
const targetOf = (text: string, vouched: (url: URL) => URL | undefined = () => undefined): Result.Result<Target, Forbidden> => {
  const url = parse(text)
  if (url === null) return forbid("it is no URL")
  if (url.username !== "" || url.password !== "") return forbid("it has a user or a password in it")
  const instead = vouched(url)
  if (instead !== undefined) {
    const isSecure = instead.protocol === "https:"
    return Result.succeed({ url, host: instead.hostname, port: Number(instead.port || (isSecure ? 443 : 80)), isSecure })
  }
  const name = url.hostname
  if (name.endsWith(".onion")) return forbid("an .onion address is reached through Tor only, which this service does not use")
  if (url.protocol !== "https:" && url.protocol !== "wss:") return forbid("only https is used")
  if (!isPublicName(name) || reserved.test(name)) return forbid("its host is not a public name")
  const port = Number(url.port || 443)
  // Below 1024 other services live, which might make something of the first bytes of TLS.
  if (port !== 443 && port < 1024) return forbid(`port ${port} is no web server's`)
  return Result.succeed({ url, name, host: name, port, isSecure: true })
}

/** Where to connect in place of a host that is vouched for. */
const vouchedBy =
  ({ isOpen = false, allow = new Map<string, URL>() }: Pick<Options, "isOpen" | "allow">) =>
  (url: URL): URL | undefined =>
    isOpen && /^https?:$/.test(url.protocol) ? new URL(url.origin) : allow.get(url.host)

/** Why a URL may not be asked, as far as that can be known without asking anybody; undefined where it may. It completes "it was not asked, for …". */
export const issueOf = (url: string, options: Pick<Options, "isOpen" | "allow"> = {}): string | undefined => {
  const target = targetOf(url, vouchedBy(options))
  return Result.isFailure(target) ? target.failure.reason : undefined
}

const systemLookup = async (name: string): Promise<ReadonlyArray<string>> =>
  (await dns.lookup(name, { all: true, order: "verbatim" })).map(({ address }) => address)

const isOwn = (address: string): boolean =>
  Object.values(os.networkInterfaces()).some((addresses) => addresses?.some((one) => one.address === address))

const isNobody = (cause: unknown): boolean => cause instanceof Error && "code" in cause && cause.code === "ENOTFOUND"

/** Answers every lookup of a connection with the addresses that were checked. */
const pinned =
  (addresses: ReadonlyArray<string>): net.LookupFunction =>
  (_name, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: net.isIP(address) }))
    )

const socketTo = ({ host, port, isSecure, name }: Target, addresses: ReadonlyArray<string>): net.Socket => {
  const to = { host, port, ...(name !== undefined && { lookup: pinned(addresses), autoSelectFamily: true }) }
  // An address is no server's name (RFC 6066, section 3).
  const servername = name ?? (/[a-z]/i.test(host) && !host.includes(":") ? host : "")
  return isSecure ? tls.connect({ ...to, servername, ALPNProtocols: ["http/1.1"] }) : net.connect(to)
}

/** An open connection. */
const opened = (target: Target, addresses: ReadonlyArray<string>) =>
  Effect.callback<net.Socket, Unreachable>((resume) => {
    const socket = socketTo(target, addresses)
    const fail = () => resume(Effect.fail(new Unreachable()))
    socket.once(target.isSecure ? "secureConnect" : "connect", () => resume(Effect.succeed(socket)))
    socket.on("error", fail).once("close", fail)
    return Effect.sync(() => socket.destroy())
  })

/** What connections to a target have in common: who is asked by one of them may be asked by another. */
const placeOf = ({ host, port, isSecure }: Target): string => `${isSecure ? "tls" : "tcp"} ${host} ${port}`

const utf8 = new TextDecoder("utf-8", { fatal: true })

const textOf = (chunks: ReadonlyArray<Uint8Array>): Effect.Effect<string, Unusable> =>
  Effect.try({ try: () => utf8.decode(Buffer.concat(chunks)), catch: () => new Unusable({ reason: "did not answer with text" }) })

/** Where an answer says that the real one is. */
const redirection = (response: http.IncomingMessage): string | undefined =>
  [301, 302, 303, 307, 308].includes(response.statusCode ?? 0) ? response.headers.location : undefined

interface Exchanged {
  readonly answer: Effect.Effect<Answer, Unusable>
  readonly location: string | undefined
}

/** One question over an open connection. `begun` is called when the answer begins, `free` when the next question may follow; without it none does. */
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
    const lost = () => fail(new Unreachable())
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
    asked.once("response", (response) => {
      begun()
      const tooLong = () => fail(new Unusable({ reason: `answered with more than ${maxBytes} bytes` }))
      const retryAfter = response.headers["retry-after"]
      const head = { status: response.statusCode ?? 0, ...(retryAfter !== undefined && { retryAfter }) }
      if (firstBytes === undefined && Number(response.headers["content-length"] ?? 0) > maxBytes) return tooLong()
      // None was asked for: what is packed small can be anything once it is unpacked.
      if (firstBytes === undefined && (response.headers["content-encoding"] ?? "identity") !== "identity")
        return fail(new Unusable({ reason: "answered in an encoding that was not requested" }))
      const chunks: Array<Uint8Array> = []
      let bytes = 0
      response.on("data", (chunk: Uint8Array) => {
        bytes += chunk.length
        chunks.push(chunk)
        if (firstBytes !== undefined && bytes >= firstBytes) {
          const body = Buffer.concat(chunks).subarray(0, firstBytes).toString()
          resume(Effect.succeed({ answer: Effect.succeed({ ...head, body }), location: redirection(response) }))
          asked.destroy()
        } else if (bytes > maxBytes) tooLong()
      })
      response.once("error", lost)
      response.once("end", () => {
        const text =
          firstBytes === undefined && !isBinary
            ? textOf(chunks)
            : Effect.succeed(Buffer.concat(chunks).toString(isBinary ? "latin1" : "utf8"))
        ended = Effect.succeed({ answer: Effect.map(text, (body) => ({ ...head, body })), location: redirection(response) })
        if (free === undefined) resume(ended)
      })
      return undefined
    })
    asked.on("error", lost).once("close", () => {
      if (ended === undefined) return lost()
      // Both sides want to go on, and Node has let go of it.
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
  const { lookup = systemLookup, isAllowed = (address) => PublicAddress.is(address) && !isOwn(address) } = options

  const vouched = vouchedBy(options)

  /** Where the target is: addresses that may be connected to, one at least. */
  const addressesOf = Effect.fnUntraced(function* ({ name }: Target) {
    if (name === undefined) return []
    const found = yield* Effect.tryPromise({
      try: () => lookup(name),
      // That a name does not exist and that it is a private network's look the same from outside.
      catch: (cause) => (isNobody(cause) ? new Forbidden({ reason: "its host has no public address" }) : new Unreachable())
    })
    const addresses = found.filter(isAllowed)
    return addresses.length > 0 ? addresses : yield* new Forbidden({ reason: "its host has no public address" })
  })

  const dial = Effect.fnUntraced(function* (target: Target) {
    const startedMillis = yield* Clock.currentTimeMillis
    const socket = yield* Effect.flatMap(addressesOf(target), (addresses) => opened(target, addresses)).pipe(
      Effect.timeoutOrElse({ duration: connectMillis, orElse: () => Effect.fail(new Unreachable()) }),
      Effect.tapErrorTag("Unreachable", () =>
        Effect.flatMap(Clock.currentTimeMillis, (nowMillis) => Effect.sleep(Math.max(0, startedMillis + connectMillis - nowMillis)))
      )
    )
    return { socket, atMillis: startedMillis }
  })

  /** One question over a connection, which is closed afterwards unless it may be kept. */
  const over = <E>(target: Target, request: Request, connected: Effect.Effect<Idle.Opened, E>, begun: () => void) => {
    let isFree = false
    const connection = Effect.acquireRelease(connected, ({ socket }) => Effect.sync(() => isFree || socket.destroy()), {
      interruptible: true
    })
    const keep = (one: Idle.Opened) =>
      idle &&
      (() => {
        isFree = true
        idle.give(placeOf(target), one)
      })
    return Effect.scoped(Effect.flatMap(connection, (one) => exchange(one.socket, target.url, request, maxBytes, begun, keep(one))))
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
    // Its server may have closed it at this very moment: it is asked once more.
    return yield* Effect.catchTag(first, "Unreachable", (error) => (hasBegun ? Effect.fail(error) : anew))
  })

  const follow = (request: Request, redirects: number, begun: () => void): Effect.Effect<Answer, Forbidden | Unreachable | Unusable> =>
    Effect.gen(function* () {
      const target = yield* Effect.fromResult(targetOf(request.url, vouched))
      const { answer, location } = yield* once(target, request, begun)
      if (location === undefined || request.method === "POST") return yield* answer
      if (redirects === 0) return yield* new Unusable({ reason: `redirects more often than ${request.redirects ?? maxRedirects} times` })
      return yield* follow({ ...request, url: parse(location, target.url)?.href ?? "" }, redirects - 1, begun)
    })

  return Outbound.of({
    connect: (url) => {
      const connected = Effect.flatMap(Effect.fromResult(targetOf(url, vouched)), dial)
      const close = ({ socket }: Idle.Opened) => Effect.sync(() => socket.destroy())
      return Effect.map(Effect.acquireRelease(connected, close, { interruptible: true }), ({ socket }) => socket)
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
                hasBegun ? new Unusable({ reason: `did not come to an end within ${totalMillis / 1000} seconds` }) : new Unreachable()
              )
          }),
          // Whom it asked, and not what for: a path or a query may be a secret.
          Effect.withSpan("Outbound.ask", { kind: "client", attributes: { "server.address": URL.parse(request.url)?.hostname ?? "" } })
        )
      })
  })
}

export const layer = (options?: Options): Layer.Layer<Outbound> => Layer.sync(Outbound, () => make(options))
