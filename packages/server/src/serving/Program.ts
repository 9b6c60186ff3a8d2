import * as NodeRuntime from "@effect/platform-node-shared/NodeRuntime"
import type * as Extension from "@satrail/http/edge/Extension"
import * as SignInLinks from "@satrail/http/api/SignInLinks"
import { OwnRoutes } from "@satrail/service/features/own"
import * as DirectoryLock from "@satrail/postgres/client/DirectoryLock"
import { Cause, Console, Context, Deferred, Effect, Layer, Metric, Redacted, Schema } from "effect"
import { HttpServer } from "effect/http"
import * as Banner from "../deployment/Banner.ts"
import * as Check from "../base/Check.ts"
import * as Checks from "../check/Checks.ts"
import * as Demo from "../deployment/Demo.ts"
import type * as DemoFile from "../deployment/DemoFile.ts"
import * as Environment from "../deployment/Environment.ts"
import * as Links from "../deployment/Links.ts"
import { Variables } from "../environment/Unknown.ts"
import * as Log from "../deployment/Log.ts"
import * as Simulated from "../deployment/Simulated.ts"
import * as Reset from "../sandbox/Reset.ts"
import * as Starting from "@satrail/postgres/client/Starting"
import * as Garbage from "./Garbage.ts"
import * as ReadinessChecks from "./ReadinessChecks.ts"
import * as Server from "./Server.ts"
import * as Telemetry from "../deployment/Telemetry.ts"
import { build } from "../base/Version.ts"

/** Provides logging and tracing. */
const telemetry = (environment: Environment.Environment) =>
  Layer.merge(Log.layer(environment), Telemetry.spans(environment))

/** Composes all services for an environment. */
export type Services<E> = (
  environment: Environment.Environment
) => Layer.Layer<Layer.Success<ReturnType<typeof Server.services>>, E>

/** The configuration has a problem that waiting doesn't solve, so nothing was started. */
export class StartRefused extends Schema.TaggedError<StartRefused>()("StartRefused", {
  lines: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return [...this.lines, "Run `satrail check` to check everything again."].join("\n")
  }
}

/** Additional work of a program, run from the moment the service is ready until it stops. */
export type Besides = (ready: {
  readonly url: string
  readonly demo: DemoFile.Demo | undefined
}) => Effect.Effect<void>

const told = Effect.fnUntraced(function* (found: ReadonlyArray<Check.Found>) {
  for (const one of found) yield* Effect.logWarning(Check.text(one))
})

/**
 * Runs the checks before startup. A problem that waiting doesn't solve prevents startup. Other problems are
 * logged once: an unreachable node by its callers, everything else here.
 */
const checked = Effect.fnUntraced(function* (environment: Environment.Environment) {
  const found = yield* Checks.beforeStart(environment)
  const final = found.filter(Check.isFinal)
  if (final.length > 0) return yield* new StartRefused({ lines: final.map(Check.text) })
  return yield* told(found.filter(Check.isLogged))
})

/**
 * Returns the fragment of a link that signs the user of this machine in to the console as the demo company.
 * Returns an empty string if any money is real or another machine can reach the console.
 */
const linkFor = (
  environment: Environment.Environment,
  demo: DemoFile.Demo | undefined,
  links: SignInLinks.Links
) =>
  environment.console &&
  demo !== undefined &&
  Links.isLocal(environment) &&
  Simulated.isSandbox(Simulated.of(environment))
    ? Effect.map(links.make(Redacted.make(demo.api_key)), (link) => `#link=${Redacted.value(link)}`)
    : Effect.succeed("")

