import { Effect, Option } from "effect"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as TaskBatch from "@satrail/core/ledger/TaskBatch"
import { type Task, Tasks } from "@satrail/core/ledger/Tasks"
import * as Checkout from "./Checkout.ts"
import * as CheckoutCancel from "./CheckoutCancel.ts"
import * as CheckoutFollow from "./CheckoutFollow.ts"
import * as CheckoutJobs from "./CheckoutJobs.ts"
import { CheckoutReads } from "./CheckoutReads.ts"
import * as OnChainAddress from "@satrail/core/receiving/OnChainAddress"
import { ReceivingReads } from "@satrail/core/receiving/ReceivingReads"

const leaseMillis = 60_000

/** Delay before a pending payment is checked again. Open checkout pages do their own polling. */
const laterMillis = (attempts: number): number => Math.min(10_000, 1000 * 2 ** Math.min(attempts, 4))

/** Updates checkouts as payments arrive and time passes. */
export const make = Effect.gen(function* () {
  const nouns = yield* NounReads
  const receiving = yield* ReceivingReads
  const reads = yield* CheckoutReads
  const tasks = yield* Tasks
  const { cancel } = yield* CheckoutCancel.make
  const { follow } = yield* CheckoutFollow.make

  /** Returns the checkout of a job, and whether the job is complete after this check. */
  const about = Effect.fnUntraced(function* (task: Task) {
    const { kind, id, companyId } = task
    if (kind === CheckoutJobs.expiryKind) return { companyId, id, isDone: false }
    if (kind === CheckoutJobs.cancelKind) {
      // Earlier versions gave the job the invoice's id.
      const purpose =
        Option.getOrNull(yield* nouns.get(OnChainAddress.noun, companyId, id)) ??
        Option.getOrNull(yield* receiving.invoice(companyId, id))
      return { companyId, id: purpose?.checkoutId ?? "", isDone: true }
    }
    const deposit = Option.getOrUndefined(yield* receiving.depositById(id))
    return {
      companyId: deposit?.companyId ?? companyId,
      id: deposit?.checkoutId ?? "",
      isDone: deposit?.status !== "pending"
    }
  })

  const look = Effect.fnUntraced(function* (task: Task, nowMillis: number) {
    const { companyId, id, isDone } = yield* about(task)
    const read = nouns.get(Checkout.noun, companyId, id)
    const checkout = Option.getOrUndefined(yield* read)
    // If a process crashed before it stored the checkout, the invoice and address remain. They can still be
    // paid, although there is no checkout to update.
    if (checkout === undefined) return yield* Effect.asVoid(tasks.postpone(task, nowMillis + leaseMillis))
    if (
      task.kind === CheckoutJobs.cancelKind &&
      Checkout.isOpen(Checkout.standing(checkout, yield* reads.arrivedFor(checkout), nowMillis))
    )
      return yield* cancel(Effect.map(read, Option.getOrThrow))
    yield* follow(checkout, task, isDone)
    yield* tasks.postpone(task, nowMillis + laterMillis(task.attempts))
  })

  const later = (task: Task, nowMillis: number) =>
    Effect.ignore(tasks.postpone(task, nowMillis + laterMillis(task.attempts)))

  const work = (task: Task, nowMillis: number) =>
    // Another payment or process changed the checkout first, receiving is paused, or the node is unavailable.
    Effect.catchTags(look(task, nowMillis), {
      CheckoutNotOpen: () => later(task, nowMillis),
      InvoiceNotPayable: () => later(task, nowMillis),
      Paused: () => later(task, nowMillis),
      NodeUnavailable: () => later(task, nowMillis),
      StaleFence: () => Effect.void
    })

  return {
    /** Returns the number of tasks that were due. */
    step: Effect.gen(function* () {
      let due = 0
      for (const kind of CheckoutJobs.kinds)
        due += yield* TaskBatch.step(tasks, {
          kind,
          work,
          failure: "checkout: update failed; will retry",
          idAs: "taskId",
          laterMillis,
          leaseMillis
        })
      return due
    })
  }
})
