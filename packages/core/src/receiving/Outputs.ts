import * as Msat from "@satrail/bitcoin/Msat"
import type * as TxId from "@satrail/bitcoin/TxId"
import { Clock, Effect, Option, Schedule } from "effect"
import { Installation } from "../accounts/Installation.ts"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import * as Balance from "../ledger/Balance.ts"
import type { Job } from "../ledger/Change.ts"
import { Journal } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import { ChainSource, ChainUnavailable, type Output, type Placement } from "../nodes/ChainSource.ts"
import * as Confirmations from "./Confirmations.ts"
import * as Deposit from "./Deposit.ts"
import { DepositJobs } from "./DepositJobs.ts"
import { type Earlier, earlierProofs } from "./EarlierProof.ts"
import type { FeeRates } from "./FeeRates.ts"
import type { OnChainAddress } from "./OnChainAddress.ts"
import { ReceivingReads } from "./ReceivingReads.ts"
import * as Purpose from "./Purpose.ts"

/** Identifies a transaction output. */
export interface Outpoint {
  readonly txId: TxId.TxId
  readonly vout: number
  /** The output, if the chain source has just reported it. */
  readonly reported?: Output
}

/** Returns the outpoint of an on-chain deposit; none for other deposits. */
export const outpointsOf = ({ chainTxId, vout }: Deposit.Deposit): ReadonlyArray<Outpoint> =>
  chainTxId === null || vout === null ? [] : [{ txId: chainTxId, vout }]

export type Move = "reverse" | "drop" | "place"

const heightOf = (placement: Placement): number | null =>
  placement._tag === "mined" ? placement.height : null

/**
 * Returns, in order, the steps that update a deposit to where its transaction now is. A credit is reversed
 * before anything else.
 */
export const movesOf = (deposit: Deposit.Deposit, placement: Placement): ReadonlyArray<Move> => {
  if (Deposit.isTooSmall(deposit)) return []
  if (placement._tag === "gone")
    return deposit.status === "failed" ? [] : deposit.status === "settled" ? ["reverse", "drop"] : ["drop"]
  if (placement._tag === "mempool" && deposit.status === "settled") return ["reverse"]
  return deposit.height !== heightOf(placement) || deposit.status === "failed" ? ["place"] : []
}

const warnTooSmall = ({ txId, vout, amount }: Output, least: Msat.Msat) =>
  Effect.logWarning("deposit: below the minimum or the cost of spending it; recorded, not credited", {
    outpoint: `${txId}:${vout}`,
    sats: String(Msat.toSats(amount)),
    minSats: String(Msat.toSats(least))
  })

/** An output whose deposit another process changed first. */
interface Moved {
  readonly outpoint: Outpoint
  readonly error: Deposit.DepositMoved
}

/**
 * Processes outputs, those of one transaction together, because looking up a large transaction costs megabytes.
 * If another process changed some deposits first, reads those again and applies the remaining steps.
 */
const eachTransaction = <E extends { readonly _tag: string }>(
  attempt: (txId: TxId.TxId, outpoints: ReadonlyArray<Outpoint>) => Effect.Effect<ReadonlyArray<Moved>, E>
) =>
  Effect.fnUntraced(function* (outpoints: ReadonlyArray<Outpoint>) {
    for (const [txId, group] of Map.groupBy(outpoints, ({ txId }) => txId)) {
      let left: ReadonlyArray<Outpoint> = group
      yield* Effect.suspend(() => attempt(txId, left)).pipe(
        Effect.flatMap((moved) => {
          left = moved.map(({ outpoint }) => outpoint)
          return moved[0] === undefined ? Effect.void : Effect.fail(moved[0].error)
        }),
        Effect.retry({
          times: 5,
          while: ({ _tag }) => _tag === "DepositMoved",
          schedule: Schedule.exponential("10 millis")
        })
      )
    }
  })

const paymentOf = ({ scriptPubKey, amount }: Output): string => `${scriptPubKey} ${amount}`

/**
 * Returns reported outputs in the order in which they are processed. Those that are gone come first, so that never two
 * payments count that spend one coin. If another payment of the same amount to the same address is reported, it comes
 * before: it looks for the payment that it replaces, and ends it.
 */
const ordered = (outputs: ReadonlyArray<Output>): ReadonlyArray<Outpoint> => {
  const present = new Set(outputs.filter(({ placement }) => placement._tag !== "gone").map(paymentOf))
  const rank = (output: Output) =>
    output.placement._tag !== "gone" ? 1 : present.has(paymentOf(output)) ? 2 : 0
  return outputs
    .toSorted((a, b) => rank(a) - rank(b))
    .map((reported) => ({ txId: reported.txId, vout: reported.vout, reported }))
}

/** Returns a function that records a deposit. The payment that it replaces ends first, so that never both count. */
const committing = (journal: Journal["Service"]) =>
  Effect.fnUntraced(function* (
    deposit: Deposit.Deposit,
    { claim, replaced }: Earlier,
    jobs: ReadonlyArray<Job>
  ) {
    if (replaced !== undefined) {
      yield* journal.commit({
        ...Deposit.dropped(replaced, deposit.createdAtMillis),
        ...(claim && { cursor: claim.open })
      })
    }
    yield* journal.commit({ ...Deposit.seen(deposit), jobs, ...(claim && { cursor: claim.close }) })
  })

/**
 * Updates deposits to where their transactions are: in a block, in the mempool or gone. Repeating an update
 * changes nothing.
 */
