import { PollMillis } from "@satrail/core/ledger/Wakes"
import type { Settings } from "@satrail/core/service/Policy"
import * as Satrail from "@satrail/service/core/Satrail"
import * as Random from "@satrail/testing/Random"
import { Cause, Context, Effect, Layer, Logger, Scope } from "effect"
import { processes } from "../features/processes.ts"
import { Serving, type Services } from "./Front.ts"
import type { Host } from "./Turns.ts"
import * as Wire from "./Wire.ts"
import * as World from "./World.ts"

/** One process of the service, with its workers. */
export interface Process {
  /** The slot of the process. After a crash, its successor has the same slot. */
  readonly slot: number
  readonly host: Host
  /** The context of the requests that it serves. */
  readonly context: Context.Context<never>
}

/** A line in a process's log. */
export interface Line {
  readonly text: string
  /** Whether it reports a bug: an unexpected failure. */
  readonly isDefect: boolean
}

const sending = Layer.mergeAll(Layer.empty, ...processes.map(({ workers }) => workers))
const worker = (settings: Settings, callsCustomers: boolean) =>
  Layer.provideMerge(
    callsCustomers ? Layer.merge(Satrail.layerWorkers, sending) : Satrail.layerWorkers,
    Layer.fresh(Satrail.layer(settings))
  )

// Polling is less frequent than usual, so that a simulated hour is cheap.
const pollMillis = 1000

const isDefect = (cause: Cause.Cause<unknown>): boolean => cause.reasons.some(({ _tag }) => _tag === "Die")

const textOf = (message: unknown, cause: Cause.Cause<unknown>): string => {
  const parts = Array.isArray(message) ? message : [message]
  const told = parts.map((part) =>
    Cause.isCause(part) ? Cause.pretty(part).split("\n")[0] : typeof part === "string" ? part : ""
  )
  return [...told, ...(cause.reasons.length === 0 ? [] : [Cause.pretty(cause)])]
    .filter((part) => part !== "")
    .join(" ")
}

/** Starts a process that shares only the store with others. Returns undefined if the process died during startup. */
export const start = (
  world: World.World,
  slot: number,
  settings: Settings,
  parts: {
    readonly wire: Omit<Wire.Wire, "host">
    readonly host: Host
    readonly skewMillis: () => number
    readonly callsCustomers: boolean
    readonly log: (line: Line) => void
  }
): Process | undefined => {
  const { host, skewMillis, callsCustomers, log } = parts
  const entropy = Random.make(world.random().below(0x1_0000_0000))
  const logger = Logger.make(({ message, cause, logLevel }) => {
    const all = Array.isArray(message) ? message : [message]
    const isBroken = isDefect(cause) || all.some((part) => Cause.isCause(part) && isDefect(part))
    if (isBroken || logLevel === "Error" || logLevel === "Warn")
      log({ text: textOf(message, cause), isDefect: isBroken })
  })
  const context = World.runsWith({
    clock: world.time.clock(host, skewMillis),
    scheduler: host.scheduler,
    entropy: entropy.bytes,
    logger
  }).pipe(Context.add(PollMillis, pollMillis), (made) =>
    Context.mergeAll(made, ...processes.map(({ references }) => references))
  )
  const ports = Wire.ports({ ...parts.wire, host }, world.ports)
  const services = Layer.buildWithScope(Layer.fresh(worker(settings, callsCustomers)), Scope.makeUnsafe())
  let built: Context.Context<Services> | undefined
  Effect.runForkWith(Context.merge(context, ports))(services).addObserver((exit) => {
    if (exit._tag === "Success") built = exit.value
    else log({ text: `the process did not start: ${Cause.pretty(exit.cause)}`, isDefect: true })
  })
  world.turns.run()
  if (host.isDead()) return undefined
  if (built === undefined) throw new Error("the process waited for something during startup")
  // Each service is stored under its key, and the proxies read nothing else.
  // oxlint-disable-next-line typescript/consistent-type-assertions -- see above
  return { slot, host, context: Context.add(context, Serving, built as Context.Context<never>) }
}
