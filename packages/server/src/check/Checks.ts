import type { Effect } from "effect"
import type { Environment } from "../deployment/Environment.ts"
import * as Pretended from "../deployment/Pretended.ts"
import * as Check from "../base/Check.ts"
import * as Clock from "./Clock.ts"
import * as Database from "./Database.ts"
import * as Directory from "./Directory.ts"
import * as Domain from "./Domain.ts"
import * as Names from "./Names.ts"
import * as Rates from "./Rates.ts"
import * as Settings from "./Settings.ts"
import * as Wallet from "./Wallet.ts"

/** How long one subject is waited for: by who asks, and by a start. */
export const limitMillis = { asked: 10_000, starting: 5_000 } as const

/** Every check of a configuration, in the order in which they are printed. */
export const of = (environment: Environment): ReadonlyArray<Check.Check> => {
  const { node, chainNode, network } = environment
  return [
    Settings.check(environment),
    Directory.check(environment),
    Database.check(environment),
    ...(node === undefined ? [] : node.checks(network)),
    ...(chainNode === undefined ? [] : [...chainNode.source.checks(network), Wallet.check(network, chainNode)]),
    Rates.check(environment),
    Clock.check(environment),
    ...(Pretended.of(environment).web || environment.bip353Resolvers.length === 0 ? [] : [Names.check(environment)]),
    // A sandbox has no outside payers.
    ...(Pretended.isSandbox(Pretended.of(environment)) ? [] : [Domain.check(environment)])
  ]
}

/** What `satrail check` shows: everything. */
export const all = (environment: Environment): Effect.Effect<ReadonlyArray<Check.Found>> =>
  Check.run(of(environment), limitMillis.asked, Check.secretsIn(environment))

/** What a start looks at before it begins. */
export const beforeStart = (environment: Environment): Effect.Effect<ReadonlyArray<Check.Found>> =>
  Check.run(
    of(environment).filter(({ isLater }) => isLater !== true),
    limitMillis.starting,
    Check.secretsIn(environment)
  )

/** What a service looks at once it runs. */
export const afterStart = (environment: Environment): Effect.Effect<ReadonlyArray<Check.Found>> =>
  Check.run(
    of(environment).filter(({ isLater }) => isLater === true),
    limitMillis.asked,
    Check.secretsIn(environment)
  )
