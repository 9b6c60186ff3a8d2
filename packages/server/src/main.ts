import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cause, Console, Effect, Layer, Logger, References } from "effect"
import { HttpServer } from "effect/http"
import * as Demo from "./Demo.ts"
import * as Environment from "./Environment.ts"
import * as Server from "./Server.ts"

const logging = (environment: Environment.Environment) =>
  Layer.mergeAll(
    Logger.layer([
      environment.logFormat === "json" ? Logger.withConsoleError(Logger.formatJson) : Logger.consolePretty({ colors: "auto" })
    ]),
    Layer.succeed(References.MinimumLogLevel, environment.logLevel),
    Layer.succeed(Logger.LogToStderr, true),
    // A span costs as much as a small request, and nobody is there to receive it.
    Layer.succeed(References.TracerEnabled, false)
  )

const program = Effect.fnUntraced(function* (environment: Environment.Environment) {
  const operatorToken = yield* Demo.operatorToken(environment.dataDirectory, environment.operatorToken)
  const context = yield* Layer.build(Layer.provideMerge(Server.server(environment, operatorToken), Server.services(environment)))
  const { address } = yield* Effect.provide(HttpServer.HttpServer, context)
  const port = "port" in address ? address.port : environment.port
  const baseUrl = `http://${environment.host.includes(":") ? `[${environment.host}]` : environment.host}:${port}`
  const { demo, isNew } = yield* Effect.provide(Demo.prepare({ directory: environment.dataDirectory, baseUrl, operatorToken }), context)
  yield* Console.log(Demo.banner(demo, isNew, environment.dataDirectory))
  return yield* Effect.never
})

/** A start that cannot be is explained in a sentence, not in a stack. */
const explain = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  return Effect.andThen(
    Console.error(`satrail cannot start.\n${error instanceof Error ? error.message : String(error)}`),
    Effect.sync(() => {
      process.exitCode = 1
    })
  )
}

const main = Effect.gen(function* () {
  const environment = yield* Effect.fromResult(Environment.read(process.env))
  // A stop that takes too long is ended; whatever was under way is found and finished at the next start.
  yield* Effect.sync(() => {
    const end = () => setTimeout(() => process.exit(1), (environment.shutdownSeconds + 2) * 1000).unref()
    process.once("SIGTERM", end)
    process.once("SIGINT", end)
  })
  yield* Effect.provide(Effect.scoped(program(environment)), logging(environment))
})

NodeRuntime.runMain(
  Effect.catchCause(main, (cause) => (Cause.hasInterruptsOnly(cause) ? Effect.void : explain(cause))),
  {
    disableErrorReporting: true,
    // To be told to stop, and to stop, is no failure.
    teardown: (_exit, onExit) => onExit(Number(process.exitCode ?? 0))
  }
)
