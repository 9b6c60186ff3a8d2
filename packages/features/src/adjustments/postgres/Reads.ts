import * as Id from "@satrail/core/base/Id"
import * as Adjustment from "../core/Adjustment.ts"
import { AdjustmentReads } from "../core/AdjustmentReads.ts"
import { Effect } from "effect"
import * as Reads from "@satrail/postgres/statements/Reads"
import * as Table from "@satrail/postgres/statements/Table"

const table = Table.of(Adjustment.noun)

const adjustments = Reads.many("Records.adjustments", {
  text: `
select ${table.selected} from ${table.name} t
where (t.created_at_millis, t.id::text collate "C") < ($1::bigint, $2::text) and coalesce(t.status = $4::text, true)
order by t.created_at_millis desc, t.id::text collate "C" desc limit $3::bigint`,
  values: ({ after, limit, status }: Parameters<AdjustmentReads["Service"]["adjustments"]>[0]) => [
    String(after?.createdAtMillis ?? Number.MAX_SAFE_INTEGER),
    after?.id ?? Id.max,
    String(limit),
    status
  ],
  read: table.ofRow
})

const adjustment = Reads.anywhere("Records.adjustment", Adjustment.noun)

export const make = Effect.map(Effect.all({ adjustment, adjustments }), AdjustmentReads.of)
