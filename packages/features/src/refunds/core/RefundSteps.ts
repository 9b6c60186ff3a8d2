import { Clock, Effect, Option } from "effect"
import type * as Change from "@satrail/core/ledger/Change"
import { Journal } from "@satrail/core/ledger/Journal"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as TaskBatch from "@satrail/core/ledger/TaskBatch"
import { fence, type Task, Tasks } from "@satrail/core/ledger/Tasks"
import * as Deposit from "@satrail/core/receiving/Deposit"
import { DepositJobs } from "@satrail/core/receiving/DepositJobs"
import * as Voucher from "../../vouchers/core/Voucher.ts"
import * as Refund from "./Refund.ts"
import { refundTask } from "@satrail/core/sending/Cause"
import { SendingReads } from "@satrail/core/sending/SendingReads"

/**
 * Delay before a refund is checked again after its link was claimed. The payment may take a long time, and its end
 * does not change the time of an existing job.
 */
const laterMillis = (attempts: number): number => Math.min(60_000, 1000 * 2 ** Math.min(attempts, 6))

/** Updates refunds as their payments progress. */
export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const nouns = yield* NounReads
  const records = yield* SendingReads
  const tasks = yield* Tasks
  const jobsOf = yield* DepositJobs

  const read = <A, E>(id: string | null, get: (id: string) => Effect.Effect<Option.Option<A>, E>) =>
    id === null ? Effect.undefined : Effect.map(get(id), Option.getOrUndefined)

  /** Reads the voucher and the withdrawal that pay a refund. */
  const payment = Effect.fnUntraced(function* ({ companyId, voucherId, withdrawalId }: Refund.Refund) {
    const voucher = yield* read(voucherId, (id) => nouns.get(Voucher.noun, companyId, id))
    const withdrawal = yield* read(withdrawalId ?? voucher?.withdrawalId ?? null, (id) =>
      records.withdrawal(companyId, id)
    )
    return { voucher, withdrawal }
  })

  /** Returns the jobs of the refunded deposit, which counts again if the Change returns its amount. */
  const jobsOfDeposit = Effect.fnUntraced(function* (
    { companyId, depositId }: Refund.Refund,
    atMillis: number
  ) {
    const deposit = yield* nouns.get(Deposit.noun, companyId, depositId)
    return Option.isSome(deposit) ? jobsOf(deposit.value, atMillis) : []
  })

  /**
   * Commits the next Change of a refund, if there is one. If another process committed it first, that result is
   * kept.
   */
  const follow = Effect.fnUntraced(function* (refund: Refund.Refund, claim?: Change.Fence) {
    const atMillis = yield* Clock.currentTimeMillis
    const next = Refund.next(refund, yield* payment(refund), atMillis, claim)
    if (next === undefined) return
    const change: Refund.Next = Refund.givesBack(next)
      ? { ...next, jobs: [...(next.jobs ?? []), ...(yield* jobsOfDeposit(refund, atMillis))] }
      : next
    const overtaken = () => Effect.void
    yield* Effect.catchTags(Effect.asVoid(journal.commit<Refund.Next>(change)), {
      RefundNotOpen: overtaken,
      StaleFence: overtaken
    })
  })

  const look = Effect.fnUntraced(function* (task: Task, nowMillis: number) {
    const refund = yield* nouns.get(Refund.noun, task.companyId, task.id)
    if (Option.isNone(refund)) return yield* Effect.die(`refund not found: ${task.id}`)
    yield* follow(refund.value, fence(task))
    // This has no effect if the refund is final, because its job is then complete.
    yield* tasks.postpone(task, nowMillis + laterMillis(task.attempts))
  })

  return {
    payment,
    /** Updates a refund and returns it. */
    followed: Effect.fnUntraced(function* (refund: Refund.Refund) {
      yield* follow(refund)
      return Option.getOrElse(yield* nouns.get(Refund.noun, refund.companyId, refund.id), () => refund)
    }),
    /** Returns the number of tasks that were due. */
    step: TaskBatch.step(tasks, {
      kind: refundTask,
      work: look,
      failure: "refund: update failed; will retry",
      idAs: "refundId",
      laterMillis
    })
  }
})
