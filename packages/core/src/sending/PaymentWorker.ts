import { Context, Effect, Latch, Layer, type Scope } from "effect"
import * as WorkSlots from "../base/WorkSlots.ts"
import * as Worker from "../base/Worker.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import * as TurnQueue from "../ledger/TurnQueue.ts"
import { Wakes } from "../ledger/Wakes.ts"
import type { Claim } from "./Claim.ts"
import * as Claims from "./Claims.ts"
import * as KeptClaims from "./KeptClaims.ts"
import * as PaymentEnds from "./PaymentEnds.ts"
import { PaymentOptions } from "./PaymentOptions.ts"
import { PayoutOptions } from "./PayoutOptions.ts"
import * as WithdrawalSteps from "./WithdrawalSteps.ts"
import * as Withdrawal from "./Withdrawal.ts"
import { Withdrawals } from "./Withdrawals.ts"

/** Maximum number of payouts processed at a time, unless one transaction may have more outputs than that. */
const payoutsAtOnce = 16

/** Sends confirmed withdrawals and tracks each until the node's final result. */
export class PaymentWorker extends Context.Service<
  PaymentWorker,
  {
    /** Advances due tasks by one step, within the free slots. Returns the number of steps. */
    readonly step: Effect.Effect<number, StoreUnavailable>
    /**
     * Repeats `step` while the scope is open. Each kind of work has its own slots, so that none waits for
     * another.
     */
    readonly run: Effect.Effect<void, never, Scope.Scope>
  }
>()("@satrail/core/sending/PaymentWorker") {}

export const make = Effect.gen(function* () {
  const withdrawals = yield* Withdrawals
  const { paymentsAtOnce, resolving: atHosts } = yield* PaymentOptions
  const { listen } = yield* Wakes
  const { payoutOutputs } = yield* PayoutOptions

  const stopping = yield* Latch.make(false)
  const ends = yield* PaymentEnds.make
  const claims = yield* Claims.make
  const kept = KeptClaims.make()
  const take = yield* WithdrawalSteps.make({ ends, kept, stopping: stopping.await })

  const freshInTurn = claims.inTurn()

  /** The only company that had new withdrawals in the last claim; null if several had some or not all were read. */
  let only: string | null = null

  /**
   * Claims new withdrawals from each company in turn: a quarter of the free slots per company, or all of them
   * if no other company waits.
   */
  const fresh: WorkSlots.WorkQueue<Claim, StoreUnavailable> = {
    name: "withdrawals",
    slots: paymentsAtOnce,
    claim: Effect.fnUntraced(function* (free) {
      const full = { companies: [], lanes: [] }
      const perLane = only === null ? Math.ceil(free / 4) : free
      const found = yield* freshInTurn({ kind: Withdrawal.taskKind, limit: free, perLane, full })
      const [first] = found
      const counts = new Map<string, number>()
      for (const { companyId } of found) counts.set(companyId, (counts.get(companyId) ?? 0) + 1)
      if (first !== undefined) {
        const isOne = counts.size === 1
        // If one company filled all slots, no other company was read. It then counts as the only one only if it
        // was the only one in the previous claim.
        only = isOne && (found.length < free || only === first.companyId) ? first.companyId : null
      }
      return {
        claims: found,
        isMore: found.length === free || [...counts.values()].some((count) => count >= perLane)
      }
    }),
    work: (claim) => take([claim], withdrawals.confirmed(claim))
  }

  /** Withdrawals that were tried or sent, longest overdue first. */
  const watched: WorkSlots.WorkQueue<Claim, StoreUnavailable> = {
    name: "payments",
    slots: paymentsAtOnce,
    claim: (free) =>
      Effect.map(claims.due(Withdrawal.paymentKind, free), (found) => ({
        claims: found,
        isMore: found.length === free
      })),
    work: (claim) => take([claim])
  }

  /** Requests to payees' servers. A lane is a host. */
  const resolving = yield* TurnQueue.make(
    { name: "recipients", kind: Withdrawal.recipientKind, ...atHosts, perLane: atHosts.perHost },
    claims.inTurn(),
    (claim) => take([claim])
  )

  const payoutsLimit = Math.max(payoutsAtOnce, payoutOutputs)
  /** On-chain withdrawals, in groups. While one group waits for the signer, others use the second slot. */
  const payouts: WorkSlots.WorkQueue<ReadonlyArray<Claim>, StoreUnavailable> = {
    name: "payouts",
    slots: 2,
    claim: () =>
      Effect.map(claims.due(Withdrawal.payoutKind, payoutsLimit), (found) => ({
        claims: found.length === 0 ? [] : [found],
        isMore: found.length >= payoutsAtOnce
      })),
    work: (group) => take(group)
  }

  /** Claims that this process kept. Payouts are taken together, so that they can share a transaction. */
  const keptClaims: WorkSlots.WorkQueue<ReadonlyArray<Claim>, StoreUnavailable> = {
    name: "kept payments",
    slots: paymentsAtOnce,
    claim: (free) =>
      Effect.map(kept.due(free), (due) => {
        const [others, group] = [
          due.filter(({ kind }) => kind !== Withdrawal.payoutKind),
          due.filter(({ kind }) => kind === Withdrawal.payoutKind)
        ]
        return {
          claims: [...others.map((claim) => [claim]), ...(group.length === 0 ? [] : [group])],
          isMore: due.length === free
        }
      }),
    work: (group) => take(group)
  }

  return PaymentWorker.of({
    step: Effect.gen(function* () {
      let steps = yield* WorkSlots.fillOnce(keptClaims)
      for (const queue of [fresh, watched, resolving]) steps += yield* WorkSlots.fillOnce(queue)
      return steps + (yield* WorkSlots.fillOnce(payouts))
    }),
    run: Effect.gen(function* () {
      const isStopping = () => Latch.isOpen(stopping)
      const scope = yield* Effect.scope
      // Runs apart from the loop, because a slow payee must not delay the next renewal.
      const takeOver = Effect.flatMap(claims.takeOver, (found) =>
        Effect.forkIn(Effect.uninterruptible(take(found)), scope)
      )
      yield* Worker.run("presence", takeOver, Effect.sleep(Claims.presence.everyMillis))
      yield* withdrawals.handOver({
        holder: claims.holder,
        leaseMillis: claims.leaseMillis,
        work: (claim, confirmed) => take([claim], confirmed)
      })
      yield* WorkSlots.keepFilled(fresh, yield* listen(Withdrawal.taskKind), isStopping)
      yield* WorkSlots.keepFilled(resolving, yield* listen(Withdrawal.recipientKind), isStopping)
      yield* WorkSlots.keepFilled(watched, yield* listen(Withdrawal.paymentKind), isStopping)
      yield* WorkSlots.keepFilled(keptClaims, kept.wake, isStopping)
      yield* WorkSlots.keepFilled(payouts, yield* listen(Withdrawal.payoutKind), isStopping)
      for (const listen of ends.listens)
        yield* Worker.runOpen("payment notifications", listen, Effect.sleep("1 second"))
      yield* Effect.addFinalizer(() => stopping.open)
    })
  })
})

export const layer = Layer.effect(PaymentWorker, make)

/**
 * Sends withdrawals while the scope is open. Withdrawals confirmed by this process start immediately, those
 * left by another process start within moments, and payouts start when due.
 */
export const layerWorker = Layer.effectDiscard(Effect.flatMap(PaymentWorker, ({ run }) => run))
