import { Channels } from "@satrail/core/nodes/Channels"
import { Reconciliation } from "@satrail/core/reports/reconciliation/Reconciliation"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { PrometheusMetrics } from "effect/observability"
import { Looks } from "../api/Readiness.ts"
import * as Section from "../api/Section.ts"
import * as Gauges from "./Gauges.ts"

/** https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
const text = Schema.String.pipe(
  HttpApiSchema.asText({ contentType: "text/plain; version=0.0.4; charset=utf-8" })
)

const metrics = Section.operator(
  HttpApiEndpoint.get("metrics", "/operator/metrics", { success: text })
    .annotate(OpenApi.Summary, "Get the metrics of this process")
    .annotate(
      OpenApi.Description,
      "Returns metrics in Prometheus text format, not in an envelope. Each process counts separately, from its own start. Backlog and discrepancies are the same in all processes."
    ),
  Effect.all([Reconciliation, Looks, Channels, Gauges.sinceMillis]),
  ([reconciliation, looks, channels, sinceMillis]) => {
    // Runs the checks of `/readyz`, so that the metrics of the node and the chain are as recent as those
    // checks.
    const measured = Effect.all(
      [Gauges.refresh(reconciliation, sinceMillis), channels.now, ...looks.values()],
      {
        concurrency: "unbounded",
        discard: true
      }
    )
    return () => Effect.andThen(measured, PrometheusMetrics.format())
  }
)

/** For monitoring. Requires the operator's token, which Prometheus sends as `authorization.credentials`. */
export const section = Section.make("metrics", { title: "Metrics", description: "For Prometheus" }, [metrics])
