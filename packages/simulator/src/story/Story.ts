import type { Seen } from "../checks/Seen.ts"
import type { Act, ActOf, Operation, Tag } from "../plot/Operation.ts"
import type { Watching } from "../features/Feature.ts"
import { all, features } from "../features/index.ts"
import * as Customers from "./Customers.ts"
import * as Disturbances from "./Disturbances.ts"
import * as Feed from "./Feed.ts"
import type { World } from "../world/World.ts"
import { type Acts, type Made, nothing } from "./Made.ts"
import * as Operator from "./Operator.ts"
import * as Outsiders from "./Outsiders.ts"
import * as Requests from "./Requests.ts"
import type { Stage } from "./Stage.ts"
import * as Stops from "./Stops.ts"
import * as Trade from "./Trade.ts"

/** A running scenario. Runs the drawn operations on the records that exist at that time. */
export interface Story {
  readonly made: Made
  readonly tell: (operation: Operation) => Promise<void>
  /** Lets features check what happened since the last call. Call it only while the scenario is at rest. */
  readonly look: () => void
  /**
   * Ends all disturbances and repeats all requests without a response. Each round releases held payments and
   * mines blocks.
   */
  readonly finish: (rounds: number) => Promise<void>
}

/** Operations counted as faults. */
const faults = new Set<Act["_tag"]>([
  "Kill",
  "Freeze",
  "Skew",
  "TakeAway",
  "IndexBehind",
  "LoseNotice",
  "Forget",
  "RoutesDown",
  "LieOnce",
  "Reorg",
  "DoubleSpend",
  "Jump"
])

/** Builds a feature's operations. Each feature receives all of these arguments, even if it ignores some. */
type MakeActs<A> = (
  customers: Customers.Customers,
  outsiders: Outsiders.Outsiders,
  made: Made,
  world: World
) => A

type Joined<T> = (T extends unknown ? (of: T) => void : never) extends (of: infer All) => void ? All : never
const joined = <T extends object>(parts: ReadonlyArray<T>) =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- merges them in the order of the types
  Object.assign({}, ...parts) as Joined<T>

type Watch = (stage: Stage, customers: Customers.Customers, seen: Seen, made: Made) => Watching
// oxlint-disable-next-line typescript/consistent-type-assertions -- a feature's function takes some of these arguments
const watches = all.flatMap(({ watch }) => (watch === undefined ? [] : [watch as Watch]))

const ofFeatures = features.flatMap((feature) => ("acts" in feature ? [feature.acts] : []))

export const make = (stage: Stage, seen: Seen): Story => {
  const { world, coverage } = stage
  const { sandbox } = world
  const made = nothing()
  const customers = Customers.make(stage, seen, all)
  const outsiders = Outsiders.make(stage, customers, made)
  const watched = watches.map((watch) => watch(stage, customers, seen, made))
  const stops = Stops.make(customers)
  const acts: Acts<Tag> = {
    ...outsiders.acts,
    ...stops.acts,
    ...Trade.make(world, customers, made),
    ...Requests.make(customers, outsiders, made),
    ...joined(
      ofFeatures.map((make: MakeActs<ReturnType<(typeof ofFeatures)[number]>>) =>
        make(customers, outsiders, made, world)
      )
    ),
    ...Operator.make(world, customers, made),
    ...Disturbances.make(stage, outsiders)
  }
  const perform = <T extends Tag>(tag: T, act: ActOf<T>) => acts[tag](act)

  /** Lets all workers run this number of times, at an interval shorter than any lease. */
  const looks = async (times: number) => {
    for (let at = 0; at < times; at++) await stage.jump(9_500)
  }

  /** Runs until nothing is in flight: releases held payments, mines blocks, and lets time pass. */
  const finish = async (rounds: number) => {
    await stage.calm()
    world.now(sandbox.resume("index"))
    world.outside.setRoutesDown(false)
    world.outside.setFeeRate(2)
    for (let round = 0; round < Math.min(rounds, 3); round++) {
      stops.resume()
      for (const request of customers.requests) {
        if (request.success === undefined && request.ask.once !== undefined) customers.repeat(request, round)
      }
      // Wait for as long as a call can be delayed.
      await looks(8)
    }
    // Recover only after the owners' requests have arrived, because an endpoint whose deletion is in flight
    // still looks enabled.
    for (const { recover } of watched) await recover()
    for (let round = 0; round < rounds; round++) {
      for (const [at, paymentHash] of outsiders.held().entries())
        outsiders.attempt(
          "lets go",
          sandbox.release({ paymentHash, outcome: (at + round) % 2 === 0 ? "settle" : "fail" })
        )
      // Mine enough blocks that undecided held payments are returned before their HTLCs expire.
      if (round === 0 && made.holds.length > 0) outsiders.attempt("mines", sandbox.mine(60))
      outsiders.attempt("mines", sandbox.mine(7))
      await looks(7)
      await stage.jump(3_700_000)
    }
    // Longer than the longest interval between two attempts.
    await stage.jump(110_000_000)
    await looks(2 * rounds)
    await stage.pass(10_000)
    await customers.compare()
    for (const company of customers.companies) {
      const feed = await Feed.read(stage, company)
      await world.read(Feed.check(world, company.id, feed))
      for (const { close } of watched) await close(company.id, feed)
    }
  }

  return {
    made,
    tell: async ({ act, seed, rushes }) => {
      world.reseed(seed)
      stage.note(`# ${JSON.stringify(act)}`)
      coverage.count("operation", act._tag)
      if (faults.has(act._tag))
        coverage.count("fault", act._tag === "TakeAway" ? `${act.port}: away` : act._tag)
      await perform(act._tag, act)
      if (!rushes) await stage.pass(0)
    },
    look: () => {
      for (const { look } of watched) look()
    },
    finish
  }
}
