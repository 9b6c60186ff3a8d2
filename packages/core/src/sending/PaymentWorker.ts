import { Clock, Context, Effect, Latch, Layer, Option, Schedule, type Scope } from "effect"
import * as Places from "../base/Places.ts"
import * as Worker from "../base/Worker.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { type Task, Tasks, type Turn } from "../ledger/Tasks.ts"
import type { ChainUnavailable } from "../nodes/ChainSource.ts"
import type { NodeUnavailable } from "../nodes/LightningReceiver.ts"
import { LightningSender } from "../nodes/LightningSender.ts"
import type { SignerUnavailable } from "../nodes/Signer.ts"
import { Policy } from "../policy/Policy.ts"
import { type Claim, laterMillis, leaseMillis as leaseFor } from "./Claim.ts"
import * as Endings from "./Endings.ts"
import * as LightningPayments from "./LightningPayments.ts"
import * as Payees from "./Payees.ts"
import * as PaymentEnds from "./PaymentEnds.ts"
import * as Payouts from "./Payouts.ts"
import * as Resolving from "./Resolving.ts"
import { SendingReads } from "./SendingReads.ts"
import * as Withdrawal from "./Withdrawal.ts"
import { Withdrawals } from "./Withdrawals.ts"

/** How many payouts are looked after at once; more where one transaction pays more. */
const payoutsAtOnce = 16

const unbounded = { concurrency: "unbounded" } as const

/** How a task is given back when the store is away: six seconds in all. */
const givingBack = { times: 5, schedule: Schedule.exponential("200 millis") } as const

/** Sends what was confirmed, and follows it until the node has said its final word. */
export class PaymentWorker extends Context.Service<
  PaymentWorker,
  {
    /** Takes what is due one step further, as far as there are places. Answers how many steps there were. */
    readonly step: Effect.Effect<number, StoreUnavailable>
    /** Goes on doing so for as long as the scope is open; each kind of work has places of its own, so that none waits for another. */
    readonly run: Effect.Effect<void, never, Scope.Scope>
  }
>()("@satrail/core/sending/PaymentWorker") {}

type Outage = StoreUnavailable | NodeUnavailable | ChainUnavailable | SignerUnavailable
type Next = Payouts.Next | Payouts.Ready | Payees.Elsewhere

