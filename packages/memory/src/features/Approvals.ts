import type { ApprovalReads } from "@satrail/core/features/approvals/ApprovalReads"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import type { Read } from "../Reading.ts"
import * as State from "../State.ts"

const expiryOf = ({ approvalExpiresAtMillis }: Withdrawal.Withdrawal) => approvalExpiresAtMillis ?? 0

export const make = (read: Read): ApprovalReads["Service"] => ({
  unapproved: (untilMillis, limit) =>
    read((now) =>
      State.all(now, Withdrawal.noun)
        .filter((row) => Withdrawal.isWaiting(row) && expiryOf(row) <= untilMillis)
        .toSorted((a, b) => expiryOf(a) - expiryOf(b))
        .slice(0, limit)
    )
})
