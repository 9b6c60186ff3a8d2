import { Clock, Effect, Option } from "effect"
import type * as CompanyId from "../../base/CompanyId.ts"
import * as Voucher from "../vouchers/Voucher.ts"
import { NounReads } from "../../ledger/NounReads.ts"
import * as Refund from "./Refund.ts"
import { RefundReads } from "./RefundReads.ts"

/** Maximum number of refunds shown on a checkout page. */
export const limit = 10

/** Implements `Refunds.ofCheckout`. */
export const make = Effect.gen(function* () {
  const records = yield* RefundReads
  const nouns = yield* NounReads
  return Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, checkoutId: string) {
    const atMillis = yield* Clock.currentTimeMillis
    const found = yield* records.refundsOf(companyId, checkoutId, limit)
    const told = yield* Effect.forEach(found, (refund) => {
      const voucher =
        refund.status === "open" && refund.voucherId !== null ? nouns.get(Voucher.noun, companyId, refund.voucherId) : Effect.succeedNone
      return Effect.map(voucher, (voucher) => Refund.told(refund, Option.getOrUndefined(voucher), atMillis))
    })
    return told.filter((one) => one !== undefined)
  })
})
