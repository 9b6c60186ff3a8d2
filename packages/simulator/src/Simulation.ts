import * as Policy from "@satrail/core/service/Policy"
import * as Satrail from "@satrail/service/core/Satrail"
import * as Random from "@satrail/testing/Random"
import { Effect, Layer } from "effect"
import * as Books from "./checks/Books.ts"
import * as Seen from "./checks/Seen.ts"
import { records, injections } from "./features/index.ts"
import * as Operation from "./plot/Operation.ts"
import * as Plot from "./plot/Plot.ts"
import * as Stage from "./story/Stage.ts"
import * as Story from "./story/Story.ts"
import * as Coverage from "./world/Coverage.ts"
import type { Taken } from "./world/Fault.ts"
import * as Front from "./world/Front.ts"
import * as Store from "./world/Store.ts"
import * as World from "./world/World.ts"

/**
 * Settings of the simulated service. Polling is less frequent than usual, so that a simulated hour is cheap,
 * and few confirmations are required, so that chains can be short.
 */
export const settings: Policy.Settings = {
  ...Policy.defaults,
  // Scenarios have one operator.
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

/**
 * Varies how payouts are sent: immediately and one by one, or batched for a while, up to the maximum number in
 * a transaction.
 */
const settingsOf = (seed: number): Policy.Settings => {
  const random = Random.make(Random.derived(seed, 3))
  return {
    ...settings,
    payoutWindowMillis: random.pick([0, 5000, 60_000]),
    payoutOutputs: random.pick([2, 100])
  }
}

export interface Options {
  readonly store: Store.Store
  /** Number of operations in a scenario. */
  readonly operations: number
  /** Replaces ports with broken ones, to test that the checks catch them. */
  readonly spoil?: World.Spoil | undefined
  readonly settings?: Policy.Settings | undefined
  /** Uses one process, and lets only as much time pass at the end as is needed after a single fault. */
  readonly isShort?: boolean | undefined
  /** If false, no process runs the workers that call customers' servers. */
  readonly callsCustomers?: boolean | undefined
}

/** Result of a scenario. */
export interface Outcome {
  readonly seed: number
  readonly operations: ReadonlyArray<Operation.Operation>
  readonly violation: string | undefined
  /**
   * Index of the operation at which a guarantee was violated, or the number of operations if it was violated at
   * the end.
   */
  readonly at: number
  /**
   * Final state of all money, one line per company, without details that differ between runs. Empty if a
   * guarantee was violated.
   */
  readonly ending: string
  /** The port calls, grouped by the operation during which they were made. */
  readonly calls: ReadonlyArray<ReadonlyArray<Readonly<Taken>>>
  /** Hash of the history. Two hashes are equal only if the scenarios are identical down to the last call. */
  readonly hash: string
  readonly history: ReadonlyArray<string>
  readonly coverage: Coverage.Coverage
}

let front: Promise<Front.Handler> | undefined

/** The routes are built once for all scenarios, because none of them depends on a scenario. */
export const handler = (store: Store.Store): Promise<Front.Handler> => {
  front ??= (async () => {
    const world = await World.make(0, store, (ports) => ports)
    const services = Layer.provide(Layer.fresh(Satrail.layer(settings)), Layer.succeedContext(world.ports))
    return Front.make(await Effect.runPromise(Effect.scoped(Layer.build(services))))
  })()
  return front
}

// Number of operations between full audits. Between audits, only touched records are checked.
const stepsPerAudit = { memory: 20, pglite: 50 }

/** Runs the operations of a seed, and reports the guarantee that was violated, if any. */
export const tell = async (
  seed: number,
  operations: ReadonlyArray<Operation.Operation>,
  options: Options
): Promise<Outcome> => {
  const { store, spoil = (ports) => ports } = options
  const routes = await handler(store)
  const world = await World.make(seed, store, spoil)
  const coverage = Coverage.make()
  const slots = options.isShort
    ? 1
    : Random.make(Random.derived(seed, 2)).pick([1, Operation.maxSlots, Operation.maxSlots])
  const stage = Stage.make({
    world,
    handler: routes,
    settings: options.settings ?? settingsOf(seed),
    coverage,
    slots,
    callsCustomers: options.callsCustomers ?? true,
    isAsync: store.name !== "memory"
  })
  const seen = Seen.make(world.watch, coverage, records)
  const books = Books.make(world, seen, coverage, store.name === "memory", stage.keyOf)
  const story = Story.make(stage, seen)
  let at = 0
  let auditedAt = 0
  let ending = ""
  const calls: Array<ReadonlyArray<Readonly<Taken>>> = []
  let violation: string | undefined
  try {
    for (const operation of operations) {
      await story.tell(operation)
      calls.push(stage.traps.taken())
      // Don't query an asynchronous store while it is busy. Its response may depend on work started by a
      // process that cannot run now.
      const isAtRest = store.name === "memory" || !operation.rushes
      if (isAtRest) {
        story.look()
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
  return {
    seed,
    operations,
    violation,
    at,
    ending,
    calls,
    hash: stage.hash(),
    history: stage.history(),
    coverage
  }
}

/** Draws the operations of a seed and runs them. */
export const run = (seed: number, options: Options): Promise<Outcome> => {
  const operations = Plot.list(Random.make(Random.derived(seed, 1)), options.operations)
  const random = Random.make(Random.derived(seed, 4))
  const injected = injections.reduce((all, inject) => inject(all, random), operations)
  return tell(seed, injected, options)
}

/**
 * Runs the scenarios of seeds `first` to `last`. Returns the first one that violated a guarantee, or undefined.
 * `spoil` replaces ports with broken ones, to test that the checks catch them.
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
