import { Context, Effect, References } from "effect"
import { randomBytes } from "node:crypto"
import * as Exchange from "./Exchange.ts"

export const header = "x-request-id"

/** The name of the annotation that every line of a request's log has. */
export const annotation = "request_id"

/** The longest id that is taken over from a request. */
export const maxCharacters = 128

/** What the ids that are in use are made of (UUIDs, ULIDs, trace ids, base64): nothing that a header, a log or JSON has to escape. */
const wellFormed = new RegExp(`^[\\w.:=+/~-]{1,${maxCharacters}}$`)

const idDigits = 32
const atOnce = 256

// Ids are cut from a text of random digits, made for many at once: a UUID of its own would cost a request a fiftieth.
let digits = ""
let next = 0

/** 128 random bits in hex, as a trace id has. Nothing about the service can be read from it, such as how many requests there were. */
const make = (): string => {
  if (next === digits.length) {
    digits = randomBytes((idDigits * atOnce) / 2).toString("hex")
    next = 0
  }
  next += idDigits
  return digits.slice(next - idDigits, next)
}

/** The id of a request: the one that came with it, where it is well-formed, and a new one otherwise. */
export const of = (given: string | ReadonlyArray<string> | undefined): string =>
  typeof given === "string" && wellFormed.test(given) ? given : make()

/** `effect` answers the request: every line that it logs names it, beside what `more` and a host's own annotations say. */
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
