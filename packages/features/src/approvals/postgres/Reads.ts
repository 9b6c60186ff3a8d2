import { ApprovalReads } from "../core/ApprovalReads.ts"
import { Effect } from "effect"
import { withdrawals } from "@satrail/postgres/reads/Withdrawal"
import * as Reads from "@satrail/postgres/statements/Reads"

const unapproved = Reads.many("Records.unapproved", {
  text: `
select ${withdrawals.selected} from ${withdrawals.name} t
where t.approval = 'waiting' and t.approval_expires_at_millis <= $1::bigint order by t.approval_expires_at_millis limit $2::bigint`,
  values: (untilMillis: number, limit: number) => [String(untilMillis), String(limit)],
  read: withdrawals.ofRow
})

export const make = Effect.map(Effect.all({ unapproved }), ApprovalReads.of)
