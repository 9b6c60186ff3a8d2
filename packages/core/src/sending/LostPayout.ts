import type * as Msat from "@satrail/bitcoin/Msat"
import * as TxId from "@satrail/bitcoin/TxId"
import { hex } from "@scure/base"
import { Transaction } from "@scure/btc-signer/transaction.js"
import { Result } from "effect"
import { Invalid } from "../base/Invalid.ts"
import * as Change from "../ledger/Change.ts"
import type { Conflict } from "../ledger/Journal.ts"
import * as Limit from "../ledger/Limit.ts"
import { coinbaseMaturity, confirmations, type Placement, type Tip } from "../nodes/ChainSource.ts"
import * as Coin from "../nodes/Coin.ts"
import * as Cause from "./Cause.ts"
import { WithdrawalNotLost } from "./LostWithdrawal.ts"
import * as Withdrawal from "./Withdrawal.ts"

// A payout is lost if another wallet with the same keys has spent its coins. It stays pending, because only the
// chain shows that none of its transactions can confirm, until an operator names the transaction that spent them.

/** Number of confirmations that make a transaction final: as many as Bitcoin requires to spend a coinbase. */
export const finalConfirmations = coinbaseMaturity

/**
 * A payout that can never confirm, because another transaction spent its coins for good. Its hold is released.
 * Refused with `Conflict` if the payout was replaced since its transactions were read.
 */
export interface PayoutReleased extends Change.Parts<
  "PayoutReleased",
  Withdrawal.AlreadyTerminal | Conflict
> {
  readonly amount: Msat.Msat
  /** The newest transaction that was read. */
  readonly txId: TxId.TxId
  /** Coins of its transactions that are still unspent. Other payouts can spend them again. */
  readonly coins: ReadonlyArray<string>
}

/**
 * Releases a payout that can never confirm. A follower has no `coins`, because its leader spends them. Without a
 * fence, the first of the operator and the worker to end the withdrawal wins.
 */
export const released = (
  withdrawal: Withdrawal.Withdrawal,
  txId: TxId.TxId,
  coins: ReadonlyArray<string>,
  atMillis: number
): PayoutReleased => ({
  _tag: "PayoutReleased",
  ...Withdrawal.parts(withdrawal, atMillis, [
    { from: "held", to: "available", amount: Withdrawal.held(withdrawal) }
  ]),
  ...Limit.returned(withdrawal.counted),
  amount: withdrawal.amount,
  txId,
  coins,
  jobs: [Change.complete(withdrawal.id), ...Cause.jobs(withdrawal, atMillis)],
  event: { type: "withdrawal.failed", subject: withdrawal.id }
})

/** A transaction of the payout, or the one that spent its coins, with its status on the chain. */
export interface Seen {
  readonly txId: TxId.TxId
  readonly rawTx: string
  readonly placement: Placement
}

/** What is known of a payout, and of the transaction that spent its coins. */
export interface Found {
  readonly leader: Withdrawal.Withdrawal
  readonly followers: ReadonlyArray<Withdrawal.Withdrawal>
  /** Every transaction ever signed for the payout, with its change output, oldest first. */
  readonly candidates: ReadonlyArray<Seen & Pick<Withdrawal.Candidate, "change">>
  /** The payouts whose change the transactions spend, by outpoint. */
  readonly parents: ReadonlyMap<string, Withdrawal.Withdrawal>
  readonly spender: Seen
  /** The payout that the spender pays; null if it is not one of the service's transactions. */
  readonly paidBySpender: Withdrawal.Withdrawal | null
  /** Read before the spender's status. */
  readonly tip: Tip
}

interface Read {
  readonly txId: TxId.TxId
  /** The outpoints that it spends. */
  readonly inputs: ReadonlyArray<string>
  /** The scripts that it pays, in the order of its outputs. */
  readonly scripts: ReadonlyArray<string>
  /** The amounts of its outputs, in sats. */
  readonly sats: ReadonlyArray<bigint>
}

