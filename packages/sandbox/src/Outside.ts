import * as Msat from "@satrail/bitcoin/Msat"
import type * as Coin from "@satrail/core/nodes/Coin"
import * as Payout from "@satrail/core/sending/Payout"
import { Result } from "effect"
import * as Chain from "./Chain.ts"
import type * as Keys from "./Keys.ts"
import * as Transaction from "./Transaction.ts"

/** Fee rate of external transactions, in satoshis per virtual byte. */
export const feeRate = Chain.usualFeeRate

/** Effectively unlimited: the maximum amount of an output. */
const noLimit = 21_000_000n * 100_000_000n

/** Builds a signed transaction of the external wallet. Change returns to the coins' script. */
export const payment = (
  state: Chain.State,
  keys: Keys.Keys,
  outputs: ReadonlyArray<Transaction.Output>
): Result.Result<string, string> => {
  const confirmed = Chain.coins(state, "outside", true)
  const ask = { outputs, feeRate, feeLimitSats: noLimit }
  let selection = Payout.select({ ...ask, coins: confirmed })
  if ("neededSats" in selection)
    selection = Payout.select({ ...ask, coins: Chain.coins(state, "outside", false) })
  if ("neededSats" in selection)
    return Result.fail(
      `The outside wallet has less than the required ${selection.neededSats} sats. Mine some blocks`
    )
  const change =
    selection.changeSats > 0n ? [{ scriptPubKey: state.minerScript, sats: selection.changeSats }] : []
  const tx = Payout.draft(keys.outside.keys, selection.coins, [...outputs, ...change])
  return Result.succeed(keys.outside.sign(tx).rawTx)
}

/**
 * Builds a transaction that spends the same coins as `txId` and pays them to the miner's wallet. Its fee is
 * high enough to replace `txId`. The sandbox has the keys of both wallets, so it can also replace our payouts.
 */
export const conflict = (
  state: Chain.State,
  keys: Keys.Keys,
  original: Chain.Placed
): Result.Result<string, string> => {
  const found = original.inputs.map((outpoint) => {
    const spent = Chain.output(state, outpoint)
    return { outpoint, spent, place: spent && Chain.ownership(state, spent.output.scriptPubKey) }
  })
  const wallets = found.map(({ place }) => place?.owner)
  const [owner] = wallets
  const coins = found.flatMap(({ outpoint, spent, place }): ReadonlyArray<Coin.Coin> => {
    if (spent === undefined || place === undefined) return []
    const { scriptPubKey, sats } = spent.output
    const { type, branch, index } = place
    return [{ outpoint, scriptPubKey, amount: Msat.fromSats(sats), type, branch, index, isConfirmed: true }]
  })
  if (owner === undefined || coins.length < original.inputs.length || wallets.some((one) => one !== owner)) {
    return Result.fail("The sandbox does not have all the keys of the spent outputs")
  }
  const replaced = Chain.withDescendants(state, [original.txId]).reduce(
    (sum, txId) => sum + (Chain.transaction(state, txId)?.feeSats ?? 0n),
    0n
  )
  const feeSats = replaced + BigInt(Transaction.virtualSize(original.weight) * feeRate * 2)
  const sats = Msat.toSats(Msat.sum(...coins.map(({ amount }) => amount))) - feeSats
  if (sats < 1_000n) return Result.fail("The spent outputs are too small to pay for a replacement")
  const tx = Payout.draft(keys[owner].keys, coins, [{ scriptPubKey: state.minerScript, sats }])
  return Result.succeed(keys[owner].sign(tx).rawTx)
}
