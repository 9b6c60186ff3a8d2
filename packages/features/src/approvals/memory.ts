import type { ApprovalReads } from "./core/ApprovalReads.ts"
import * as Withdrawal from "@satrail/core/sending/Withdrawal"
import type { Read } from "@satrail/memory/Reading"
import * as State from "@satrail/memory/State"

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
