import { assert, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Search from "../src/reports/Search.ts"

it("search: a blank, overlong or malformed text is not searched for", () => {
  const long = Search.limits.characters + 1
  for (const text of ["", " \t\n", "x".repeat(long), "👍".repeat(long), "7".repeat(1 << 20), "a\0b", "\ud800"])
    assert.isUndefined(Search.sought(text), JSON.stringify(text.slice(0, 20)))
  assert.strictEqual(Search.sought(`  ${"👍".repeat(long - 1)}  `)?.text, "👍".repeat(long - 1))
})

it("search: an amount must be a whole number of satoshis within the total supply", () => {
  const amounts = (text: string) => Search.sought(text)?.amounts
  assert.deepStrictEqual(amounts("1,000 sats"), [Msat.make(1_000_000n), Msat.make(1_000_999n)])
  assert.deepStrictEqual(amounts("2100000000000000"), [Msat.make(2_100_000_000_000_000_000n), Msat.make(2_100_000_000_000_000_999n)])
  for (const text of ["0", "2100000000000001", "9007199254740993", "1e3", "0x10", "-1", "1.5", "٣", "9".repeat(200)])
    assert.isNull(amounts(text), text)
})

it("search: an id can be found by its first 6 or more digits", () => {
  const ids = (text: string) => Search.sought(text)?.ids
  assert.deepStrictEqual(ids("019C13"), ["019c1300-0000-0000-0000-000000000000", "019c13ff-ffff-ffff-ffff-ffffffffffff"])
  for (const text of ["0", "019c1", "019c13z", "-".repeat(9), "a".repeat(33)]) assert.isNull(ids(text), text)
})
