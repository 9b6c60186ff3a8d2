import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { Entropy } from "../../base/Entropy.ts"
import * as Id from "../../base/Id.ts"
import type { Account } from "../../ledger/Change.ts"
import * as Cursor from "../../ledger/Cursor.ts"
import { Journal, type StoreUnavailable } from "../../ledger/Journal.ts"
import { LedgerReads } from "../../ledger/LedgerReads.ts"
import * as Tally from "../../ledger/Tally.ts"
import type * as Waiting from "../../ledger/Waiting.ts"
import type { Owned } from "../../nodes/LightningBooks.ts"
import type { AssetBalance } from "./AssetBalance.ts"
import type { Difference } from "./Difference.ts"
import * as Listed from "./Listed.ts"
import * as Run from "./Run.ts"
import { overdueMillis, ReconciliationOptions } from "./ReconciliationOptions.ts"

/**
 * Operator equity among the funds of the node and the wallet. The ledger does not include it. It consists of
 * funds present at the start, funds added since, and the node's forwarding income and channel costs. An amount
 * is null until it is known.
 */
export const OwnFunds = Schema.Struct({
  node: Schema.NullOr(Msat.FromString),
  chain: Schema.NullOr(Msat.FromString)
})
export interface OwnFunds extends Schema.Schema.Type<typeof OwnFunds> {}

/** The last run, as a report. */
export interface Report extends Pick<Run.Run, "atMillis" | "node" | "chain" | "isBehind"> {
  /** The node's own income and costs, as listed by the node. They are part of the operator equity. */
  readonly listed: Listed.Listed
  /** Balance of each account, as in a trial balance. */
  readonly accounts: { readonly [account in Account]: Msat.Msat }
  /** The sum of the node's and the wallet's funds. */
  readonly assets: Msat.Msat
  /** The sum of all companies' funds. */
  readonly liabilities: Msat.Msat
  /** Discrepancies older than the grace period, oldest first. */
  readonly differences: ReadonlyArray<Difference>
  /** Number of differences within the grace period. A later run reports those that persist. */
  readonly unconfirmed: number
  /** Time at which a run is expected to have decided about all of them. Null if there are none. */
  readonly confirmedAtMillis: number | null
  /** Whether the next runs did not take place, so that it says nothing about the time since. */
  readonly isOutdated: boolean
}

/** Number of intervals after which a report is outdated. `SatrailReconciliationOld` fires at the same age. */
const intervalsKept = 3

/**
 * The stored form of the operator equity. Earlier versions counted only open channels and stored no `onChain`.
 * `listed` holds the totals that the node had listed when the equity was last updated. The equity includes
 * them, and later income and costs are added to it.
 */
const Kept = Schema.Struct({
  ...OwnFunds.fields,
  onChain: Schema.optionalKey(Schema.Literal(true)),
  /** Set once the operator has declared the node's equity. */
  isDeclared: Schema.optionalKey(Schema.Literal(true)),
  listed: Schema.optionalKey(Listed.Listed)
})
export interface Kept extends Schema.Schema.Type<typeof Kept> {}

const source = "own funds"
const OwnFundsText = Schema.fromJsonString(Kept)

/** Reads the operator equity as last declared. */
export const ownFunds: Effect.Effect<Kept, StoreUnavailable, LedgerReads> = Effect.gen(function* () {
  const text = yield* (yield* LedgerReads).cursor(source)
  if (Option.isNone(text)) return { node: null, chain: null }
  return yield* Effect.orDie(Schema.decodeUnknownEffect(OwnFundsText)(text.value))
})

/**
 * Adds the income and costs that the node has listed since the equity was declared. If only channels were
 * counted then, also adds the node's other funds, once, when they are first reported.
 */
export const counting = (own: Kept, { onChain }: Owned, listed: Listed.Listed): Kept => {
  const first = onChain === undefined || own.onChain === true ? Msat.zero : onChain
  return {
    ...own,
    node:
      own.node === null ? null : Msat.sum(own.node, first, Listed.since(listed, own.listed ?? Listed.none)),
    ...(onChain !== undefined && { onChain: true }),
    listed
  }
}

/**
 * Adds the coins that a node without channels receives before the ledger's first entry about it, such as those for its
 * first channel: until then, it has no company's money. Not once the operator has declared the node's equity.
 */
