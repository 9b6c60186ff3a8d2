import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { Effect } from "effect"
import * as Limits from "@satrail/core/accounts/Limits"
import * as Limit from "@satrail/core/ledger/Limit"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import type { Asked, Hook } from "@satrail/core/sending/WithdrawalHooks"
import * as Approval from "./Approval.ts"

/** Returns the threshold above which another key must approve this amount, fees included, if there is one. */
const thresholdOf = (spender: Limits.Spender, amount: Msat.Msat) =>
  Limits.limited(spender).find(
    ({ limits: { approvalAboveSats } }) =>
      approvalAboveSats !== undefined && amount > Msat.fromSats(approvalAboveSats)
  )

const waits = ({ spender: { apiKey }, recipient, withdrawal }: Asked) => ({
  approval: "waiting" as const,
  approvalAskedBy: apiKey === undefined ? null : Limits.countedAs(apiKey),
  approvalExpiresAtMillis: Math.min(
    withdrawal.createdAtMillis + Approval.waitMillis,
    "bolt11" in recipient ? Bolt11.expiresAtSeconds(recipient.bolt11) * 1000 : Infinity,
    "bolt12" in recipient ? (recipient.bolt12.absoluteExpirySeconds ?? Infinity) * 1000 : Infinity
  )
})

/**
 * Makes a withdrawal wait for approval by another key if it exceeds the `approvalAboveSats` of its key or company.
 * Refuses such a voucher or transfer.
 */
export const hook: Hook = {
  // A waiting withdrawal has a task only if an operator added it after a restore (docs/guides/deploy.md).
  maySend: (withdrawal) => Effect.succeed(Withdrawal.isWaiting(withdrawal) ? "later" : "now"),
  mayBegin: (asked) =>
    Effect.succeed(thresholdOf(asked.spender, Withdrawal.held(asked.withdrawal)) && waits(asked)),
  // Anyone may claim a voucher, and no approval happens at that point. A transfer is never pending.
  mayIssue: ({ spender, amount, to }) => {
    const found = thresholdOf(spender, amount)
    if (found === undefined) return Effect.void
    const { subject, limits } = found
    const refusal = Limit.never("approval_above_sats", subject, spender.company.id, limits.approvalAboveSats)
    const advice =
      to === undefined
        ? "What a wallet claims by link cannot await approval. Send it to a destination instead."
        : "A transfer cannot await approval. Send a smaller amount, or pay an invoice of the other account."
    return Effect.fail(new Limit.LimitExceeded({ ...refusal, advice }))
  }
}
