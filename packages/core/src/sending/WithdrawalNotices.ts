import * as Conversion from "../ledger/Conversion.ts"
import * as Withdrawal from "./Withdrawal.ts"

/** The types of events about withdrawals, in the order of the catalog. */
export const types = [
  "withdrawal.lightning.pending_approval",
  "withdrawal.lightning.pending",
  "withdrawal.lightning.completed",
  "withdrawal.lightning.failed",
  "withdrawal.on_chain.pending_approval",
  "withdrawal.on_chain.pending",
  "withdrawal.on_chain.completed",
  "withdrawal.on_chain.failed",
  "withdrawal.on_chain.replaced"
] as const

/** The types that report a new withdrawal. */
export const requestedAs = [
  "withdrawal.lightning.pending_approval",
  "withdrawal.lightning.pending",
  "withdrawal.on_chain.pending_approval",
  "withdrawal.on_chain.pending"
] as const

/** Returns the event that reports a withdrawal to its company. The event type contains the withdrawal's rail. */
export const about = <const As extends "pending_approval" | "pending" | "completed" | "failed">(
  record: Withdrawal.Withdrawal,
  as: As
) => ({
  kind: "withdrawal" as const,
  type: `withdrawal.${record.rail}.${as}` as const,
  record
})

/** Returns the withdrawal as it was when requested, before any processing. */
export const asked = (row: Withdrawal.Withdrawal): Withdrawal.Withdrawal => ({
  ...row,
  ...Withdrawal.pending({ ...row, approval: row.approval && "waiting" })
})

/** Returns the event that reports a new withdrawal. */
export const requested = (row: Withdrawal.Withdrawal) => {
  const record = asked(row)
  return about(record, record.approval === null ? "pending" : "pending_approval")
}

/** Returns the event that reports a new withdrawal that was created together with another record. */
export const requestedWith = Conversion.ofRecord(Withdrawal.noun, requested)
