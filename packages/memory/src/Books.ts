import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as RunOnce from "@satrail/core/ledger/RunOnce"
import * as Tally from "@satrail/core/ledger/Tally"
import * as Waiting from "@satrail/core/ledger/Waiting"
import * as SuspenseAssignment from "@satrail/core/receiving/SuspenseAssignment"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Invoice from "@satrail/core/receiving/Invoice"
import * as Fault from "@satrail/core/reports/Fault"
import { depositKind, withdrawalKind } from "@satrail/core/reports/reconciliation/WaitReason"
import { held } from "@satrail/core/ledger/Feature"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import { HashMap, Option } from "effect"
import { compare } from "./Reading.ts"
import * as Posted from "./Posted.ts"
import * as State from "./State.ts"

/** Recounts all entries on every call, because an in-memory store is small. */
export const tally = (state: State.State): Tally.Tally => {
  let accounts = Tally.nothing
  for (const list of HashMap.values(state.entries)) {
    for (const { from, to, amount } of State.items(list)) {
      accounts = {
        ...accounts,
        [from]: { ...accounts[from], out: Msat.sum(accounts[from].out, amount) },
        [to]: { ...accounts[to], into: Msat.sum(accounts[to].into, amount) }
      }
    }
  }
  return { accounts, mark: "", counted: Tally.nothing }
}

const jobOf = (state: State.State, id: string): Waiting.Job | null => {
  const work = Option.getOrNull(HashMap.get(state.tasks, id))
  return work && { kind: work.kind, lane: work.lane, dueAtMillis: work.dueAtMillis, attempts: work.attempts }
}

const claimedOf = (state: State.State, id: string): Waiting.Claimed | null => {
  const [job, work] = [jobOf(state, id), Option.getOrNull(HashMap.get(state.tasks, id))]
  return job && work && { ...job, token: work.token }
}

const leaderOf = (state: State.State, id: string): string =>
  Array.from(HashMap.entries(state.followers)).find(([, followers]) => followers.includes(id))?.[0] ?? id

/** Returns the id of the task of a record, or of the payout that leads its batch. */
const taskOf = (state: State.State, companyId: CompanyId.CompanyId, id: string): string | null => {
  const own = HashMap.get(state.tasks, id)
  if (Option.isSome(own)) return own.value.companyId === companyId ? id : null
  return Option.isSome(State.get(state, Withdrawal.noun, companyId, id)) ? leaderOf(state, id) : null
}

/** Returns that task. */
export const job = (
  state: State.State,
  companyId: CompanyId.CompanyId,
  id: string
): Waiting.Claimed | null => {
  const task = taskOf(state, companyId, id)
  return task === null ? null : claimedOf(state, task)
}

const items = (state: State.State, overdueBeforeMillis: number): ReadonlyArray<Waiting.Item> => [
  ...State.all(state, Withdrawal.noun).flatMap((one) => {
    const { id, companyId } = one
    const taskId = taskOf(state, companyId, id)
    const task = taskId === null ? null : jobOf(state, taskId)
    const kind = withdrawalKind(one, task)
    if (kind === undefined) return []
    return [
      {
        kind,
        id,
        companyId,
        sinceMillis: Withdrawal.beganAtMillis(one),
        amount: Withdrawal.held(one),
        job: task
      }
    ]
  }),
  ...state.features.flatMap(({ holds = [] }) =>
    holds.flatMap((hold) =>
      State.all(state, hold.noun)
        .map((row) => ({ row, ...held(hold, row) }))
        .filter(({ isHolding }) => isHolding)
        .map(({ row: { id, companyId }, sinceMillis, amount }) => ({
          // oxlint-disable-next-line typescript/consistent-type-assertions -- every feature is in a registered list
          kind: hold.waits.kind as Waiting.Kind,
          id,
          companyId,
          sinceMillis,
          amount,
          job: jobOf(state, id)
        }))
    )
  ),
  ...State.all(state, Deposit.noun).flatMap((one) => {
    const kind = depositKind(one)
    const { id, companyId, createdAtMillis: sinceMillis, amount } = one
    return kind === undefined ? [] : [{ kind, id, companyId, sinceMillis, amount, job: null }]
  }),
  ...Array.from(HashMap.entries(state.tasks))
    .filter(
      ([, { dueAtMillis, kind }]) =>
        dueAtMillis < overdueBeforeMillis && !kind.startsWith(RunOnce.claimPrefix)
    )
    .map(([id, { companyId, dueAtMillis }]) => ({
      kind: "task_overdue" as const,
      id,
      companyId,
      sinceMillis: dueAtMillis,
      amount: Msat.zero,
      job: jobOf(state, id)
    }))
]

export const waiting = (state: State.State, overdueBeforeMillis: number): Waiting.All => {
  const all = items(state, overdueBeforeMillis)
  return Waiting.byKind(Waiting.kinds(state.features), (kind) => {
    const some = all.filter((one) => one.kind === kind)
    return {
      count: some.length,
      oldestAtMillis: some.length === 0 ? null : Math.min(...some.map(({ sinceMillis }) => sinceMillis)),
      amount: Msat.sum(...some.map(({ amount }) => amount))
    }
  })
}

const older = (a: Waiting.Place, b: Waiting.Place): number =>
  compare(a.sinceMillis, b.sinceMillis) || compare(a.id, b.id)

export const backlog = (state: State.State, query: Waiting.Query): ReadonlyArray<Waiting.Item> => {
  const { after, kinds, limit, overdueBeforeMillis, perKind, sinceBeforeMillis } = query
  const asked = items(state, overdueBeforeMillis)
    .filter((one) => one.sinceMillis < sinceBeforeMillis && (after === null || older(one, after) > 0))
    .toSorted(older)
  return kinds
    .flatMap((kind) => asked.filter((one) => one.kind === kind).slice(0, perKind))
    .toSorted(older)
    .slice(0, limit)
}

const maxFaults = 1000

export const faults = (state: State.State, companyId: CompanyId.CompanyId): ReadonlyArray<Fault.Fault> => {
  return Fault.of({
    companyId,
    totals: State.balanceOf(state, companyId),
    entries: Array.from(State.listed(state.entries, companyId)),
    withdrawals: State.ownedBy(state, Withdrawal.noun, companyId),
    holding: Fault.holding(state.features, (noun) => State.ownedBy(state, noun, companyId)),
    deposits: State.ownedBy(state, Deposit.noun, companyId),
    recounts: Fault.recounts(state.features, companyId, (noun) => State.readBy(state, noun, companyId)),
    invoices: State.ownedBy(state, Invoice.noun, companyId),
    unmatched: State.ownedBy(state, Invoice.unmatchedNoun, companyId),
    assignments: State.all(state, SuspenseAssignment.noun).filter(
      ({ unmatchedCompanyId }) => unmatchedCompanyId === companyId
    ),
    posted: Posted.by(state, companyId),
    isPaidInside: (paymentHash) =>
      Option.exists(
        State.named(state, Withdrawal.noun, { paymentHash }),
        ({ dispatchedAtMillis }) => dispatchedAtMillis === null
      )
  }).slice(0, maxFaults)
}
