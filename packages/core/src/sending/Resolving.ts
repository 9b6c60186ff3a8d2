import { Effect } from "effect"
import type { CompanyId } from "../base/CompanyId.ts"
import type { Line } from "../base/Places.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { Tasks, type Turn } from "../ledger/Tasks.ts"
import type { Claim } from "./Claim.ts"
import type { Share } from "./Claims.ts"
import { PaymentOptions } from "./PaymentOptions.ts"
import * as Withdrawal from "./Withdrawal.ts"

/** How many there are of each. */
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
    /** Those with at least so many. */
    full: (limit: number) => [...all].flatMap(([key, count]) => (count >= limit ? [key] : []))
  }
}

/**
 * Places for asking recipients' servers, which are strangers' and may take long: so many for one company and at one host, and each company's hosts in turn,
 * so that a slow server delays no other.
 */
export const line = Effect.fnUntraced(function* (
  inTurn: (share: Share) => Effect.Effect<ReadonlyArray<Claim>, StoreUnavailable>,
  work: (claim: Claim) => Effect.Effect<void>
): Effect.fn.Return<Line<Claim, StoreUnavailable>, never, Tasks | PaymentOptions> {
  const tasks = yield* Tasks
  const { atOnce, perCompany, perHost } = (yield* PaymentOptions).resolving
  const [companies, hosts] = [counts<CompanyId>(), counts<string>()]

  const count = ({ companyId, lane }: Turn, one: 1 | -1) => {
    companies.add(companyId, one)
    hosts.add(lane, one)
  }

  return {
    name: "recipients",
    places: atOnce,
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
      // What is counted has to be worked, also where the store is away by now: what cannot be given back is claimed again when its claim ends.
      yield* Effect.forEach(left, (task) => Effect.ignoreCause(tasks.postpone(task, task.atMillis)), { discard: true })
      const isFull = full.companies.length + full.lanes.length > 0
      // Of each company's host one was taken: behind any there may be another.
      return { claims: taken, isMore: isFull || found.length > 0 }
    }),
    work: (claim) =>
      Effect.ensuring(
        work(claim),
        Effect.sync(() => count(claim, -1))
      )
  }
})
