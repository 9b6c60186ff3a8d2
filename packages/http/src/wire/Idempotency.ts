import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { Outcome, Request } from "@satrail/core/ledger/Answer"
import { Effect, Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import * as Envelope from "./Envelope.ts"
import * as Errors from "./Errors.ts"
import type { Sealer } from "./Seal.ts"

/** What every creating endpoint reads from the headers. */
export const headers = {
  "idempotency-key": Schema.optionalKey(
    Schema.String.check(Schema.isPattern(/^[!-~]{1,255}$/, { message: "1 to 255 visible ASCII characters" })).annotate({
      description:
        "Makes the request safe to retry: the same key with the same body gets the same response again, and takes effect once. Use a new one for each new request, such as a UUID",
      examples: ["9f0d1c1e-52a5-4f7c-8f43-0b8f6a6c1042"]
    })
  )
}

/** For an endpoint whose answer is not kept: who sent a key relies on what it would not get. `why` begins the message. */
export const refused = (request: HttpServerRequest.HttpServerRequest, why: string) =>
  request.headers["idempotency-key"] === undefined
    ? Effect.void
    : Effect.fail(Errors.failure("idempotency_not_supported", `${why}: leave Idempotency-Key out`))

/** What a creation answers, and how it is made safe to repeat. `path` is the endpoint's one path, whichever spelling was used. */
export const creation = <Value, Data>(path: string, message: string, wire: (value: Value) => Data) => {
  const render = (value: Value) => JSON.stringify(Envelope.created(message, wire(value)))

  return {
    /** The part of the core's ask that makes it happen once; nothing without a key. `at` is the path where it has an id in it. */
    once: Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, key: string | undefined, at: string = path) {
      if (key === undefined) return {}
      // What could not be read would not have come this far, so this is the text that was decoded.
      const text = yield* Effect.orDie(request.text)
      const fingerprint = createHash("sha256").update(`POST ${at} ${text}`).digest("hex")
      return { request: { key, fingerprint, render } satisfies Request<Value> }
    }),
    /** The answer, in the same bytes the first time and every time. */
    answer: (outcome: Outcome<Value>) => {
      const replayed = outcome._tag === "Replayed"
      return HttpServerResponse.text(replayed ? outcome.answer : render(outcome.value), {
        status: 201,
        contentType: "application/json",
        ...(replayed && { headers: { "idempotency-replayed": "true" } })
      })
    }
  }
}

/** The same for an answer with a secret in it: what is kept of it is sealed, for the company that asked. Without a `sealer` a key is refused. */
export const sealedCreation = <Value, Data>(path: string, message: string, wire: (value: Value) => Data, sealer: Sealer | undefined) => {
  const plain = creation(path, message, wire)

  return {
    once: Effect.fnUntraced(function* (
      request: HttpServerRequest.HttpServerRequest,
      key: string | undefined,
      owner: CompanyId.CompanyId,
      at: string = path
    ) {
      if (sealer === undefined) yield* refused(request, "The response contains a secret, and there is no key to seal it with")
      const once = yield* plain.once(request, key, at)
      if (sealer === undefined || once.request === undefined) return {}
      const { render, ...known } = once.request
      return { request: { ...known, render: (value) => sealer.seal(render(value), owner) } satisfies Request<Value> }
    }),
    answer: (outcome: Outcome<Value>, owner: CompanyId.CompanyId) => {
      if (outcome._tag === "Made") return Effect.succeed(plain.answer(outcome))
      const answer = sealer?.open(outcome.answer, owner)
      return answer === undefined
        ? Effect.fail(
            Errors.failure("answer_not_readable", "The request took effect before, and its stored response cannot be read any more")
          )
        : Effect.succeed(plain.answer({ _tag: "Replayed", answer }))
    }
  }
}
