import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Context, Effect, Equal, Layer, Option } from "effect"
import { Entropy } from "../../base/Entropy.ts"
import * as Id from "../../base/Id.ts"
import * as Pages from "../../base/Pages.ts"
import * as Worker from "../../base/Worker.ts"
import type { Cursor as Checkpoint, Fence } from "../../ledger/Change.ts"
import * as Cursor from "../../ledger/Cursor.ts"
import * as Duties from "../../ledger/Duties.ts"
import { Journal, type StoreUnavailable } from "../../ledger/Journal.ts"
import { LedgerReads } from "../../ledger/LedgerReads.ts"
import { ChainBooks } from "../../nodes/ChainBooks.ts"
import type { ChainUnavailable } from "../../nodes/ChainSource.ts"
import { LightningBooks } from "../../nodes/LightningBooks.ts"
import type { NodeUnavailable } from "../../nodes/LightningReceiver.ts"
import { SendingReads } from "../../sending/SendingReads.ts"
import type { Withdrawal } from "../../sending/Withdrawal.ts"
import * as ChainItems from "./ChainItems.ts"
import * as LightningItems from "./LightningItems.ts"
import * as Listed from "./Listed.ts"
import * as Run from "./Run.ts"
import * as Positions from "./Positions.ts"
import * as Reconciliation from "./Reconciliation.ts"
import { ReconciliationOptions } from "./ReconciliationOptions.ts"
import * as Runway from "./Runway.ts"
import * as Statements from "./Statements.ts"

const pageSize = 500
const behindMillis = 1000

/**
 * Reconciles the ledger with the node and the chain. Counts the node's own income and costs as operator
 * equity, reports discrepancies and repairs nothing.
 */
export class Reconciler extends Context.Service<
  Reconciler,
  {
    /**
     * Compares the payments made since the last run, and those that differed or were not final in that run. The
     * first run on a database only sets the starting point. It assumes that earlier payments are correct, and
     * counts funds that the ledger does not explain as operator equity. If another process holds the lease,
     * nothing is stored.
     */
    readonly run: (
      fence?: Fence
    ) => Effect.Effect<Run.Run, NodeUnavailable | ChainUnavailable | StoreUnavailable>
  }
>()("@satrail/core/reports/reconciliation/Reconciler") {}

const satsOf = (amount: Msat.Msat | null): number | null =>
  amount === null ? null : Msat.toDecimalSats(amount)

