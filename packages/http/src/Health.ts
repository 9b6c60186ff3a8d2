import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { base } from "./Base.ts"
import { Decoding } from "./Decoding.ts"
import * as Envelope from "./Envelope.ts"
import * as Errors from "./Errors.ts"
import * as Handlers from "./Handlers.ts"
import { type Look, Looks, layer as layerLooks } from "./Looks.ts"

export { type Check, checkMillis, Readiness } from "./Looks.ts"

const healthz = HttpApiEndpoint.get("healthz", "/healthz", { success: Envelope.success(200, Schema.Struct({ up: Schema.Literal(true) })) })
  .annotate(OpenApi.Summary, "Whether the process is up")
  .annotate(OpenApi.Description, "Asks nothing else, so that a process is not restarted because its database is away.")

const readyz = HttpApiEndpoint.get("readyz", "/readyz", {
  success: Envelope.success(200, Schema.Struct({ ready: Schema.Array(Schema.String) })),
  error: Errors.of("not_ready")
})
  .annotate(OpenApi.Summary, "Whether the process can serve")
  .annotate(
    OpenApi.Description,
    "Asks everything it needs, each once a second at most, whoever asks. When something is not there, `error.issues` names it and says why."
  )

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
export class Group extends HttpApiGroup.make("health")
  .add(healthz, readyz, check)
  .middleware(Decoding)
  .annotate(OpenApi.Title, "Health")
  .annotate(OpenApi.Description, "For whoever watches over the process") {}

export const layer = Handlers.layer(
  base.add(Group),
  "health",
  Effect.fnUntraced(function* (handlers) {
    const looks = yield* Looks

    const ask = Effect.fnUntraced(function* (asked: ReadonlyArray<Effect.Effect<Look>>) {
      const found = yield* Effect.all(asked, { concurrency: "unbounded" })
      const missing = found.flatMap(({ name, reason }) => (reason === undefined ? [] : [{ path: name, message: reason }]))
      if (missing.length === 0) return Envelope.ok("Ready", { ready: found.map(({ name }) => name) })
      const names = missing.map(({ path }) => path).join(", ")
      return yield* Effect.fail(Errors.failure("not_ready", `Not ready: ${names}`, missing))
    })

    return handlers.handleAll({
      healthz: () => Effect.succeed(Envelope.ok("Up", { up: true as const })),
      readyz: () => ask([...looks.values()]),
      check: ({ params }) => {
        const look = looks.get(params.check)
        return look === undefined ? Effect.fail(Errors.failure("not_found", "There is no such check")) : ask([look])
      }
    })
  })
).pipe(Layer.provide(layerLooks))
