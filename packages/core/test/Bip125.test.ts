import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as Keys from "@satrail/sandbox/Keys"
import * as Transaction from "@satrail/sandbox/Transaction"
import type * as Coin from "../src/nodes/Coin.ts"
import * as Payout from "../src/sending/Payout.ts"

const { wallet, outside } = Keys.make("bip125", "regtest")
const place = { type: "taproot", branch: 0, index: 0 } as const

/**
 * A signed payout of 20,000 sats at 2 sat/vB, with change. With taproot, each signature has exactly the
 * estimated size.
 */
const payout = () => {
  const coin: Coin.Coin = {
    ...place,
    outpoint: `${"ab".repeat(32)}:0`,
    scriptPubKey: wallet.key(place).address.scriptPubKey,
    amount: Msat.fromSats(100_000),
    isConfirmed: true
  }
  const output = { scriptPubKey: outside.key(place).address.scriptPubKey, sats: 20_000n }
  const selection = Payout.select({ coins: [coin], outputs: [output], feeRate: 2, feeLimitSats: 10_000n })
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
    Payout.draft(wallet.keys, selection.coins, [output, { scriptPubKey: change.scriptPubKey, sats: selection.changeSats }])
  const { weight } = Transaction.parse(wallet.sign(unsigned()).rawTx) ?? assert.fail("no transaction")
  return {
    before: { psbt: Payout.toPsbt(unsigned()), fee: Msat.fromSats(selection.feeSats), change, isDeep: false },
    feeSats: selection.feeSats,
    vbytes: BigInt(Math.ceil(weight / 4))
  }
}

describe("BIP 125", () => {
  it("BIP 125: rule 4: a replacement pays for its own relay, at least 1 sat per virtual byte above the old fee", () => {
    const { before, feeSats, vbytes } = payout()
    const least = feeSats + vbytes
    const limited = (sats: bigint) => Payout.replacement(before, 50, { allowance: Msat.fromSats(sats), times: 1 })
    const replaced = limited(least)
    assert.strictEqual(replaced?.fee, Msat.fromSats(least))
    assert.strictEqual(replaced?.change?.amount, Msat.make(before.change.amount - Msat.fromSats(vbytes)))
    assert.isUndefined(limited(least - 1n))
  })

  it("BIP 125: the fee limit of a replacement is never below a multiple of the minimum fee, so a payout from many coins can be replaced", () => {
    const { before, vbytes } = payout()
    const replaced = Payout.replacement(before, 50, { allowance: Msat.fromSats(1n), times: 4 })
    assert.strictEqual(replaced?.fee, Msat.fromSats(4n * vbytes))
  })

  it("BIP 125: rules 3 and 4: no replacement is made at a fee rate that does not raise the fee enough", () => {
    const { before, feeSats, vbytes } = payout()
    const limit = { allowance: Msat.fromSats(100_000n), times: 1 }
    for (const rate of [1, 2]) assert.isUndefined(Payout.replacement(before, rate, limit))
    const dearer = Payout.replacement(before, 4, limit) ?? assert.fail("no replacement")
    assert.isAtLeast(Number(Msat.toSats(dearer.fee)), Number(feeSats + vbytes))
  })
})
