import type { Deliveries } from "../features/webhooks/Deliveries.ts"
import type { Seen } from "../checks/Seen.ts"
import type { Act, ActOf, Operation, Tag } from "../plot/Operation.ts"
import { acts as ofFeatures } from "../features/acts.ts"
import * as Customers from "./Customers.ts"
import * as Disturbances from "./Disturbances.ts"
import * as Endpoints from "../features/webhooks/Endpoints.ts"
import { type Acts, type Made, nothing } from "./Made.ts"
import * as Operator from "./Operator.ts"
import * as Outsiders from "./Outsiders.ts"
import * as Requests from "./Requests.ts"
import type { Stage } from "./Stage.ts"
import * as Stops from "./Stops.ts"
import * as Trade from "./Trade.ts"

/** A story that is being told: does what was drawn, with what there is by then. */
export interface Story {
  readonly made: Made
  readonly tell: (operation: Operation) => Promise<void>
  /** Everybody asks again what was not answered, and so many times what is held is let go and blocks come. */
  readonly finish: (rounds: number) => Promise<void>
}

/** What is counted among the faults. */
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

type Joined<T> = (T extends unknown ? (of: T) => void : never) extends (of: infer All) => void ? All : never
const joined = <T extends object>(parts: ReadonlyArray<T>) =>
  // oxlint-disable-next-line typescript/consistent-type-assertions -- one by one, as the types are
  Object.assign({}, ...parts) as Joined<T>

export const make = (stage: Stage, seen: Seen, deliveries: Deliveries): Story => {
  const { world, coverage } = stage
  const { sandbox } = world
  const made = nothing()
  const customers = Customers.make(stage, seen)
  const outsiders = Outsiders.make(stage, customers, made)
  const endpoints = Endpoints.make(stage, customers, deliveries)
  const stops = Stops.make(customers)
  const acts: Acts<Tag> = {
    ...endpoints.acts,
    ...outsiders.acts,
    ...stops.acts,
    ...Trade.make(world, customers, made),
    ...Requests.make(customers, outsiders, made),
    ...joined(ofFeatures.map((make) => make(customers, outsiders, made, world))),
    ...Operator.make(world, customers, made),
    ...Disturbances.make(stage, outsiders)
  }
  const perform = <T extends Tag>(tag: T, act: ActOf<T>) => acts[tag](act)

  /** Everybody looks once, this often; a shorter time apart than any role lasts without being renewed. */
  const looks = async (times: number) => {
    for (let at = 0; at < times; at++) await stage.jump(9_500)
  }

  /** Until nothing is on its way: what is held ends, blocks come, time passes. */
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
      // As long as what is late may take.
      await looks(8)
    }
    // Not before what its owner asked for has arrived: an endpoint whose end is still on its way looks open.
    await endpoints.recover()
    for (let round = 0; round < rounds; round++) {
      for (const [at, paymentHash] of outsiders.held().entries())
        outsiders.attempt("lets go", sandbox.release({ paymentHash, outcome: (at + round) % 2 === 0 ? "settle" : "fail" }))
      // What nobody has decided goes back before its HTLCs end.
      if (round === 0 && made.holds.length > 0) outsiders.attempt("mines", sandbox.mine(60))
      outsiders.attempt("mines", sandbox.mine(7))
      await looks(7)
      await stage.jump(3_700_000)
    }
    // Longer than the longest pause between two attempts.
    await stage.jump(110_000_000)
    await looks(2 * rounds)
    await stage.pass(10_000)
    await customers.compare()
    await endpoints.compare()
  }

  return {
    made,
    tell: async ({ act, seed, rushes }) => {
      world.reseed(seed)
      stage.note(`# ${JSON.stringify(act)}`)
      coverage.count("operation", act._tag)
      if (faults.has(act._tag)) coverage.count("fault", act._tag === "TakeAway" ? `${act.port}: away` : act._tag)
      await perform(act._tag, act)
      if (!rushes) await stage.pass(0)
    },
    finish
  }
}
