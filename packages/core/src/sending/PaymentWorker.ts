import { Context, Effect, Latch, Layer, type Scope } from "effect"
import * as Id from "../base/Id.ts"
import * as Places from "../base/Places.ts"
import * as Worker from "../base/Worker.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { Wakes } from "../ledger/Wakes.ts"
import type { Claim } from "./Claim.ts"
import * as Claims from "./Claims.ts"
import * as PaymentEnds from "./PaymentEnds.ts"
import { PaymentOptions } from "./PaymentOptions.ts"
import { PayoutOptions } from "./PayoutOptions.ts"
import * as Resolving from "./Resolving.ts"
import * as Steps from "./Steps.ts"
import * as Withdrawal from "./Withdrawal.ts"
import { Withdrawals } from "./Withdrawals.ts"

/** How many payouts are looked after at once; more where one transaction pays more. */
const payoutsAtOnce = 16

/** Sends confirmed withdrawals, and follows each until the node's final result. */
export class PaymentWorker extends Context.Service<
  PaymentWorker,
  {
    /** Takes what is due one step further, as far as there are places. Answers how many steps there were. */
    readonly step: Effect.Effect<number, StoreUnavailable>
    /** Goes on doing so for as long as the scope is open; each kind of work has places of its own, so that none waits for another. */
    readonly run: Effect.Effect<void, never, Scope.Scope>
  }
>()("@satrail/core/sending/PaymentWorker") {}

export const make = Effect.gen(function* () {
  const withdrawals = yield* Withdrawals
  const { paymentsAtOnce } = yield* PaymentOptions
  const { listen } = yield* Wakes
  const { payoutOutputs } = yield* PayoutOptions

  const stopping = yield* Latch.make(false)
  const ends = yield* PaymentEnds.make
  const holder = yield* Id.make
  const claims = yield* Claims.make(holder)
  const take = yield* Steps.make({ ends, stopping: stopping.await })

  const freshInTurn = claims.inTurn()

  /** Whose the last new ones were, where nobody else had any. */
  let only: string | null = null

  /** New ones, of each company in turn: a quarter of the free places for each, and all of them where nobody else waits. */
  const fresh: Places.Line<Claim, StoreUnavailable> = {
    name: "withdrawals",
    places: paymentsAtOnce,
    claim: Effect.fnUntraced(function* (free) {
      const full = { companies: [], lanes: [] }
      const perLane = only === null ? Math.ceil(free / 4) : free
      const found = yield* freshInTurn({ kind: Withdrawal.taskKind, limit: free, perLane, full })
      const [first] = found
      const counts = new Map<string, number>()
      for (const { companyId } of found) counts.set(companyId, (counts.get(companyId) ?? 0) + 1)
      if (first !== undefined) {
        const isOne = counts.size === 1
        // Where they fill all places, others were not asked, unless they were the last time.
        only = isOne && (found.length < free || only === first.companyId) ? first.companyId : null
      }
      return { claims: found, isMore: found.length === free || [...counts.values()].some((count) => count >= perLane) }
    }),
    work: (claim) => take([claim], withdrawals.known(claim))
  }

  /** Those that were tried or sent, the longest due first. */
  const watched: Places.Line<Claim, StoreUnavailable> = {
    name: "payments",
    places: paymentsAtOnce,
    claim: (free) => Effect.map(claims.due(Withdrawal.paymentKind, free), (found) => ({ claims: found, isMore: found.length === free })),
    work: (claim) => take([claim])
  }

  const resolving = yield* Resolving.line(claims.inTurn(), (claim) => take([claim]))

  const payoutsLimit = Math.max(payoutsAtOnce, payoutOutputs)
  const stepPayouts = Effect.gen(function* () {
    const found = yield* claims.due(Withdrawal.payoutKind, payoutsLimit)
    yield* take(found)
    return found.length
  })

  return PaymentWorker.of({
    step: Effect.gen(function* () {
      let steps = 0
      for (const line of [fresh, watched, resolving]) steps += yield* Places.fillOnce(line)
      return steps + (yield* stepPayouts)
    }),
    run: Effect.gen(function* () {
      const isStopping = () => Latch.isOpen(stopping)
      const scope = yield* Effect.scope
      // Not part of the loop's step, since a slow payee must not delay the next renewal.
      const takeOver = Effect.flatMap(claims.takeOver, (found) => Effect.forkIn(Effect.uninterruptible(take(found)), scope))
      yield* Worker.run("presence", takeOver, Effect.sleep(Claims.presence.everyMillis))
      yield* withdrawals.handOver({ holder, leaseMillis: claims.leaseMillis, work: (claim, withdrawal) => take([claim], withdrawal) })
      yield* Places.keepFilled(fresh, yield* listen(Withdrawal.taskKind), isStopping)
      yield* Places.keepFilled(resolving, yield* listen(Withdrawal.recipientKind), isStopping)
      yield* Places.keepFilled(watched, yield* listen(Withdrawal.paymentKind), isStopping)
      yield* Worker.run(
        "payouts",
        Effect.repeat(stepPayouts, { while: (claimed) => claimed >= payoutsAtOnce }),
        yield* listen(Withdrawal.payoutKind)
      )
      for (const listen of ends.listens) yield* Worker.runOpen("payment notifications", listen, Effect.sleep("1 second"))
      yield* Effect.addFinalizer(() => stopping.open)
    })
  })
})

export const layer = Layer.effect(PaymentWorker, make)

/** Sends for as long as the scope is open: at once what this process confirms, within a moment what another one left, and payouts once they are due. */
export const layerWorker = Layer.effectDiscard(Effect.flatMap(PaymentWorker, ({ run }) => run))
