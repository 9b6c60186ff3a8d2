import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { deposit } from "@satrail/contracts/Rows"
import { Status } from "../src/ledger/Rail.ts"
import * as Coin from "../src/nodes/Coin.ts"
import { feeRateBlocks, spendingCost } from "../src/receiving/FeeRates.ts"
import * as Outputs from "../src/receiving/Outputs.ts"

const mined = (height: number) => ({ _tag: "mined", height, isCoinbase: false }) as const

describe("A deposit's state changes", () => {
  // The changes if the transaction is now in the same block, in another block, in the mempool, or missing.
  const cases: { readonly [status in Status]: ReadonlyArray<ReadonlyArray<Outputs.Move>> } = {
    pending: [[], ["place"], ["place"], ["drop"]],
    settled: [[], ["place"], ["reverse"], ["reverse", "drop"]],
    failed: [["place"], ["place"], ["place"], []]
  }
  for (const status of Status.literals) {
    it(`deposits: a ${status} deposit changes with its transaction`, () => {
      const row = deposit({ status, height: 7, revision: 2 })
      assert.deepStrictEqual(
        [mined(7), mined(8), { _tag: "mempool" } as const, { _tag: "gone" } as const].map((placement) =>
          Outputs.movesOf(row, placement)
        ),
        cases[status]
      )
    })
  }

  it("deposits: a deposit that was too small when first seen never changes", () => {
    const row = deposit({ status: "failed", height: null, revision: 0 })
    assert.deepStrictEqual(Outputs.movesOf(row, mined(7)), [])
  })
})

describe("The cost of spending a coin", () => {
  it("deposits: the minimum is the cost at the lowest fee rate of recent blocks, or zero while too few blocks are known", () => {
    const rates = Array.from({ length: feeRateBlocks.least }, (_, n) => 10 + n)
    assert.strictEqual(spendingCost("taproot", rates), Msat.fromSats(Coin.spendingSats("taproot", 10)))
    assert.strictEqual(spendingCost("taproot", rates.slice(1)), Msat.zero)
  })
})