export const make = Effect.fnUntraced(function* ({ spendingCost }: FeeRates) {
  const journal = yield* Journal
  const commitNew = committing(journal)
  const ledger = yield* LedgerReads
  const receiving = yield* ReceivingReads
  const chain = yield* ChainSource
  const { network } = yield* Installation
  const { minDeposit } = yield* Confirmations.Options
  const entropy = yield* Entropy
  const jobsOf = yield* DepositJobs
  const earlierProof = yield* earlierProofs

  /**
   * Returns whether a transaction is in a block, in the mempool or gone. Fails if the source has just reported
   * the transaction in a block but does not find it, which means that the source's index has not caught up yet.
   */
  const placementOf = Effect.fnUntraced(function* (txId: TxId.TxId, outpoints: ReadonlyArray<Outpoint>) {
    const told = outpoints.find(({ reported }) => reported?.placement._tag === "mined")?.reported?.placement
    const placement = yield* chain.transaction(txId)
    if (placement._tag !== "gone" || told?._tag !== "mined") return placement
    const cause = new Error(`${txId} was reported in block ${told.height}, but a lookup does not find it`)
    return yield* new ChainUnavailable({ operation: "transaction", cause })
  })

  const record = Effect.fnUntraced(function* (
    output: Output,
    onChainAddress: OnChainAddress,
    height: number | null,
    proof: Earlier
  ) {
    const { address, companyId, type, metadata } = onChainAddress
    const nowMillis = yield* Clock.currentTimeMillis
    const least = Msat.greatest(minDeposit, spendingCost(type))
    const isTooSmall = output.amount < least
    if (isTooSmall) yield* warnTooSmall(output, least)
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
      paidAtMillis: proof.paidAtMillis < nowMillis ? proof.paidAtMillis : null,
      revision: 0,
      createdAtMillis: nowMillis,
      updatedAtMillis: nowMillis
    }
    yield* commitNew(deposit, proof, jobsOf(deposit, nowMillis))
  })

  /**
   * Reverses a credit. The operator bears the part that the company has spent or that is held, until `Reclaims` takes
   * it back. If the company spends more before the commit, the reversal is computed again.
   */
  const reverse = (deposit: Deposit.Deposit) =>
    Effect.gen(function* () {
      const left = Balance.available(yield* ledger.balance(deposit.companyId))
      const absorbed = left >= deposit.amount ? Msat.zero : Msat.make(deposit.amount - left)
      const atMillis = yield* Clock.currentTimeMillis
      const change = Deposit.reversed(deposit, absorbed, atMillis)
      yield* journal.commit({ ...change, jobs: jobsOf(deposit, atMillis) })
      yield* Effect.logWarning("deposit: credit reversed by a reorganization", {
        depositId: deposit.id,
        writtenOffSats: Msat.toDecimalSats(absorbed)
      })
      return Deposit.after(change)
    }).pipe(Effect.retry({ while: (error) => error._tag === "InsufficientBalance" }))

  const move = Effect.fnUntraced(function* (deposit: Deposit.Deposit, how: Move, placement: Placement) {
    if (how === "reverse") return yield* reverse(deposit)
    const nowMillis = yield* Clock.currentTimeMillis
    const change =
      how === "drop"
        ? Deposit.dropped(deposit, nowMillis)
        : Deposit.placed(deposit, heightOf(placement), nowMillis)
    yield* journal.commit(change)
    return Deposit.after(change)
  })

  /**
   * Processes outputs of one transaction. Reads the deposits first and then the chain, because the report may be
   * stale. If a deposit changes in between, its revision no longer matches and the write is rejected. Returns the
   * outputs whose write was rejected, with the error.
   */
  const attempt = Effect.fnUntraced(function* (txId: TxId.TxId, outpoints: ReadonlyArray<Outpoint>) {
    const read = yield* Effect.forEach(outpoints, (outpoint) =>
      Effect.map(receiving.depositByOutpoint(txId, outpoint.vout), (found) => ({
        outpoint,
        found: Option.getOrUndefined(found)
      }))
    )
    const scripts = read.flatMap(({ outpoint, found }) =>
      found === undefined ? (outpoint.reported?.scriptPubKey ?? []) : []
    )
    const addresses = scripts.length === 0 ? [] : yield* receiving.onChainAddresses([...new Set(scripts)])
    const owners = new Map(addresses.map((address) => [address.scriptPubKey, address]))
    const moved: Array<Moved> = []
    if (owners.size === 0 && read.every(({ found }) => found === undefined)) return moved
    const placement = yield* placementOf(txId, outpoints)
    const proofOf = yield* earlierProof(heightOf(placement))
    const write = Effect.fnUntraced(function* ({ reported }: Outpoint, found: Deposit.Deposit | undefined) {
      if (found !== undefined) {
        let deposit = found
        for (const how of movesOf(deposit, placement)) deposit = yield* move(deposit, how, placement)
        return
      }
      if (reported === undefined || placement._tag === "gone") return
      const owner = owners.get(reported.scriptPubKey)
      if (owner !== undefined)
        yield* record(reported, owner, heightOf(placement), yield* proofOf(reported, owner))
    })
    for (const { outpoint, found } of read) {
      yield* Effect.catchTag(write(outpoint, found), "DepositMoved", (error) =>
        Effect.sync(() => moved.push({ outpoint, error }))
      )
    }
    return moved
  })

  const settle = eachTransaction(attempt)
  return {
    /** Processes reported outputs. A new output becomes a deposit of the company that owns its address. */
    meet: (outputs: ReadonlyArray<Output>) => settle(ordered(outputs)),
    /** Updates the deposits of outputs that are already recorded. */
    settle
  }
})
