import { assert, it } from "@effect/vitest"
import { row } from "@satrail/contracts/features/vouchers/Fixtures"
import { Journal } from "@satrail/core/ledger/Journal"
import * as Page from "@satrail/core/ledger/Page"
import { Effect } from "effect"
import * as VoucherCancels from "../../../src/vouchers/core/VoucherCancels.ts"
import { VoucherReads } from "../../../src/vouchers/core/VoucherReads.ts"

it.effect("voucher: all open vouchers of a maker are canceled, also if they fill several pages", () =>
  Effect.gen(function* () {
    const open = new Map(
      Array.from({ length: 2 * Page.limit.maximum + 1 }, (_, n) => [`${n}`, row({ id: `${n}` })])
    )
    const cancel = yield* VoucherCancels.make.pipe(
      Effect.provideService(VoucherReads, {
        openVouchersBy: (_, __, limit) => Effect.succeed([...open.values()].slice(0, limit))
      }),
      Effect.provideService(Journal, {
        commit: ({ id }) =>
          Effect.sync(() => {
            open.delete(id)
            return { _tag: "Applied" as const }
          })
      })
    )
    assert.strictEqual(yield* cancel(null, "mara"), 2 * Page.limit.maximum + 1)
    assert.strictEqual(open.size, 0)
  })
)
