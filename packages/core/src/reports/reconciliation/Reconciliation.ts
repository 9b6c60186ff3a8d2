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
import type { Difference } from "./Difference.ts"
import * as Listed from "./Listed.ts"
import * as Look from "./Look.ts"
import { ReconciliationOptions } from "./ReconciliationOptions.ts"

/**
 * What of the node's money and the wallet's is the operator's own, besides what the ledger knows of: what was there before and what was put there since, with
 * what channels cost and forwarding earned. null until it is known.
 */
export const OwnFunds = Schema.Struct({ node: Schema.NullOr(Msat.FromString), chain: Schema.NullOr(Msat.FromString) })
export interface OwnFunds extends Schema.Schema.Type<typeof OwnFunds> {}

/** The last comparison, for people. */
export interface Report extends Pick<Look.Look, "atMillis" | "node" | "chain" | "isBehind"> {
  /** What of the node's part of the operator's own it earned and spent by itself, as it lists it. */
  readonly listed: Listed.Listed
  /** What is in each account, as in a trial balance. */
  readonly accounts: { readonly [account in Account]: Msat.Msat }
  /** What the node and the wallet own. */
  readonly assets: Msat.Msat
  /** What all companies own together. */
  readonly liabilities: Msat.Msat
  /** What differs for longer than anything is on its way, the oldest first. */
  readonly differences: ReadonlyArray<Difference>
}

/**
 * As it is kept. Versions before this one counted open channels alone: what they wrote does not say `onChain`. `listed` is what the node had listed by the time
 * its part was stated, and what that part has in it: what it lists later is added.
 */
const Kept = Schema.Struct({
  ...OwnFunds.fields,
  onChain: Schema.optionalKey(Schema.Literal(true)),
  listed: Schema.optionalKey(Listed.Listed)
})
export interface Kept extends Schema.Schema.Type<typeof Kept> {}

const source = "own funds"
const OwnFundsText = Schema.fromJsonString(Kept)

/** The operator's own, as it was stated last. */
export const ownFunds: Effect.Effect<Kept, StoreUnavailable, LedgerReads> = Effect.gen(function* () {
  const text = yield* (yield* LedgerReads).cursor(source)
  if (Option.isNone(text)) return { node: null, chain: null }
  return yield* Effect.orDie(Schema.decodeUnknownEffect(OwnFundsText)(text.value))
})

/**
 * What was stated is more by what the node has listed since. What was stated when only channels were counted is more by what the node has besides them, from the
 * first comparison on that counts it.
 */
export const counting = (own: Kept, { onChain }: Owned, listed: Listed.Listed): Kept => {
  const first = onChain === undefined || own.onChain === true ? Msat.zero : onChain
  return {
    ...own,
    node: own.node === null ? null : Msat.sum(own.node, first, Listed.since(listed, own.listed ?? Listed.none)),
    ...(onChain !== undefined && { onChain: true }),
    listed
  }
}

/** How it is kept. */
export const stated = (own: Kept) => ({ source, value: Schema.encodeSync(OwnFundsText)(own) })

const reportOf = (look: Look.Look, graceMillis: number): Report => {
  const { atMillis, node, chain, isBehind, tally, listed = Listed.none } = look
  const accounts = Tally.byAccount((account) => Tally.net(tally.accounts[account]))
  return {
    atMillis,
    node,
    chain,
    isBehind,
    listed,
    accounts,
    assets: Msat.sum(node.owned, chain.owned),
    liabilities: Msat.sum(accounts.available, accounts.held),
    differences: Look.differences(look, graceMillis)
  }
}

/** Whether our books agree with the node's and the chain's, as it was found last. Who compares is `Reconciler`. */
export class Reconciliation extends Context.Service<
  Reconciliation,
  {
    /** None before the first run; there may be no process that can make one. */
    readonly last: Effect.Effect<Option.Option<Report>, StoreUnavailable>
    /** What waits now, and since when. */
    readonly waiting: Effect.Effect<Waiting.All, StoreUnavailable>
    /** The operator says what is his own. What is null stays as it is. Counts from the next comparison on. */
    readonly stateOwnFunds: (own: OwnFunds) => Effect.Effect<OwnFunds, StoreUnavailable>
  }
>()("@satrail/core/reports/reconciliation/Reconciliation") {}

export const make = Effect.gen(function* () {
  const records = yield* LedgerReads
  const journal = yield* Journal
  const entropy = yield* Entropy
  const { graceMillis, overdueMillis } = (yield* ReconciliationOptions).reconciliation

  return Reconciliation.of({
    last: Effect.map(
      Effect.provideService(Look.last, LedgerReads, records),
      Option.map((look) => reportOf(look, graceMillis))
    ),
    waiting: Effect.flatMap(Clock.currentTimeMillis, (nowMillis) => records.waiting(nowMillis - overdueMillis)),
    stateOwnFunds: Effect.fnUntraced(function* (own) {
      const before = yield* Effect.provideService(ownFunds, LedgerReads, records)
      const isCounted = own.node !== null || before.onChain === true
      const listed = yield* Effect.provideService(Listed.last, LedgerReads, records)
      const now: Kept = {
        node: own.node ?? before.node,
        chain: own.chain ?? before.chain,
        ...(isCounted && { onChain: true }),
        listed: (own.node === null ? before.listed : listed) ?? Listed.none
      }
      const nowMillis = yield* Clock.currentTimeMillis
      yield* journal.commit(Cursor.moved(stated(now), Id.fromMillis(nowMillis, entropy), nowMillis)).pipe(
        Effect.catchTag("StaleFence", Effect.die) // nothing is fenced here
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
