import type { Effect } from "effect"
import type { Environment } from "../deployment/Environment.ts"
import * as Simulated from "../deployment/Simulated.ts"
import * as Check from "../base/Check.ts"
import * as Clock from "./Clock.ts"
import * as Database from "./Database.ts"
import * as Directory from "./Directory.ts"
import * as Domain from "./Domain.ts"
import * as DnsResolver from "./DnsResolver.ts"
import * as Rates from "./Rates.ts"
import * as Settings from "./Settings.ts"
import * as Wallet from "./Wallet.ts"

/** Timeout of each check, for `satrail check` and at startup. */
export const limitMillis = { asked: 10_000, starting: 5_000 } as const

/** Returns every check of a configuration, in printing order. */
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
    ...(Simulated.of(environment).web || environment.bip353Resolvers.length === 0 ? [] : [DnsResolver.check(environment)]),
    // A sandbox has no outside payers.
    ...(Simulated.isSandbox(Simulated.of(environment)) ? [] : [Domain.check(environment)])
  ]
}

/** Runs all checks, for `satrail check`. */
export const all = (environment: Environment): Effect.Effect<ReadonlyArray<Check.Found>> =>
  Check.run(of(environment), limitMillis.asked, Check.secretsIn(environment))

/** Runs the checks that precede startup. */
export const beforeStart = (environment: Environment): Effect.Effect<ReadonlyArray<Check.Found>> =>
  Check.run(
    of(environment).filter(({ isLater }) => isLater !== true),
    limitMillis.starting,
    Check.secretsIn(environment)
  )

/** Runs the checks that follow startup. */
export const afterStart = (environment: Environment): Effect.Effect<ReadonlyArray<Check.Found>> =>
  Check.run(
    of(environment).filter(({ isLater }) => isLater === true),
    limitMillis.asked,
    Check.secretsIn(environment)
  )
