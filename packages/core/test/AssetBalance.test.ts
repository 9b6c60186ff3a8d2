import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Tally from "../src/ledger/Tally.ts"
import * as AssetBalance from "../src/reports/reconciliation/AssetBalance.ts"

type Ask = Parameters<typeof AssetBalance.of>[0]

const of = (change: Partial<Ask>) =>
  AssetBalance.of({
    account: "node",
    owned: Msat.make(1000n),
    within: Msat.zero,
    own: null,
    before: Tally.nothing,
    after: Tally.nothing,
    mayLeave: Msat.zero,
    mayArrive: Msat.zero,
    ...change
  })

describe("The position of an asset", () => {
  it("reconciliation: equity is determined only while nothing may leave or arrive", () => {
    const one = Msat.make(1n)
    assert.deepStrictEqual(
      [of({}).own, of({ mayLeave: one }).own, of({ mayArrive: one }).own],
      [1000n, null, null]
    )
  })

  it("reconciliation: what the node may count twice or not at all explains a difference in both directions", () => {
    const within = Msat.make(10n)
    const unexplained = [-11n, -10n, 10n, 11n].map(
      (difference) => of({ within, own: Msat.make(1000n - difference) }).unexplained
    )
    assert.deepStrictEqual(unexplained, [-1n, 0n, 0n, 1n])
  })
})
