import * as Voucher from "@satrail/core/sending/Voucher"
import * as Reads from "./Reads.ts"
import * as Table from "./Table.ts"

const vouchers = Table.of(Voucher.noun)

export const reads = {
  voucher: Reads.get("Records.voucher", Voucher.noun),
  voucherBySecret: Reads.named("Records.voucherBySecret", Voucher.noun, ["secretHash"]),
  vouchersOf: Reads.newestFirst("Records.vouchersOf", vouchers)
}
