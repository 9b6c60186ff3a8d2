import * as Errors from "@satrail/http/wire/Errors"
import * as Idempotency from "@satrail/http/wire/Idempotency"
import type { PretendRates } from "@satrail/sandbox/FixedRates"
import * as Faults from "@satrail/sandbox/Faults"
import * as Inbox from "@satrail/sandbox/Inbox"
import type * as PretendNames from "@satrail/sandbox/PretendNames"
import type * as Sandbox from "@satrail/sandbox/Sandbox"
import type { Time } from "@satrail/sandbox/Time"
import { Clock, Context, Effect, Layer } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Pretended } from "../deployment/Pretended.ts"
import type { DatabaseSwitch } from "./DatabaseSwitch.ts"
import type { Reset } from "./Reset.ts"

/** The controls of the simulated parts, and which those are. */
export interface Given {
  readonly sandbox: Sandbox.Sandbox["Service"]
  readonly names: PretendNames.PretendNames["Service"]
  readonly pretended: Pretended
  /** Where rates are made up. */
  readonly rates?: PretendRates["Service"] | undefined
  /** Where nothing at all is real. */
  readonly time?: Time["Service"] | undefined
  readonly database?: DatabaseSwitch["Service"] | undefined
  readonly reset?: Reset["Service"] | undefined
}

export interface Controls extends Given {
  readonly parts: Faults.Parts
  readonly faults: Faults.Faults["Service"]
  readonly inbox: Inbox.Inbox
}

export class Playing extends Context.Service<Playing, Controls>()("@satrail/server/sandbox/Controls/Playing") {}

/** How each part is made to be away; what is real has no entry. */
const partsOf = ({ sandbox, names, pretended, rates, database }: Given): Faults.Parts => {
  const paused = (part: Sandbox.Part) => (isAway: boolean) => (isAway ? sandbox.pause(part) : sandbox.resume(part))
  return {
    ...(pretended.lightning && { node: paused("node") }),
    ...(pretended.chain && { chain: paused("chain") }),
    ...(pretended.web && { web: (isAway: boolean) => Effect.andThen(paused("web")(isAway), names.setAway(isAway)) }),
    ...(rates && { rates: rates.setAway }),
    ...(database && { database: database.setAway })
  }
}

/** Faults end by the clock that can be advanced. */
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

/** A part that is real here has no controls, and simulated events happen each time they are requested. */
export const may = Effect.fnUntraced(function* (isPretended: boolean, request: HttpServerRequest.HttpServerRequest) {
  if (!isPretended) return yield* Effect.fail(Errors.failure("not_found", "That part of the network is real here: it is not the sandbox's"))
  return yield* Idempotency.refused(request, "The sandbox keeps no answers")
})
