import * as Balance from "@satrail/core/ledger/Balance"
import { isSame } from "@satrail/core/ledger/Answer"
import type { Fence, Leg } from "@satrail/core/ledger/Change"
import { FeesMoved } from "@satrail/core/ledger/FeesMoved"
import { CompanyFrozen } from "@satrail/core/ledger/Freeze"
import * as Journal from "@satrail/core/ledger/Journal"
import * as Limit from "@satrail/core/ledger/Limit"
import * as Written from "@satrail/core/ledger/Written"
import type * as Changes from "@satrail/core/service/Changes"
import type { Programs, Storable, Tagged } from "@satrail/core/service/Changes"
import { Exit, HashMap, Option } from "effect"
import * as AuditStore from "./AuditStore.ts"
import * as Answer from "@satrail/memory/Answer"
import * as ApiKey from "@satrail/memory/ApiKey"
import * as Company from "@satrail/memory/Company"
import * as Domain from "@satrail/memory/Domain"
import * as Invoice from "@satrail/memory/Invoice"
import * as KeyRange from "@satrail/memory/KeyRange"
import type { Kind } from "@satrail/memory/Program"
import * as State from "@satrail/memory/State"
import * as Withdrawal from "@satrail/memory/Withdrawal"
import * as Writes from "@satrail/memory/Writes"

/** The result of a Change. */
export type Verdict = Exit.Exit<Journal.Applied, Changes.Refusal>

const kinds: { readonly [tag in keyof Programs]: Kind<Programs[tag]> } = {
  ...Answer.kinds,
  ...ApiKey.kinds,
  ...Company.kinds,
  ...Domain.kinds,
  ...Invoice.kinds,
  ...KeyRange.kinds,
  ...Withdrawal.kinds
}

const kindOf = <T extends keyof Programs>(change: Tagged<T>): Kind<Programs[T]> => kinds[change._tag]

/** Step 1: has the Change already been applied, or does its id belong to something else? */
const before = (state: State.State, change: Storable): Changes.Refusal | "again" | undefined =>
  Written.is(change) ? Writes.before(state, change) : kindOf(change).before(state, change)

/** Returns the claims on which a Change depends. */
const fences = (change: Storable): ReadonlyArray<Fence> => [
  ...(change.fence === undefined ? [] : [change.fence]),
  ...(!Written.is(change) && change._tag === "WithdrawalDispatched"
    ? change.followers.map(({ id, token }) => ({ taskId: id, token }))
    : [])
]

/** Step 2: does the committer still hold the tasks on which the Change depends? */
const stale = (state: State.State, change: Storable): Journal.StaleFence | undefined => {
  for (const { taskId, token } of fences(change)) {
    if (Option.getOrUndefined(HashMap.get(state.tasks, taskId))?.token !== token)
      return new Journal.StaleFence({ taskId })
  }
  return undefined
}

/** Step 3: is the company frozen? */
const frozen = (state: State.State, { companyId, unlessFrozen }: Storable): CompanyFrozen | undefined =>
  unlessFrozen && Option.exists(HashMap.get(state.companies, companyId), (company) => company.frozen !== null)
    ? new CompanyFrozen({ companyId })
    : undefined

/** Step 4: are the company's fees still those used to calculate the Change? */
const moved = (state: State.State, { companyId, feesRevision }: Storable): FeesMoved | undefined =>
  feesRevision !== undefined &&
  Option.exists(HashMap.get(state.companies, companyId), (company) => company.feesRevision !== feesRevision)
    ? new FeesMoved({ companyId })
    : undefined

/** Step 5: checks the rules for this kind of Change, and applies its effect on records. */
const move = (state: State.State, change: Storable): State.State | Changes.Refusal =>
  Written.is(change) ? Writes.write(state, change) : kindOf(change).move(state, change)

/** Step 6: is there enough money? */
const book = (
  state: State.State,
  { companyId, postings }: Leg,
  transferId: string,
  atMillis: number
): State.State | Balance.InsufficientBalance => {
  const balance = State.balanceOf(state, companyId)
  const needed = Balance.need(postings)
  if (needed > 0n && needed > Balance.available(balance))
    return new Balance.InsufficientBalance({ companyId, needed })
  return {
    ...state,
    balances: HashMap.set(state.balances, companyId, Balance.add(balance, Balance.effect(postings))),
    entries: State.push(
      state.entries,
      companyId,
      ...postings.map((posting) => ({ ...posting, transferId, atMillis }))
    )
  }
}

