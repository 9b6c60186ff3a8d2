import { Effect } from "effect"
import type { CompanyId } from "../base/CompanyId.ts"
import type { WorkQueue } from "../base/WorkSlots.ts"
import type { StoreUnavailable } from "./Journal.ts"
import { type Task, Tasks, type Turn } from "./Tasks.ts"

/** A claim on one kind of work in which companies and their lanes take turns. */
export type Ask = Omit<Parameters<Tasks["Service"]["claimInTurn"]>[0], "after">

/** The part of a claim that does not depend on the claiming process. */
export type Share = Pick<Ask, "kind" | "limit" | "perLane" | "full">

/**
 * Creates a function that claims from each company in turn. Each call continues with the next company, and
 * starts over after the last one.
 */
export const turns = (tasks: Tasks["Service"]) => {
  let turn: Turn | null = null
  return Effect.fnUntraced(function* (ask: Ask) {
    let found = yield* tasks.claimInTurn({ ...ask, after: turn })
    if (found.length === 0 && turn !== null) found = yield* tasks.claimInTurn({ ...ask, after: null })
    // If there are fewer tasks than the limit, every company was included.
    turn = found.length < ask.limit ? null : (found.at(-1) ?? null)
    return found
  })
}

/** Maximum number of tasks in progress: in total, per company, and per lane. */
export interface Slots {
  readonly atOnce: number
  readonly perCompany: number
  readonly perLane: number
}

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
 * Queue of work that waits for strangers' servers, which may be slow. It limits the slots per company and per
 * lane, such as a host, and takes each company's lanes in turn, so that slow work does not delay the rest.
 */
export const make = Effect.fnUntraced(function* <Claim extends Task & { readonly atMillis: number }>(
  { name, kind, atOnce, perCompany, perLane }: Slots & { readonly name: string; readonly kind: string },
  inTurn: (share: Share) => Effect.Effect<ReadonlyArray<Claim>, StoreUnavailable>,
  work: (claim: Claim) => Effect.Effect<void>
): Effect.fn.Return<WorkQueue<Claim, StoreUnavailable>, never, Tasks> {
  const tasks = yield* Tasks
  const [companies, lanes] = [counts<CompanyId>(), counts<string>()]

  const count = ({ companyId, lane }: Turn, one: 1 | -1) => {
    companies.add(companyId, one)
    lanes.add(lane, one)
  }

  return {
    name,
    slots: atOnce,
    claim: Effect.fnUntraced(function* (free) {
      const full = { companies: companies.full(perCompany), lanes: lanes.full(perLane) }
      const found = yield* inTurn({ kind, limit: free, perLane: 1, full })
      const taken: Array<Claim> = []
      const left: Array<Claim> = []
      for (const task of found) {
        if (companies.of(task.companyId) >= perCompany || lanes.of(task.lane) >= perLane) left.push(task)
        else {
          count(task, 1)
          taken.push(task)
        }
      }
      // Ignore a failure, because the tasks already counted must be processed even if the store is unavailable
      // now. A task that cannot be released is claimed again when its claim ends.
      yield* Effect.forEach(left, (task) => Effect.ignoreCause(tasks.postpone(task, task.atMillis)), {
        discard: true
      })
      const isFull = full.companies.length + full.lanes.length > 0
      // At most one task was taken per company and lane, so there may be more.
      return { claims: taken, isMore: isFull || found.length > 0 }
    }),
    work: (claim) =>
      Effect.ensuring(
        work(claim),
        Effect.sync(() => count(claim, -1))
      )
  }
})
