import type { Holder } from "@satrail/core/accounts/ApiKey"
import { Effect, Inspectable, Option, Stream } from "effect"
import {
  Cookies,
  Headers,
  HttpIncomingMessage,
  type HttpRouter,
  HttpServerRequest,
  type HttpServerResponse
} from "effect/http"
import { peerOf } from "../wire/Address.ts"

// Requests that this process makes itself: those of the console's pages, and those of the program that embeds the
// service. They run through the same routes, so that the same decoding, permissions and limits apply to them, but
// without a socket and without a web `Request`.

export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

export interface Answered {
  readonly status: number
  readonly headers: Headers.Headers
  readonly text: string
}

/** Whom a request of the program itself acts for. */
export type Host = Holder | "operator"

const utf8 = { encoder: new TextEncoder(), decoder: new TextDecoder() }

const contentType = "application/json"

class InsideRequest extends Inspectable.Class implements HttpServerRequest.HttpServerRequest {
  readonly [HttpServerRequest.TypeId]: typeof HttpServerRequest.TypeId = HttpServerRequest.TypeId
  readonly [HttpIncomingMessage.TypeId]: typeof HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  readonly source = this
  readonly protocol = undefined
  readonly method: string
  readonly url: string
  readonly headers: Headers.Headers
  readonly remoteAddress: Option.Option<string>
  /** Only this process can make such a request, so it needs no secret. */
  readonly host: Host | undefined
  readonly #body: string

  constructor(
    { method, path, body = "" }: Asked,
    headers: Headers.Headers,
    remoteAddress: Option.Option<string>,
    host: Host | undefined
  ) {
    super()
    this.method = method
    this.url = path
    this.#body = body
    this.headers = headers
    this.remoteAddress = remoteAddress
    this.host = host
  }

  get originalUrl() {
    return this.url
  }
  get peerAddress() {
    return this.remoteAddress
  }
  get cookies() {
    return Cookies.parseHeader(this.headers["cookie"] ?? "")
  }
  get text() {
    return Effect.succeed(this.#body)
  }
  get json() {
    return Effect.map(this.text, (text) => JSON.parse(text))
  }
  get arrayBuffer() {
    return Effect.sync(() => utf8.encoder.encode(this.#body).buffer)
  }
  get stream() {
    return Stream.fromEffect(Effect.map(this.arrayBuffer, (buffer) => new Uint8Array(buffer)))
  }
  get urlParamsBody() {
    return this.#without("form")
  }
  get multipart() {
    return this.#without("form")
  }
  get multipartStream() {
    return Stream.fromEffect(this.#without("form"))
  }
  get upgrade() {
    return this.#without("connection")
  }
  upgradeWith() {
    return this.#without("connection")
  }
  modify({
    url = this.url,
    headers = this.headers,
    remoteAddress = this.remoteAddress
  }: Parameters<HttpServerRequest.HttpServerRequest["modify"]>[0]) {
    return new InsideRequest(
      { method: this.method, path: url, body: this.#body },
      headers,
      remoteAddress,
      this.host
    )
  }
  override toJSON(): unknown {
    return { _id: "InsideRequest", method: this.method }
  }
  #without(part: string) {
    return Effect.die(new Error(`a request inside the process has no ${part}`))
  }
}

/** Returns whom the program that embeds the service acts for with a request; undefined for all other callers. */
export const hostOf = (request: HttpServerRequest.HttpServerRequest): Host | undefined =>
  request instanceof InsideRequest ? request.host : undefined

/** Headers of the browser's request that identify the caller. */
const passed = ["host", "cookie", "user-agent", "x-forwarded-for", "x-forwarded-proto", "traceparent"]

/** Sends an internal request on behalf of an external one. */
export type Inside = (from: HttpServerRequest.HttpServerRequest, asked: Asked) => Effect.Effect<Answered>

/** The routes are collected when the first request runs, because later layers add more. */
const collected = (router: HttpRouter.HttpRouter) => {
  let handler: ReturnType<typeof router.asHttpEffect> | undefined
  return (request: InsideRequest) =>
    (handler ??= router.asHttpEffect()).pipe(
      Effect.provideService(HttpServerRequest.HttpServerRequest, request),
      Effect.orDie
    )
}

/** Returns the text of a response whose body is not a stream. */
export const textOf = ({ body }: HttpServerResponse.HttpServerResponse): string =>
  body._tag === "Uint8Array" ? (body.text ?? utf8.decoder.decode(body.body)) : ""

const headersOf = ({ headers, body }: Asked, more: Readonly<Record<string, string>> = {}) =>
  Headers.fromInput({ ...more, ...(body !== undefined && { "content-type": contentType }), ...headers })

/** Makes the function with which the program that embeds the service sends requests. The program reads the response. */
export const ofHost = (router: HttpRouter.HttpRouter) => {
  const handle = collected(router)
  return <E>(host: Effect.Effect<Host, E>, asked: Asked) =>
    Effect.scoped(
      Effect.flatMap(host, (host) => handle(new InsideRequest(asked, headersOf(asked), Option.none(), host)))
    )
}

export const make = (router: HttpRouter.HttpRouter): Inside => {
  const handle = collected(router)
  return (from, asked) => {
    const given = Object.fromEntries(
      passed.flatMap((name) => (from.headers[name] === undefined ? [] : [[name, from.headers[name]]]))
    )
    const request = new InsideRequest(asked, headersOf(asked, given), Option.some(peerOf(from)), undefined)
    return Effect.scoped(
      Effect.map(handle(request), (response) => ({
        status: response.status,
        headers: response.headers,
        text: textOf(response)
      }))
    )
  }
}
