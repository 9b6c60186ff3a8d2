import { Entropy } from "@satrail/core/base/Entropy"
import { Journal } from "@satrail/core/ledger/Journal"
import { type AllReads, Records } from "@satrail/core/service/Records"
import { SimulatedDns } from "@satrail/sandbox/SimulatedDns"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import * as Random from "@satrail/testing/Random"
import { Clock, Context, Effect, type Exit, Logger, Scheduler } from "effect"
import { Poster } from "@satrail/core/nodes/Poster"
import * as Outside from "./Outside.ts"
import * as Receivers from "./Receivers.ts"
import type { Store } from "./Store.ts"
import * as Time from "./Time.ts"
import * as Turns from "./Turns.ts"
import * as Watch from "./Watch.ts"
import { Asking, type Ports } from "./Wire.ts"

/** Start time of every scenario. */
const beginsAtMillis = 1_700_000_000_000

/** Replaces ports. */
export type Spoil = (ports: Context.Context<Ports>) => Context.Context<Ports>

/** Everything that outlives a process: the store, the nodes, the outside world, and time. */
export interface World {
  /** Returns the random source that picks the next task and makes every other draw of the scenario. */
  readonly random: () => Random.Random
  readonly reseed: (seed: number) => void
  readonly time: Time.Time
  readonly turns: Turns.Turns
  readonly sandbox: Sandbox.Sandbox["Service"]
  readonly names: SimulatedDns["Service"]
  /** The store without injected faults. */
  readonly store: Context.Context<Records>
  readonly records: AllReads
  readonly journal: Journal["Service"]
  readonly watch: Watch.Watch
  readonly receivers: Receivers.Receivers
  /** The ports given to processes. */
  readonly ports: Context.Context<Ports>
  /** The context of the world's fibers. */
  readonly context: Context.Context<never>
  readonly fork: (
    call: Effect.Effect<unknown, unknown>,
    asking: number | null,
    done: (exit: Exit.Exit<unknown, unknown>) => void
  ) => void
  /** Runs a synchronous effect, such as a call to the sandbox. */
  readonly now: Outside.Now
  readonly read: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
  /** Actions on the node and the chain. */
  readonly outside: Outside.Outside
}

/** The turns and the time, shared by worlds that run side by side. */
export type Common = Pick<World, "random" | "reseed" | "time" | "turns">

const common = (seed: number): Common => {
  let random = Random.make(Random.derived(seed, 0))
  return {
    random: () => random,
    reseed: (seed) => {
      random = Random.make(seed)
    },
    time: Time.make(beginsAtMillis),
    turns: Turns.make(() => random)
  }
}

/** Returns the context in which fibers run, with their clock, scheduler, entropy and logger. */
export const runsWith = (parts: {
  readonly clock: Clock.Clock
  readonly scheduler: Scheduler.Scheduler
  readonly entropy: (size: number) => Uint8Array
  readonly logger: Logger.Logger<unknown, unknown>
}): Context.Context<never> =>
  Context.empty().pipe(
    Context.add(Clock.Clock, parts.clock),
    Context.add(Scheduler.Scheduler, parts.scheduler),
    Context.add(Entropy, parts.entropy),
    Context.add(Logger.CurrentLoggers, new Set([parts.logger]))
  )

const quiet = Logger.make(() => {})

// Building a simulated network costs more than most scenarios, so a few are cached.
const networks = 4

/** Returns a world in its initial state, on its own or beside another one. */
export const make = async (
  seed: number,
  store: Store,
  spoil: Spoil,
  beside: Common = common(seed)
): Promise<World> => {
  const { random, reseed, time, turns } = beside
  const host = turns.host("world")
  const clock = time.clock(host, () => 0)
  const context = runsWith({
    clock,
    scheduler: host.scheduler,
    entropy: (size) => random().bytes(size),
    logger: quiet
  })
  const runFork = Effect.runForkWith(context)
  const now: Outside.Now = (effect) => {
    const exit = runFork(effect).pollUnsafe()
    if (exit === undefined) throw new Error("the effect was not synchronous")
    return exit
  }
  const books = await store.empty()
  const outside = await Outside.make(`simulated ${seed % networks}`, now, clock)
  const receivers = Receivers.make()
  const watch = Watch.make(Context.get(books, Journal))
  return {
    random,
    reseed,
    time,
    turns,
    sandbox: Context.get(outside.ports, Sandbox.Sandbox),
    names: Context.get(outside.ports, SimulatedDns),
    store: books,
    records: Effect.runSync(Effect.provideContext(Records, books)),
    journal: Context.get(books, Journal),
    watch,
    receivers,
    ports: spoil(
      Context.merge(books, outside.ports).pipe(
        Context.add(Journal, watch.journal),
        Context.add(Poster, receivers.poster)
      )
    ),
    context,
    fork: (call, asking, done) => {
      Effect.runForkWith(Context.add(context, Asking, asking))(call).addObserver(done)
    },
    now,
    read: (effect) => Effect.runPromiseWith(context)(effect),
    outside
  }
}
