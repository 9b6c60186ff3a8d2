import { PollMillis } from "@satrail/core/ledger/Wakes"
import { Secrets } from "@satrail/core/features/webhooks/Ports"
import type { Settings } from "@satrail/core/service/Policy"
import * as Satrail from "@satrail/core/service/Satrail"
import * as EventBody from "@satrail/http/events/EventBody"
import * as WebhookKeys from "@satrail/http/features/webhooks/WebhookKeys"
import * as Random from "@satrail/testing/Random"
import { Cause, Context, Effect, Layer, Logger, Redacted, Scope } from "effect"
import { Serving, type Services } from "./Front.ts"
import type { Host } from "./Turns.ts"
import * as Wire from "./Wire.ts"
import * as World from "./World.ts"

/** One process of the service, with its workers. */
export interface Process {
  /** Which of the processes that there are; who comes after it when it died has the same. */
  readonly slot: number
  readonly host: Host
  /** What a request that it serves runs with. */
  readonly context: Context.Context<never>
}

/** What a process writes into its log. */
export interface Line {
  readonly text: string
  /** A bug: something broke that nobody said may break. */
  readonly isDefect: boolean
}

const sending = Layer.provide(Satrail.layerWebhooks, EventBody.layer)
const worker = (settings: Settings, hasWebhooks: boolean) =>
  Layer.provideMerge(hasWebhooks ? Layer.merge(Satrail.layerWorkers, sending) : Satrail.layerWorkers, Layer.fresh(Satrail.layer(settings)))

const secrets = WebhookKeys.make(Redacted.make("what keeps the secrets of webhooks"))

// Rarer than usual, so that an hour is not spent looking.
const pollMillis = 1000

const isDefect = (cause: Cause.Cause<unknown>): boolean => cause.reasons.some(({ _tag }) => _tag === "Die")

const textOf = (message: unknown, cause: Cause.Cause<unknown>): string => {
  const parts = Array.isArray(message) ? message : [message]
  const told = parts.map((part) => (Cause.isCause(part) ? Cause.pretty(part).split("\n")[0] : typeof part === "string" ? part : ""))
  return [...told, ...(cause.reasons.length === 0 ? [] : [Cause.pretty(cause)])].filter((part) => part !== "").join(" ")
}

/** Starts one that knows nothing of any other but what it reads in the store; undefined when it died of it. */
export const start = (
  world: World.World,
  slot: number,
  settings: Settings,
  parts: {
    readonly wire: Omit<Wire.Wire, "host">
    readonly host: Host
    readonly skewMillis: () => number
    readonly hasWebhooks: boolean
    readonly log: (line: Line) => void
  }
): Process | undefined => {
  const { host, skewMillis, hasWebhooks, log } = parts
  const entropy = Random.make(world.random().below(0x1_0000_0000))
  const logger = Logger.make(({ message, cause, logLevel }) => {
    const all = Array.isArray(message) ? message : [message]
    const isBroken = isDefect(cause) || all.some((part) => Cause.isCause(part) && isDefect(part))
    if (isBroken || logLevel === "Error" || logLevel === "Warn") log({ text: textOf(message, cause), isDefect: isBroken })
  })
  const context = World.runsWith({
    clock: world.time.clock(host, skewMillis),
    scheduler: host.scheduler,
    entropy: entropy.bytes,
    logger
  }).pipe(Context.add(PollMillis, pollMillis), Context.add(Secrets, secrets))
  const ports = Wire.ports({ ...parts.wire, host }, world.ports)
  const services = Layer.buildWithScope(Layer.fresh(worker(settings, hasWebhooks)), Scope.makeUnsafe())
  let built: Context.Context<Services> | undefined
  Effect.runForkWith(Context.merge(context, ports))(services).addObserver((exit) => {
    if (exit._tag === "Success") built = exit.value
    else log({ text: `the process did not start: ${Cause.pretty(exit.cause)}`, isDefect: true })
  })
  world.turns.run()
  if (host.isDead()) return undefined
  if (built === undefined) throw new Error("a process starts without waiting for anything")
  // Each service has its key, which is all that whoever stands in for them looks for.
  // oxlint-disable-next-line typescript/consistent-type-assertions -- see above
  return { slot, host, context: Context.add(context, Serving, built as Context.Context<never>) }
}
