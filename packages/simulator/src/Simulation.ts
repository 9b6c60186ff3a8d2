import * as Policy from "@satrail/core/service/Policy"
import * as Satrail from "@satrail/core/service/Satrail"
import * as Random from "@satrail/testing/Random"
import { Effect, Layer } from "effect"
import * as Books from "./checks/Books.ts"
import * as Deliveries from "./features/webhooks/Deliveries.ts"
import * as Seen from "./checks/Seen.ts"
import * as Offers from "./features/offers/Woven.ts"
import * as Operation from "./plot/Operation.ts"
import * as Plot from "./plot/Plot.ts"
import * as Stage from "./story/Stage.ts"
import * as Story from "./story/Story.ts"
import * as Coverage from "./world/Coverage.ts"
import type { Taken } from "./world/Fault.ts"
import * as Front from "./world/Front.ts"
import * as Store from "./world/Store.ts"
import * as World from "./world/World.ts"

/** The service that is simulated: rarer looks than usual, so that an hour is not spent looking, and chains that need not be long. */
export const settings: Policy.Settings = {
  ...Policy.defaults,
  // Stories have one operator.
  secondOperatorAbove: null,
  network: "regtest",
  domain: "pay.example",
  trackMillis: { minimum: 2000, maximum: 30_000 },
  invoicePollMillis: 60_000,
  chainPollMillis: 10_000,
  dutyLeaseMillis: 30_000,
  payoutBuriedAt: 8,
  replacedConfirmations: 3,
  replacement: { afterMillis: 600_000, allowances: 3 }
}

/** Payouts go at once, each by itself, or gather for a while: as many as one transaction may pay. */
const settingsOf = (seed: number): Policy.Settings => {
  const random = Random.make(Random.derived(seed, 3))
  return { ...settings, payoutWindowMillis: random.pick([0, 5000, 60_000]), payoutOutputs: random.pick([2, 100]) }
}

/** What is simulated. */
export interface Options {
  readonly store: Store.Store
  /** How many operations a story has. */
  readonly operations: number
  /** Takes the place of ports, to see whether it is noticed. */
  readonly spoil?: World.Spoil | undefined
  readonly settings?: Policy.Settings | undefined
  /** One process, and no more time at the end than a story needs in which one thing goes wrong. */
  readonly isShort?: boolean | undefined
  /** Without webhooks no process looks for any. */
  readonly hasWebhooks?: boolean | undefined
}

/** How a story went. */
export interface Outcome {
  readonly seed: number
  readonly operations: ReadonlyArray<Operation.Operation>
  readonly violation: string | undefined
  /** Where in the operations it was broken; their number when it was at the end. */
  readonly at: number
  /** What became of everybody's money, without what differs from one telling to the next: a line a company. Empty when a promise was broken. */
  readonly ending: string
  /** The calls of ports, by the operation during which each was made. */
  readonly calls: ReadonlyArray<ReadonlyArray<Readonly<Taken>>>
  /** The same story has the same, to the last call. */
  readonly hash: string
  readonly history: ReadonlyArray<string>
  readonly coverage: Coverage.Coverage
}

let front: Promise<Front.Handler> | undefined

/** The routes are made once for all stories: none of them is the story's own. */
export const handler = (store: Store.Store): Promise<Front.Handler> => {
  front ??= (async () => {
    const world = await World.make(0, store, (ports) => ports)
    const services = Layer.provide(Layer.fresh(Satrail.layer(settings)), Layer.succeedContext(world.ports))
    return Front.make(await Effect.runPromise(Effect.scoped(Layer.build(services))))
  })()
  return front
}

// How often everything is looked at, and not only what was touched.
const stepsPerAudit = { memory: 20, pglite: 50 }

/** Tells the operations of a seed, and says what was broken. */
export const tell = async (seed: number, operations: ReadonlyArray<Operation.Operation>, options: Options): Promise<Outcome> => {
  const { store, spoil = (ports) => ports } = options
  const routes = await handler(store)
  const world = await World.make(seed, store, spoil)
  const coverage = Coverage.make()
  const slots = options.isShort ? 1 : Random.make(Random.derived(seed, 2)).pick([1, Operation.maxSlots, Operation.maxSlots])
  const stage = Stage.make({
    world,
    handler: routes,
    settings: options.settings ?? settingsOf(seed),
    coverage,
    slots,
    hasWebhooks: options.hasWebhooks ?? true,
    isAsync: store.name !== "memory"
  })
  const seen = Seen.make(world.watch, coverage)
  const books = Books.make(world, seen, coverage, store.name === "memory", stage.keyOf)
  const deliveries = Deliveries.make(world, seen, coverage)
  const story = Story.make(stage, seen, deliveries)
  let at = 0
  let auditedAt = 0
  let ending = ""
  const calls: Array<ReadonlyArray<Readonly<Taken>>> = []
  let violation: string | undefined
  try {
    for (const operation of operations) {
      await story.tell(operation)
      calls.push(stage.traps.taken())
      // Of a store that takes its time, nothing is asked while it is at work: an answer may wait for what somebody else began, whose turn it is not.
      const isAtRest = store.name === "memory" || !operation.rushes
      if (isAtRest) {
        deliveries.look()
        await books.look()
      }
      at++
      if (!isAtRest || at - auditedAt < stepsPerAudit[store.name]) continue
      auditedAt = at
      await books.audit()
    }
    await story.finish(options.isShort ? 1 : 4)
    ending = await books.close()
  } catch (error) {
    violation = error instanceof Error ? error.message : String(error)
  }
  await stage.end()
  return { seed, operations, violation, at, ending, calls, hash: stage.hash(), history: stage.history(), coverage }
}

/** Draws the operations of a seed and tells them. */
export const run = (seed: number, options: Options): Promise<Outcome> => {
  const operations = Plot.list(Random.make(Random.derived(seed, 1)), options.operations)
  return tell(seed, Offers.woven(operations, Random.make(Random.derived(seed, 4))), options)
}

/**
 * Runs the stories of seeds `first` to `last` and answers the first one in which a promise was broken, undefined when none was. With `spoil` the
 * service is given other ports, to see whether anybody notices.
 */
export const firstViolation = async (options: {
  readonly first: number
  readonly last: number
  readonly operations?: number | undefined
  readonly spoil?: World.Spoil | undefined
  readonly settings?: Policy.Settings | undefined
  readonly store?: Store.Name | undefined
}): Promise<Outcome | undefined> => {
  const store = await Store.open(options.store ?? "memory")
  try {
    for (let seed = options.first; seed <= options.last; seed++) {
      const outcome = await run(seed, { ...options, store, operations: options.operations ?? 200 })
      if (outcome.violation !== undefined) return outcome
    }
    return undefined
  } finally {
    await store.close()
  }
}
