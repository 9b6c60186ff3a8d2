import { Layer, Redacted, Record, References } from "effect"
import { FetchHttpClient } from "effect/http"
import { OtlpSerialization, OtlpTracer } from "effect/observability"
import type { Environment } from "./Environment.ts"
import { version } from "../base/Version.ts"

/** The headers can contain a secret, which only the configured collector must receive. */
const withoutRedirects = Layer.succeed(FetchHttpClient.RequestInit, { redirect: "manual" })

/**
 * Sends spans by OTLP over HTTP to the configured collector, every few seconds and at shutdown. If the
 * collector is unreachable, only spans are lost. Without a collector, no spans are created, because each span
 * costs as much as a small request.
 */
export const spans = ({
  otlpEndpoint,
  otlpHeaders
}: Pick<Environment, "otlpEndpoint" | "otlpHeaders">): Layer.Layer<never> =>
  otlpEndpoint === undefined
    ? Layer.succeed(References.TracerEnabled, false)
    : OtlpTracer.layer({
        url: `${otlpEndpoint.replace(/\/$/, "")}/v1/traces`,
        headers: Record.map(otlpHeaders ?? {}, Redacted.value),
        resource: { serviceName: "satrail", serviceVersion: version }
      }).pipe(Layer.provide([OtlpSerialization.layerJson, FetchHttpClient.layer, withoutRedirects]))
