import type * as CompanyId from "@satrail/core/base/CompanyId"
import type * as SecretHash from "@satrail/core/base/SecretHash"
import * as Voucher from "@satrail/core/sending/Voucher"
import * as Reads from "./Reads.ts"
import * as Table from "./Table.ts"

const vouchers = Table.of(Voucher.noun)

export const reads = {
  voucher: Reads.one("Records.voucher", {
    key: { company_id: "uuid", id: "uuid" },
    select: `select ${vouchers.selected} from ${vouchers.name} t where t.company_id = a.company_id and t.id = a.id`,
    read: vouchers.ofRow,
    keyOf: (companyId: CompanyId.CompanyId, id: string) => [companyId, id]
  }),
  voucherBySecret: Reads.one("Records.voucherBySecret", {
    key: { secret_hash: "text" },
    select: `select ${vouchers.selected} from ${vouchers.name} t where t.secret_hash = a.secret_hash`,
    read: vouchers.ofRow,
    keyOf: (secretHash: SecretHash.SecretHash) => [secretHash]
  }),
  vouchersOf: Reads.newestFirst("Records.vouchersOf", vouchers)
}
