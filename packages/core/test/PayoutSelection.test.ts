import { assert, describe, it } from "@effect/vitest"
import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Coin from "../src/nodes/Coin.ts"
import * as Payout from "../src/sending/Payout.ts"

const dustSats = BitcoinAddress.dustLimitSats("p2tr")

const coin = (sats: bigint, vout = 0, change: Partial<Coin.Coin> = {}): Coin.Coin => ({
  outpoint: `${"ab".repeat(32)}:${vout}`,
  scriptPubKey: `5120${"ab".repeat(32)}`,
  amount: Msat.fromSats(sats),
  type: "taproot",
  branch: 0,
  index: 0,
  isConfirmed: true,
  ...change
})

const output = (sats: bigint) => ({ scriptPubKey: `0014${"07".repeat(20)}`, sats })

/** Weight of a transaction with this many taproot inputs and P2WPKH outputs (BIP 141), with or without taproot change. */
const weightOf = (inputs: number, outputs: number, hasChange: boolean) =>
  42 + inputs * 230 + outputs * 124 + (hasChange ? 172 : 0)

const select = (totals: ReadonlyArray<bigint>, feeRate: number, feeLimitSats: bigint, mayExceed = false) =>
  Payout.select({
    coins: totals.map((sats, n) => coin(sats, n)),
    outputs: [output(20_000n)],
    feeRate,
    feeLimitSats,
    mayExceed
  })

const funded = (selection: ReturnType<typeof select>) =>
  "coins" in selection ? selection : assert.fail("not enough coins")

