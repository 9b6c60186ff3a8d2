import { ApprovalReads } from "@satrail/core/features/approvals/ApprovalReads"
import { Effect } from "effect"
import { withdrawals } from "../../reads/Withdrawal.ts"
import * as Reads from "../../statements/Reads.ts"

const unapproved = Reads.many("Records.unapproved", {
  text: `
select ${withdrawals.selected} from ${withdrawals.name} t
where t.approval = 'waiting' and t.approval_expires_at_millis <= $1::bigint order by t.approval_expires_at_millis limit $2::bigint`,
  values: (untilMillis: number, limit: number) => [String(untilMillis), String(limit)],
  read: withdrawals.ofRow
})

export const make = Effect.map(Effect.all({ unapproved }), ApprovalReads.of)
