import { Stops, What } from "@satrail/core/accounts/Stops"
import { Channels } from "@satrail/core/nodes/Channels"
import { Effect, Option, Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import * as Envelope from "../wire/Envelope.ts"
import * as Errors from "../wire/Errors.ts"
import { Example } from "../wire/Examples.ts"
import { type Look, Looks } from "../api/Readiness.ts"
import * as Section from "../api/Section.ts"
import * as Warnings from "./Warnings.ts"

const Ready = Schema.Struct({ ready: Schema.Array(Schema.String) })

/** A paused process, or one whose node has no channels, is still ready, so that a proxy keeps using it. */
const Whole = Schema.Struct({
  ...Ready.fields,
  paused: Schema.optionalKey(Schema.Array(What).annotate({ description: "Parts that the operator has paused; absent if none" })),
  warnings: Schema.optionalKey(
    Schema.Array(Warnings.view.schema).annotate({ description: "Problems with the Lightning channels; absent if none" })
  )
})

const ask = Effect.fnUntraced(function* (asked: ReadonlyArray<Effect.Effect<Look>>) {
  const found = yield* Effect.all(asked, { concurrency: "unbounded" })
  const missing = found.flatMap(({ name, reason }) => (reason === undefined ? [] : [{ path: name, message: reason }]))
  if (missing.length === 0) return Envelope.ok("Ready", { ready: found.map(({ name }) => name) })
  const names = missing.map(({ path }) => path).join(", ")
  return yield* Effect.fail(Errors.failure("not_ready", `Not ready: ${names}`, missing))
})

const healthz = Section.open(
  HttpApiEndpoint.get("healthz", "/healthz", { success: Envelope.success(200, Schema.Struct({ up: Schema.Literal(true) })) })
    .annotate(OpenApi.Summary, "Check whether the process is up")
    .annotate(
      OpenApi.Description,
      "Responds while the process is running. It checks no dependency, so that a process is not restarted because its database is down."
    )
    .annotate(Example, () => ({ message: "Up", data: { up: true } })),
  Effect.void,
  () => () => Effect.succeed(Envelope.ok("Up", { up: true as const }))
)

const readyz = Section.open(
  HttpApiEndpoint.get("readyz", "/readyz", { success: Envelope.success(200, Whole), error: Errors.of("not_ready") })
    .annotate(OpenApi.Summary, "Check whether the process is ready")
    .annotate(
      OpenApi.Description,
      "Runs all dependency checks, each at most once per second. If a check fails, `error.issues` has its name and the reason. Channel problems are only warnings, because requests that need no channel still succeed."
    )
    .annotate(Example, () => ({ message: "Ready", data: { ready: ["store", "node", "chain"] } })),
  Effect.all([Looks, Stops, Channels]),
  ([looks, stops, channels]) =>
    Effect.fnUntraced(function* () {
      const ready = yield* ask([...looks.values()])
      const standing = yield* Effect.option(stops.standing)
      const paused = Option.isNone(standing) ? [] : What.literals.filter((what) => standing.value[what] !== null)
      const warnings = (yield* channels.warnings).map(Warnings.view.of)
      return Envelope.ok("Ready", {
        ...ready.data,
        ...(paused.length > 0 && { paused }),
        ...(warnings.length > 0 && { warnings })
      })
    })
)

const check = Section.open(
  HttpApiEndpoint.get("check", "/readyz/:check", {
    params: { check: Schema.String },
    success: Envelope.success(200, Ready),
    error: Errors.of("not_found", "not_ready")
  })
    .annotate(OpenApi.Summary, "Run one readiness check")
    .annotate(
      OpenApi.Description,
      "Runs one of the `/readyz` checks, selected by name. A reverse proxy should use `/readyz/running`, which returns 503 as soon as the process starts to shut down. All processes share the node, the chain and the database, so if one of these is down, sending requests to another process does not help."
    )
    .annotate(Example, () => ({ params: { check: "node" }, message: "Ready", data: { ready: ["node"] } })),
  Looks,
  (looks) =>
    ({ params }) => {
      const look = looks.get(params.check)
      return look === undefined ? Effect.fail(Errors.failure("not_found", "There is no such check")) : ask([look])
    }
)

/** The health section. Its endpoints require no key. */
export const section = Section.make("health", { title: "Health", description: "For supervisors, proxies and monitoring" }, [
  healthz,
  readyz,
  check
])