describe("Coins of a payout", () => {
  it("payout: change is created only from the dust limit on; a smaller remainder is added to the fee", () => {
    const fee = Coin.feeFor(weightOf(1, 1, true), 1)
    const least = 20_000n + fee + dustSats
    const at = funded(select([least], 1, 10_000n))
    assert.deepStrictEqual([at.feeSats, at.changeSats], [fee, dustSats])
    const below = funded(select([least - 1n], 1, 10_000n))
    assert.deepStrictEqual([below.feeSats, below.changeSats], [fee + dustSats - 1n, 0n])
  })

  it("payout: a remainder without change is added to the fee only up to the fee limit", () => {
    const rest = 400n
    const one = 20_000n + rest
    assert.deepStrictEqual(funded(select([one], 1, rest)).feeSats, rest)
    assert.notProperty(select([one], 1, rest - 1n), "coins")
    // With another coin, the remainder is large enough for change.
    const two = funded(select([one, 5_000n], 1, rest - 1n))
    assert.deepStrictEqual([two.coins.length, two.feeSats], [2, Coin.feeFor(weightOf(2, 1, true), 1)])
    // Only a payout that may exceed the limit gives up the remainder.
    assert.deepStrictEqual(funded(select([one], 1, rest - 1n, true)).feeSats, rest)
  })

  it("payout: the fee is at the fee rate, or as much of that as the limit allows, and never below 1 sat/vB", () => {
    const weight = weightOf(1, 1, true)
    const least = Coin.feeFor(weight, 1)
    assert.strictEqual(funded(select([50_000n], 10, 10_000n)).feeSats, Coin.feeFor(weight, 10))
    assert.strictEqual(funded(select([50_000n], 10, least + 3n)).feeSats, least + 3n)
    assert.strictEqual(funded(select([50_000n], 10, least)).feeSats, least)
    assert.notProperty(select([50_000n], 10, least - 1n), "coins")
    const exceeding = funded(select([50_000n], 10, least - 1n, true))
    assert.deepStrictEqual([exceeding.feeSats, exceeding.changeSats], [least, 30_000n - least])
  })

  it("payout: exactly enough coins for the outputs and the fee are enough, and one satoshi less is not", () => {
    const fee = Coin.feeFor(weightOf(1, 1, false), 2)
    assert.deepStrictEqual(funded(select([20_000n + fee], 2, 10_000n)).changeSats, 0n)
    const short = select([20_000n + fee - 1n], 2, 10_000n)
    assert.deepStrictEqual(short, { neededSats: 20_000n + fee })
  })

  it("payout: a coin that costs as much to spend as it is worth is not spent", () => {
    const cost = Coin.feeFor(Coin.inputWeight.taproot, 1)
    const base = 20_000n + Coin.feeFor(weightOf(1, 1, false), 1) - 1n
    assert.notProperty(select([base, cost], 1, 10_000n), "coins")
    assert.strictEqual(funded(select([base, cost + 2n], 1, 10_000n)).coins.length, 2)
    // Costs are rounded up, so two such coins together would gain a satoshi.
    assert.notProperty(select([base, cost, cost], 1, 10_000n), "coins")
  })

  it("payout: the largest coins are spent first, and at most 60", () => {
    const spent = funded(select([3_000n, 30_000n, 9_000n], 1, 10_000n)).coins
    assert.deepStrictEqual(
      spent.map(({ amount }) => Msat.toSats(amount)),
      [30_000n]
    )
    const small = (count: number) => Array.from({ length: count }, () => 500n)
    const needs = (count: number) => ({
      coins: small(100).map((sats, n) => coin(sats, n)),
      outputs: [output(BigInt(count) * 500n - Coin.feeFor(weightOf(count, 1, false), 1))],
      feeRate: 1,
      feeLimitSats: 100_000n
    })
    assert.strictEqual(funded(Payout.select(needs(60))).coins.length, 60)
    assert.notProperty(Payout.select(needs(61)), "coins")
  })

  it("payout: inputs equal outputs, fee and change; the fee is within the limit, and change above the dust limit, at every total", () => {
    for (const feeRate of [1, 7])
      for (const feeLimitSats of [142n, 471n, 2_000n])
        for (let total = 20_050n; total < 21_700n; total += 7n) {
          const selection = select([total], feeRate, feeLimitSats)
          if (!("coins" in selection)) continue
          const { feeSats, changeSats } = selection
          assert.strictEqual(20_000n + feeSats + changeSats, total)
          assert.isTrue(changeSats === 0n || changeSats >= dustSats, `change ${changeSats}`)
          assert.isTrue(
            feeSats <= feeLimitSats && feeSats >= Coin.feeFor(weightOf(1, 1, changeSats > 0n), 1),
            `fee ${feeSats}`
          )
        }
  })

  it("payout: a batch pays as many outputs as fit, in order, and an output that is too large does not block those after it", () => {
    const outputs = [20_000n, 90_000n, 10_000n].map((sats) => ({ ...output(sats), feeLimitSats: 500n }))
    const batch = Payout.selectBatch({ coins: [coin(50_000n)], outputs, feeRate: 1 })
    assert.deepStrictEqual("coins" in batch && [batch.pays, batch.coins.length], [[0, 2], 1])
    assert.deepStrictEqual(Payout.selectBatch({ coins: [], outputs, feeRate: 1 }), { neededSats: 121_500n })
  })

  it("payout: unconfirmed change is spent only if more outputs can be paid with it", () => {
    const outputs = [20_000n, 20_000n].map((sats) => ({ ...output(sats), feeLimitSats: 500n }))
    const change = coin(100_000n, 1, { isConfirmed: false })
    const selected = (confirmedSats: bigint) => {
      const batch = Payout.selectBatch({ coins: [coin(confirmedSats), change], outputs, feeRate: 1 })
      return "coins" in batch
        ? [batch.pays, batch.coins.map(({ isConfirmed }) => isConfirmed)]
        : assert.fail("not enough coins")
    }
    assert.deepStrictEqual(selected(60_000n), [[0, 1], [true]])
    assert.deepStrictEqual(selected(30_000n), [[0, 1], [false]])
  })

  const batch = (
    coins: ReadonlyArray<Coin.Coin>,
    sats: ReadonlyArray<bigint>,
    feeLimitSats: bigint,
    feeRate = 1
  ) => {
    const selection = Payout.selectBatch({
      coins,
      outputs: sats.map((one) => ({ ...output(one), feeLimitSats })),
      feeRate
    })
    return "coins" in selection ? selection : assert.fail("not enough coins")
  }

  it("payout: the fee limit of a batch is the sum of its outputs' limits", () => {
    const fee = Coin.feeFor(weightOf(1, 2, true), 4)
    assert.strictEqual(batch([coin(90_000n)], [20_000n, 20_000n], fee, 4).feeSats, fee)
    assert.strictEqual(batch([coin(90_000n)], [20_000n, 20_000n], fee / 2n + 1n, 4).feeSats, fee)
    assert.strictEqual(
      batch([coin(90_000n)], [20_000n, 20_000n], fee / 2n - 1n, 4).feeSats,
      (fee / 2n - 1n) * 2n
    )
  })

  it("payout: the fee limit is exceeded only if more outputs can then be paid", () => {
    const within = batch([coin(20_400n), coin(5_000n, 1)], [20_000n], 399n)
    assert.deepStrictEqual([within.coins.length, within.changeSats > 0n], [2, true])
    const beyond = batch([coin(50_000n)], [20_000n], 10n)
    assert.strictEqual(beyond.feeSats, Coin.feeFor(weightOf(1, 1, true), 1))
  })

  it("payout: unconfirmed change is not spent if it pays no more outputs", () => {
    const change = coin(100_000n, 1, { isConfirmed: false })
    const { pays, coins } = batch([coin(60_000n), change], [20_000n, 20_000n, 500_000n], 500n)
    assert.deepStrictEqual([pays, coins.map(({ isConfirmed }) => isConfirmed)], [[0, 1], [true]])
  })
})
