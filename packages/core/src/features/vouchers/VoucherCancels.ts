import { Clock, Effect } from "effect"
import type * as CompanyId from "../../base/CompanyId.ts"
import { Journal, type StoreUnavailable } from "../../ledger/Journal.ts"
import { NounReads } from "../../ledger/NounReads.ts"
import * as Page from "../../ledger/Page.ts"
import * as Voucher from "./Voucher.ts"

/** Number of vouchers that are canceled concurrently. */
const cancelingAtOnce = 16

/** Cancels every open voucher that an API key or person created. */
export const make = Effect.gen(function* () {
  const [journal, nouns] = [yield* Journal, yield* NounReads]

  return Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, createdBy: string): Effect.fn.Return<number, StoreUnavailable> {
    let canceled = 0
    for (let before: string | null = null; ;) {
      const rows: ReadonlyArray<Voucher.Voucher> = yield* nouns.newestFirst(Voucher.noun, companyId, before, Page.limit.maximum)
      const done = yield* Effect.forEach(
        rows.filter((row) => row.createdBy === createdBy && row.status === "open"),
        (row) =>
          Effect.flatMap(Clock.currentTimeMillis, (atMillis) => journal.commit(Voucher.canceled(row, atMillis))).pipe(
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
