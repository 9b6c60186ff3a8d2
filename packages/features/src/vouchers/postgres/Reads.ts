import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import * as Voucher from "../core/Voucher.ts"
import { VoucherReads } from "../core/VoucherReads.ts"
import { Effect } from "effect"
import * as Reads from "@satrail/postgres/statements/Reads"
import * as Table from "@satrail/postgres/statements/Table"

const vouchers = Table.of(Voucher.noun)

const openVouchersBy = Reads.many("Records.openVouchersBy", {
  text: `
select ${vouchers.selected} from ${vouchers.name} t
where t.status = 'open' and uuid_send(t.company_id) = uuid_send($1::uuid) and t.created_by = $2::text collate "C"
  and uuid_send(t.id) < uuid_send($3::uuid)
order by uuid_send(t.company_id) desc, t.created_by collate "C" desc, uuid_send(t.id) desc limit $4::bigint`,
  values: (companyId: CompanyId.CompanyId, createdBy: string, before: string | null, limit: number) => [
    companyId,
    createdBy,
    before ?? Id.max,
    String(limit)
  ],
  read: vouchers.ofRow
})

export const make = Effect.map(Effect.all({ openVouchersBy }), VoucherReads.of)
