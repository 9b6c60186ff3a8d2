import { Clock, Effect } from "effect"
import { Journal } from "@satrail/core/ledger/Journal"
import { NounReads } from "@satrail/core/ledger/NounReads"
import * as TaskBatch from "@satrail/core/ledger/TaskBatch"
import { fence, type Task, Tasks } from "@satrail/core/ledger/Tasks"
import * as Voucher from "./Voucher.ts"

const laterMillis = 10_000

/** Voids expired vouchers. */
export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const nouns = yield* NounReads
  const tasks = yield* Tasks
  const now = Clock.currentTimeMillis

  const expire = Effect.fnUntraced(function* (task: Task) {
    const found = yield* nouns.get(Voucher.noun, task.companyId, task.id)
    if (found._tag === "None") return yield* Effect.die(`voucher not found: ${task.id}`)
    // The voucher was just claimed, or another process voided it, so nothing is left to do.
    const overtaken = () => Effect.void
    yield* Effect.catchTags(journal.commit(Voucher.expired(found.value, fence(task), yield* now)), {
      VoucherNotOpen: overtaken,
      StaleFence: overtaken
    })
  })

  return {
    /** Returns the number of tasks that were due. */
    step: TaskBatch.step(tasks, {
      kind: Voucher.taskKind,
      work: expire,
      failure: "voucher: voiding failed; will retry",
      idAs: "voucherId",
      laterMillis: () => laterMillis
    })
  }
})
