import { Effect, Option } from "effect"
import * as Traced from "../../base/Traced.ts"
import * as Feature from "../../ledger/Feature.ts"
import type { Published } from "../../ledger/LedgerReads.ts"
import { NounReads } from "../../ledger/NounReads.ts"
import * as Deposit from "../../receiving/Deposit.ts"
import * as Refund from "./Refund.ts"
import * as RefundHook from "./RefundHook.ts"
import { RefundReads } from "./RefundReads.ts"
import * as Refunds from "./Refunds.ts"
import * as WithdrawalTold from "../../sending/WithdrawalTold.ts"
import * as VoucherTold from "../vouchers/VoucherTold.ts"

const types = ["refund.created", "refund.completed", "refund.failed", "refund.expired", "refund.canceled"] as const

const read = Effect.fnUntraced(function* ({ companyId, subject }: Published) {
  return Option.toArray(yield* (yield* NounReads).get(Refund.noun, companyId, subject))
})

const about =
  <const T extends (typeof types)[number]>(type: T) =>
  (record: Refund.Refund) => ({ kind: "refund" as const, type, record })

/**
 * Returns the refund in the state in which it was created: with an unclaimed link, or with a withdrawal that
 * was just requested.
 */
const newRefund = (row: Refund.Refund): Refund.Refund => ({
  ...row,
  status: row.voucherId === null ? "pending" : "open",
  withdrawalId: row.voucherId === null ? row.withdrawalId : null,
  updatedAtMillis: row.createdAtMillis
})

/**
 * Returns the refund with the voucher or withdrawal created in the same commit, which has no creation event of
 * its own.
 */
const created = Effect.fnUntraced(function* (event: Published) {
  const [found] = yield* read(event)
  if (found === undefined) return []
  const record = newRefund(found)
  return [
    about("refund.created")(record),
    ...(yield* VoucherTold.createdWith(event.companyId, record.voucherId)),
    ...(yield* WithdrawalTold.requestedWith(event.companyId, record.withdrawalId))
  ]
})

const ended = <const T extends (typeof types)[number]>(type: T) => ({
  as: [type],
  tell: (event: Published) => Effect.map(read(event), (rows) => rows.map(about(type)))
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
    told: {
      "refund.created": {
        as: ["refund.created", "voucher.created", ...WithdrawalTold.requestedAs],
        aboutOthers: true,
        tell: created
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
    Feature.describes(Refund.noun, { by: "refundId", description: "description", returns: { noun: Deposit.noun, by: "depositId" } })
  ],
  reads: RefundReads,
  layer: Traced.over(Refunds.Refunds, Refunds.layer),
  workers: Refunds.layerWorker,
  extensions: RefundHook.layer
})
