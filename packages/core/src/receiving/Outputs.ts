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

/** Which output of which transaction. */
export interface Outpoint {
  readonly txId: TxId.TxId
  readonly vout: number
  /** The reported placement, if there was one. */
  readonly placement?: Placement
}

export type Move = "reverse" | "drop" | "place"

const heightOf = (placement: Placement): number | null => (placement._tag === "mined" ? placement.height : null)

/** What has to become of a deposit whose transaction stands there now, in order. A credit is taken back before anything else. */
export const movesOf = (deposit: Deposit.Deposit, placement: Placement): ReadonlyArray<Move> => {
  if (Deposit.isTooSmall(deposit)) return []
  if (placement._tag === "gone") return deposit.status === "failed" ? [] : deposit.status === "settled" ? ["reverse", "drop"] : ["drop"]
  if (placement._tag === "mempool" && deposit.status === "settled") return ["reverse"]
  return deposit.height !== heightOf(placement) || deposit.status === "failed" ? ["place"] : []
}

/** Brings single outputs, and the deposits that they are, to their placement in the chain. A repetition finds that it is done. */
export const make = Effect.fnUntraced(function* ({ spendingCost }: FeeRates) {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const receiving = yield* ReceivingReads
  const chain = yield* ChainSource
  const { network } = yield* Installation
  const { minDeposit } = yield* Confirmations.Options
  const entropy = yield* Entropy
  const jobsOf = yield* DepositJobs

  /** The current placement of a transaction. A source that has just reported it in a block, and does not find it, is behind itself: nothing follows from that. */
  const placementOf = Effect.fnUntraced(function* ({ txId, placement: told }: Outpoint) {
    const placement = yield* chain.transaction(txId)
    if (placement._tag !== "gone" || told?._tag !== "mined") return placement
    const cause = new Error(`${txId} was reported in block ${told.height}, and its look-up does not find it`)
    return yield* new ChainUnavailable({ operation: "transaction", cause })
  })

  const record = Effect.fnUntraced(function* (
    output: Output,
    { address, companyId, type, metadata, checkoutId }: OnChainAddress,
    height: number | null
  ) {
    const nowMillis = yield* Clock.currentTimeMillis
    const least = Msat.greatest(minDeposit, spendingCost(type))
    const isTooSmall = output.amount < least
    if (isTooSmall) {
      yield* Effect.logWarning("deposit: too small to be spent; recorded, not credited", {
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
      checkoutId,
      metadata,
      absorbed: Msat.zero,
      ...Deposit.unrefunded,
      revision: 0,
      createdAtMillis: nowMillis,
      updatedAtMillis: nowMillis
    }
    yield* journal.commit({ ...Deposit.seen(deposit), jobs: jobsOf(deposit, nowMillis) })
  })

  /** Takes a credit back. What the company has spent of it by now is the operator's to bear; should it spend more meanwhile, we look again. */
  const reverse = (deposit: Deposit.Deposit) =>
    Effect.gen(function* () {
      const left = Balance.available(yield* ledger.balance(deposit.companyId))
      const absorbed = left >= deposit.amount ? Msat.zero : Msat.make(deposit.amount - left)
      const change = Deposit.reversed(deposit, absorbed, yield* Clock.currentTimeMillis)
      yield* journal.commit(change)
      yield* Effect.logWarning("deposit: credit reversed by a reorganisation", {
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

  /** First the row is read, then the chain: an earlier report may be stale by now, and a write that is older than the row is refused by its revision. */
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

  // Another process may move the same deposit at the same time: then what it did is read, and the rest is done.
  const insistent = <A, E extends { readonly _tag: string }>(effect: Effect.Effect<A, E>) =>
    Effect.retry(effect, { times: 5, while: (error) => error._tag === "DepositMoved", schedule: Schedule.exponential("10 millis") })

  return {
    /** A reported output. A new one becomes a deposit of the company to which its address was given. */
    meet: (output: Output) => insistent(meet(output)),
    /** An output whose deposit there is. */
    settle: (outpoint: Outpoint) => insistent(settle(outpoint))
  }
})
