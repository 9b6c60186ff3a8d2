import { Context, Effect, References } from "effect"
import { randomBytes } from "node:crypto"
import * as Exchange from "./Exchange.ts"

export const header = "x-request-id"

/** Name of the log annotation with the request id. */
export const annotation = "request_id"

/** Maximum length of an id sent by the client. */
export const maxCharacters = 128

/**
 * Characters in common ids (UUIDs, ULIDs, trace ids, base64). None needs escaping in a header, a log or JSON.
 */
const wellFormed = new RegExp(`^[\\w.:=+/~-]{1,${maxCharacters}}$`)

const idDigits = 32
const atOnce = 256

// Ids are cut from a batch of random digits. Making a UUID each time would take a fiftieth of a request's time.
let digits = ""
let next = 0

/**
 * Returns 128 random bits in hex, like a trace id. It reveals nothing about the service, such as its number
 * of requests.
 */
const make = (): string => {
  if (next === digits.length) {
    digits = randomBytes((idDigits * atOnce) / 2).toString("hex")
    next = 0
  }
  next += idDigits
  return digits.slice(next - idDigits, next)
}

/** Returns the id sent with a request if it is well-formed, otherwise a new one. */
export const of = (given: string | ReadonlyArray<string> | undefined): string =>
  typeof given === "string" && wellFormed.test(given) ? given : make()

/** Runs `effect` with the request id in every log line, together with `more` and the host's annotations. */
export const annotated =
  (exchange: Exchange.Exchange, more: Readonly<Record<string, unknown>>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.updateContext(effect, (context: Context.Context<R>) =>
      Context.add(Context.add(context, Exchange.Current, exchange), References.CurrentLogAnnotations, {
        ...more,
        ...Context.get(context, References.CurrentLogAnnotations),
        [annotation]: exchange.id
      })
    )
