import * as Setting from "./Setting.ts"

export const dataDirectory = Setting.withDefault({
  name: "SATRAIL_DATA",
  meaning: "The directory for the embedded database, the sandbox and demo.json; created if missing",
  fallback: "./.satrail",
  wants: "a directory's path",
  read: (text) => text
})

/** Settings for the process's listening address and directory. */
export const listening = {
  port: Setting.withDefault({
    name: "PORT",
    meaning: "The port to listen on; 0 selects any free port",
    fallback: "8080",
    ...Setting.whole(0, 65_535)
  }),
  host: Setting.withDefault({
    name: "HOST",
    meaning: "The address to listen on; 127.0.0.1 accepts connections from this machine only",
    fallback: "127.0.0.1",
    wants: "an IP address or a host name",
    read: (text) => (/^[\w.:-]+$/.test(text) ? text : undefined)
  }),
  dataDirectory
}

const levels = new Map([
  ["debug", "Debug"],
  ["info", "Info"],
  ["warn", "Warn"],
  ["error", "Error"]
] as const)

/** Settings for shutdown and logging. */
export const life = {
  drainSeconds: Setting.withDefault({
    name: "SATRAIL_DRAIN_SECONDS",
    meaning:
      "How long a stopping process still serves requests while its /readyz returns 503, so that a proxy sends requests elsewhere",
    fallback: "0",
    ...Setting.whole(0, 600)
  }),
  shutdownSeconds: Setting.withDefault({
    name: "SATRAIL_SHUTDOWN_SECONDS",
    meaning:
      "How long a stopping process waits for requests and background work in progress before it exits anyway; no work is lost",
    fallback: "20",
    ...Setting.whole(1, 600)
  }),
  logFormat: Setting.withDefault({
    name: "SATRAIL_LOG_FORMAT",
    meaning: "The format of the log on standard error; auto is pretty on a terminal, otherwise JSON",
    fallback: "auto",
    ...Setting.oneOf("auto", "json", "pretty")
  }),
  requestLog: Setting.withDefault({
    name: "SATRAIL_REQUEST_LOG",
    meaning:
      "Whether a line is logged for each request: its method, route, status, duration, key id and request id",
    fallback: "yes",
    ...Setting.yesOrNo
  }),
  console: Setting.withDefault({
    name: "SATRAIL_CONSOLE",
    meaning:
      "Whether the console is served at `/console`, where users sign in with an API key or an operator token",
    fallback: "yes",
    ...Setting.yesOrNo
  }),
  otlpEndpoint: Setting.optional({
    name: "OTEL_EXPORTER_OTLP_ENDPOINT",
    meaning:
      "The collector that receives traces, by OTLP over HTTP in JSON (`/v1/traces` is appended). Without it, nothing is traced",
    ...Setting.httpUrl
  }),
  otlpHeaders: Setting.optional({
    name: "OTEL_EXPORTER_OTLP_HEADERS",
    meaning: "Headers that the collector requires, such as its key",
    ...Setting.headers
  }),
  logLevel: Setting.withDefault({
    name: "SATRAIL_LOG_LEVEL",
    meaning: "The lowest level logged",
    fallback: "info",
    wants: `one of ${[...levels.keys()].join(", ")}`,
    read: (text) => Array.from(levels).find(([name]) => name === text)?.[1]
  })
}