/**
 * Step 7: is the Change within every limit? Amounts taken from `available` are added to the usage, and amounts
 * returned to it are subtracted.
 */
const count = (
  state: State.State,
  { companyId, legs, counts = [] }: Storable
): State.State | Limit.LimitExceeded => {
  const amount = Balance.need(legs.flatMap((leg) => (leg.companyId === companyId ? leg.postings : [])))
  let spent = state.spent
  for (const one of counts) {
    const { subject, atMillis } = one
    const own = State.spentBy(state, companyId, subject)
    const limit = amount > 0n ? Limit.over(own, one, amount) : undefined
    if (limit !== undefined) return Limit.exceeded(limit, subject, companyId)
    spent = HashMap.set(
      spent,
      State.spender(companyId, subject),
      Limit.add(own, atMillis, amount, amount > 0n ? 1 : -1)
    )
  }
  return { ...state, spent }
}

const withCursor = (state: State.State, { cursor }: Storable): State.State =>
  cursor === undefined
    ? state
    : { ...state, cursors: HashMap.set(state.cursors, cursor.source, cursor.value) }

const withTasks = (tasks: State.State["tasks"], change: Storable): State.State["tasks"] => {
  const { companyId, jobs = [] } = change
  const handedOver =
    !Written.is(change) && change._tag === "WithdrawalDispatched"
      ? HashMap.removeMany(
          tasks,
          change.followers.map(({ id }) => id)
        )
      : tasks
  return jobs.reduce((left, job) => {
    if (job._tag === "Complete") return HashMap.remove(left, job.id)
    const { kind, id, dueAtMillis, claimedBy: holder } = job
    const claims = holder === undefined ? 0 : 1
    return HashMap.has(left, id)
      ? left
      : HashMap.set(left, id, {
          kind,
          companyId,
          lane: "",
          dueAtMillis,
          token: claims,
          attempts: claims,
          holder
        })
  }, handedOver)
}

/** Adds the events for every company that the Change affects. */
const withEvents = (events: State.State["events"], change: Storable): State.State["events"] => {
  const { event, eventsForOthers = [], companyId, atMillis } = change
  return [...(event === undefined ? [] : [{ companyId, ...event }]), ...eventsForOthers].reduce(
    (all, one) => {
      const id = HashMap.size(all) + 1
      return HashMap.set(all, id, { id: BigInt(id), atMillis, ...one })
    },
    events
  )
}

/** Applies those parts of a Change that every kind can have. */
const record = (state: State.State, change: Storable): State.State => {
  const { once } = change
  return {
    ...withCursor(state, change),
    tasks: withTasks(state.tasks, change),
    answers:
      once === undefined
        ? state.answers
        : HashMap.set(state.answers, State.answerAddress(once.owner, once.key), {
            ...once,
            meaning: once.meaning ?? null
          }),
    events: withEvents(state.events, change),
    audit:
      change.audit === undefined
        ? state.audit
        : AuditStore.appended(state.audit, { ...change, body: change.audit })
  }
}

/** Applies one Change to a state. Returns the verdict and the new state. */
export const apply = (state: State.State, change: Storable): readonly [Verdict, State.State] => {
  const { once } = change
  const answer =
    once && Option.getOrUndefined(HashMap.get(state.answers, State.answerAddress(once.owner, once.key)))
  if (once !== undefined && answer !== undefined) {
    return isSame(answer, once)
      ? [Exit.succeed({ _tag: "Replayed", answer: answer.answer }), state]
      : [Exit.fail(new Journal.IdempotencyMismatch({ key: once.key })), state]
  }
  const earlier = before(state, change)
  const overtaken = stale(state, change)
  if (earlier === "again")
    return [Exit.succeed(Journal.applied), overtaken === undefined ? withCursor(state, change) : state]
  const refusal = earlier ?? overtaken ?? frozen(state, change) ?? moved(state, change)
  if (refusal !== undefined) return [Exit.fail(refusal), state]
  let next: State.State | Changes.Refusal = move(state, change)
  if (!("_tag" in next)) next = Writes.inserted(next, change)
  for (const leg of change.legs)
    if (!("_tag" in next)) next = book(next, leg, change.transferId ?? change.id, change.atMillis)
  if (!("_tag" in next) && change.counts !== undefined) next = count(next, change)
  return "_tag" in next ? [Exit.fail(next), state] : [Exit.succeed(Journal.applied), record(next, change)]
}
