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

/** A process that is paused, cannot send, or has no channels is still ready, so that a proxy keeps using it. */
const Whole = Schema.Struct({
  ...Ready.fields,
  paused: Schema.optionalKey(
    Schema.Array(What).annotate({ description: "Parts that the operator has paused; absent if none" })
  ),
  warnings: Schema.optionalKey(
    Schema.Array(Warnings.view.schema).annotate({
      description: "Problems that leave the process ready; absent if none"
    })
  )
})

interface Missing {
  readonly path: string
  readonly message: string
}
const missing = ({ name, reason }: Look): ReadonlyArray<Missing> =>
  reason === undefined ? [] : [{ path: name, message: reason }]
const ready = (found: ReadonlyArray<Look>) => ({
  ready: found.flatMap(({ name, reason }) => (reason === undefined ? [name] : []))
})
const notReady = (issues: ReadonlyArray<Missing>) =>
  Errors.failure("not_ready", `Not ready: ${issues.map(({ path }) => path).join(", ")}`, issues)

const healthz = Section.open(
  HttpApiEndpoint.get("healthz", "/healthz", {
    success: Envelope.success(200, Schema.Struct({ up: Schema.Literal(true) }))
  })
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
  HttpApiEndpoint.get("readyz", "/readyz", {
    success: Envelope.success(200, Whole),
    error: Errors.of("not_ready")
  })
    .annotate(OpenApi.Summary, "Check whether the process is ready")
    .annotate(
      OpenApi.Description,
      "Runs all dependency checks, each at most once per second. If a check fails, `error.issues` has its name and the reason. A failed check `sender`, which sends Lightning payments, and channel problems are only warnings, because other requests still succeed."
    )
    .annotate(Example, () => ({ message: "Ready", data: { ready: ["store", "node", "chain"] } })),
  Effect.all([Looks, Stops, Channels]),
  ([looks, stops, channels]) =>
    Effect.fnUntraced(function* () {
      const found = yield* Effect.all([...looks.values()], { concurrency: "unbounded" })
      if (found.some((look) => look.isOptional !== true && look.reason !== undefined))
        return yield* Effect.fail(notReady(found.flatMap(missing)))
      const lacking = found
        .flatMap(missing)
        .map(({ path, message }) => ({ code: `${path}_not_ready`, message }))
      const standing = yield* Effect.option(stops.standing)
      const paused = Option.isNone(standing)
        ? []
        : What.literals.filter((what) => standing.value[what] !== null)
      const warnings = [...lacking, ...(yield* channels.warnings).map(Warnings.view.of)]
      return Envelope.ok("Ready", {
        ...ready(found),
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
      if (look === undefined) return Effect.fail(Errors.failure("not_found", "There is no such check"))
      return Effect.flatMap(look, (found) =>
        found.reason === undefined
          ? Effect.succeed(Envelope.ok("Ready", ready([found])))
          : Effect.fail(notReady(missing(found)))
      )
    }
)

/** The health section. Its endpoints require no key. */
export const section = Section.make(
  "health",
  { title: "Health", description: "For supervisors, proxies and monitoring" },
  [healthz, readyz, check]
)
