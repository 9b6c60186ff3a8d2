import { assert } from "@effect/vitest"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import { Records } from "@satrail/core/service/Records"
import { Effect, Option } from "effect"
import type { Promises } from "../../Contract.ts"
import { committed, found, hex, open } from "../../Fixtures.ts"
import { offer as offerOf } from "./Fixtures.ts"

/** Guarantees about recognizing offers that the service issued. */
export const other = {
  "an offer that we issued is found by its full text, however long, and by no other text": Effect.gen(
    function* () {
      const records = yield* Records
      const offers = yield* Effect.forEach([80, 4000], (length) =>
        Effect.map(Effect.all([open, hex(length / 2)]), ([companyId, text]) => ({
          companyId,
          offer: `lno1${text}`
        }))
      )
      for (const [n, { companyId, offer }] of offers.entries()) {
        const created = yield* offerOf(companyId)
        const [insert] = created.writes
        const record = {
          ...insert.record,
          offer,
          ...(n === 0 && { lightningAddressId: null, lightningAddress: null })
        }
        yield* committed({ ...created, writes: [{ ...insert, record }] })
        assert.deepStrictEqual(yield* found(records.offerByText(offer)), record)
        for (const another of [offer.slice(0, -1), `${offer}q`, offer.toUpperCase(), "lno1", "%", ""])
          assert.isTrue(Option.isNone(yield* records.offerByText(another)))
      }
    }
  )
} satisfies Promises<Journal | Records | Tasks>
