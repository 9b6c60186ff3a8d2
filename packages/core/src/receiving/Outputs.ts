import * as Msat from "@satrail/bitcoin/Msat"
import type * as TxId from "@satrail/bitcoin/TxId"
import { Clock, Effect, Option, Schedule } from "effect"
import { Installation } from "../accounts/Installation.ts"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import * as Balance from "../ledger/Balance.ts"
import { Journal } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import { ChainSource, ChainUnavailable, type Output, type Placement } from "../nodes/ChainSource.ts"
import * as Confirmations from "./Confirmations.ts"
import * as Deposit from "./Deposit.ts"
import { DepositJobs } from "./DepositJobs.ts"
import type { FeeRates } from "./FeeRates.ts"
import type { OnChainAddress } from "./OnChainAddress.ts"
import { ReceivingReads } from "./ReceivingReads.ts"
import * as Purpose from "./Purpose.ts"

/** Identifies a transaction output. */
export interface Outpoint {
  readonly txId: TxId.TxId
  readonly vout: number
  /** Where the transaction was reported to be, if it was reported. */
  readonly placement?: Placement
}

export type Move = "reverse" | "drop" | "place"

const heightOf = (placement: Placement): number | null => (placement._tag === "mined" ? placement.height : null)

/**
 * Returns, in order, the steps that update a deposit to where its transaction now is. A credit is reversed
 * before anything else.
 */
export const movesOf = (deposit: Deposit.Deposit, placement: Placement): ReadonlyArray<Move> => {
  if (Deposit.isTooSmall(deposit)) return []
  if (placement._tag === "gone") return deposit.status === "failed" ? [] : deposit.status === "settled" ? ["reverse", "drop"] : ["drop"]
  if (placement._tag === "mempool" && deposit.status === "settled") return ["reverse"]
  return deposit.height !== heightOf(placement) || deposit.status === "failed" ? ["place"] : []
}

/**
 * Updates deposits to where their transactions are: in a block, in the mempool or gone. Repeating an update
 * changes nothing.
 */
export const make = Effect.fnUntraced(function* ({ spendingCost }: FeeRates) {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const receiving = yield* ReceivingReads
  const chain = yield* ChainSource
  const { network } = yield* Installation
  const { minDeposit } = yield* Confirmations.Options
  const entropy = yield* Entropy
  const jobsOf = yield* DepositJobs

  /**
   * Returns whether a transaction is in a block, in the mempool or gone. Fails if the source has just reported
   * the transaction in a block but does not find it, which means that the source's index has not caught up yet.
   */
  const placementOf = Effect.fnUntraced(function* ({ txId, placement: told }: Outpoint) {
    const placement = yield* chain.transaction(txId)
    if (placement._tag !== "gone" || told?._tag !== "mined") return placement
    const cause = new Error(`${txId} was reported in block ${told.height}, but a lookup does not find it`)
    return yield* new ChainUnavailable({ operation: "transaction", cause })
  })

  const record = Effect.fnUntraced(function* (output: Output, onChainAddress: OnChainAddress, height: number | null) {
    const { address, companyId, type, metadata } = onChainAddress
    const nowMillis = yield* Clock.currentTimeMillis
    const least = Msat.greatest(minDeposit, spendingCost(type))
    const isTooSmall = output.amount < least
    if (isTooSmall) {
      yield* Effect.logWarning("deposit: below the minimum or the cost of spending it; recorded, not credited", {
        outpoint: `${output.txId}:${output.vout}`,
        sats: String(Msat.toSats(output.amount)),
        minSats: String(Msat.toSats(least))
      })
    }
    const deposit: Deposit.Deposit = {
      id: Id.fromMillis(nowMillis, entropy),
      companyId,
      ledgerTxId: Id.fromMillis(nowMillis, entropy),
      recipient: address,
      amount: output.amount,
      network,
      rail: "on_chain",
      status: isTooSmall ? "failed" : "pending",
      chainTxId: output.txId,
      vout: output.vout,
      height,
      lightningInvoiceId: null,
      ...Purpose.of(onChainAddress),
      metadata,
      absorbed: Msat.zero,
      ...Deposit.unrefunded,
      revision: 0,
      createdAtMillis: nowMillis,
      updatedAtMillis: nowMillis
    }
    yield* journal.commit({ ...Deposit.seen(deposit), jobs: jobsOf(deposit, nowMillis) })
  })

  /**
   * Reverses a credit. The operator bears the part that the company has already spent. If the company spends
   * more before the commit, the reversal is computed again.
   */
  const reverse = (deposit: Deposit.Deposit) =>
    Effect.gen(function* () {
      const left = Balance.available(yield* ledger.balance(deposit.companyId))
      const absorbed = left >= deposit.amount ? Msat.zero : Msat.make(deposit.amount - left)
      const change = Deposit.reversed(deposit, absorbed, yield* Clock.currentTimeMillis)
      yield* journal.commit(change)
      yield* Effect.logWarning("deposit: credit reversed by a reorganization", {
        depositId: deposit.id,
        writtenOffSats: Msat.toDecimalSats(absorbed)
      })
      return Deposit.after(change)
    }).pipe(Effect.retry({ while: (error) => error._tag === "InsufficientBalance" }))

  const move = Effect.fnUntraced(function* (deposit: Deposit.Deposit, how: Move, placement: Placement) {
    if (how === "reverse") return yield* reverse(deposit)
    const nowMillis = yield* Clock.currentTimeMillis
    const change = how === "drop" ? Deposit.dropped(deposit, nowMillis) : Deposit.placed(deposit, heightOf(placement), nowMillis)
    yield* journal.commit(change)
    return Deposit.after(change)
  })

  /**
   * Reads the deposit first and then the chain, because the report may be stale. If the deposit changes in
   * between, its revision no longer matches and the write is rejected.
   */
  const settle = Effect.fnUntraced(function* (outpoint: Outpoint) {
    const found = yield* receiving.depositByOutpoint(outpoint.txId, outpoint.vout)
    if (Option.isNone(found)) return
    const placement = yield* placementOf(outpoint)
    let deposit = found.value
    for (const how of movesOf(deposit, placement)) deposit = yield* move(deposit, how, placement)
  })

  const meet = Effect.fnUntraced(function* (output: Output) {
    const found = yield* receiving.depositByOutpoint(output.txId, output.vout)
    if (Option.isSome(found)) return yield* settle(output)
    const [address] = yield* receiving.onChainAddresses([output.scriptPubKey])
    if (address === undefined) return
    const placement = yield* placementOf(output)
    return placement._tag === "gone" ? undefined : yield* record(output, address, heightOf(placement))
  })

  // If another process changed the deposit first, read it again and apply the remaining steps.
  const insistent = <A, E extends { readonly _tag: string }>(effect: Effect.Effect<A, E>) =>
    Effect.retry(effect, { times: 5, while: (error) => error._tag === "DepositMoved", schedule: Schedule.exponential("10 millis") })

  return {
    /** Processes a reported output. If the output is new, it becomes a deposit of the company that owns its address. */
    meet: (output: Output) => insistent(meet(output)),
    /** Updates the deposit of an output that is already recorded. */
    settle: (outpoint: Outpoint) => insistent(settle(outpoint))
  }
})
