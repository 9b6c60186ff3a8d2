import type { TakenOver, Task, Tasks, Turn } from "@satrail/core/ledger/Tasks"
import { Effect, HashMap, Option, Ref } from "effect"
import { compare } from "./Reading.ts"
import type * as State from "./State.ts"

type Ask = Parameters<Tasks["Service"]["claim"]>[0]
type AskOver = Parameters<Tasks["Service"]["takeOver"]>[0]
type AskInTurn = Parameters<Tasks["Service"]["claimInTurn"]>[0]
type Due = State.Work & { readonly id: string }

/** Returns the due tasks, most overdue first. */
const dueNow = (state: State.State, ask: Ask): ReadonlyArray<Due> =>
  Array.from(HashMap.entries(state.tasks), ([id, work]) => ({ id, ...work }))
    .filter(({ kind, dueAtMillis }) => kind === ask.kind && dueAtMillis <= ask.nowMillis)
    .toSorted((a, b) => compare(a.dueAtMillis, b.dueAtMillis) || compare(a.id, b.id))

const compareTurns = (a: Turn, b: Turn) => compare(a.companyId, b.companyId) || compare(a.lane, b.lane)

/** Returns the due tasks in the order in which lanes take turns, at most `perLane` from each lane of a company. */
const dueInTurn = (state: State.State, ask: AskInTurn): ReadonlyArray<Due> => {
  const { after, full, perLane } = ask
  const turns = Map.groupBy(dueNow(state, ask), ({ companyId, lane }) => JSON.stringify([companyId, lane]))
  return [...turns.values()]
    .flatMap((tasks) => tasks.slice(0, perLane))
    .filter((task) => after === null || compareTurns(task, after) > 0)
    .filter(({ companyId, lane }) => !full.companies.includes(companyId) && !full.lanes.includes(lane))
    .toSorted(compareTurns)
}

const claim = (
  state: State.State,
  due: ReadonlyArray<Due>,
  ask: Pick<Ask, "limit" | "nowMillis" | "leaseMillis" | "holder">
): readonly [ReadonlyArray<Task>, State.State] => {
  const claimed = due.slice(0, ask.limit).map(({ kind, id, companyId, lane, token, attempts }): Task => ({
    kind,
    id,
    companyId,
    lane,
    token: token + 1,
    attempts: attempts + 1
  }))
  const dueAtMillis = ask.nowMillis + ask.leaseMillis
  return [
    claimed,
    {
      ...state,
      tasks: HashMap.setMany(
        state.tasks,
        claimed.map(({ id, ...work }) => [id, { ...work, dueAtMillis, holder: ask.holder }] as const)
      )
    }
  ]
}

const takeOver = (before: State.State, ask: AskOver): readonly [ReadonlyArray<TakenOver>, State.State] => {
  const { holder: own, kinds, nowMillis, aliveMillis, limit } = ask
  const state = { ...before, processes: HashMap.set(before.processes, own, nowMillis + aliveMillis) }
  const isDead = (holder: string | undefined) =>
    holder !== undefined &&
    Option.exists(HashMap.get(state.processes, holder), (untilMillis) => untilMillis < nowMillis)
  const held = Array.from(HashMap.entries(state.tasks), ([id, work]) => ({ id, ...work }))
    .filter(
      ({ kind, dueAtMillis, holder }) => kinds.includes(kind) && dueAtMillis > nowMillis && isDead(holder)
    )
    .toSorted((a, b) => compare(a.id, b.id))
    .slice(0, limit)
  const [claimed, after] = claim(state, held, ask)
  return [claimed.map((task, n) => ({ ...task, heldUntilMillis: held[n]?.dueAtMillis ?? nowMillis })), after]
}

const postpone = (
  state: State.State,
  { id, token }: Task,
  dueAtMillis: number,
  as?: Pick<Task, "kind" | "lane">
): readonly [boolean, State.State] => {
  const work = Option.getOrUndefined(HashMap.get(state.tasks, id))
  if (work?.token !== token) return [false, state]
  return [true, { ...state, tasks: HashMap.set(state.tasks, id, { ...work, ...as, dueAtMillis }) }]
}

export const make = (state: Ref.Ref<State.State>): Tasks["Service"] => ({
  claim: (ask) => Ref.modify(state, (now) => claim(now, dueNow(now, ask), ask)),
  claimInTurn: (ask) => Ref.modify(state, (now) => claim(now, dueInTurn(now, ask), ask)),
  takeOver: (ask) => Ref.modify(state, (now) => takeOver(now, ask)),
  postpone: (task, untilMillis, as) => Ref.modify(state, (now) => postpone(now, task, untilMillis, as)),
  renew: (tasks, untilMillis) =>
    Ref.modify(state, (now) => {
      const kept = new Set<string>()
      let next = now
      for (const task of tasks) {
        const [isKept, after] = postpone(next, task, untilMillis)
        if (isKept) kept.add(task.id)
        next = after
      }
      return [kept, next] as const
    }),
  dueAt: (kinds) =>
    Effect.map(Ref.get(state), ({ tasks }) => {
      const found = new Map<string, number>()
      for (const { kind, dueAtMillis } of HashMap.values(tasks))
        if (kinds.includes(kind)) found.set(kind, Math.min(found.get(kind) ?? Infinity, dueAtMillis))
      return found
    })
})