/** Logs each discrepancy once, after its grace period. */
const report = Effect.fnUntraced(function* (run: Run.Run, before: Run.Run | undefined, graceMillis: number) {
  for (const { cause, about, companyId, recordId, ours, theirs } of Run.newDifferences(
    run,
    before,
    graceMillis
  )) {
    yield* Effect.logError("reconciliation: discrepancy; manual review needed", {
      cause,
      about,
      companyId,
      recordId,
      oursSats: satsOf(ours),
      theirsSats: satsOf(theirs)
    })
  }
})

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const sending = yield* SendingReads
  const lightning = yield* LightningBooks
  const chain = yield* ChainBooks
  const entropy = yield* Entropy
  const options = (yield* ReconciliationOptions).reconciliation

  const statements = yield* Statements.make
  const items = yield* LightningItems.make
  const chainItems = yield* ChainItems.make
  const reading = <A, E>(effect: Effect.Effect<A, E, LedgerReads>) =>
    Effect.provideService(effect, LedgerReads, ledger)

  const underWay = Pages.all(pageSize, (after: Withdrawal | null) =>
    sending.withdrawalsUnderWay(after?.id ?? null, pageSize)
  )

  /** Stores a cursor, unless another process holds the lease. */
  const keep = (cursor: Checkpoint, nowMillis: number, fence: Fence | undefined) =>
    Effect.catchTag(
      journal.commit(Cursor.moved(cursor, Id.fromMillis(nowMillis, entropy), nowMillis, fence)),
      "StaleFence",
      () => Effect.void
    )

  return Reconciler.of({
    run: Effect.fnUntraced(function* (fence) {
      const nowMillis = yield* Clock.currentTimeMillis
      const last = Option.getOrUndefined(yield* reading(Run.last))
      const stated = yield* reading(Reconciliation.ownFunds)
      const room = Math.min(options.lines, Math.max(0, options.watched - (last?.watched.length ?? 0)))
      const known = yield* reading(Listed.last)
      const { lines: listedNow, ...list } = yield* statements.own(known?.place ?? null, options.lines)
      const listed = Listed.add(known ?? Listed.none, listedNow)
      const before = last && Run.corrected(last, listedNow)

      // The order matters. Our totals are read twice. Their difference is the sum of the postings made in
      // between. If the node lists an item after this point, the next run reads it and then corrects this run.
      const first = yield* ledger.tally(before?.tally ?? null)
      const [owned, holdings] = [yield* lightning.owned, yield* chain.holdings]
      const own = Reconciliation.counting(stated, owned, listed)
      const statement = yield* statements.since(before?.places, room)
      const lines = yield* items.compare(before?.watched ?? [], statement)
      const pending = yield* underWay
      const waiting = yield* ledger.waiting(0)
      const second = yield* ledger.tally(first)

      const isBehind = statement.isBehind || list.isBehind
      const sides = Positions.of({
        node: owned,
        chain: holdings.owned,
        before: first.accounts,
        after: second.accounts,
        own,
        roundedAway: own.node === null ? Msat.zero : Listed.roundedAway(listed, stated.listed ?? Listed.none),
        pending,
        waiting,
        lines,
        isBehind
      })
      const node = Reconciliation.funded(sides.node, owned, stated, second.accounts)
      const { chain: wallet } = sides
      const isNew = node.own !== own.node || wallet.own !== own.chain || own.onChain !== stated.onChain
      // The operator may have declared the equity during this run. The next run then counts what they declared.
      if (isNew && Equal.equals(stated, yield* reading(Reconciliation.ownFunds))) {
        yield* Effect.logInfo(
          "reconciliation: recorded the funds that the node and the wallet already hold as the operator's own",
          {
            nodeSats: satsOf(node.own),
            chainSats: satsOf(wallet.own)
          }
        )
        yield* keep(Reconciliation.stated({ ...own, node: node.own, chain: wallet.own }), nowMillis, fence)
      }
      if (list.place !== null && list.place !== known?.place)
        yield* keep(Listed.kept({ ...listed, place: list.place }), nowMillis, fence)
      if (listedNow.length > 0) {
        const now = Listed.add(Listed.none, listedNow)
        yield* Effect.logInfo("reconciliation: counted the node's own income and costs", {
          forwardingSats: satsOf(now.forwarding),
          channelSats: satsOf(now.channels)
        })
      }

      const givenUp = yield* chainItems.givenUp(before)
      const elsewhere = [
        ...(yield* chainItems.missing(holdings.gone)),
        ...givenUp.found,
        ...Positions.differences({ node, chain: wallet })
      ]
      const { watched, found } = Run.open(lines, before, { nowMillis, forgetMillis: options.forgetMillis })
      const run: Run.Run = {
        atMillis: nowMillis,
        node,
        chain: wallet,
        tally: second,
        found: [...found, ...Run.dated(elsewhere, before, nowMillis)],
        isBehind,
        watched,
        listed,
        marks: Runway.marked(before?.marks ?? [], Run.markOf({ atMillis: nowMillis, tally: second })),
        places: { ...statement.places, givenUp: givenUp.place }
      }
      yield* report(run, before, options.graceMillis)
      yield* keep(Run.kept(run), nowMillis, fence)
      return run
    })
  })
})

export const layer = Layer.effect(Reconciler, make)

/**
 * Reconciles while the scope is open, in one process at a time. A run can be interrupted anywhere, because
 * only its result is stored.
 */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const { run } = yield* Reconciler
    const { everyMillis } = (yield* ReconciliationOptions).reconciliation
    yield* Duties.run("reconciliation", (fence) => {
      let isBehind = false
      const step = Effect.map(run(fence), (found) => {
        isBehind = found.isBehind
      }).pipe(
        Effect.catchTags({
          NodeUnavailable: (outage) =>
            Effect.logWarning("reconciliation: skipped, the node's statement is unavailable", outage),
          ChainUnavailable: (outage) =>
            Effect.logWarning("reconciliation: skipped, the chain is unavailable", outage)
        })
      )
      return Worker.runOpen(
        "reconciliation",
        step,
        Effect.suspend(() => Effect.sleep(isBehind ? Math.min(behindMillis, everyMillis) : everyMillis))
      )
    })
  })
).pipe(Layer.provide(layer))
