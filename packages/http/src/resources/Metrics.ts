import { Channels } from "@satrail/core/nodes/Channels"
import { Reconciliation } from "@satrail/core/reports/reconciliation/Reconciliation"
import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { PrometheusMetrics } from "effect/observability"
import { Looks } from "../api/Readiness.ts"
import * as Section from "../api/Section.ts"
import * as Gauges from "./Gauges.ts"

/** https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format */
const text = Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/plain; version=0.0.4; charset=utf-8" }))

const metrics = Section.operator(
  HttpApiEndpoint.get("metrics", "/operator/metrics", { success: text })
    .annotate(OpenApi.Summary, "What this process has measured")
    .annotate(
      OpenApi.Description,
      "In Prometheus's text format, not in an envelope. Each process counts for itself, since its start; backlog and discrepancies are the same for all."
    ),
  Effect.all([Reconciliation, Looks, Channels]),
  ([reconciliation, looks, channels]) => {
    // Whether node and chain are there is as fresh here as in `/readyz`: it is the same look.
    const measured = Effect.all([Gauges.refresh(reconciliation), channels.now, ...looks.values()], {
      concurrency: "unbounded",
      discard: true
    })
    return () => Effect.andThen(measured, PrometheusMetrics.format())
  }
)

/** For monitoring of many processes. With the operator's token, which Prometheus sends as `authorization.credentials`. */
export const section = Section.make("metrics", { title: "Metrics", description: "For Prometheus" }, [metrics])
