import * as Throttle from "@satrail/core/base/Throttle"
import { Clock, Context, Effect } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { addressOf } from "../wire/Address.ts"
import * as Errors from "../wire/Errors.ts"
import * as Exchange from "./Exchange.ts"

/** How many requests a minute are taken, each by this process's own count. What is absent is not limited. */
export interface Limits {
  /** With one API key, which also has a limit for each second: see `burstOf`. */
  readonly perKey?: number | undefined
  /** From one address, without a valid key or operator's token. */
  readonly perStranger?: number | undefined
  /** How many reverse proxies of the operator's own stand in front, as in `Edge.Options`. */
  readonly proxies?: number
}

/** How many requests a minute one address has without a valid key, unless the operator says otherwise. */
export const perStranger = 600

type Refusal = Errors.Failure<"rate_limited">

interface Rates {
  /** Counts a request with this key, and fails where it has no more; undefined where keys are not limited. */
  readonly ofKey: ((id: string) => Effect.Effect<void, Refusal>) | undefined
  /**
   * Fails with what opened nothing, and counts it against the address that it came from. What opens something is never counted there: others behind the same
   * address may guess.
   */
  readonly refuse: <E extends Errors.Failure>(failed: E) => Effect.Effect<never, E | Refusal, HttpServerRequest.HttpServerRequest>
  /** Counts a request that needs no key against its address and the networks around it, and fails where one of them has no more. */
  readonly ofStranger: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<void, Refusal>
}

/** How many refusals of one name are answered at once: more than anybody meets who waits as `Retry-After` says. */
export const promptRefusals: Throttle.Rate = { count: 10, everyMillis: 100 }

/** How late the others are answered: to refuse whoever asks again at once, as fast as he asks, would take the thread from everybody else. */
export const lateMillis = 1000

/** And each of them so much later than the one before it: together they would all come back together, and others would wait for all of them. */
export const apartMillis = 4

/** How many of them wait at once for a policy. One connection can send many requests: what is above is refused at once. */
export const maxLate = 1000

/** Within a second a key has this part of its minute, and of that this part at once; of both so many at least: a page that asks for ten things does not wait. */
export const [burstPart, promptPart, least] = [30, 10, 10]

/** How many requests with one key are taken within a second: those of a minute may all come in half of it. */
export const burstOf = (perMinute: number): number => Math.min(perMinute, Math.max(least, Math.ceil(perMinute / burstPart)))

/** How many of them are worked on at once. The next ones wait for their place in the second, or a flood would have the whole process for as long as they take. */
export const promptOf = (burst: number): number => Math.max(least, Math.ceil(burst / promptPart))

interface Policy {
  readonly name: string
  readonly quota: number
  readonly windowSeconds: number
  /** As a refusal says it: `a minute with this key`. */
  readonly of: string
  /** How many are taken at once; the next ones wait until there is time for them. */
  readonly prompt: number
}

const rateOf = ({ quota, windowSeconds }: Policy): Throttle.Rate => ({ count: quota, everyMillis: (windowSeconds * 1000) / quota })

// Not the next one for what a sum of fractions is too much.
const seconds = (millis: number): number => Math.ceil(Number(millis.toFixed(3)) / 1000)

/**
 * How an answer says what is left (draft-ietf-httpapi-ratelimit-headers-11): of each policy `q` requests within `w` seconds, of which `r` are left, and in `t` seconds
 * there are all of them again. A refused one says when the next is taken.
 */
const headersOf = (policies: ReadonlyArray<Policy>, rooms: ReadonlyArray<Throttle.Room>) => {
  const refusing = rooms.filter(({ isWithin }) => !isWithin).map(({ nextMillis }) => nextMillis)
  return {
    "ratelimit-policy": policies.map(({ name, quota, windowSeconds }) => `"${name}";q=${quota};w=${windowSeconds}`).join(", "),
    ratelimit: rooms.map(({ left, wholeMillis }, n) => `"${policies[n]?.name}";r=${left};t=${seconds(wholeMillis)}`).join(", "),
    ...(refusing.length > 0 && { "retry-after": String(seconds(Math.max(...refusing))) })
  }
}

/** How names are counted: keys each alone, callers with the networks around them. */
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
    Effect.fail(Errors.failure("rate_limited", `There are more than ${quota} requests ${of}`))
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
  quota === undefined ? [] : [{ name, quota, windowSeconds: 60, of: `a minute ${whose}`, prompt: quota }]

/** Where it is as many as in a minute there is none: it would say the same. */
const aSecond = (perMinute: number | undefined, whose: string): ReadonlyArray<Policy> => {
  const quota = perMinute === undefined ? undefined : burstOf(perMinute)
  return quota === undefined || quota === perMinute
    ? []
    : [{ name: "burst", quota, windowSeconds: 1, of: `a second ${whose}`, prompt: promptOf(quota) }]
}

export const make = ({ perKey, perStranger, proxies = 0 }: Limits): Rates => {
  const ofAddress = counting(ofCallers, ...aMinute("stranger", perStranger, "from this address or network without a valid key or token"))
  const ofStranger: Rates["ofStranger"] = (request) => ofAddress?.(addressOf(request, proxies)) ?? Effect.void
  const whose = "with this key"
  return {
    ofKey: counting(ofNames, ...aMinute("key", perKey, whose), ...aSecond(perKey, whose)),
    refuse: (failed) =>
      failed.error.code === "unauthorized"
        ? Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => Effect.andThen(ofStranger(request), Effect.fail(failed)))
        : Effect.fail(failed),
    ofStranger
  }
}

/** Does the work of a request that needs no key, or answers that its caller or a network around it has no more requests. */
export const admitting =
  (ofStranger: Rates["ofStranger"], refused: (refusal: Refusal) => HttpServerResponse.HttpServerResponse) =>
  <E, R>(request: HttpServerRequest.HttpServerRequest, work: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
    Effect.matchEffect(ofStranger(request), { onFailure: (refusal) => Effect.succeed(refused(refusal)), onSuccess: () => work })

/** How many requests are taken. Any number unless given. */
export const RequestRates = Context.Reference<Rates>("@satrail/http/edge/RequestRates", { defaultValue: () => make({}) })
