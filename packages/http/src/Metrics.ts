import { Reconciliation } from "@satrail/core/reconciliation/Reconciliation"
import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { PrometheusMetrics } from "effect/observability"
import { OperatorAuthentication } from "./Authentication.ts"
import { base } from "./Base.ts"
import { Decoding } from "./Decoding.ts"
import * as Gauges from "./Gauges.ts"
import * as Handlers from "./Handlers.ts"
import { Looks, layer as layerLooks } from "./Looks.ts"

/** https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
const text = Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/plain; version=0.0.4; charset=utf-8" }))

const metrics = HttpApiEndpoint.get("metrics", "/operator/metrics", { success: text })
  .annotate(OpenApi.Summary, "What this process has measured")
  .annotate(
    OpenApi.Description,
    "As Prometheus reads it: text, not an envelope. Each process counts for itself, since its start; what waits and what differs is the same for all."
  )

/** For whoever watches over many processes. With the operator's token, which Prometheus sends as `authorization.credentials`. */
export class Group extends HttpApiGroup.make("metrics")
  .add(metrics)
  .middleware(Decoding)
  .middleware(OperatorAuthentication)
  .annotate(OpenApi.Title, "Metrics")
  .annotate(OpenApi.Description, "For Prometheus") {}

export const layer = Handlers.layer(
  base.add(Group),
  "metrics",
  Effect.fnUntraced(function* (handlers) {
    const reconciliation = yield* Reconciliation
    const looks = yield* Looks
    // Whether node and chain are there is as fresh here as in `/readyz`: it is the same look.
    const measured = Effect.all([Gauges.refresh(reconciliation), ...looks.values()], { concurrency: "unbounded", discard: true })
    return handlers.handleAll({ metrics: () => Effect.andThen(measured, PrometheusMetrics.format()) })
  })
).pipe(Layer.provide(layerLooks))
