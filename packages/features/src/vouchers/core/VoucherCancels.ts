import { Clock, Effect } from "effect"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Journal, type StoreUnavailable } from "@satrail/core/ledger/Journal"
import * as Page from "@satrail/core/ledger/Page"
import * as Voucher from "./Voucher.ts"
import { VoucherReads } from "./VoucherReads.ts"

/** Number of vouchers that are canceled concurrently. */
const cancelingAtOnce = 16

/** Cancels every open voucher that an API key or person created. */
export const make = Effect.gen(function* () {
  const [journal, { openVouchersBy }] = [yield* Journal, yield* VoucherReads]

  return Effect.fnUntraced(function* (
    companyId: CompanyId.CompanyId,
    createdBy: string
  ): Effect.fn.Return<number, StoreUnavailable> {
    let canceled = 0
    for (let before: string | null = null; ;) {
      const rows: ReadonlyArray<Voucher.Voucher> = yield* openVouchersBy(
        companyId,
        createdBy,
        before,
        Page.limit.maximum
      )
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
      before = rows.at(-1)?.id ?? null
      if (rows.length < Page.limit.maximum) return canceled
    }
  })
})
