import * as Msat from "@satrail/bitcoin/Msat"
import { vouchers as core } from "@satrail/features/vouchers/core"
import * as Voucher from "@satrail/features/vouchers/core/Voucher"
import * as Cause from "@satrail/core/sending/Cause"
import * as Feature from "../Feature.ts"
import { acts } from "./Acts.ts"
import { stories } from "./Stories.ts"

export const vouchers = Feature.make(core)({
  acts,
  stories,
  changes: {
    VoucherCreated: "happens",
    VoucherClaimed: "happens",
    VoucherExpired: "happens",
    VoucherCanceled: "happens"
  },
  transitions: [
    "voucher: nothing to open",
    "voucher: open to claimed",
    "voucher: open to expired",
    "voucher: open to canceled"
  ],
  records: [
    Feature.record(Voucher.noun, {
      kind: "voucher",
      moves: { open: ["claimed", "expired", "canceled"] },
      told: { claimed: /^voucher\.claimed$/, expired: /^voucher\.expired$/, canceled: /^voucher\.canceled$/ },
      held: ({ status, amount, serviceFee, networkAllowance }) =>
        status === "open" ? Msat.sum(amount, serviceFee, networkAllowance) : Msat.zero,
      became: ({ withdrawalId }) => withdrawalId,
      asked: (voucher) => (Cause.isSet(voucher) ? null : voucher.metadata),
      ending: ({ status, amount }) => `voucher ${status} ${amount}`
    })
  ],
  limits: {
    counts: ["VoucherCreated"],
    returns: ["VoucherExpired", "VoucherCanceled"],
    became: ({ _tag, id, writes: [, second] }) =>
      _tag === "VoucherClaimed" && second?._tag === "Insert" ? [second.record.id, id] : undefined
  }
})
