import * as NodeRuntime from "@effect/platform-node-shared/NodeRuntime"
import type * as Extension from "@satrail/http/edge/Extension"
import * as SignInLinks from "@satrail/http/features/sessions/SignInLinks"
import * as DirectoryLock from "@satrail/postgres/client/DirectoryLock"
import { Cause, Console, Context, Deferred, Effect, Layer, Metric, Redacted, Schema } from "effect"
import { HttpServer } from "effect/http"
import * as Banner from "../deployment/Banner.ts"
import * as Check from "../base/Check.ts"
import * as Checks from "../check/Checks.ts"
import * as Demo from "../deployment/Demo.ts"
import * as Environment from "../deployment/Environment.ts"
import { Variables } from "../environment/Unknown.ts"
import * as Log from "../deployment/Log.ts"
import * as Pretended from "../deployment/Pretended.ts"
import * as Reset from "../sandbox/Reset.ts"
import * as Server from "./Server.ts"
import * as Telemetry from "../deployment/Telemetry.ts"
import { build } from "../base/Version.ts"

/** What surrounds everything: where its log and its spans go. */
const telemetry = (environment: Environment.Environment) => Layer.merge(Log.layer(environment), Telemetry.spans(environment))

/** Every service, as it was composed for an environment. */
export type Services<E> = (environment: Environment.Environment) => Layer.Layer<Layer.Success<ReturnType<typeof Server.services>>, E>

/** What was found about the configuration would be so again at every start: nothing was begun. */
export class StartRefused extends Schema.TaggedError<StartRefused>()("StartRefused", { lines: Schema.Array(Schema.String) }) {
  override get message(): string {
    return [...this.lines, "`satrail check` looks at everything again."].join("\n")
  }
}

const told = Effect.fnUntraced(function* (found: ReadonlyArray<Check.Found>) {
  for (const one of found) yield* Effect.logWarning(Check.text(one))
})

/** What can never get better stops the start. The rest is told once: of a node that is away by what asks it from then on, and otherwise here. */
const checked = Effect.fnUntraced(function* (environment: Environment.Environment) {
  const found = yield* Checks.beforeStart(environment)
  const final = found.filter(Check.isFinal)
  if (final.length > 0) return yield* new StartRefused({ lines: final.map(Check.text) })
  return yield* told(found.filter(Check.isLogged))
})

/** Of the demo company's console, for the person at this machine: where nothing has value, and nobody else can reach it. */
const linkFor = (environment: Environment.Environment, demo: Demo.Demo | undefined, links: SignInLinks.Links) =>
  environment.console && demo !== undefined && Server.isLocal(environment) && Pretended.isSandbox(Pretended.of(environment))
    ? Effect.map(links.make(Redacted.make(demo.api_key)), (link) => `#link=${Redacted.value(link)}`)
    : Effect.succeed("")

