import * as Preimage from "@satrail/bitcoin/Preimage"
import { Entropy } from "@satrail/core/base/Entropy"
import * as Id from "@satrail/core/base/Id"
import { Journal } from "@satrail/core/ledger/Journal"
import { ChainSource } from "@satrail/core/nodes/ChainSource"
import { LightningReceiver } from "@satrail/core/nodes/LightningReceiver"
import { LightningSender, type Payment } from "@satrail/core/nodes/LightningSender"
import { type AllReads, Records } from "@satrail/core/Records"
import * as FixedRates from "@satrail/sandbox/FixedRates"
import * as Keys from "@satrail/sandbox/Keys"
import * as Lightning from "@satrail/sandbox/Lightning"
import { PretendNames } from "@satrail/sandbox/PretendNames"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import * as Random from "@satrail/testing/Random"
import { Clock, Context, Effect, Exit, HashMap, Layer, Logger, Redacted, Scheduler } from "effect"
import type { Store } from "./Store.ts"
import * as Time from "./Time.ts"
import * as Turns from "./Turns.ts"
import * as Watch from "./Watch.ts"
import { Asking, graceMillis, type Ports } from "./Wire.ts"

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
  /** What processes are given. */
  readonly ports: Context.Context<Ports>
  /** What a fiber of the world runs with. */
  readonly context: Context.Context<never>
  readonly fork: (call: Effect.Effect<unknown, unknown>, asking: number | null, done: (exit: Exit.Exit<unknown, unknown>) => void) => void
  /** What takes no time: everything about the sandbox. */
  readonly now: <A, E>(effect: Effect.Effect<A, E>) => Exit.Exit<A, E>
  readonly read: <A, E>(effect: Effect.Effect<A, E>) => Promise<A>
  /** What the network asks for a virtual byte. */
  readonly setFeeRate: (satsPerVbyte: number) => void
  /** The node loses what it knew of payments that failed, as its operator may have it do. */
  readonly forget: () => void
  /** While routes are down the node fails every payment that it is asked to begin, for good. */
  readonly setRoutesDown: (areDown: boolean) => void
  /** The node says that it closed the next invoice it is asked to, and takes payments for it all the same. */
  readonly lieOnce: () => void
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

/** A world in which nothing has happened yet. */
export const make = async (seed: number, store: Store, spoil: Spoil): Promise<World> => {
  let random = Random.make(Random.derived(seed, 0))
  const time = Time.make(beginsAtMillis)
  const turns = Turns.make(() => random)
  const host = turns.host("world")
  const context = runsWith({
    clock: time.clock(host, () => 0),
    scheduler: host.scheduler,
    entropy: (size) => random.bytes(size),
    logger: quiet
  })
  const runFork = Effect.runForkWith(context)
  const books = await store.empty()
  const name = `simulated ${seed % networks}`
  const keys = Keys.make(name, "regtest")
  const network = Layer.mergeAll(Sandbox.layer({ seed: name, network: "regtest" }), FixedRates.layer())
  const outside = await Effect.runPromise(Effect.scoped(Layer.build(Layer.fresh(network))))
  const watch = Watch.make(Context.get(books, Journal))

  let feeRate = 2
  let areRoutesDown = false
  let lies = false
  const forgotten = new Set<string>()
  /** Failed before anybody was tried. */
  const failed = new Set<string>()
  const receiver = Context.get(outside, LightningReceiver)
  const sender = Context.get(outside, LightningSender)
  const source = Context.get(outside, ChainSource)
  const sandbox = Context.get(outside, Sandbox.Sandbox)
  const noRoute: Payment = { _tag: "failed", reason: "no_route" }
  const ports = Context.merge(books, outside).pipe(
    Context.add(Journal, watch.journal),
    Context.add(
      LightningSender,
      LightningSender.of({
        ...sender,
        graceMillis,
        pay: Effect.fnUntraced(function* (ask) {
          const { paymentHash } = ask.invoice
          const before = Lightning.sent((yield* sandbox.state).lightning, paymentHash)
          forgotten.delete(paymentHash)
          if (areRoutesDown && (before === undefined || before.stage._tag === "failed")) {
            failed.add(paymentHash)
            return noRoute
          }
          failed.delete(paymentHash)
          return yield* sender.pay(ask)
        }),
        lookupPayment: (paymentHash) =>
          Effect.map(sender.lookupPayment(paymentHash), (payment) => {
            const said = payment._tag === "notFound" && failed.has(paymentHash) ? noRoute : payment
            return said._tag === "failed" && forgotten.has(paymentHash) ? { _tag: "notFound" } : said
          })
      })
    ),
    Context.add(
      LightningReceiver,
      LightningReceiver.of({
        ...receiver,
        cancelInvoice: Effect.fnUntraced(function* (paymentHash) {
          const invoice = Lightning.invoice((yield* sandbox.state).lightning, paymentHash)
          if (!lies || invoice?.stage._tag !== "open") return yield* receiver.cancelInvoice(paymentHash)
          lies = false
          return { _tag: "canceled", preimage: Redacted.make(Preimage.make(Id.toHex(keys.secret(`invoice/${invoice.id}`)))) }
        })
      })
    ),
    Context.add(
      ChainSource,
      ChainSource.of({
        ...source,
        feeRate: Effect.andThen(
          source.feeRate,
          Effect.sync(() => feeRate)
        )
      })
    )
  )
  const now = <A, E>(effect: Effect.Effect<A, E>) => {
    const exit = runFork(effect).pollUnsafe()
    if (exit === undefined) throw new Error("the sandbox took its time")
    return exit
  }
  return {
    random: () => random,
    reseed: (seed) => {
      random = Random.make(seed)
    },
    time,
    turns,
    sandbox,
    names: Context.get(outside, PretendNames),
    store: books,
    records: Effect.runSync(Effect.provideContext(Records, books)),
    journal: Context.get(books, Journal),
    watch,
    ports: spoil(ports),
    context,
    fork: (call, asking, done) => {
      Effect.runForkWith(Context.add(context, Asking, asking))(call).addObserver(done)
    },
    now,
    read: (effect) => Effect.runPromiseWith(context)(effect),
    setFeeRate: (satsPerVbyte) => {
      feeRate = satsPerVbyte
    },
    forget: () => {
      const exit = now(sandbox.state)
      if (Exit.isFailure(exit)) return
      for (const { paymentHash, stage } of HashMap.values(exit.value.lightning.sent))
        if (stage._tag === "failed") forgotten.add(paymentHash)
      for (const paymentHash of failed) forgotten.add(paymentHash)
    },
    setRoutesDown: (areDown) => {
      areRoutesDown = areDown
    },
    lieOnce: () => {
      lies = true
    }
  }
}
