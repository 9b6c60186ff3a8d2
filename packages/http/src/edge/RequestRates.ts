import * as Throttle from "@satrail/core/base/Throttle"
import { Clock, Context, Effect } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { addressOf } from "../wire/Address.ts"
import * as Errors from "../wire/Errors.ts"
import * as Exchange from "./Exchange.ts"

/** Limits on requests per minute, counted by each process. An absent limit is unlimited. */
export interface Limits {
  /** Requests with one API key, which also has a limit per second (see `burstOf`). */
  readonly perKey?: number | undefined
  /** Requests from one address without a valid key or operator token. */
  readonly perStranger?: number | undefined
  /** Number of the operator's reverse proxies, as in `Edge.Options`. */
  readonly proxies?: number
}

/** Default requests per minute from one address without a valid key. */
export const perStranger = 600

type Refusal = Errors.Failure<"rate_limited">

interface Rates {
  /** Counts a request with this key and fails if the limit is reached; undefined if keys are not limited. */
  readonly ofKey: ((id: string) => Effect.Effect<void, Refusal>) | undefined
  /**
   * Fails with the given error. Also counts an invalid credential against the caller's address. Valid
   * credentials are not counted, so that others who guess keys from the same address cannot block a customer.
   */
  readonly refuse: <E extends Errors.Failure>(
    failed: E
  ) => Effect.Effect<never, E | Refusal, HttpServerRequest.HttpServerRequest>
  /**
   * Counts a request that needs no key against its address and the networks around it, and fails if any limit
   * is reached.
   */
  readonly ofStranger: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<void, Refusal>
}

/** Rate, per name, at which rejections are sent without delay. A client that respects `Retry-After` stays below it. */
export const promptRefusals: Throttle.Rate = { count: 10, everyMillis: 100 }

/** Delay of further rejections. A client that retries immediately would otherwise occupy the thread. */
export const lateMillis = 1000

/**
 * Additional delay between one rejection and the next, so that delayed clients do not all return together.
 */
export const apartMillis = 4

/**
 * Maximum number of delayed rejections per counter. Delays need a limit because one connection can send many
 * requests. Beyond it, rejections are immediate.
 */
export const maxLate = 1000

/**
 * Divisors that derive a key's requests per second from its requests per minute, and the number of requests
 * that start without delay from the requests per second. `least` is the lower bound for both results, so that a
 * page with ten requests does not wait.
 */
export const [burstPart, promptPart, least] = [30, 10, 10]

/**
 * Returns the number of requests per second that one key may send. A whole minute's quota can be used within
 * half a minute.
 */
export const burstOf = (perMinute: number): number =>
  Math.min(perMinute, Math.max(least, Math.ceil(perMinute / burstPart)))

/**
 * Returns how many of these requests start without delay. The others wait for their share of the second, so
 * that a flood does not occupy the whole process.
 */
export const promptOf = (burst: number): number => Math.max(least, Math.ceil(burst / promptPart))

interface Policy {
  readonly name: string
  readonly quota: number
  readonly windowSeconds: number
  /** Wording in a rejection: `per minute with this key`. */
  readonly of: string
  /** Number of requests served without delay. The others wait for their share of the time. */
  readonly prompt: number
}

const rateOf = ({ quota, windowSeconds }: Policy): Throttle.Rate => ({
  count: quota,
  everyMillis: (windowSeconds * 1000) / quota
})

// Rounding error must not push the value to the next second.
const seconds = (millis: number): number => Math.ceil(Number(millis.toFixed(3)) / 1000)

/**
 * Rate limit headers (draft-ietf-httpapi-ratelimit-headers-11): each policy allows `q` requests in `w`
 * seconds; `r` remain, and after `t` seconds all are available again. A rejection states when the next
 * request is accepted.
 */
const headersOf = (policies: ReadonlyArray<Policy>, rooms: ReadonlyArray<Throttle.Room>) => {
  const refusing = rooms.filter(({ isWithin }) => !isWithin).map(({ nextMillis }) => nextMillis)
  return {
    "ratelimit-policy": policies
      .map(({ name, quota, windowSeconds }) => `"${name}";q=${quota};w=${windowSeconds}`)
      .join(", "),
    ratelimit: rooms
      .map(({ left, wholeMillis }, n) => `"${policies[n]?.name}";r=${left};t=${seconds(wholeMillis)}`)
      .join(", "),
    ...(refusing.length > 0 && { "retry-after": String(seconds(Math.max(...refusing))) })
  }
}

