import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Refund from "../core/Refund.ts"
import { RefundReads } from "../core/RefundReads.ts"
import { Effect } from "effect"
import * as Reads from "@satrail/postgres/statements/Reads"
import * as Table from "@satrail/postgres/statements/Table"

const refunds = Table.of(Refund.noun)
const takes = Refund.takes.map((status) => `'${status}'`).join(", ")

// Both use indexes of ids as bytes (see migrations/Baseline.ts).

const refundsOf = Reads.many("Records.refundsOf", {
  text: `
select ${refunds.selected} from ${refunds.name} t
where uuid_send(t.checkout_id) = uuid_send($2::uuid) and uuid_send(t.company_id) = uuid_send($1::uuid) and t.status in (${takes})
order by t.id desc limit $3::bigint`,
  values: (companyId: CompanyId.CompanyId, checkoutId: string, limit: number) => [
    companyId,
    checkoutId,
    String(limit)
  ],
  read: refunds.ofRow
})

const ofDeposit = Reads.many("Records.ofDeposit", {
  text: `
select ${refunds.selected} from ${refunds.name} t
where uuid_send(t.deposit_id) = uuid_send($2::uuid) and uuid_send(t.company_id) = uuid_send($1::uuid)
  and uuid_send(t.id) < uuid_send($3::uuid)
order by uuid_send(t.deposit_id) desc, uuid_send(t.id) desc limit $4::bigint`,
  values: (companyId: CompanyId.CompanyId, depositId: string, before: string | null, limit: number) => [
    companyId,
    depositId,
    before ?? Id.max,
    String(limit)
  ],
  read: refunds.ofRow
})

export const make = Effect.map(Effect.all({ refundsOf, ofDeposit }), RefundReads.of)
