import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Msat from "@satrail/bitcoin/Msat"
import { Schema } from "effect"
import * as Reads from "../statements/Reads.ts"
import { Account } from "./Bookings.ts"

const Turned = Schema.Struct({
  step: Schema.FiniteFromString,
  from: Account,
  to: Account,
  amount: Msat.FromString
})

/** Maximum time by which a company's entries may be out of order. */
const disorderMillis = 3_600_000

export const turnedSince = Reads.many("Records.turnedSince", {
  isHeavy: true,
  text: `
select (width_bucket(e.at_millis, $2::text::bigint[]) - 1)::text as step, e.from_account as "from", e.to_account as "to", sum(e.amount)::text as amount
from satrail.entries e
where e.company_id = $1::uuid and e.id >= satrail.entry_since($1::uuid, $3::bigint - ${disorderMillis}) and e.at_millis >= $3::bigint
group by 1, 2, 3`,
  values: (companyId: CompanyId.CompanyId, boundaries: ReadonlyArray<number>) => [
    companyId,
    `{${boundaries.join(",")}}`,
    String(boundaries[0] ?? 0)
  ],
  read: Schema.decodeUnknownSync(Turned)
})

const Posted = Schema.Struct({
  from: Account,
  to: Account,
  amount: Msat.FromString,
  atMillis: Schema.FiniteFromString
})

// Compare the company as text, so that the planner cannot use its key instead of the intended index.
export const postingsOf = Reads.many("Records.postingsOf", {
  text: `
select from_account as "from", to_account as "to", amount::text, at_millis::text as "atMillis" from satrail.entries e
where e.transfer_id = $2::uuid and e.company_id::text = $1::uuid::text order by e.id limit 100`,
  values: (companyId: CompanyId.CompanyId, transferId: string) => [companyId, transferId],
  read: Schema.decodeUnknownSync(Posted)
})
