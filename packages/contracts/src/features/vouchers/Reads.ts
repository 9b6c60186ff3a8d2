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
  "a maker's open vouchers are listed newest first, without ended ones and those of other makers and companies":
    Effect.gen(function* () {
      const [companyId, otherId] = [yield* companyWith(100), yield* companyWith(100)]
      const records = yield* Records
      const by = Effect.fnUntraced(function* (createdBy: string | null, company = companyId) {
        const row = yield* voucher(company, 1, { createdBy })
        yield* committed(Voucher.created(row))
        return row
      })
      const rows = [yield* by("mara"), yield* by("mara"), yield* by("mara")].toSorted((a, b) =>
        a.id < b.id ? 1 : -1
      )
      const ended = yield* by("mara")
      yield* committed(Voucher.canceled(ended, ended.createdAtMillis))
      for (const createdBy of [null, "Mara", "mara "]) yield* by(createdBy)
      const theirs = yield* by("mara", otherId)
      const page = (company: CompanyId.CompanyId, before: string | null, limit: number) =>
        records.openVouchersBy(company, "mara", before, limit)
      assert.deepStrictEqual(yield* page(companyId, null, 10), rows)
      assert.deepStrictEqual(yield* page(companyId, null, 2), rows.slice(0, 2))
      assert.deepStrictEqual(yield* page(companyId, rows[0]?.id ?? null, 2), rows.slice(1))
      assert.deepStrictEqual(yield* page(otherId, null, 10), [theirs])
      assert.deepStrictEqual(yield* records.openVouchersBy(companyId, "nobody", null, 10), [])
    })
} satisfies Promises<Journal | Records>
