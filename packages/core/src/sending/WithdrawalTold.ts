import { Effect, Option } from "effect"
import type { CompanyId } from "../base/CompanyId.ts"
import { NounReads } from "../ledger/NounReads.ts"
import * as Withdrawal from "./Withdrawal.ts"

/** Returns a withdrawal's event for its company, named after its rail. */
export const about = <const As extends "pending_approval" | "pending" | "completed" | "failed">(record: Withdrawal.Withdrawal, as: As) => ({
  kind: "withdrawal" as const,
  type: `withdrawal.${record.rail}.${as}` as const,
  record
})

/** Returns the withdrawal as it was when requested, before any processing. */
export const asked = (row: Withdrawal.Withdrawal): Withdrawal.Withdrawal => ({
  ...row,
  ...Withdrawal.pending({ ...row, approval: row.approval && "waiting" })
})

/** Returns the event of the request. */
export const requested = (row: Withdrawal.Withdrawal) => {
  const record = asked(row)
  return about(record, record.approval === null ? "pending" : "pending_approval")
}

/** Returns the request's event for a withdrawal created together with another record. */
export const requestedWith = Effect.fnUntraced(function* (companyId: CompanyId, id: string | null) {
  const found = id === null ? Option.none() : yield* (yield* NounReads).get(Withdrawal.noun, companyId, id)
  return Option.toArray(Option.map(found, requested))
})
