import { Clock, Effect } from "effect"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Journal, type StoreUnavailable } from "@satrail/core/ledger/Journal"
import * as Page from "@satrail/core/ledger/Page"
import * as Voucher from "./Voucher.ts"
import { VoucherReads } from "./VoucherReads.ts"

/** Number of vouchers that are canceled concurrently. */
const cancelingAtOnce = 16

/** Cancels every open voucher that a key or person created, in this company or, if it is null, in every company. */
export const make = Effect.gen(function* () {
  const [journal, { openVouchersBy }] = [yield* Journal, yield* VoucherReads]

  return Effect.fnUntraced(function* (
    companyId: CompanyId.CompanyId | null,
    createdBy: string
  ): Effect.fn.Return<number, StoreUnavailable> {
    for (let canceled = 0; ;) {
      const rows = yield* openVouchersBy(companyId, createdBy, Page.limit.maximum)
      const done = yield* Effect.forEach(
        rows,
        (row) =>
          Effect.flatMap(Clock.currentTimeMillis, (atMillis) =>
            journal.commit(Voucher.canceled(row, atMillis))
          ).pipe(
            Effect.as(1),
            Effect.catchTag("VoucherNotOpen", () => Effect.succeed(0)) // claimed or expired in the meantime
          ),
        { concurrency: cancelingAtOnce }
      )
      canceled += done.reduce((sum, one) => sum + one, 0)
      // None of these is open now, so the next read returns others.
      if (rows.length < Page.limit.maximum) return canceled
    }
  })
})
