import { assert } from "@effect/vitest"
import * as Voucher from "@satrail/features/vouchers/core/Voucher"
import type { Journal } from "@satrail/core/ledger/Journal"
import { Records } from "@satrail/core/service/Records"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import { Effect } from "effect"
import type { Promises } from "../../Contract.ts"
import { committed, companyWith } from "../../Fixtures.ts"
import { voucher } from "./Fixtures.ts"

export const other = {
  "a maker's open vouchers are listed in one company or in all, without ended ones and those of other makers":
    Effect.gen(function* () {
      const [companyId, otherId] = [yield* companyWith(100), yield* companyWith(100)]
      const records = yield* Records
      const by = Effect.fnUntraced(function* (createdBy: string | null, company = companyId) {
        const row = yield* voucher(company, 1, { createdBy })
        yield* committed(Voucher.created(row))
        return row
      })
      const rows = [yield* by("mara"), yield* by("mara"), yield* by("mara")]
      const ended = yield* by("mara")
      yield* committed(Voucher.canceled(ended, ended.createdAtMillis))
      for (const createdBy of [null, "Mara", "mara "]) yield* by(createdBy)
      const theirs = yield* by("mara", otherId)
      const open = (company: CompanyId.CompanyId | null, limit = 10) =>
        records.openVouchersBy(company, "mara", limit)
      assert.sameDeepMembers([...(yield* open(companyId))], rows)
      assert.deepStrictEqual(yield* open(otherId), [theirs])
      assert.sameDeepMembers([...(yield* open(null))], [...rows, theirs])
      assert.strictEqual((yield* open(companyId, 2)).length, 2)
      assert.deepStrictEqual(yield* records.openVouchersBy(null, "nobody", 10), [])
    })
} satisfies Promises<Journal | Records>
