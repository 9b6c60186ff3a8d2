import { Effect } from "effect"
import type { CompanyId } from "../base/CompanyId.ts"
import type { WorkQueue } from "../base/WorkSlots.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { Tasks, type Turn } from "../ledger/Tasks.ts"
import type { Claim } from "./Claim.ts"
import type { Share } from "./Claims.ts"
import { PaymentOptions } from "./PaymentOptions.ts"
import * as Withdrawal from "./Withdrawal.ts"

/** Counts entries by key. */
const counts = <Key>() => {
  const all = new Map<Key, number>()
  const of = (key: Key) => all.get(key) ?? 0
  return {
    of,
    add: (key: Key, one: 1 | -1) => {
      const count = of(key) + one
      if (count === 0) all.delete(key)
      else all.set(key, count)
    },
    /** Returns the keys with a count of at least `limit`. */
    full: (limit: number) => [...all].flatMap(([key, count]) => (count >= limit ? [key] : []))
  }
}

/**
 * Queue of requests to payees' servers, which may be slow. It limits the slots per company and per host, and
 * takes each company's hosts in turn, so that a slow server does not delay others.
 */
export const make = Effect.fnUntraced(function* (
  inTurn: (share: Share) => Effect.Effect<ReadonlyArray<Claim>, StoreUnavailable>,
  work: (claim: Claim) => Effect.Effect<void>
): Effect.fn.Return<WorkQueue<Claim, StoreUnavailable>, never, Tasks | PaymentOptions> {
  const tasks = yield* Tasks
  const { atOnce, perCompany, perHost } = (yield* PaymentOptions).resolving
  const [companies, hosts] = [counts<CompanyId>(), counts<string>()]

  const count = ({ companyId, lane }: Turn, one: 1 | -1) => {
    companies.add(companyId, one)
    hosts.add(lane, one)
  }

  return {
    name: "recipients",
    slots: atOnce,
    claim: Effect.fnUntraced(function* (free) {
      const full = { companies: companies.full(perCompany), lanes: hosts.full(perHost) }
      const found = yield* inTurn({ kind: Withdrawal.recipientKind, limit: free, perLane: 1, full })
      const taken: Array<Claim> = []
      const left: Array<Claim> = []
      for (const task of found) {
        if (companies.of(task.companyId) >= perCompany || hosts.of(task.lane) >= perHost) left.push(task)
        else {
          count(task, 1)
          taken.push(task)
        }
      }
      // Ignore a failure, because the tasks already counted must be processed even if the store is unavailable
      // now. A task that cannot be released is claimed again when its claim ends.
      yield* Effect.forEach(left, (task) => Effect.ignoreCause(tasks.postpone(task, task.atMillis)), { discard: true })
      const isFull = full.companies.length + full.lanes.length > 0
      // At most one task was taken per company and host, so there may be more.
      return { claims: taken, isMore: isFull || found.length > 0 }
    }),
    work: (claim) =>
      Effect.ensuring(
        work(claim),
        Effect.sync(() => count(claim, -1))
      )
  }
})
