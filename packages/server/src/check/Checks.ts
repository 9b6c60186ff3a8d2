import { Effect, Option } from "effect"
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
const of = (environment: Environment): ReadonlyArray<Check.Check> => {
  const { node, chainNode, network } = environment
  const lastRead = Database.lastRead(environment)
  const place = { network, lastRead }
  // The checks of these servers report what they fail with.
  const tip = chainNode === undefined ? Effect.succeedNone : Effect.option(chainNode.source.blocks(place).tip)
  const known = Effect.flatMap(tip, (found) =>
    Option.isSome(found) ? Effect.succeed(found.value.height) : lastRead
  )
  const simulated = Simulated.of(environment)
  return Check.applying([
    Settings.check(environment),
    Directory.check(environment),
    Database.check(environment),
    Database.space(environment),
    ...(node?.checks(network, known) ?? []),
    ...(chainNode === undefined ? [] : [...chainNode.source.checks(place), Wallet.check(network, chainNode)]),
    Rates.check(environment),
    Clock.check(environment),
    !simulated.web && environment.bip353Resolvers.length > 0 && DnsResolver.check(environment),
    // A sandbox has no outside payers.
    !Simulated.isSandbox(simulated) && Domain.check(environment)
  ])
}

/** Makes the run of the checks that `when` selects. */
const run =
  (limitMillis: number, when: (check: Check.Check) => boolean) =>
  (environment: Environment): Effect.Effect<ReadonlyArray<Check.Found>> =>
    Check.run(of(environment).filter(when), limitMillis, Check.secretsIn(environment))

/** For `satrail check`. */
export const all = run(limitMillis.asked, () => true)
export const beforeStart = run(limitMillis.starting, ({ isLater }) => isLater !== true)
export const afterStart = run(limitMillis.asked, ({ isLater }) => isLater === true)
