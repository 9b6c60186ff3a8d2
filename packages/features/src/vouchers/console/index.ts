import { found, vouchers as pages } from "./Vouchers.ts"
import type { Feature } from "@satrail/ui/console/Feature"

export const vouchers: Feature = {
  name: "vouchers",
  records: { company: "Voucher", finds: found, eventKind: "voucher" },
  pages,
  entry: {
    section: "Receive",
    rank: 40,
    name: "vouchers",
    path: "vouchers",
    text: "Vouchers",
    glyph: "ticket"
  }
}
