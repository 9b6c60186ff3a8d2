import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Voucher from "../core/Voucher.ts"
import { VoucherReads } from "../core/VoucherReads.ts"
import { Effect } from "effect"
import * as Reads from "@satrail/postgres/statements/Reads"
import * as Table from "@satrail/postgres/statements/Table"

const vouchers = Table.of(Voucher.noun)

const openVouchersBy = Reads.many("Records.openVouchersBy", {
  text: `
select ${vouchers.selected} from ${vouchers.name} t
where t.status = 'open' and t.created_by = $2::text collate "C"
  and ($1::uuid is null or uuid_send(t.company_id) = uuid_send($1::uuid))
limit $3::bigint`,
  values: (companyId: CompanyId.CompanyId | null, createdBy: string, limit: number) => [
    companyId,
    createdBy,
    String(limit)
  ],
  read: vouchers.ofRow
})

export const make = Effect.map(Effect.all({ openVouchersBy }), VoucherReads.of)
