import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Delivery from "@satrail/features/webhooks/core/records/Delivery"
import * as Duty from "@satrail/core/ledger/Duty"
import { Journal } from "@satrail/core/ledger/Journal"
import { fence, Tasks } from "@satrail/core/ledger/Tasks"
import { Effect } from "effect"
import type { start } from "./Service.ts"

/** Records a failed delivery of a company's event to `owner`'s webhook endpoint. Returns its id. */
export const failedDelivery = (
  { run }: Pick<Awaited<ReturnType<typeof start>>, "run">,
  owner: CompanyId.CompanyId,
  endpointId: string,
  eventCompanyId: CompanyId.CompanyId = owner
): Promise<string> =>
  run(
    Effect.gen(function* () {
      const [journal, tasks, id] = [yield* Journal, yield* Tasks, yield* Id.make]
      yield* journal.commit(Duty.started(id, 0))
      const [task] = yield* tasks.claim({ kind: id, nowMillis: 1, leaseMillis: 1, limit: 1 })
      if (task === undefined) return yield* Effect.die("another process holds the role")
      const ended = {
        status: "failed",
        attempts: 10,
        nextAtMillis: null,
        lastAtMillis: 1,
        durationMillis: 1,
        answered: 500
      } as const
      const about = {
        endpointId,
        epoch: 0,
        place: "1.1",
        eventCompanyId,
        type: "invoice.settled",
        recordId: id
      }
      yield* journal.commit(
        Delivery.made(
          { id, companyId: owner, ...about, ...ended, response: "", earlier: [], createdAtMillis: 1 },
          fence(task)
        )
      )
      return id
    })
  )
