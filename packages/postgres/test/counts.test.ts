import { assert, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Cursor from "@satrail/core/ledger/Cursor"
import * as Limit from "@satrail/core/ledger/Limit"
import * as Id from "@satrail/core/base/Id"
import { Effect } from "effect"
import { boundsOf } from "../src/statements/Counts.ts"

it.effect(
  "limits: if the Changes in one flush have different limits and times, the lower limit and the older time apply",
  () =>
    Effect.gen(function* () {
      const change = Cursor.moved({ source: "test", value: "1" }, yield* Id.make, 1)
      const counting = (atMillis: number, most: number) => ({
        ...change,
        counts: [{ subject: "key", atMillis, most: { day_sats: Msat.fromSats(most) } }]
      })
      const [early, late] = [1_000_000_000_000, 1_000_100_000_000]
      for (const changes of [
        [counting(early, 100), counting(late, 50)],
        [counting(late, 50), counting(early, 100)]
      ]) {
        const bound = boundsOf(changes).get(`${change.companyId} key day_sats`)
        assert.strictEqual(bound?.most, Msat.fromSats(50))
        assert.strictEqual(bound?.since, Limit.oldest("day", early))
      }
    })
)
