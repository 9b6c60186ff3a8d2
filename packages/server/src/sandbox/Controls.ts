import * as Errors from "@satrail/http/wire/Errors"
import * as Idempotency from "@satrail/http/wire/Idempotency"
import type { SimulatedRates } from "@satrail/sandbox/FixedRates"
import * as Faults from "@satrail/sandbox/Faults"
import * as Inbox from "@satrail/sandbox/Inbox"
import type * as SimulatedDns from "@satrail/sandbox/SimulatedDns"
import type * as Sandbox from "@satrail/sandbox/Sandbox"
import type { Time } from "@satrail/sandbox/Time"
import { Clock, Context, Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Simulated } from "../deployment/Simulated.ts"
import type { DatabaseSwitch } from "./DatabaseSwitch.ts"
import type { Reset } from "./Reset.ts"

/** The simulated parts and their controls. */
export interface Given {
  readonly sandbox: Sandbox.Sandbox["Service"]
  readonly names: SimulatedDns.SimulatedDns["Service"]
  readonly simulated: Simulated
  /** Present if rates are simulated. */
  readonly rates?: SimulatedRates["Service"] | undefined
  /** Present if everything is simulated. */
  readonly time?: Time["Service"] | undefined
  readonly database?: DatabaseSwitch["Service"] | undefined
  readonly reset?: Reset["Service"] | undefined
}

export interface Controls extends Given {
  readonly parts: Faults.Parts
  readonly faults: Faults.Faults["Service"]
  readonly inbox: Inbox.Inbox
}

export class Playing extends Context.Service<Playing, Controls>()(
  "@satrail/server/sandbox/Controls/Playing"
) {}

/** Returns the switches that make each simulated part unavailable. Real parts have no entry. */
const partsOf = ({ sandbox, names, simulated, rates, database }: Given): Faults.Parts => {
  const paused = (part: Sandbox.Part) => (isAway: boolean) =>
    isAway ? sandbox.pause(part) : sandbox.resume(part)
  return {
    ...(simulated.lightning && { node: paused("node") }),
    ...(simulated.chain && { chain: paused("chain") }),
    ...(simulated.web && {
      web: (isAway: boolean) => Effect.andThen(paused("web")(isAway), names.setAway(isAway))
    }),
    ...(rates && { rates: rates.setAway }),
    ...(database && { database: database.setAway })
  }
}

/** Provides the controls. If the clock can be advanced, it also determines when faults end. */
export const layer = (given: Given) =>
  Layer.effect(
    Playing,
    Effect.gen(function* () {
      const parts = partsOf(given)
      const clock = given.time?.waking ?? (yield* Clock.Clock)
      const faults = yield* Effect.provideService(Faults.make(parts), Clock.Clock, clock)
      return { ...given, parts, faults, inbox: Inbox.make() }
    })
  )

export const error = Errors.of("malformed", "idempotency_not_supported", "not_found", "sandbox_refused")

export const refused = <A>(effect: Effect.Effect<A, Sandbox.SandboxRefused>) =>
  Effect.mapError(effect, ({ message }) => Errors.failure("sandbox_refused", message))

/**
 * Rejects requests to control a real part. Also rejects idempotency keys, because a repeated request causes the
 * simulated event again.
 */
export const may = Effect.fnUntraced(function* (
  isSimulated: boolean,
  request: HttpServerRequest.HttpServerRequest
) {
  if (!isSimulated)
    return yield* Effect.fail(
      Errors.failure("not_found", "That part of the network is real, so the sandbox does not control it")
    )
  return yield* Idempotency.refused(request, "The sandbox does not store responses")
})
