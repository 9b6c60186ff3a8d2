import * as Throttle from "@satrail/core/base/Throttle"
import { Clock, Context, Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { callerOf } from "./Address.ts"
import * as Errors from "./Errors.ts"
import * as Exchange from "./Exchange.ts"

/** How many requests a minute are taken, each by this process's own count. What is absent is not limited. */
export interface Limits {
  /** With one API key. */
  readonly perKey?: number | undefined
  /** From one address, with what is no key and no operator's token. */
  readonly perStranger?: number | undefined
  /** How many reverse proxies of the operator's own stand in front, as in `Edge.Options`. */
  readonly proxies?: number
}

type Refusal = Errors.Failure<"rate_limited">

interface Rates {
  /** Counts a request with this key, and fails where it has no more; undefined where keys are not limited. */
  readonly ofKey: ((id: string) => Effect.Effect<void, Refusal>) | undefined
  /**
   * Fails with what opened nothing, and counts it against the address that it came from. What opens something is never counted there: others behind the same
   * address may guess.
   */
  readonly refuse: <E extends Errors.Failure>(failed: E) => Effect.Effect<never, E | Refusal, HttpServerRequest.HttpServerRequest>
}

/** How many refusals of one name are answered at once: more than anybody meets who waits as `Retry-After` says. */
export const promptRefusals: Throttle.Rate = { count: 10, everyMillis: 100 }

/** How late the others are answered: to refuse whoever asks again at once, as fast as he asks, would take the thread from everybody else. */
export const lateMillis = 1000

/** How many of them wait at once for a policy. One connection can send many requests: what is above is refused at once. */
export const maxLate = 1000

const seconds = (millis: number): number => Math.ceil(millis / 1000)

/**
 * How an answer says what is left (draft-ietf-httpapi-ratelimit-headers-11): `q` requests within `w` seconds, of which `r` are left, and in `t` seconds there are all of
 * them again. A refused one says when the next is taken.
 */
const headersOf = (policy: string, perMinute: number, { isWithin, left, nextMillis, wholeMillis }: Throttle.Room) => ({
  "ratelimit-policy": `"${policy}";q=${perMinute};w=60`,
  ratelimit: `"${policy}";r=${left};t=${seconds(wholeMillis)}`,
  ...(!isWithin && { "retry-after": String(seconds(nextMillis)) })
})

const counting = (policy: string, perMinute: number | undefined, of: string): Rates["ofKey"] => {
  if (perMinute === undefined) return undefined
  const take = Throttle.meter(Throttle.perMinute(perMinute))
  const isPrompt = Throttle.make(promptRefusals)
  const refused = Effect.fail(Errors.failure("rate_limited", `There are more than ${perMinute} requests a minute ${of}`))
  let late = 0
  const refusedLate = Effect.suspend(() => {
    if (late >= maxLate) return refused
    late++
    return Effect.ensuring(
      Effect.delay(refused, lateMillis),
      Effect.sync(() => late--)
    )
  })
  return (name) =>
    Effect.flatMap(Clock.currentTimeMillis, (nowMillis) => {
      const room = take(name, nowMillis)
      const noting = Exchange.noting({ headers: headersOf(policy, perMinute, room) })
      return noting(room.isWithin ? Effect.void : isPrompt(name, nowMillis) ? refused : refusedLate)
    })
}

export const make = ({ perKey, perStranger, proxies = 0 }: Limits): Rates => {
  const ofStranger = counting("stranger", perStranger, "from this address without a key or token that is one")
  return {
    ofKey: counting("key", perKey, "with this key"),
    refuse: (failed) =>
      ofStranger === undefined || failed.error.code !== "unauthorized"
        ? Effect.fail(failed)
        : Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
            Effect.andThen(ofStranger(callerOf(request, proxies)), Effect.fail(failed))
          )
  }
}

/** How many requests are taken. Any number unless given. */
export const RequestRates = Context.Reference<Rates>("@satrail/http/RequestRates", { defaultValue: () => make({}) })