export const funded = (
  node: AssetBalance,
  { onChain }: Owned,
  { isDeclared }: Kept,
  accounts: Tally.Turnovers
): AssetBalance =>
  node.own === null ||
  node.unexplained <= 0n ||
  onChain !== node.owned ||
  isDeclared === true ||
  accounts.node.into + accounts.node.out > 0n
    ? node
    : { ...node, own: Msat.sum(node.own, node.unexplained), unexplained: Msat.zero }

/** Returns the cursor that stores the operator equity. */
export const stated = (own: Kept) => ({ source, value: Schema.encodeSync(OwnFundsText)(own) })

type Options = ReconciliationOptions["Service"]["reconciliation"]

const reportOf = (run: Run.Run, { graceMillis, everyMillis }: Options, nowMillis: number): Report => {
  const { atMillis, node, chain, isBehind, tally, listed = Listed.none } = run
  const accounts = Tally.byAccount((account) => Tally.net(tally.accounts[account]))
  const differences = Run.differences(run, graceMillis)
  const recent = run.found.filter((one) => !differences.includes(one)).map(({ sinceMillis }) => sinceMillis)
  return {
    atMillis,
    node,
    chain,
    isBehind,
    listed,
    accounts,
    assets: Msat.sum(node.owned, chain.owned),
    liabilities: Msat.sum(accounts.available, accounts.held),
    differences,
    unconfirmed: recent.length,
    confirmedAtMillis:
      recent.length === 0
        ? null
        : recent.reduce((a, b) => Math.max(a, b)) + Math.ceil(graceMillis / everyMillis) * everyMillis,
    isOutdated: nowMillis - atMillis > intervalsKept * everyMillis
  }
}

/** Result of the last reconciliation of our books with the node and the chain. `Reconciler` performs it. */
export class Reconciliation extends Context.Service<
  Reconciliation,
  {
    /** The last report; none before the first run, or if no process can reconcile. */
    readonly last: Effect.Effect<Option.Option<Report>, StoreUnavailable>
    /** Returns the number of waiting records of each kind, and the time at which the oldest one started waiting. */
    readonly waiting: Effect.Effect<Waiting.All, StoreUnavailable>
    /** Declares the operator equity. A null leaves the current value unchanged. Takes effect in the next run. */
    readonly stateOwnFunds: (own: OwnFunds) => Effect.Effect<OwnFunds, StoreUnavailable>
  }
>()("@satrail/core/reports/reconciliation/Reconciliation") {}

export const make = Effect.gen(function* () {
  const records = yield* LedgerReads
  const journal = yield* Journal
  const entropy = yield* Entropy
  const options = (yield* ReconciliationOptions).reconciliation

  return Reconciliation.of({
    last: Effect.zipWith(
      Effect.provideService(Run.last, LedgerReads, records),
      Clock.currentTimeMillis,
      (run, nowMillis) => Option.map(run, (run) => reportOf(run, options, nowMillis))
    ),
    waiting: Effect.flatMap(Clock.currentTimeMillis, (nowMillis) =>
      records.waiting(nowMillis - overdueMillis)
    ),
    stateOwnFunds: Effect.fnUntraced(function* (own) {
      const before = yield* Effect.provideService(ownFunds, LedgerReads, records)
      const isCounted = own.node !== null || before.onChain === true
      const listed = yield* Effect.provideService(Listed.last, LedgerReads, records)
      const now: Kept = {
        node: own.node ?? before.node,
        chain: own.chain ?? before.chain,
        ...(isCounted && { onChain: true }),
        ...((own.node !== null || before.isDeclared === true) && { isDeclared: true }),
        listed: (own.node === null ? before.listed : listed) ?? Listed.none
      }
      const nowMillis = yield* Clock.currentTimeMillis
      yield* journal.commit(Cursor.moved(stated(now), Id.fromMillis(nowMillis, entropy), nowMillis)).pipe(
        Effect.catchTag("StaleFence", Effect.die) // no fence is passed
      )
      yield* Effect.logInfo("reconciliation: operator equity declared", {
        nodeSats: now.node === null ? null : Msat.toDecimalSats(now.node),
        chainSats: now.chain === null ? null : Msat.toDecimalSats(now.chain)
      })
      return now
    })
  })
})

export const layer = Layer.effect(Reconciliation, make)
