import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import { Arbitrary, Schema } from "effect"
import * as Fee from "../src/accounts/Fee.ts"

const upTo = (maximum: number) =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum })))
const rate = (base: number, partsPerMillion: number): Fee.FeeRate => ({
  base: Msat.make(BigInt(base)),
  partsPerMillion: BigInt(partsPerMillion)
})

describe("Fee", () => {
  it("fee: a fee is the base fee plus a number of parts per million of the amount, rounded up to a whole msat", () => {
    assert.strictEqual(Fee.at(rate(0, 5_000), Msat.fromSats(1000)), 5_000n)
    assert.strictEqual(Fee.at(rate(7, 5_000), Msat.fromSats(1000)), 5_007n)
    assert.strictEqual(Fee.at(rate(0, 5_000), Msat.make(200n)), 1n) // exactly one
    assert.strictEqual(Fee.at(rate(0, 5_000), Msat.make(201n)), 2n) // 1.005
    assert.strictEqual(Fee.at(rate(0, 1), Msat.make(1n)), 1n)
    assert.strictEqual(Fee.at(rate(3, 0), Msat.fromSats(1000)), 3n)
    assert.strictEqual(Fee.at(rate(0, 1_000_000), Msat.make(21n)), 21n)
  })

  it("fee: the fee is zero if nothing is charged", () => {
    assert.strictEqual(Fee.at(Fee.free, Msat.max), 0n)
    assert.strictEqual(Fee.at(rate(0, 5_000), Msat.zero), 0n)
  })

  it("fee: a fee cannot overflow, whatever the amount", () => {
    assert.strictEqual(Fee.at(rate(0, 999_999), Msat.max), (Msat.max / 1_000_000n) * 999_999n)
  })

  it("fee: the service fee and the network fee add up to the total that the company pays", () => {
    assert.strictEqual(Fee.total({ service: Msat.make(5n), network: Msat.make(10n) }), 15n)
  })

  it.prop(
    "fee: the largest amount that funds cover, together with its fee, is at most the funds, and 1 sat more is not covered",
    {
      bases: Arbitrary.all([upTo(1_000_000), upTo(1_000_000)]),
      parts: Arbitrary.all([upTo(1_000_000), upTo(1_000_000)]),
      funds: upTo(Number.MAX_SAFE_INTEGER)
    },
    ({ bases, parts, funds: given }) => {
      const rates = { service: rate(bases[0], parts[0]), network: rate(bases[1], parts[1]) }
      for (const funds of [BigInt(given), BigInt(given % 3_000_000)]) {
        const amount = Fee.largest(rates, Msat.make(funds))
        const cost = (sats: bigint) =>
          amount + sats * 1000n + Fee.total(Fee.quote(rates, Msat.make(amount + sats * 1000n)))
        assert.isTrue(amount % 1000n === 0n && (amount === 0n || cost(0n) <= funds))
        assert.isTrue(cost(1n) > funds)
      }
    },
    { arbitrary: { seed: 7, runs: 500 } }
  )

  it.prop(
    "C34 C36: fee: a fee is the base and the exact rate, rounded up to a whole msat, so splitting a payment does not reduce it",
    { base: upTo(1_000_000), partsPerMillion: upTo(1_000_000), amount: upTo(Number.MAX_SAFE_INTEGER) },
    ({ base, partsPerMillion, amount }) => {
      const exact = BigInt(amount) * BigInt(partsPerMillion) // in millionths
      const charged =
        (Fee.at(rate(base, partsPerMillion), Msat.make(BigInt(amount))) - BigInt(base)) * 1_000_000n
      assert.isTrue(charged >= exact && charged < exact + 1_000_000n)
    },
    { arbitrary: { seed: 11, runs: 300 } }
  )
})