export const make = Effect.gen(function* () {
  const records = yield* SendingReads
  const tasks = yield* Tasks
  const withdrawals = yield* Withdrawals
  const sender = yield* LightningSender
  const policy = yield* Policy

  const endings = yield* Endings.make
  const ends = yield* PaymentEnds.make
  const lightning = yield* LightningPayments.make(endings, ends)
  const payees = yield* Payees.make(endings, lightning)
  const payouts = yield* Payouts.make(endings.settle)
  const [stopping, handedOver] = [yield* Latch.make(false), yield* Latch.make(false)]

  const now = Clock.currentTimeMillis
  const leaseMillis = leaseFor(sender.graceMillis)

  /** What was tried once is looked at again as another kind of work: in front of what is new are only those whose turn it is. */
  const kindAfter = ({ kind }: Task) => (kind === Withdrawal.payoutKind ? undefined : { kind: Withdrawal.paymentKind, lane: "" })

  const giveBack = Effect.fnUntraced(function* (task: Task, next: Payouts.Next) {
    if (next === "done") yield* ends.release(task)
    else yield* ends.giveBack(task, (yield* now) + (next === "later" ? laterMillis(task, policy) : next.millis), kindAfter(task))
  })

  /** Whatever goes wrong, the withdrawals stay as they are, and are looked at again. */
  const insistent = <A, E>(effect: Effect.Effect<A, E>, claims: ReadonlyArray<Task>) =>
    Effect.asSome(effect).pipe(
      Effect.catchCause((cause) =>
        Effect.logError("withdrawal: step failed; will retry", cause).pipe(
          // A store that is away for a moment costs the withdrawal that moment, not the rest of our claim.
          Effect.andThen(Effect.forEach(claims, (task) => Effect.ignore(Effect.retry(giveBack(task, "later"), givingBack)), unbounded)),
          Effect.as(Option.none<A>())
        )
      ),
      Effect.annotateLogs({ withdrawalId: claims.map(({ id }) => id).join(" ") })
    )

  const advance = Effect.fnUntraced(function* (withdrawal: Withdrawal.Withdrawal, task: Claim): Effect.fn.Return<Next, Outage> {
    const { status, paymentHash, chainTxId, dispatchedAtMillis } = withdrawal
    if (status !== "pending") return "done"
    if (dispatchedAtMillis === null) {
      return task.kind === Withdrawal.recipientKind
        ? yield* payees.begin(withdrawal, task, stopping.await)
        : yield* payees.beginHere(withdrawal, task)
    }
    if (paymentHash !== null) return yield* lightning.track(withdrawal, paymentHash, dispatchedAtMillis, task)
    if (chainTxId !== null) return yield* payouts.track(withdrawal, dispatchedAtMillis, task)
    return yield* Effect.die("dispatched without an attempt")
  })

  /** One step of one task; or it is ready to be paid on the chain, which may be done together with others. */
  const take = Effect.fnUntraced(function* (task: Claim) {
    const found = yield* records.withdrawal(task.companyId, task.id)
    const next = found._tag === "Some" ? yield* advance(found.value, task) : "done"
    if (typeof next === "object" && "withdrawal" in next) return [next]
    if (typeof next === "object" && "host" in next) {
      yield* tasks.postpone(task, yield* now, { kind: Withdrawal.recipientKind, lane: next.host })
      yield* handedOver.open
      return []
    }
    yield* giveBack(task, next)
    return []
  })

  /** Where something breaks, each is tried by itself: only the one that it is about waits for a person. */
  const sendOnChain = (batch: ReadonlyArray<Payouts.Ready>): Effect.Effect<unknown> => {
    const sent = Effect.flatMap(payouts.send(batch), (all) => Effect.forEach(all, ([{ task }, next]) => giveBack(task, next), unbounded))
    const apart = (defect: unknown) =>
      Effect.andThen(
        Effect.logError("batch: failed; each payout is tried alone", defect),
        Effect.forEach(batch, (one) => sendOnChain([one]), unbounded)
      )
    return insistent(
      batch.length === 1 ? sent : Effect.catchDefect(sent, apart),
      batch.map(({ task }) => task)
    )
  }

  const takeAll = (claims: ReadonlyArray<Claim>) =>
    Effect.gen(function* () {
      const ready = yield* Effect.forEach(claims, (claim) => insistent(take(claim), [claim]), unbounded)
      const batches = Payouts.batches(ready.flatMap(Option.toArray).flat(), policy)
      yield* Effect.forEach(batches, sendOnChain, unbounded)
    })

  const claimed = (found: ReadonlyArray<Task>, atMillis: number) => found.map((task): Claim => ({ ...task, atMillis, leaseMillis }))

  /** New ones, of each company in turn. */
  let turn: Turn | null = null
  const fresh: Places.Line<Claim, StoreUnavailable> = {
    name: "withdrawals",
    places: policy.paymentsAtOnce,
    claim: Effect.fnUntraced(function* (free) {
      const nowMillis = yield* now
      const ask = {
        kind: Withdrawal.taskKind,
        nowMillis,
        leaseMillis,
        limit: free,
        perLane: Math.ceil(free / 4),
        full: { companies: [], lanes: [] }
      }
      let found = yield* tasks.claimInTurn({ ...ask, after: turn })
      if (found.length === 0 && turn !== null) found = yield* tasks.claimInTurn({ ...ask, after: null })
      turn = found.at(-1) ?? null
      return { claims: claimed(found, nowMillis), isMore: found.length === free }
    }),
    work: (claim) => takeAll([claim])
  }

  /** Those that were tried or sent, the longest due first. */
  const watched: Places.Line<Claim, StoreUnavailable> = {
    name: "payments",
    places: policy.paymentsAtOnce,
    claim: Effect.fnUntraced(function* (free) {
      const nowMillis = yield* now
      const found = yield* tasks.claim({ kind: Withdrawal.paymentKind, nowMillis, leaseMillis, limit: free })
      return { claims: claimed(found, nowMillis), isMore: found.length === free }
    }),
    work: (claim) => takeAll([claim])
  }

  const resolving = yield* Resolving.line(claimed, leaseMillis, (claim) => takeAll([claim]))

  const payoutsLimit = Math.max(payoutsAtOnce, policy.payoutOutputs)
  const stepPayouts = Effect.gen(function* () {
    const nowMillis = yield* now
    const found = yield* tasks.claim({ kind: Withdrawal.payoutKind, nowMillis, leaseMillis, limit: payoutsLimit })
    yield* takeAll(claimed(found, nowMillis))
    return found.length
  })

  const moment = Effect.sleep(policy.trackMillis.minimum)

  return PaymentWorker.of({
    step: Effect.gen(function* () {
      let steps = 0
      for (const line of [fresh, watched, resolving]) steps += yield* Places.fillOnce(line)
      return steps + (yield* stepPayouts)
    }),
    run: Effect.gen(function* () {
      const isStopping = () => Latch.isOpen(stopping)
      // A task that is handed over is due at once.
      yield* Places.keepFilled(fresh, Effect.race(withdrawals.confirmed, moment), isStopping)
      yield* Places.keepFilled(resolving, Effect.race(Effect.andThen(handedOver.await, handedOver.close), moment), isStopping)
      yield* Places.keepFilled(watched, Effect.race(ends.ended, moment), isStopping)
      yield* Worker.run("payouts", Effect.repeat(stepPayouts, { while: (claimed) => claimed >= payoutsAtOnce }), moment)
      yield* Worker.runOpen("payment notifications", ends.listen, Effect.sleep("1 second"))
      yield* Effect.addFinalizer(() => stopping.open)
    })
  })
})

export const layer = Layer.effect(PaymentWorker, make)

/** Sends for as long as the scope is open: at once what this process confirms, within a moment what another one left, and payouts once they are due. */
export const layerWorker = Layer.effectDiscard(Effect.flatMap(PaymentWorker, ({ run }) => run))