/** Runs the service until it is interrupted. Returns the port if a restart was requested. */
const program = Effect.fnUntraced(function* <E, EX>(
  environment: Environment.Environment,
  servicesOf: Services<E>,
  extensions: ReadonlyArray<Extension.Extension<EX, Server.Needs>>,
  besides: Besides
) {
  yield* DirectoryLock.hold(environment.dataDirectory)
  if (yield* Reset.finish(environment))
    yield* Effect.logInfo("sandbox: deleted with its database; starting again")
  if (environment.databaseUrl !== undefined) yield* Starting.reached({ url: environment.databaseUrl })
  yield* checked(environment)
  const operator = yield* Demo.operator(environment)
  const prepared = yield* Deferred.make<void>()
  const stopping = yield* Deferred.make<void>()
  const isPrepared = Deferred.isDone(prepared)
  const isStopping = Deferred.isDone(stopping)
  const resetting = yield* Deferred.make<void>()
  // These are closed in reverse order: first the server, then the workers (which finish their steps), then the
  // store.
  const built = yield* Layer.build(
    Layer.provideMerge(
      ReadinessChecks.readiness(Simulated.of(environment), isPrepared, isStopping),
      servicesOf(environment)
    )
  )
  const routed = Context.add(built, OwnRoutes, yield* OwnRoutes)
  const services = Reset.isPossible(environment)
    ? Context.add(routed, Reset.Reset, Reset.make(environment, Deferred.succeed(resetting, undefined)))
    : routed
  yield* Effect.provideContext(Layer.build(Server.workers(environment)), services)
  const token = operator._tag === "Closed" ? undefined : operator.token
  const links = SignInLinks.make()
  const listening = yield* Layer.build(Server.server(environment, token, services, extensions, links))
  const { address } = Context.get(listening, HttpServer.HttpServer)
  const port = "port" in address ? address.port : environment.port
  const baseUrl = `http://${Links.listening({ host: environment.host, port })}`
  const demo = environment.demo
    ? yield* Effect.provideContext(
        Demo.prepare({ directory: environment.dataDirectory, baseUrl, operator }),
        services
      )
    : undefined
  yield* Metric.update(build, 1)
  yield* Deferred.succeed(prepared, undefined)
  yield* Console.log(
    Banner.text(environment, {
      url: baseUrl,
      operator,
      demo,
      link: yield* linkFor(environment, demo?.demo, links)
    })
  )
  yield* Effect.forkScoped(Garbage.collectWhenIdle())
  yield* Effect.forkScoped(besides({ url: baseUrl, demo: demo?.demo }))
  yield* Effect.forkScoped(
    Effect.flatMap(Checks.afterStart(environment), (found) => told(found.filter(Check.isLogged)))
  )
  // First let clients see that this process will stop, and serve them until they have switched to another
  // process.
  const drain = Effect.andThen(
    Deferred.succeed(stopping, undefined),
    Effect.sleep(environment.drainSeconds * 1000)
  )
  yield* Effect.onInterrupt(Deferred.await(resetting), () => drain)
  return port
})

/** Runs the service, and restarts it at the same port each time a restart is requested. */
const running = <E, EX>(
  environment: Environment.Environment,
  servicesOf: Services<E>,
  extensions: ReadonlyArray<Extension.Extension<EX, Server.Needs>>,
  besides: Besides
): Effect.Effect<never, Effect.Error<ReturnType<typeof program<E, EX>>>> =>
  Effect.flatMap(Effect.scoped(program(environment, servicesOf, extensions, besides)), (port) =>
    running({ ...environment, port }, servicesOf, extensions, besides)
  )

/** Prints the reason why startup failed as one sentence, without a stack trace. */
const explain = (cause: Cause.Cause<unknown>) => {
  const error = Cause.squash(cause)
  return Effect.andThen(
    Console.error(`satrail cannot start.\n${error instanceof Error ? error.message : String(error)}`),
    Effect.sync(() => {
      process.exitCode = 1
    })
  )
}

/**
 * Runs the service as a whole program, configured by the environment, until it is stopped. If it cannot start,
 * it prints the reason and sets the exit code. `extensions` are served next to the API: pages, files, streams
 * (docs/guides/extend.md). `settings` defines the possible values of LIGHTNING and CHAIN.
 */
export const main = <E, EX = never>(
  servicesOf: Services<E>,
  extensions: ReadonlyArray<Extension.Extension<EX, Server.Needs>> = [],
  settings = Environment.bundled,
  besides: Besides = () => Effect.void
): Effect.Effect<void> =>
  Effect.gen(function* () {
    const environment = yield* Effect.fromResult(settings.read(yield* Variables))
    // Files that this process creates are accessible only to their owner, including the files of the database
    // and the sandbox.
    yield* Effect.sync(() => process.umask(0o077))
    // Abort a shutdown that takes too long. The next start finds and completes all pending work.
    yield* Effect.sync(() => {
      const end = () =>
        setTimeout(
          () => process.exit(1),
          (environment.drainSeconds + environment.shutdownSeconds + 2) * 1000
        ).unref()
      process.once("SIGTERM", end)
      process.once("SIGINT", end)
    })
    yield* Effect.provide(running(environment, servicesOf, extensions, besides), telemetry(environment))
  }).pipe(
    Effect.catchCause((cause) => (Cause.hasInterruptsOnly(cause) ? Effect.void : explain(cause))),
    // Being stopped on request is not a failure.
    Effect.onInterrupt(() =>
      Effect.sync(() => {
        process.exitCode ??= 0
      })
    )
  )

/** Runs `main` as the process's main program. */
export const run = <E, EX = never>(...composed: Parameters<typeof main<E, EX>>): void =>
  NodeRuntime.runMain(main(...composed), {
    disableErrorReporting: true,
    teardown: (_exit, onExit) => onExit(Number(process.exitCode ?? 0))
  })
