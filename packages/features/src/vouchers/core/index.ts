import { Layer } from "effect"
import { VoidLinks } from "@satrail/core/accounts/VoidLinks"
import * as Traced from "@satrail/core/base/Traced"
import * as Feature from "@satrail/core/ledger/Feature"
import * as Voucher from "./Voucher.ts"
import { VoucherReads } from "./VoucherReads.ts"
import * as VoucherCancels from "./VoucherCancels.ts"
import { notices } from "./VoucherNotices.ts"
import * as Vouchers from "./Vouchers.ts"

/** Payments to anyone who holds a link. */
export const vouchers = Feature.make({
  name: "vouchers",
  nouns: [Voucher.noun],
  lives: [Voucher.life],
  changes: Feature.changes<
    Voucher.VoucherCreated | Voucher.VoucherClaimed | Voucher.VoucherExpired | Voucher.VoucherCanceled
  >(),
  events: {
    "voucher.created": "vouchers",
    "voucher.claimed": "vouchers",
    "voucher.expired": "vouchers",
    "voucher.canceled": "vouchers"
  },
  notices,
  holds: [
    Feature.holds(Voucher.noun, {
      in: "open",
      members: ["amount", "serviceFee", "networkAllowance"],
      transfer: "ledgerTxId",
      waits: { kind: "voucher_open", task: Voucher.taskKind, for: "A claim, or the voucher's expiry" }
    })
  ],
  linked: [Feature.linked(Voucher.noun, Voucher.nameIn)],
  limits: [
    [
      "voucher lifetime, seconds",
      `${Voucher.expirySeconds.minimum} to ${Voucher.expirySeconds.maximum}, ${Voucher.expirySeconds.default} by default`
    ]
  ],
  reads: VoucherReads,
  layer: Traced.over(Vouchers.Vouchers, Vouchers.layer),
  workers: Vouchers.layerWorker,
  extensions: Layer.effect(VoidLinks, VoucherCancels.make)
})
