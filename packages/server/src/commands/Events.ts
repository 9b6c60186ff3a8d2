import * as Signature from "@satrail/core/base/Signature"
import { Clock, Console, Effect, Option, Redacted } from "effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import { createHmac } from "node:crypto"
import * as EventFeed from "../client/EventFeed.ts"
import * as Operator from "../client/Operator.ts"
import { reasonsOf } from "../client/Output.ts"

interface Following {
  readonly after: Option.Option<string>
  readonly types: Option.Option<string>
  readonly json: boolean
}

const askOf = ({ after, types }: Following): EventFeed.Ask => ({
  after: Option.getOrUndefined(after),
  types: Option.getOrUndefined(types)
})

/** Reports the connection's state on standard error. */
export const watch: EventFeed.Watch = {
  opened: Console.error("Waiting for events. Press Ctrl-C to stop."),
  lost: (why) => Console.error(`${why.split("\n")[0]} Reconnecting.`)
}

export const tail = (following: Following) =>
  EventFeed.follow(
    askOf(following),
    (event) => Console.log(following.json ? event.body : EventFeed.line(event)),
    watch
  )

/**
 * The secret that signs forwarded events. It is derived from the API key, so it stays the same between runs.
 */
export const secretOf = (apiKey: string): string =>
  Signature.secretOf(createHmac("sha256", apiKey).update("satrail listen").digest())

/** Timeout for a program's response, the same as for webhooks. */
const patienceMillis = 15_000

const headersOf = ({ id, body }: EventFeed.Event, secret: string, nowMillis: number) => {
  const seconds = Math.floor(nowMillis / 1000)
  return Signature.headers(id, 1, seconds, [
    Signature.symmetric(secret, Signature.contentOf(id, seconds, body))
  ])
}

/** Posts an event once, like a webhook. */
const posted = Effect.fnUntraced(function* (url: URL, event: EventFeed.Event, secret: string) {
  const startMillis = yield* Clock.currentTimeMillis
  const request = HttpClientRequest.post(url).pipe(
    HttpClientRequest.setHeaders(headersOf(event, secret, startMillis)),
    HttpClientRequest.bodyText(event.body, "application/json")
  )
  const response = yield* HttpClient.execute(request).pipe(
    Effect.tap(({ text }) => Effect.ignore(text)),
    Effect.timeout(patienceMillis),
    Effect.map(({ status }) => ({ status, error: null })),
    Effect.catch((cause) =>
      Effect.succeed({ status: null, error: reasonsOf(cause).at(-1) ?? "no response" })
    ),
    Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
    Effect.provide(FetchHttpClient.layer)
  )
  return { ...response, millis: (yield* Clock.currentTimeMillis) - startMillis }
})

/** Posts each event to a program on this machine, and prints the status of its response. */
export const listen = Effect.fnUntraced(function* ({
  forwardTo,
  ...following
}: Following & { readonly forwardTo: URL }) {
  const { token } = yield* Operator.target("/v1/events/stream")
  const secret = secretOf(Redacted.value(token))
  yield* following.json
    ? Console.log(JSON.stringify({ forward_to: forwardTo.href, secret }))
    : Console.log(`Forwarding to ${forwardTo.href}, signed with ${secret}`)
  return yield* EventFeed.follow(
    askOf(following),
    Effect.fnUntraced(function* (event) {
      const { status, error, millis } = yield* posted(forwardTo, event, secret)
      yield* following.json
        ? Console.log(JSON.stringify({ id: event.id, type: event.type, status, error, millis }))
        : Console.log(`${EventFeed.line(event)}  → ${status ?? error} (${millis} ms)`)
    }),
    watch
  )
})