/** Runs until it is interrupted. Answers the port it listened at where it was asked to begin anew. */
const program = Effect.fnUntraced(function* <E, EX>(
  environment: Environment.Environment,
  servicesOf: Services<E>,
  extensions: ReadonlyArray<Extension.Extension<EX, Server.Needs>>
) {
  yield* DirectoryLock.hold(environment.dataDirectory)
  if (yield* Reset.finish(environment)) yield* Effect.logInfo("sandbox: deleted with its database; beginning anew")
  yield* checked(environment)
  const operator = yield* Demo.operator(environment)
  const prepared = yield* Deferred.make<void>()
  const stopping = yield* Deferred.make<void>()
  const isPrepared = Deferred.isDone(prepared)
  const isStopping = Deferred.isDone(stopping)
  const resetting = yield* Deferred.make<void>()
  // Closed in the other order: first nobody asks any more, then the workers finish their step, then the store is closed.
  const built = yield* Layer.build(Layer.provideMerge(Server.readiness(isPrepared, isStopping), servicesOf(environment)))
  const services = Reset.isPossible(environment)
    ? Context.add(built, Reset.Reset, Reset.make(environment, Deferred.succeed(resetting, undefined)))
    : built
  yield* Effect.provideContext(Layer.build(Server.workers(environment)), services)
  const token = operator._tag === "Closed" ? undefined : operator.token
  const links = SignInLinks.make()
  const listening = yield* Layer.build(Server.server(environment, token, services, extensions, links))
  const { address } = Context.get(listening, HttpServer.HttpServer)
  const port = "port" in address ? address.port : environment.port
  const baseUrl = `http://${environment.host.includes(":") ? `[${environment.host}]` : environment.host}:${port}`
  const demo = environment.demo
    ? yield* Effect.provideContext(Demo.prepare({ directory: environment.dataDirectory, baseUrl, operator }), services)
    : undefined
  // What a start leaves behind is a third of the memory of a process that waits. Only where the collector can be called.
  yield* Effect.sync(() => globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" }))
  yield* Metric.update(build, 1)
  yield* Deferred.succeed(prepared, undefined)
  yield* Console.log(Banner.text(environment, { url: baseUrl, operator, demo, link: yield* linkFor(environment, demo?.demo, links) }))
  yield* Effect.forkScoped(Effect.flatMap(Checks.afterStart(environment), (found) => told(found.filter(Check.isLogged))))
  // Whoever sends requests here hears first that this process is about to stop, and goes on being answered until he has turned to others.
  const drain = Effect.andThen(Deferred.succeed(stopping, undefined), Effect.sleep(environment.drainSeconds * 1000))
  yield* Effect.onInterrupt(Deferred.await(resetting), () => drain)
  return port
})

/** Again and again at the same port, for as long as it is asked to begin anew. */
const running = <E, EX>(
  environment: Environment.Environment,
  servicesOf: Services<E>,
  extensions: ReadonlyArray<Extension.Extension<EX, Server.Needs>>
): Effect.Effect<never, Effect.Error<ReturnType<typeof program<E, EX>>>> =>
  Effect.flatMap(Effect.scoped(program(environment, servicesOf, extensions)), (port) =>
    running({ ...environment, port }, servicesOf, extensions)
  )

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

/**
 * The service as a whole program: configured by the environment, until it is told to stop. Says why where it cannot start, and sets the exit code.
 * `extensions` are served beside the API: pages, files, streams (docs/guides/extend.md). `settings` has what LIGHTNING and CHAIN can name.
 */
export const main = <E, EX = never>(
  servicesOf: Services<E>,
  extensions: ReadonlyArray<Extension.Extension<EX, Server.Needs>> = [],
  settings = Environment.bundled
): Effect.Effect<void> =>
  Effect.gen(function* () {
    const environment = yield* Effect.fromResult(settings.read(yield* Variables))
    // What this process makes in its directory is its owner's alone, the database's and the sandbox's files too.
    yield* Effect.sync(() => process.umask(0o077))
    // A stop that takes too long is ended; whatever was under way is found and finished at the next start.
    yield* Effect.sync(() => {
      const end = () => setTimeout(() => process.exit(1), (environment.drainSeconds + environment.shutdownSeconds + 2) * 1000).unref()
      process.once("SIGTERM", end)
      process.once("SIGINT", end)
    })
    yield* Effect.provide(running(environment, servicesOf, extensions), telemetry(environment))
  }).pipe(
    Effect.catchCause((cause) => (Cause.hasInterruptsOnly(cause) ? Effect.void : explain(cause))),
    // To be told to stop, and to stop, is no failure.
    Effect.onInterrupt(() =>
      Effect.sync(() => {
        process.exitCode ??= 0
      })
    )
  )

/** Runs it, with nothing else in the process. */
export const run = <E, EX = never>(...composed: Parameters<typeof main<E, EX>>): void =>
  NodeRuntime.runMain(main(...composed), {
    disableErrorReporting: true,
    teardown: (_exit, onExit) => onExit(Number(process.exitCode ?? 0))
  })
