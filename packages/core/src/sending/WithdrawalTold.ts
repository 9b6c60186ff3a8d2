import { Effect, Option } from "effect"
import type { CompanyId } from "../base/CompanyId.ts"
import { NounReads } from "../ledger/NounReads.ts"
import * as Withdrawal from "./Withdrawal.ts"

/** What companies are told of a withdrawal, on this rail. */
export const about = <const As extends "pending_approval" | "pending" | "completed" | "failed">(record: Withdrawal.Withdrawal, as: As) => ({
  kind: "withdrawal" as const,
  type: `withdrawal.${record.rail}.${as}` as const,
  record
})

/** Nothing was done about it yet. */
export const asked = (row: Withdrawal.Withdrawal): Withdrawal.Withdrawal => ({
  ...row,
  ...Withdrawal.pending({ ...row, approval: row.approval && "waiting" })
})

/** As it was asked for. */
export const requested = (row: Withdrawal.Withdrawal) => {
  const record = asked(row)
  return about(record, record.approval === null ? "pending" : "pending_approval")
}

/** One that was made with something else, whose request is no event of its own. */
export const requestedWith = Effect.fnUntraced(function* (companyId: CompanyId, id: string | null) {
  const found = id === null ? Option.none() : yield* (yield* NounReads).get(Withdrawal.noun, companyId, id)
  return Option.toArray(Option.map(found, requested))
})
