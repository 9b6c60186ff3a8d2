import { assert } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as CompanyId from "@satrail/core/base/CompanyId"
import * as Id from "@satrail/core/base/Id"
import type { Journal } from "@satrail/core/ledger/Journal"
import type { Tasks } from "@satrail/core/ledger/Tasks"
import * as Deposit from "@satrail/core/receiving/Deposit"
import { Records } from "@satrail/core/service/Records"
import { Effect } from "effect"
import type { Promises } from "../../Contract.ts"
import { open, output, verdict } from "../../Fixtures.ts"

const atMillis = 1_700_000_000_000

/** The payments toward a checkout. */
export const money = {
  "what came in for a checkout is summed: what is credited, what waits, and nothing of what failed or is another's": Effect.gen(
    function* () {
      const records = yield* Records
      const [one, other, checkoutId] = [yield* open, yield* open, yield* Id.make]
      const come = Effect.fnUntraced(function* (companyId: CompanyId.CompanyId, sats: number, of: string | null) {
        const row = yield* output(companyId, sats, { checkoutId: of })
        yield* verdict(Deposit.seen(row))
        return row
      })
      yield* come(one, 1, checkoutId)
      yield* verdict(Deposit.confirmed(yield* come(one, 10, checkoutId), atMillis))
      yield* verdict(Deposit.dropped(yield* come(one, 100, checkoutId), atMillis))
      yield* come(one, 1000, null)
      yield* come(one, 1000, yield* Id.make)
      const arrived = { received: Msat.fromSats(10), pending: Msat.fromSats(1), pendingHeight: null }
      assert.deepStrictEqual(yield* records.arrivedFor(one, checkoutId), arrived)
      const nothing = { received: Msat.zero, pending: Msat.zero, pendingHeight: null }
      assert.deepStrictEqual(yield* records.arrivedFor(other, checkoutId), nothing)
    }
  ),
  "what waits for its confirmations for a checkout is in a block once all of it is: in the highest": Effect.gen(function* () {
    const records = yield* Records
    const [one, checkoutId] = [yield* open, yield* Id.make]
    const height = () => Effect.map(records.arrivedFor(one, checkoutId), ({ pendingHeight }) => pendingHeight)
    const come = Effect.fnUntraced(function* (sats: number) {
      const row = yield* output(one, sats, { checkoutId })
      yield* verdict(Deposit.seen(row))
      return row
    })
    const [first, second] = [yield* come(1), yield* come(2)]
    assert.isNull(yield* height())
    yield* verdict(Deposit.placed(first, 100, atMillis))
    assert.isNull(yield* height())
    const placed = Deposit.placed(second, 102, atMillis)
    yield* verdict(placed)
    assert.strictEqual(yield* height(), 102)
    yield* verdict(Deposit.confirmed(Deposit.after(placed), atMillis))
    assert.strictEqual(yield* height(), 100)
  })
} satisfies Promises<Journal | Records | Tasks>
