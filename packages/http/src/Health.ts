import { Context, Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { base } from "./Base.ts"
import { Decoding } from "./Decoding.ts"
import * as Envelope from "./Envelope.ts"
import * as Errors from "./Errors.ts"
import * as Handlers from "./Handlers.ts"

/** Something this process cannot serve without. `check` fails, breaks or takes too long when it is not there. */
export interface Check {
  readonly name: string
  readonly check: Effect.Effect<unknown, unknown>
}

/** What `/readyz` asks. */
export class Readiness extends Context.Service<Readiness, ReadonlyArray<Check>>()("http/Readiness") {}

/** A check that has not answered after this long has failed. */
export const checkMillis = 2000

const healthz = HttpApiEndpoint.get("healthz", "/healthz", { success: Envelope.success(200, Schema.Struct({ up: Schema.Literal(true) })) })
  .annotate(OpenApi.Summary, "Whether the process is up")
  .annotate(OpenApi.Description, "Asks nothing else, so that a process is not restarted because its database is away.")

const readyz = HttpApiEndpoint.get("readyz", "/readyz", {
  success: Envelope.success(200, Schema.Struct({ ready: Schema.Array(Schema.String) })),
  error: Errors.of("not_ready")
})
  .annotate(OpenApi.Summary, "Whether the process can serve")
  .annotate(OpenApi.Description, "Asks everything it needs. When something is not there, `error.issues` names it.")

const check = HttpApiEndpoint.get("check", "/readyz/:check", {
  params: { check: Schema.String },
  success: Envelope.success(200, Schema.Struct({ ready: Schema.Array(Schema.String) })),
  error: Errors.of("not_found", "not_ready")
})
  .annotate(OpenApi.Summary, "Whether one thing of it is there")
  .annotate(
    OpenApi.Description,
    "Asks one of those that `/readyz` asks, by its name. A proxy asks `/readyz/running`, which says 503 from the moment the process is told to stop: node, chain and database are the same for every process, and while one is away the others have no better answer."
  )

/** For whoever watches over the process. Without a key. */
export class Group extends HttpApiGroup.make("health").add(healthz, readyz, check).middleware(Decoding).annotate(OpenApi.Title, "Health") {}

export const layer = Handlers.layer(
  base.add(Group),
  "health",
  Effect.fnUntraced(function* (handlers) {
    const checks = yield* Readiness

    const ask = Effect.fnUntraced(function* (checks: ReadonlyArray<Check>) {
      const asked = yield* Effect.forEach(
        checks,
        ({ name, check }) =>
          Effect.matchCauseEffect(Effect.timeout(check, checkMillis), {
            onSuccess: () => Effect.succeed({ name, ready: true }),
            onFailure: (cause) => Effect.as(Effect.logWarning(`not ready: ${name}`, cause), { name, ready: false })
          }),
        { concurrency: "unbounded" }
      )
      const missing = asked.filter(({ ready }) => !ready)
      if (missing.length === 0) return Envelope.ok("Ready", { ready: asked.map(({ name }) => name) })
      return yield* Effect.fail(
        Errors.failure(
          "not_ready",
          `Not ready: ${missing.map(({ name }) => name).join(", ")}`,
          missing.map(({ name }) => ({ path: name, message: "Does not answer as it should" }))
        )
      )
    })

    return handlers.handleAll({
      healthz: () => Effect.succeed(Envelope.ok("Up", { up: true as const })),
      readyz: () => ask(checks),
      check: ({ params }) => {
        const named = checks.filter(({ name }) => name === params.check)
        return named.length === 0 ? Effect.fail(Errors.failure("not_found", "There is no such check")) : ask(named)
      }
    })
  })
)
