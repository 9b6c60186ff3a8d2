import { Effect, Option } from "effect"
import { Headers, type HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { peerOf } from "../wire/Address.ts"

// The console's pages are rendered in this process, but they are a normal client of the API. Their requests run
// through the same routes, so that permissions, limits, rates and the audit log apply to them.

export interface Asked {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
}

export interface Answered {
  readonly status: number
  readonly headers: globalThis.Headers
  readonly text: string
}

/** Headers of the browser's request that identify the caller. */
const passed = ["host", "cookie", "user-agent", "x-forwarded-for", "x-forwarded-proto", "traceparent"]

/** Sends an internal request on behalf of an external one. */
export type Inside = (from: HttpServerRequest.HttpServerRequest, asked: Asked) => Effect.Effect<Answered>

/** The routes are collected when the first request runs, because later layers add more. */
export const make = (router: HttpRouter.HttpRouter): Effect.Effect<Inside> =>
  Effect.map(
    Effect.cached(Effect.sync(() => router.asHttpEffect())),
    (handler): Inside =>
      (from, { method, path, headers, body }) =>
        Effect.gen(function* () {
          const given = Object.fromEntries(
            passed.flatMap((name) => (from.headers[name] === undefined ? [] : [[name, from.headers[name]]]))
          )
          const web = new Request(`http://inside${path}`, { method, ...(body !== undefined && { body }) })
          const request = HttpServerRequest.fromWeb(web).modify({
            headers: Headers.fromInput({
              ...given,
              ...(body !== undefined && { "content-type": "application/json" }),
              ...headers
            }),
            remoteAddress: Option.some(peerOf(from))
          })
          const answer = Effect.flatten(handler).pipe(
            Effect.provideService(HttpServerRequest.HttpServerRequest, request),
            Effect.orDie
          )
          const response = HttpServerResponse.toWeb(yield* answer)
          return {
            status: response.status,
            headers: response.headers,
            text: yield* Effect.promise(() => response.text())
          }
        }).pipe(Effect.scoped)
  )
