import { Entropy } from "@satrail/core/base/Entropy"
import { Journal } from "@satrail/core/ledger/Journal"
import { type AllReads, Records } from "@satrail/core/service/Records"
import { PretendNames } from "@satrail/sandbox/PretendNames"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import * as Random from "@satrail/testing/Random"
import { Clock, Context, Effect, type Exit, Logger, Scheduler } from "effect"
import { Poster } from "@satrail/core/features/webhooks/Ports"
import * as Outside from "./Outside.ts"
import * as Receivers from "./Receivers.ts"
import type { Store } from "./Store.ts"
import * as Time from "./Time.ts"
import * as Turns from "./Turns.ts"
import * as Watch from "./Watch.ts"
import { Asking, type Ports } from "./Wire.ts"

/** When every story begins. */
const beginsAtMillis = 1_700_000_000_000

/** Exchanges ports for others. */
export type Spoil = (ports: Context.Context<Ports>) => Context.Context<Ports>

/** Everything that outlives a process: the store, the nodes, the outside, and time. */
export interface World {
  /** Says who is next, and what is drawn while the story is told. */
  readonly random: () => Random.Random
  readonly reseed: (seed: number) => void
  readonly time: Time.Time
  readonly turns: Turns.Turns
  readonly sandbox: Sandbox.Sandbox["Service"]
  readonly names: PretendNames["Service"]
  /** The store as it is, without any faults in between. */
  readonly store: Context.Context<Records>
  readonly records: AllReads
  readonly journal: Journal["Service"]
  readonly watch: Watch.Watch
  /** Where webhooks go. */
  readonly receivers: Receivers.Receivers
  /** What processes are given. */
  readonly ports: Context.Context<Ports>
  /** What a fiber of the world runs with. */
  readonly context: Context.Context<never>
  readonly fork: (call: Effect.Effect<unknown, unknown>, asking: number | null, done: (exit: Exit.Exit<unknown, unknown>) => void) => void
  /** What takes no time: everything about the sandbox. */
  readonly now: Outside.Now
  readonly read: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
  /** What may be done to the node and the chain. */
  readonly outside: Outside.Outside
}

/** Whose turn it is and what time it is, for worlds that are beside each other. */
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

/** What lets fibers run in here: the same clock for all, and their turns. */
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

// Beginnings of a pretend network cost more than most stories; those of a few are kept there.
const networks = 4

/** A world in which nothing has happened yet, of its own or beside another one. */
export const make = async (seed: number, store: Store, spoil: Spoil, beside: Common = common(seed)): Promise<World> => {
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
    if (exit === undefined) throw new Error("the sandbox took its time")
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
    names: Context.get(outside.ports, PretendNames),
    store: books,
    records: Effect.runSync(Effect.provideContext(Records, books)),
    journal: Context.get(books, Journal),
    watch,
    receivers,
    ports: spoil(Context.merge(books, outside.ports).pipe(Context.add(Journal, watch.journal), Context.add(Poster, receivers.poster))),
    context,
    fork: (call, asking, done) => {
      Effect.runForkWith(Context.add(context, Asking, asking))(call).addObserver(done)
    },
    now,
    read: (effect) => Effect.runPromiseWith(context)(effect),
    outside
  }
}
