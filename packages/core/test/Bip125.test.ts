import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Keys from "@satrail/sandbox/Keys"
import * as Transaction from "@satrail/sandbox/Transaction"
import type * as Coin from "../src/nodes/Coin.ts"
import * as Payout from "../src/sending/Payout.ts"

const { wallet, outside } = Keys.make("bip125", "regtest")
const place = { type: "taproot", branch: 0, index: 0 } as const

/** Returns the number of outputs and the size of a draft's transaction. */
const signed = ({ psbt }: { readonly psbt: string }) => {
  const { outputs, weight } =
    Transaction.parse(wallet.sign(Payout.fromPsbt(psbt)).rawTx) ?? assert.fail("no transaction")
  return { outputs: outputs.length, vbytes: BigInt(Math.ceil(weight / 4)) }
}

/**
 * A signed payout of 20,000 sats at 2 sat/vB, with change. With taproot, each signature has exactly the
 * estimated size.
 */
const payout = (...coinSats: ReadonlyArray<number>) => {
  const coins = coinSats.map((sats, at): Coin.Coin => ({
    ...place,
    outpoint: `${"ab".repeat(32)}:${at}`,
    scriptPubKey: wallet.key(place).address.scriptPubKey,
    amount: Msat.fromSats(sats),
    isConfirmed: true
  }))
  const output = { scriptPubKey: outside.key(place).address.scriptPubKey, sats: 20_000n }
  const selection = Payout.select({ coins, outputs: [output], feeRate: 2, feeLimitSats: 10_000n })
  if ("neededSats" in selection) return assert.fail("unfundable")
  const change = {
    ...place,
    branch: 1 as const,
    vout: 1,
    wallet: "ours",
    amount: Msat.fromSats(selection.changeSats),
    scriptPubKey: wallet.key({ ...place, branch: 1 }).address.scriptPubKey
  }
  const unsigned = () =>
    Payout.draft(wallet.keys, selection.coins, [
      output,
      { scriptPubKey: change.scriptPubKey, sats: selection.changeSats }
    ])
  const { weight } = Transaction.parse(wallet.sign(unsigned()).rawTx) ?? assert.fail("no transaction")
  return {
    before: { psbt: Payout.toPsbt(unsigned()), fee: Msat.fromSats(selection.feeSats), change, isDeep: false },
    feeSats: selection.feeSats,
    vbytes: BigInt(Math.ceil(weight / 4))
  }
}

describe("BIP 125", () => {
  it("BIP 125: rule 4: a replacement pays for its own relay, at least 1 sat per virtual byte above the old fee", () => {
    const { before, feeSats, vbytes } = payout(100_000)
    const least = feeSats + vbytes
    const limited = (sats: bigint) =>
      Payout.replacement(before, 50, { allowance: Msat.fromSats(sats), times: 1 })
    const replaced = limited(least)
    if (typeof replaced === "string") return assert.fail(replaced)
    assert.strictEqual(replaced.fee, Msat.fromSats(least))
    assert.strictEqual(replaced.change?.amount, Msat.make(before.change.amount - Msat.fromSats(vbytes)))
    assert.strictEqual(limited(least - 1n), "limited")
  })

  it("BIP 125: the fee limit of a replacement is never below a multiple of the minimum fee, so a payout from many coins can be replaced", () => {
    const { before, vbytes } = payout(100_000)
    const replaced = Payout.replacement(before, 50, { allowance: Msat.fromSats(1n), times: 4 })
    if (typeof replaced === "string") return assert.fail(replaced)
    assert.strictEqual(replaced.fee, Msat.fromSats(4n * vbytes))
  })

  it("BIP 125: a replacement that the change cannot pay for and leave an output gives up the change", () => {
    const { before, feeSats } = payout(20_900)
    const changeSats = Msat.toSats(before.change.amount)
    assert.isBelow(Number(changeSats), 700)
    const replaced = Payout.replacement(before, 20, { allowance: Msat.fromSats(5_000n), times: 1 })
    if (typeof replaced === "string") return assert.fail(replaced)
    assert.deepStrictEqual([replaced.fee, replaced.change], [Msat.fromSats(feeSats + changeSats), null])
    const { outputs, vbytes } = signed(replaced)
    assert.strictEqual(outputs, 1)
    assert.isAtLeast(Number(Msat.toSats(replaced.fee)), Number(feeSats + vbytes))
    assert.strictEqual(
      Payout.replacement({ ...before, ...replaced }, 50, { allowance: Msat.fromSats(5_000n), times: 1 }),
      "limited"
    )
  })

  it("BIP 125: rule 4: the change is given up only if it pays for the relay of the replacement without it", () => {
    const limit = { allowance: Msat.fromSats(20_000n), times: 1 }
    const replaced = (changeSats: number) => {
      const { before, feeSats } = payout(...Array.from({ length: 7 }, () => 2_700), 2_213 + changeSats)
      assert.deepStrictEqual([feeSats, before.change.amount], [1_113n, Msat.fromSats(changeSats)])
      return Payout.replacement(before, 20, limit)
    }
    const least = replaced(514)
    if (typeof least === "string") return assert.fail(least)
    assert.deepStrictEqual(
      [signed(least), least.fee],
      [{ outputs: 1, vbytes: 514n }, Msat.fromSats(1_113n + 514n)]
    )
    assert.strictEqual(replaced(513), "limited")
  })

  it("BIP 125: if the limit does not allow giving up the change, a smaller increase is made", () => {
    const { before, feeSats, vbytes } = payout(20_900)
    const total = feeSats + Msat.toSats(before.change.amount)
    const replaced = Payout.replacement(before, 20, { allowance: Msat.fromSats(total - 1n), times: 1 })
    if (typeof replaced === "string") return assert.fail(replaced)
    assert.strictEqual(replaced.fee, Msat.fromSats(total - 330n))
    assert.isAtLeast(Number(Msat.toSats(replaced.fee)), Number(feeSats + vbytes))
    assert.deepStrictEqual([signed(replaced).outputs, replaced.change?.amount], [2, Msat.fromSats(330n)])
  })

  it("BIP 125: rules 3 and 4: no replacement is made at a fee rate that does not raise the fee enough", () => {
    const { before, feeSats, vbytes } = payout(100_000)
    const limit = { allowance: Msat.fromSats(100_000n), times: 1 }
    for (const rate of [1, 2]) assert.strictEqual(Payout.replacement(before, rate, limit), "current")
    const dearer = Payout.replacement(before, 4, limit)
    if (typeof dearer === "string") return assert.fail(dearer)
    assert.isAtLeast(Number(Msat.toSats(dearer.fee)), Number(feeSats + vbytes))
  })
})
