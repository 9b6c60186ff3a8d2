import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Policy from "../src/service/Policy.ts"
import * as Confirmations from "../src/receiving/Confirmations.ts"
import { settings } from "./Rows.ts"

const sats = (amount: number) => Confirmations.neededFor(settings, Msat.fromSats(amount))

describe("Policy", () => {
  it("C46: policy: larger deposits need more confirmations", () => {
    assert.deepStrictEqual(
      [1, 1_000_000, 1_000_001, 50_000_000, 50_000_001, 2_100_000_000_000_000].map(sats),
      [2, 2, 3, 3, 6, 6]
    )
  })

  it("policy: amounts above the last row need that row's number of confirmations; without rows, every amount needs six confirmations", () => {
    const one = { ...settings, confirmations: [{ upTo: Msat.fromSats(10), confirmations: 4 }] }
    assert.strictEqual(Confirmations.neededFor(one, Msat.fromSats(11)), 4)
    assert.strictEqual(Confirmations.neededFor({ ...settings, confirmations: [] }, Msat.fromSats(1)), 6)
  })

  it("policy: by default no deposit is credited before it is in a block", () => {
    for (const { confirmations } of Policy.defaults.confirmations) assert.isTrue(confirmations >= 1)
  })
})