/** Parses a transaction. Throws if it is invalid. */
export const read = (rawTx: string): Read => {
  const tx = Transaction.fromRaw(hex.decode(rawTx), {
    allowUnknownVersion: true,
    allowUnknownInputs: true,
    allowUnknownOutputs: true,
    disableScriptCheck: true
  })
  const inputs = Array.from({ length: tx.inputsLength }, (_, at) => tx.getInput(at))
  const outputs = Array.from({ length: tx.outputsLength }, (_, at) => tx.getOutput(at))
  return {
    txId: TxId.make(tx.id),
    inputs: inputs.map(({ txid, index }) =>
      Coin.outpoint(TxId.make(hex.encode(txid ?? new Uint8Array())), index ?? 0)
    ),
    scripts: outputs.map(({ script }) => hex.encode(script ?? new Uint8Array())),
    sats: outputs.map(({ amount }) => amount ?? 0n)
  }
}

export const refused = (message: string) => Result.fail(new Invalid({ path: "spent_by", message }))

/** Returns the reason why the spender is not final or not another wallet's; undefined if it is both. */
const unfit = ({ leader, candidates, spender, paidBySpender, tip }: Found): string | undefined => {
  const { txId, placement } = spender
  if (candidates.some((one) => one.txId === txId))
    return "must be another wallet's transaction (this one is the withdrawal's own)"
  if (paidBySpender !== null)
    return `must be another wallet's transaction (this one pays the withdrawal ${paidBySpender.id})`
  if (placement._tag === "gone") return "must be in a block (the chain does not know this one)"
  const depth = placement._tag === "mined" ? confirmations(tip, placement.height) : 0
  if (depth < finalConfirmations)
    return `must have at least ${finalConfirmations} confirmations (it has ${depth})`
  const payees = candidates.flatMap(({ rawTx, change }) =>
    read(rawTx).scripts.filter((_, vout) => vout !== change?.vout)
  )
  const scripts = new Set(read(spender.rawTx).scripts)
  return payees.some((script) => scripts.has(script))
    ? `must not pay the payee (this one does, so the withdrawal ${leader.id} may be paid already)`
    : undefined
}

/**
 * Returns the Changes that release a lost payout: its followers, then the leader, because they are found through
 * its task. Fails unless none of the payout's transactions can ever confirm: each spends a coin that the spender
 * has spent, or change of a payout that was released.
 */
export const unpaid = (
  found: Found,
  atMillis: number
): Result.Result<ReadonlyArray<PayoutReleased>, WithdrawalNotLost | Invalid> => {
  const { leader, followers, candidates, parents, spender } = found
  const ended = [leader, ...followers].find(({ status }) => status === "settled")
  if (ended !== undefined)
    return Result.fail(new WithdrawalNotLost({ id: ended.id, status: ended.status, untilMillis: null }))
  const newest = candidates.at(-1)
  if (newest === undefined) throw new Error("a payout without transactions")
  const reason = unfit(found)
  if (reason !== undefined) return refused(reason)
  const spent = new Set(read(spender.rawTx).inputs)
  for (const { txId, rawTx, placement } of candidates) {
    const { inputs } = read(rawTx)
    if (placement._tag !== "gone")
      return refused(`must exclude the withdrawal's own ${txId} (the chain still reports that one)`)
    if (inputs.some((outpoint) => spent.has(outpoint) || parents.get(outpoint)?.status === "failed")) continue
    const parent = inputs.map((outpoint) => parents.get(outpoint)).find((one) => one?.status === "pending")
    const first =
      parent === undefined ? "" : `; release the withdrawal ${parent.id} first, whose change it spends`
    return refused(
      `must spend a coin of every transaction of the withdrawal (it spends none of ${txId}${first})`
    )
  }
  const coins = [...new Set(candidates.flatMap(({ rawTx }) => read(rawTx).inputs))].filter(
    (outpoint) => !spent.has(outpoint)
  )
  return Result.succeed(
    [...followers, leader]
      .filter(({ status }) => status === "pending")
      .map((one) => released(one, newest.txId, one === leader ? coins : [], atMillis))
  )
}
