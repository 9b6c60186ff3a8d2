import * as Bolt11 from "@satrail/bitcoin/Bolt11"
import * as Msat from "@satrail/bitcoin/Msat"
import { Effect } from "effect"
import * as Limits from "../../accounts/Limits.ts"
import * as Withdrawal from "../../sending/Withdrawal.ts"
import type { Asked, Hook } from "../../sending/WithdrawalHooks.ts"
import * as Approval from "./Approval.ts"

/** Returns whether another key must approve a withdrawal of this amount, fees included. */
const needsApproval = (spender: Limits.Spender, amount: Msat.Msat): boolean =>
  Limits.limited(spender).some(
    ({ limits: { approvalAboveSats } }) => approvalAboveSats !== undefined && amount > Msat.fromSats(approvalAboveSats)
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

/** Makes a withdrawal wait for approval by another key if it exceeds the `approvalAboveSats` of its key or company. */
export const hook: Hook = {
  mayBegin: (asked) => Effect.succeed(needsApproval(asked.spender, Withdrawal.held(asked.withdrawal)) ? waits(asked) : undefined)
}
