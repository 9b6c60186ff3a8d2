import { sha256 } from "@satrail/bitcoin/Sha256"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import type { Outcome, Request } from "@satrail/core/ledger/Answer"
import * as Meaning from "@satrail/core/ledger/Meaning"
import { Effect, Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import * as Envelope from "./Envelope.ts"
import * as Errors from "./Errors.ts"
import type { Sealer } from "./Seal.ts"

/** Request headers of every endpoint that creates something. */
export const headers = {
  "idempotency-key": Schema.optionalKey(
    Schema.String.check(
      Schema.isPattern(/^[!-~]{1,255}$/, {
        message: "Idempotency-Key must be 1 to 255 visible ASCII characters"
      })
    ).annotate({
      description:
        "Makes the request safe to retry: repeating the same key and body takes effect once and returns the stored response. Use one key, such as a UUID, for a request and all its retries",
      examples: ["9f0d1c1e-52a5-4f7c-8f43-0b8f6a6c1042"]
    })
  )
}

/**
 * Rejects an idempotency key at an endpoint whose response is not stored, because the client would rely on the
 * key to retry safely. `why` begins the message.
 */
export const refused = (request: HttpServerRequest.HttpServerRequest, why: string) =>
  request.headers["idempotency-key"] === undefined
    ? Effect.void
    : Effect.fail(Errors.failure("idempotency_not_supported", `${why}. Omit Idempotency-Key`))

/**
 * Makes requests that create a record idempotent, and renders their responses. `path` is the endpoint's
 * canonical path, even for requests sent to an alias.
 */
export const creation = <Value, Data>(path: string, message: string, wire: (value: Value) => Data) => {
  const render = (value: Value) => JSON.stringify(Envelope.created(message, wire(value)))

  return {
    /**
     * Returns the idempotency fields of the request to the core, or no fields if there is no key. `asked` is what the
     * body asks for, decoded and with its defaults: whatever the core gets except the caller. Pass a list without an
     * order as a Set. `at` is the path with the id filled in, if the path has one.
     */
    once: (
      request: HttpServerRequest.HttpServerRequest,
      key: string | undefined,
      asked: object,
      at: string = path
    ): Effect.Effect<{ readonly request?: Request<Value> }> =>
      key === undefined
        ? Effect.succeed({})
        : // Unreadable bodies have already been rejected, so this is the text that was decoded.
          Effect.map(Effect.orDie(request.text), (text) => {
            const operation = `POST ${at}`
            const fingerprint = sha256.hex(`${operation} ${text}`)
            return { request: { key, fingerprint, meaning: Meaning.digest(operation, asked), render } }
          }),
    /** Returns the response. A repeated request gets the same bytes. */
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

/** Errors of an endpoint that uses `sealedCreation`. */
export const sealedErrors = [
  "idempotency_mismatch",
  "idempotency_not_supported",
  "answer_not_readable",
  "conflict"
] as const

/**
 * Same as `creation`, for a response that contains a secret. The response is stored sealed for `owner`. Without
 * a `sealer`, an idempotency key is rejected.
 */
export const sealedCreation = <Value, Data>(
  path: string,
  message: string,
  wire: (value: Value) => Data,
  sealer: Sealer | undefined
) => {
  const plain = creation(path, message, wire)

  return {
    once: Effect.fnUntraced(function* (
      request: HttpServerRequest.HttpServerRequest,
      key: string | undefined,
      asked: object,
      owner: CompanyId.CompanyId,
      at: string = path
    ) {
      if (sealer === undefined)
        yield* refused(request, "The response contains a secret, and there is no key to encrypt it")
      const once = yield* plain.once(request, key, asked, at)
      if (sealer === undefined || once.request === undefined) return {}
      const { render, ...known } = once.request
      return {
        request: { ...known, render: (value) => sealer.seal(render(value), owner) } satisfies Request<Value>
      }
    }),
    answer: (outcome: Outcome<Value>, owner: CompanyId.CompanyId) => {
      if (outcome._tag === "Made") return Effect.succeed(plain.answer(outcome))
      const answer = sealer?.open(outcome.answer, owner)
      return answer === undefined
        ? Effect.fail(
            Errors.failure(
              "answer_not_readable",
              "The request already took effect, but its stored response can no longer be read"
            )
          )
        : Effect.succeed(plain.answer({ _tag: "Replayed", answer }))
    }
  }
}
