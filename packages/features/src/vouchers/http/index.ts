import * as OfCompany from "@satrail/http/api/OfCompany"
import * as Feature from "@satrail/http/api/Feature"
import * as LnurlWithdraw from "./LnurlWithdraw.ts"
import * as Vouchers from "./Vouchers.ts"

export const vouchers = Feature.make({
  sections: [Vouchers.section],
  errors: Vouchers.errors,
  views: { voucher: Vouchers.view },
  ofCompany: [OfCompany.read(Vouchers.list), OfCompany.read(Vouchers.get)],
  operator: [Vouchers.operatorCancel],
  // Anyone with a voucher's secret can claim its money.
  redactedParameters: ["k1"],
  extensions: [LnurlWithdraw.extension]
})
