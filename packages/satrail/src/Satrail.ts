import { idOf } from "@satrail/client/Client"
import type { Consumer, OnOptions } from "@satrail/client/Consumers"
import { SatrailError } from "@satrail/client/Errors"
import { eventType } from "@satrail/client/Plain"
import type { Schemas, WithSchemas } from "@satrail/client/Schemas"
import type { Heard } from "@satrail/core/events/Events"
import { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"
import * as Own from "@satrail/service/features/own"
import * as Http from "@satrail/service/http/Http"
import * as EventIds from "@satrail/http/wire/EventIds"
import * as Memory from "@satrail/service/memory/Memory"
import * as DirectoryLock from "@satrail/postgres/client/DirectoryLock"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as SimulatedRelays from "@satrail/sandbox/SimulatedRelays"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import * as Time from "@satrail/sandbox/Time"
import type { Environment } from "@satrail/server/deployment/Environment"
import * as Log from "@satrail/server/deployment/Log"
import * as Simulated from "@satrail/server/deployment/Simulated"
import * as Secrets from "@satrail/server/deployment/Secrets"
import * as ReadinessChecks from "@satrail/server/serving/ReadinessChecks"
import * as Server from "@satrail/server/serving/Server"
import { Cause, Clock, Context, Effect, Exit, Layer, ManagedRuntime, Scope, Stream } from "effect"
import { existsSync } from "node:fs"
import path from "node:path"
import * as Consumers from "@satrail/core/events/Consumers"
import * as HostEvents from "./Events.ts"
import * as Face from "./Face.ts"
import * as Handler from "@satrail/server/serving/Handler"
import { checkNames } from "./KnownOptions.ts"
import * as Once from "./Once.ts"
import * as Options from "./Options.ts"
import type { Metadata, Pay, SimulatedPay } from "./Pay.ts"
import { invalid, refusal, stopping } from "./Refusals.ts"
import * as Simulation from "./Simulation.ts"

/** Leases are long, so that advancing the clock by a month ends none. No other process ever needs one. */
const dutyLeaseMillis = 60 * 86_400_000

/** Stores everything in memory, so it is lost when the process exits. */
const inMemory = (environment: Environment) => {
  const { sandboxSeed: seed, network } = environment
  const outside = Layer.mergeAll(Sandbox.layer({ seed, network }), SimulatedRelays.layer, FixedRates.layer())
  const settings = { ...Server.settingsOf(environment), dutyLeaseMillis }
  return Layer.provideMerge(Server.servicesOver(environment, outside, Memory.layer, settings), Time.layer())
}

/** The simulated network is stored in its directory, which only one process can use at a time. */
const kept = (environment: Environment) => {
  const hold = Simulated.hasMoney(Simulated.of(environment))
    ? DirectoryLock.hold(environment.dataDirectory)
    : Effect.void
  return Layer.provideMerge(Server.services(environment), Layer.effectDiscard(hold))
}

const compose = (environment: Environment, isKept: boolean, own: ReadonlyArray<Own.OwnFeature>) => {
  const services: Layer.Layer<Layer.Success<ReturnType<typeof Server.services>>, unknown> = isKept
    ? kept(environment)
    : inMemory(environment)
  const ready = Layer.provideMerge(
    ReadinessChecks.readiness(Simulated.of(environment), Effect.succeed(true)),
    services
  )
  return Layer.provideMerge(Server.workers(environment), ready).pipe(
    Layer.provideMerge(Log.layer(environment)),
    Layer.provideMerge(Layer.succeed(EventIds.Ids, EventIds.make(Secrets.secretOf(environment)))),
    Layer.provideMerge(Own.layer(own))
  )
}

type Composed = Layer.Success<ReturnType<typeof compose>>

/** Another process uses the directory of the embedded database. */
export class DirectoryLocked extends SatrailError {
  readonly directory: string
  readonly pid: number
  constructor({ directory, pid, message }: DirectoryLock.DirectoryLocked) {
    super({ status: 409, code: "directory_locked", message })
    this.directory = directory
    this.pid = pid
  }
}

/** Announces the creation of the embedded database, which takes several seconds, to a person at a terminal. */
const announce = ({ databaseUrl, dataDirectory }: Environment): void => {
  const isNew = databaseUrl === undefined && !existsSync(path.join(dataDirectory, "database"))
  if (isNew && process.stderr.isTTY)
    process.stderr.write(`satrail: creating a database in ${dataDirectory} …\n`)
}

/** The service cannot start. The code is that of the reason, or `start_failed`. */
const notStarted = (reason: Error): SatrailError => {
  const cause = refusal(reason)
  const code = cause instanceof SatrailError ? cause.code : "start_failed"
  const message = `satrail cannot start: ${Options.inOptions(reason.message)}`
  return new SatrailError({ status: 500, code, message }, { cause })
}

const begun = async (runtime: ManagedRuntime.ManagedRuntime<Composed, unknown>) => {
  try {
    return await runtime.context()
  } catch (cause) {
    await runtime.dispose()
    if (cause instanceof DirectoryLock.DirectoryLocked) throw new DirectoryLocked(cause)
    if (cause instanceof Error) throw notStarted(cause)
    throw cause
  }
}

const iterating = (context: Context.Context<never>) =>
  async function* <A>(stream: Stream.Stream<A, unknown>) {
    try {
      yield* Stream.toAsyncIterableWith(stream, context)
    } catch (error) {
      throw refusal(error)
    }
  }

/** Creates the routes for other programs, and those for this one, when they are first needed. */
const serving = (environment: Environment, context: Context.Context<Composed>) => {
  const time = Context.getOption(context, Time.Time)
  const routesOf = (isInside: boolean) => {
    const routes = Server.routes(environment, environment.operatorToken, context, { isInside })
    return time._tag === "None"
      ? routes
      : Layer.provideMerge(routes, Layer.succeed(Clock.Clock, time.value.clock))
  }
  let outer: ReturnType<typeof Http.webHandler> | undefined
  let inner: ReturnType<typeof Http.inside> | undefined
  let begun: ReturnType<NonNullable<typeof inner>["begin"]> | undefined
  return {
    handle: (request: Request) => (outer ??= Http.webHandler(routesOf(false))).handler(request),
    routes: () => (begun ??= (inner ??= Http.inside(routesOf(true))).begin()),
    dispose: async () => {
      await Promise.all([outer?.dispose(), inner?.dispose()])
    }
  }
}

/** How long the end of handlers is awaited before a line in the log says so. */
const patienceMillis = 5000

/** Manages the running event consumers. */
const consuming = (
  runtime: ManagedRuntime.ManagedRuntime<Composed, unknown>,
  context: Context.Context<Composed>,
  ids: EventIds.EventIds
) => {
  const running = new Map<string, Consumer>()
  let isStopped = false
  const time = Context.getOption(context, Time.Time)
  const begin = (ask: Consumers.Ask): Consumer => {
    const scope = Scope.makeUnsafe()
    const consumer = Scope.provide(Consumers.run(ask), scope)
    // With this clock, advancing the clock ends the consumer's pauses.
    runtime.runFork(
      time._tag === "None" ? consumer : Effect.provideService(consumer, Clock.Clock, time.value.waking)
    )
    const stop = async () => {
      if (!running.has(ask.name)) return
      await Effect.runPromise(Scope.close(scope, Exit.void))
      running.delete(ask.name)
    }
    return { name: ask.name, stop }
  }
  const on = (
    type: string | ReadonlyArray<string>,
    handler: (event: never) => unknown,
    options: OnOptions = {}
  ): Consumer => {
    checkNames<OnOptions>("on", options, { name: true, after: true, company: true })
    if (isStopped) throw stopping()
    const { name } = options
    const after = HostEvents.after(ids, options.after)
    const company = idOf(options.company)
    const types = new Set([type].flat())
    if (types.size === 0) throw invalid("type", "is required")
    const known = [...HostEvents.types].join(", ")
    for (const one of types)
      if (!HostEvents.types.has(one)) throw invalid("type", `"${one}" is no event: ${known}`)
    if (typeof handler !== "function") throw invalid("handler", "must be a function")
    const called = name ?? [...types].join(", ")
    if (running.has(called))
      throw new Error(
        `a handler named ${JSON.stringify(called)} is already running: give this one a name, { name: "…" }`
      )
    const consumer = begin({
      name: called,
      after,
      isAsked: (heard) =>
        types.has(eventType(heard.type)) && (company === undefined || heard.companyId === company),
      // oxlint-disable-next-line typescript/consistent-type-assertions -- the event has one of the handler's types
      handle: async (heard: Heard) => void (await handler(HostEvents.of(heard, ids) as never)),
      describe: ({ place, companyId, type }) => ({
        event: ids.write(place, companyId),
        type: eventType(type)
      })
    })
    running.set(called, consumer)
    return consumer
  }
  /** Waits for the running handlers, and says so if one takes long. */
  const stop = async () => {
    isStopped = true
    const waits = () =>
      runtime.runFork(
        Effect.logWarning(`close: waiting for the running handlers of ${[...running.keys()].join("; ")}`)
      )
    const told = setTimeout(waits, patienceMillis)
    await Promise.all([...running.values()].map(({ stop }) => stop()))
    clearTimeout(told)
  }
  return { on, stop }
}

const open = async <M extends Typed>(options: Options.Options, isKept: boolean): Promise<SimulatedPay<M>> => {
  const environment = Options.environment(options)
  const { features: own = [] } = options
  if (isKept) announce(environment)
  const runtime = ManagedRuntime.make(compose(environment, isKept, own))
  const context = await begun(runtime)
  const ids = Context.get(context, EventIds.Ids)
  const served = serving(environment, context)
  const consumers = consuming(runtime, context, ids)
  let isClosed = false
  const run = async <A, E>(effect: Effect.Effect<A, E>): Promise<A> => {
    if (isClosed) throw stopping()
    return runtime.runPromise(effect).catch((error: unknown) => {
      throw refusal(error)
    })
  }
  const { once, ended } = Once.make((effect) => run(Effect.provideContext(effect, context)))
  let closed: Promise<void> | undefined
  const close = async () => {
    await consumers.stop()
    await ended()
    isClosed = true
    await served.dispose()
    await runtime.dispose()
  }
  const end = () => (closed ??= close())
  const log = (message: string) => (cause: Cause.Cause<unknown>) =>
    void Effect.runForkWith(context)(Effect.logError(message, cause))
  const report = log("pay.handler: a request failed")
  const client = Face.make(options.metadata, {
    context,
    ids,
    run,
    iterate: iterating(context),
    routes: async () => {
      if (isClosed) throw stopping()
      return served.routes()
    },
    report: log("pay: a call crashed")
  })
  const time = Context.getOption(context, Time.Time)
  const sandbox = Context.getOption(context, Sandbox.Sandbox)
  const pay = {
    ...client,
    on: consumers.on,
    once,
    handler: Handler.make(served.handle, (error) => report(Cause.fail(error))),
    close: end,
    [Symbol.asyncDispose]: end,
    runtime,
    layer: Layer.succeedContext(context),
    ...(time._tag === "Some" && { clock: Simulation.clock(time.value, run) }),
    ...(sandbox._tag === "Some" && {
      outside: Simulation.outside(sandbox.value, Context.get(context, ReceivingReads), run)
    })
  }
  // oxlint-disable-next-line typescript/consistent-type-assertions -- `clock` and `outside` exist if the network is simulated, as the overloads of `satrail` declare
  return Object.freeze(pay) as unknown as SimulatedPay<M>
}

/** Options for a simulated network. */
export type SimulatedOptions = Omit<Options.Options, "lightning" | "chain"> & {
  readonly lightning?: Options.Simulated | undefined
  readonly chain?: undefined
}

type TestOptions = Omit<SimulatedOptions, "database" | "directory">

/** The type of the metadata, or the schema for each resource. */
type Typed = Metadata | Schemas

interface Open {
  /**
   * Starts the service in this process. By default, the database is embedded in `./.satrail` and the network is
   * simulated. `M` is the type of your metadata.
   *
   * @example
   * const pay = await satrail()
   * const shop = await pay.companies.create({ name: "Shop" })
   */
  <M extends Typed = Metadata>(options?: SimulatedOptions & WithSchemas<M>): Promise<SimulatedPay<M>>
  <M extends Typed = Metadata>(options: Options.Options & WithSchemas<M>): Promise<Pay<M>>
  /**
   * Starts the service in memory, on a simulated network, and with a clock that you can advance.
   *
   * @example
   * const pay = await satrail.test()
   * await pay.clock.advance("1 hour")
   */
  readonly test: <M extends Typed = Metadata>(
    options?: TestOptions & WithSchemas<M>
  ) => Promise<SimulatedPay<M>>
}

export const satrail: Open = Object.assign(
  <M extends Typed>(options: Options.Options = {}) => open<M>(options, true),
  {
    test: <M extends Typed>(options: TestOptions = {}) => open<M>(options, false)
  }
)
