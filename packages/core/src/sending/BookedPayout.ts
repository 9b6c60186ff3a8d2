import * as BitcoinAddress from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as TxId from "@satrail/bitcoin/TxId"
import { Result } from "effect"
import { Invalid } from "../base/Invalid.ts"
import type { Placement } from "../nodes/ChainSource.ts"
import type * as Coin from "../nodes/Coin.ts"
import * as LostPayout from "./LostPayout.ts"
import * as Payout from "./Payout.ts"
import type * as Withdrawal from "./Withdrawal.ts"

// A payout that was broadcast after the database was backed up is on the chain, but not in the restored database. An
// operator names it, and it is booked as if this service had just sent it: tracked, and settled when it is deep enough.

/** What is known of a transaction, and of the withdrawals that it is said to pay. */
export interface Found {
  /** In the order of their ids. The first leads the others. */
  readonly withdrawals: ReadonlyArray<Withdrawal.Withdrawal>
  readonly txId: TxId.TxId
  readonly rawTx: string
  readonly placement: Placement
  /**
   * The transactions of the payout that these withdrawals already are, oldest first; none if they were not sent. The
   * transaction on the chain can be a replacement that the backup lacks.
   */
  readonly candidates: ReadonlyArray<Withdrawal.Candidate>
  /** All withdrawals of that payout, with the leader. */
  readonly members: ReadonlyArray<Withdrawal.Withdrawal>
  /** The wallet's unspent coins, by outpoint. */
  readonly coins: ReadonlyMap<string, Coin.Coin>
  /** The outputs that the transaction spends, in the order of its inputs. */
  readonly spent: ReadonlyArray<Payout.Output>
  /** The wallet's fingerprint, and the places of its keys that lock spent and new outputs, by script. */
  readonly wallet: string
  readonly places: ReadonlyMap<string, Coin.Place>
}

export type Attempt = Withdrawal.Attempt & { readonly _tag: "Chain" }

const refused = (message: string, path = "tx_id") => Result.fail(new Invalid({ path, message }))

const scriptOf = ({ recipient, network }: Withdrawal.Withdrawal): string | undefined =>
  Result.getOrUndefined(BitcoinAddress.decode(recipient, network))?.scriptPubKey

/** Returns why these withdrawals cannot be a payout that the database lacks; undefined if they can. */
const unfit = ({ withdrawals, members }: Found): string | undefined => {
  const ids = new Set(members.map(({ id }) => id))
  for (const { id, rail, status, approval, dispatchedAtMillis } of withdrawals) {
    if (rail !== "on_chain") return `must be on-chain withdrawals (${id} is not)`
    if (status !== "pending") return `must be pending withdrawals (${id} is ${status})`
    if (approval === "waiting") return `must be withdrawals that may be sent (${id} waits for approval)`
    if (dispatchedAtMillis !== null && !ids.has(id)) return `must not be part of another payout (${id} is)`
  }
  const missing = members.find(({ id }) => !withdrawals.some((one) => one.id === id))
  if (missing !== undefined) return `must include ${missing.id}, which is part of the same payout`
  const added = members.length > 0 ? withdrawals.find(({ id }) => !ids.has(id)) : undefined
  if (added !== undefined) return `must all be part of one payout or all unsent (${added.id} is unsent)`
  const named = withdrawals.find((one) => scriptOf(one) === undefined)
  return named === undefined
    ? undefined
    : `must pay bitcoin addresses (${named.id} pays ${named.recipientType})`
}

/**
 * Returns the payout to book. Fails unless the transaction is in a block, pays each withdrawal's address its exact
 * amount and nothing else but change to the wallet, and spends only coins of the wallet. That no other payout spends
 * them is checked in the commit.
 */
export const decide = (found: Found): Result.Result<Attempt, Invalid> => {
  const { withdrawals, txId, rawTx, placement, candidates, coins, spent, wallet, places } = found
  const reason = unfit(found)
  if (reason !== undefined) return refused(reason, "withdrawal_ids")
  if (placement._tag !== "mined")
    return refused(
      `must be in a block (this one is ${placement._tag === "gone" ? "unknown" : "in the mempool"})`
    )
  const { inputs, scripts, sats } = LostPayout.read(rawTx)

  const taken = new Set(candidates.flatMap((one) => LostPayout.read(one.rawTx).inputs))
  // A deposit to an address that was issued after the backup has no record, but the wallet has its key.
  const isOurs = (outpoint: string, at: number) =>
    coins.has(outpoint) || taken.has(outpoint) || places.has(spent[at]?.scriptPubKey ?? "")
  const foreign = inputs.find((outpoint, at) => !isOurs(outpoint, at))
  if (foreign !== undefined) return refused(`must spend only coins of the wallet (${foreign} is none)`)
  // Otherwise an earlier transaction of the payout could confirm too.
  const other = candidates.find(
    (one) => !LostPayout.read(one.rawTx).inputs.some((outpoint) => inputs.includes(outpoint))
  )
  if (other !== undefined)
    return refused(`must spend a coin of every transaction of the payout (it spends none of ${other.txId})`)

  const left = scripts.map((script, vout) => ({ script, vout, sats: sats[vout] ?? 0n }))
  for (const withdrawal of withdrawals) {
    const at = left.findIndex(
      (one) => one.script === scriptOf(withdrawal) && one.sats * 1000n === withdrawal.amount
    )
    if (at < 0)
      return refused(
        `must pay ${Msat.toDecimalSats(withdrawal.amount)} sats to ${withdrawal.recipient} for the withdrawal ${withdrawal.id}`
      )
    left.splice(at, 1)
  }
  const [last, ...more] = left
  const place = last && places.get(last.script)
  if (more.length > 0 || (last !== undefined && place === undefined))
    return refused(
      `must pay only the withdrawals, and at most one change to a key that the wallet has reserved (output ${(place === undefined ? last : more[0])?.vout} is neither). If it is the wallet's, run \`satrail wallet rescan\` first`
    )
  const change =
    last === undefined || place === undefined
      ? null
      : { ...place, wallet, vout: last.vout, scriptPubKey: last.script, amount: Msat.fromSats(last.sats) }
  const sum = (all: ReadonlyArray<bigint>) => all.reduce((total, one) => total + one, 0n)
  const isDeep = inputs.some((outpoint) => coins.get(outpoint)?.isConfirmed === false)
  return Result.succeed({
    _tag: "Chain",
    txId,
    rawTx,
    psbt: Payout.withoutPsbt,
    coins: inputs,
    networkFee: Msat.fromSats(sum(spent.map((one) => one.sats)) - sum(sats)),
    change,
    isDeep
  })
}
