import { Clock, Effect, Option, Schedule } from "effect"
import { Stops, waitMillis } from "../accounts/Stops.ts"
import * as Trail from "../base/Trail.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { type Task, Tasks } from "../ledger/Tasks.ts"
import type { ChainUnavailable } from "../nodes/ChainSource.ts"
import type { NodeUnavailable } from "../nodes/LightningReceiver.ts"
import type { SignerUnavailable } from "../nodes/Signer.ts"
import { type Claim, laterMillis } from "./Claim.ts"
import * as Endings from "./Endings.ts"
import * as LightningPayments from "./LightningPayments.ts"
import * as Payees from "./Payees.ts"
import type { PaymentEnds } from "./PaymentEnds.ts"
import { PaymentOptions } from "./PaymentOptions.ts"
import { PayoutOptions } from "./PayoutOptions.ts"
import * as Payouts from "./Payouts.ts"
import * as PayoutTracking from "./PayoutTracking.ts"
import { SendingReads } from "./SendingReads.ts"
import * as Ways from "./Ways.ts"
import * as Withdrawal from "./Withdrawal.ts"

const unbounded = { concurrency: "unbounded" } as const

/** How a task is given back when the store is away: six seconds in all. */
const givingBack = { times: 5, schedule: Schedule.exponential("200 millis") } as const

type Outage = StoreUnavailable | NodeUnavailable | ChainUnavailable | SignerUnavailable
type Next = Payouts.Next | Payouts.Ready | Payees.Elsewhere

/**
 * Takes claimed withdrawals one step further: resolves the payee, sends, or looks up the payment. `stopping` ends requests to payees' servers.
 */
export const make = Effect.fnUntraced(function* ({
  ends,
  stopping
}: {
  readonly ends: PaymentEnds
  readonly stopping: Effect.Effect<void>
}) {
  const records = yield* SendingReads
  const tasks = yield* Tasks
  const stops = yield* Stops
  const paymentOptions = yield* PaymentOptions
  const payoutOptions = yield* PayoutOptions

  const endings = yield* Endings.make
  const lightning = yield* LightningPayments.make(endings, ends)
  const ways = yield* Ways.make
  const payees = yield* Payees.make(endings, lightning, ways)
  const payouts = yield* Payouts.make
  const tracking = yield* PayoutTracking.make(endings)

  const around = yield* Trail.make

  const now = Clock.currentTimeMillis

  /** What was tried once is looked at again as another kind of work: in front of what is new are only those whose turn it is. */
  const kindAfter = ({ kind }: Task) => (kind === Withdrawal.payoutKind ? undefined : { kind: Withdrawal.paymentKind, lane: "" })

  const giveBack = Effect.fnUntraced(function* (task: Task, next: Payouts.Next) {
    if (next === "done") yield* ends.release(task)
    else yield* ends.giveBack(task, (yield* now) + (next === "later" ? laterMillis(task, paymentOptions) : next.millis), kindAfter(task))
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
    const { status, rail, chainTxId, dispatchedAtMillis } = withdrawal
    if (status !== "pending") return "done"
    if (dispatchedAtMillis === null) {
      return task.kind === Withdrawal.recipientKind
        ? yield* payees.begin(withdrawal, task, stopping)
        : yield* payees.beginHere(withdrawal, task)
    }
    if (rail === "lightning") return yield* lightning.track(withdrawal, ways.sent(withdrawal), dispatchedAtMillis, task)
    if (chainTxId !== null) return yield* tracking.track(withdrawal, dispatchedAtMillis, task)
    return yield* Effect.die("dispatched without an attempt")
  })

  /** One step of one task; or it is ready to be paid on the chain, which may be done together with others. */
  const take = Effect.fnUntraced(function* (task: Claim, known: Withdrawal.Withdrawal | undefined) {
    const found = known === undefined ? yield* records.withdrawal(task.companyId, task.id) : Option.some(known)
    if (found._tag === "Some" && found.value.status === "pending" && found.value.dispatchedAtMillis === null) {
      if (yield* stops.waits(task.companyId)) {
        // It was not tried, and stays the kind of work that it is.
        yield* ends.giveBack(task, (yield* now) + waitMillis)
        return []
      }
    }
    const next = found._tag === "Some" ? yield* advance(found.value, task) : "done"
    if (typeof next === "object" && "withdrawal" in next) return [next]
    if (typeof next === "object" && "host" in next) {
      yield* tasks.postpone(task, yield* now, { kind: Withdrawal.recipientKind, lane: next.host })
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

  /** One step of each. Those that are due together may be paid by one transaction. One that was confirmed right now is `known`, and not read again. */
  return (claims: ReadonlyArray<Claim>, known?: Withdrawal.Withdrawal) =>
    Effect.gen(function* () {
      const ready = yield* Effect.forEach(
        claims,
        (claim) => insistent(around("PaymentWorker.step", claim.id)(take(claim, known)), [claim]),
        unbounded
      )
      const batches = Payouts.batches(ready.flatMap(Option.toArray).flat(), payoutOptions)
      yield* Effect.forEach(batches, sendOnChain, unbounded)
    })
})