/** Counts requests by name: by key, or by a caller's address and the networks around it. */
interface Counter {
  readonly take: (name: string, nowMillis: number) => ReadonlyArray<Throttle.Room>
  readonly isPrompt: (name: string, nowMillis: number) => boolean
}

const ofNames = (rates: ReadonlyArray<Throttle.Rate>): Counter => ({
  take: Throttle.meter(...rates),
  isPrompt: Throttle.make(promptRefusals)
})

const ofCallers = (rates: ReadonlyArray<Throttle.Rate>): Counter => {
  const [takes, prompt] = [rates.map(Throttle.callers), Throttle.callers(promptRefusals)]
  return {
    take: (address, nowMillis) => takes.map((take) => take(address, nowMillis)),
    isPrompt: (address, nowMillis) => prompt(address, nowMillis).isWithin
  }
}

const counting = (counter: typeof ofNames, ...policies: ReadonlyArray<Policy>): Rates["ofKey"] => {
  if (policies.length === 0) return undefined
  const rates = policies.map(rateOf)
  const { take, isPrompt } = counter(rates)
  const refusals = policies.map(({ quota, of }) =>
    Effect.fail(Errors.failure("rate_limited", `Rate limit reached: at most ${quota} requests ${of}`))
  )
  let late = 0
  const later = (refused: Effect.Effect<never, Refusal>) =>
    Effect.suspend(() => {
      if (late >= maxLate) return refused
      const delayMillis = lateMillis + late * apartMillis
      late++
      return Effect.ensuring(
        Effect.delay(refused, delayMillis),
        Effect.sync(() => late--)
      )
    })
  const waitMillis = (rooms: ReadonlyArray<Throttle.Room>): number =>
    rooms.reduce((most, { wholeMillis }, n) => {
      const [prompt, everyMillis] = [policies[n]?.prompt ?? 0, rates[n]?.everyMillis ?? 0]
      return Math.max(most, wholeMillis - prompt * everyMillis)
    }, 0)
  return (name) =>
    Effect.flatMap(Clock.currentTimeMillis, (nowMillis) => {
      const rooms = take(name, nowMillis)
      const refused = refusals.find((_, n) => rooms[n]?.isWithin === false)
      const wait = refused === undefined ? waitMillis(rooms) : 0
      const taken = wait > 0 ? Effect.sleep(wait) : Effect.void
      const noting = Exchange.noting({ headers: headersOf(policies, rooms) })
      return noting(refused === undefined ? taken : isPrompt(name, nowMillis) ? refused : later(refused))
    })
}

const aMinute = (name: string, quota: number | undefined, whose: string): ReadonlyArray<Policy> =>
  quota === undefined ? [] : [{ name, quota, windowSeconds: 60, of: `per minute ${whose}`, prompt: quota }]

/** Returns the policy per second, unless it would equal the limit per minute and be redundant. */
const aSecond = (perMinute: number | undefined, whose: string): ReadonlyArray<Policy> => {
  const quota = perMinute === undefined ? undefined : burstOf(perMinute)
  return quota === undefined || quota === perMinute
    ? []
    : [{ name: "burst", quota, windowSeconds: 1, of: `per second ${whose}`, prompt: promptOf(quota) }]
}

export const make = ({ perKey, perStranger, proxies = 0 }: Limits): Rates => {
  const ofAddress = counting(
    ofCallers,
    ...aMinute("stranger", perStranger, "from this address or network without a valid key or token")
  )
  const ofStranger: Rates["ofStranger"] = (request) => ofAddress?.(addressOf(request, proxies)) ?? Effect.void
  const whose = "with this key"
  return {
    ofKey: counting(ofNames, ...aMinute("key", perKey, whose), ...aSecond(perKey, whose)),
    refuse: (failed) =>
      failed.error.code === "unauthorized"
        ? Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
            Effect.andThen(ofStranger(request), Effect.fail(failed))
          )
        : Effect.fail(failed),
    ofStranger
  }
}

/** Runs a request that needs no key, or rejects it if its caller or a network around it is over the limit. */
export const admitting =
  (ofStranger: Rates["ofStranger"], refused: (refusal: Refusal) => HttpServerResponse.HttpServerResponse) =>
  <E, R>(
    request: HttpServerRequest.HttpServerRequest,
    work: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ) =>
    Effect.matchEffect(ofStranger(request), {
      onFailure: (refusal) => Effect.succeed(refused(refusal)),
      onSuccess: () => work
    })

/** Request limits. Default: unlimited. */
export const RequestRates = Context.Reference<Rates>("@satrail/http/edge/RequestRates", {
  defaultValue: () => make({})
})
