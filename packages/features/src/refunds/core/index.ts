import { Effect } from "effect"
import * as Traced from "@satrail/core/base/Traced"
import * as Feature from "@satrail/core/ledger/Feature"
import type { Published } from "@satrail/core/ledger/LedgerReads"
import * as Conversion from "@satrail/core/ledger/Conversion"
import * as Deposit from "@satrail/core/receiving/Deposit"
import * as Refund from "./Refund.ts"
import * as RefundHook from "./RefundHook.ts"
import { RefundReads } from "./RefundReads.ts"
import * as Refunds from "./Refunds.ts"
import * as WithdrawalNotices from "@satrail/core/sending/WithdrawalNotices"
import * as VoucherNotices from "../../vouchers/core/VoucherNotices.ts"

const types = [
  "refund.created",
  "refund.completed",
  "refund.failed",
  "refund.expired",
  "refund.canceled"
] as const

const about =
  <const T extends (typeof types)[number]>(type: T) =>
  (record: Refund.Refund) => ({ kind: "refund" as const, type, record })

/**
 * Returns the refund in the state in which it was created: with an unclaimed link, or with a withdrawal that
 * was just requested.
 */
const newRefund = Conversion.ofSubject(Refund.noun, (row): Refund.Refund => ({
  ...row,
  status: row.voucherId === null ? "pending" : "open",
  withdrawalId: row.voucherId === null ? row.withdrawalId : null,
  updatedAtMillis: row.createdAtMillis
}))

/**
 * Returns the refund with the voucher or withdrawal created in the same commit, which has no creation event of
 * its own.
 */
const created = Effect.fnUntraced(function* (event: Published) {
  const [record] = yield* newRefund(event)
  if (record === undefined) return []
  return [
    about("refund.created")(record),
    ...(yield* VoucherNotices.createdWith(event, record.voucherId)),
    ...(yield* WithdrawalNotices.requestedWith(event, record.withdrawalId))
  ]
})

const ended = <const T extends (typeof types)[number]>(type: T) => ({
  as: [type],
  convert: Conversion.ofSubject(Refund.noun, about(type))
})

export const refunds = Feature.make({
  name: "refunds",
  nouns: [Refund.noun],
  lives: [Refund.life, Refund.depositLife],
  changes: Feature.changes<Refund.RefundCreated | Refund.Next>(),
  events: {
    "refund.created": "refunds",
    "refund.completed": "refunds",
    "refund.failed": "refunds",
    "refund.expired": "refunds",
    "refund.canceled": "refunds"
  },
  notices: {
    kind: "refund",
    types,
    byEvent: {
      "refund.created": {
        as: ["refund.created", "voucher.created", ...WithdrawalNotices.requestedAs],
        aboutOthers: true,
        convert: created
      },
      "refund.completed": ended("refund.completed"),
      "refund.failed": ended("refund.failed"),
      "refund.expired": ended("refund.expired"),
      "refund.canceled": ended("refund.canceled")
    }
  },
  keptSums: [
    Feature.keptSum(Refund.noun, {
      fault: "refunded",
      in: Refund.takes,
      amount: "amount",
      by: "depositId",
      of: Deposit.noun,
      as: "refunded"
    })
  ],
  describes: [
    Feature.describes(Refund.noun, {
      by: "refundId",
      description: "description",
      returns: { noun: Deposit.noun, by: "depositId" }
    })
  ],
  reads: RefundReads,
  layer: Traced.over(Refunds.Refunds, Refunds.layer),
  workers: Refunds.layerWorker,
  extensions: RefundHook.layer
})
