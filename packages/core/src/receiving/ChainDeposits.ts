import type { AddressType } from "@satrail/bitcoin/BitcoinAddress"
import * as Msat from "@satrail/bitcoin/Msat"
import { Clock, Context, Effect, Layer, Option, Schedule } from "effect"
import { Entropy } from "../base/Entropy.ts"
import * as Id from "../base/Id.ts"
import * as Worker from "../base/Worker.ts"
import * as Balance from "../ledger/Balance.ts"
import type { Fence } from "../ledger/Change.ts"
import * as Cursor from "../ledger/Cursor.ts"
import * as Duties from "../ledger/Duties.ts"
import { Journal, type StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import * as Chain from "../nodes/ChainSource.ts"
import { ChainSource } from "../nodes/ChainSource.ts"
import * as Coin from "../nodes/Coin.ts"
import * as Policy from "../policy/Policy.ts"
import * as Deposit from "./Deposit.ts"
import type { OnChainAddress } from "./OnChainAddress.ts"
import { ReceivingReads } from "./ReceivingReads.ts"

const heightOf = (placement: Chain.Placement): number | null => (placement._tag === "mined" ? placement.height : null)

const pageSize = 500

/** How many deposits that were given up are looked at again with each new block: the newest first, and then on to the oldest and around. */
const givenUpAtOnce = 50

/**
 * A coin can wait for the cheapest of so many blocks to be spent. Before this many were seen since the start the rate may be a moment's, and does not
 * count.
 */
export const feeRateBlocks = { least: 6, most: 144 } as const

const source = "chain"

interface Outpoint {
  readonly txId: string
  readonly vout: number
  /** What was told of it, if anything was. */
  readonly placement?: Chain.Placement
}

/** Everything that is read in pages by id. */
const all = Effect.fnUntraced(function* <A extends { readonly id: string }, E>(
  page: (after: string | null) => Effect.Effect<ReadonlyArray<A>, E>
) {
  const rows: Array<A> = []
  let after: string | null = null
  do {
    const found: ReadonlyArray<A> = yield* page(after)
    rows.push(...found)
    after = found.length < pageSize ? null : (found.at(-1)?.id ?? null)
  } while (after !== null)
  return rows
})

/** Follows the chain: sees deposits come, credits them when they are deep enough, and takes back what a reorganisation took. */
export class ChainDeposits extends Context.Service<
  ChainDeposits,
  {
    /**
     * Takes a step towards the chain as it is now. Answers how many blocks are still to be read. Where another process holds what is fenced, that
     * one's cursor stays.
     */
    readonly follow: (fence?: Fence) => Effect.Effect<number, Chain.ChainUnavailable | StoreUnavailable | Deposit.DepositMoved>
  }
>()("@satrail/core/receiving/ChainDeposits") {}

export const make = Effect.gen(function* () {
  const journal = yield* Journal
  const ledger = yield* LedgerReads
  const receiving = yield* ReceivingReads
  const chain = yield* ChainSource
  const policy = yield* Policy.Policy
  const entropy = yield* Entropy
  let checkedAt = ""
  let rates: ReadonlyArray<number> = []
  let sampledAt = ""
  let givenUpBefore: string | null = null

  const ours = (scriptPubKeys: ReadonlyArray<string>) =>
    Effect.map(receiving.onChainAddresses(scriptPubKeys), (found) => new Set(found.map(({ scriptPubKey }) => scriptPubKey)))

  const deepest = Math.max(...policy.confirmations.map(({ confirmations }) => confirmations), 0)

  /** Remembers what the blocks of late have asked for: once for each block that is the tip when it is looked at. */
  const sample = Effect.fnUntraced(function* (tip: Chain.Tip) {
    if (tip.hash === sampledAt) return
    const rate = yield* Effect.option(chain.feeRate)
    if (Option.isNone(rate)) return
    rates = [...rates, rate.value].slice(-feeRateBlocks.most)
    sampledAt = tip.hash
  })

  /** The least that is credited at an address of this type: what spending it costs at the lowest rate of late, when that has lasted. */
  const least = (type: AddressType): Msat.Msat =>
    rates.length < feeRateBlocks.least
      ? policy.minDeposit
      : Msat.greatest(policy.minDeposit, Msat.fromSats(Coin.spendingSats(type, Math.min(...rates))))

  /** Where a transaction stands now. A source that has just told of it in a block, and does not know it, is behind itself: nothing follows from that. */
  const placementOf = Effect.fnUntraced(function* ({ txId, placement: told }: Outpoint) {
    const placement = yield* chain.transaction(txId)
    if (placement._tag !== "gone" || told?._tag !== "mined") return placement
    const cause = new Error(`${txId} was told in block ${told.height}, and is not known when it is asked for`)
    return yield* new Chain.ChainUnavailable({ operation: "transaction", cause })
  })

  const see = Effect.fnUntraced(function* (output: Chain.Output, address: OnChainAddress, height: number | null) {
    const nowMillis = yield* Clock.currentTimeMillis
    const minAmount = least(address.type)
    const isTooSmall = output.amount < minAmount
    if (isTooSmall) {
      yield* Effect.logWarning("deposit: too small to be spent; recorded, not credited", {
        outpoint: `${output.txId}:${output.vout}`,
        sats: String(Msat.toSats(output.amount)),
        minSats: String(Msat.toSats(minAmount))
      })
    }
    yield* journal.commit(
      Deposit.seen({
        id: Id.fromMillis(nowMillis, entropy),
        companyId: address.companyId,
        ledgerTxId: Id.fromMillis(nowMillis, entropy),
        recipient: address.address,
        amount: output.amount,
        network: policy.network,
        rail: "on_chain",
        status: isTooSmall ? "failed" : "pending",
        chainTxId: output.txId,
        vout: output.vout,
        height,
        lightningInvoiceId: null,
        absorbed: Msat.zero,
        revision: 0,
        createdAtMillis: nowMillis,
        updatedAtMillis: nowMillis
      })
    )
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
      return change.deposit
    }).pipe(Effect.retry({ while: (error) => error._tag === "InsufficientBalance" }))

  const drop = Effect.fnUntraced(function* (deposit: Deposit.Deposit) {
    yield* journal.commit(Deposit.dropped(deposit, yield* Clock.currentTimeMillis))
  })

  const place = Effect.fnUntraced(function* (deposit: Deposit.Deposit, height: number | null) {
    yield* journal.commit(Deposit.placed(deposit, height, yield* Clock.currentTimeMillis))
  })

  /**
   * Brings one output's deposit to where the chain has it. First the row is read, then the chain is asked: what was told before may be old
   * by now, and whoever writes what is older than the row is refused by its revision.
   */
  const settle = Effect.fnUntraced(function* (outpoint: Outpoint) {
    const found = yield* receiving.depositByOutpoint(outpoint.txId, outpoint.vout)
    if (found._tag === "None") return
    const placement = yield* placementOf(outpoint)
    const height = heightOf(placement)
    const deposit = found.value
    if (Deposit.isTooSmall(deposit)) return
    if (placement._tag === "gone")
      return deposit.status === "failed" ? undefined : yield* drop(deposit.status === "settled" ? yield* reverse(deposit) : deposit)
    if (placement._tag === "mempool" && deposit.status === "settled") return void (yield* reverse(deposit))
    if (deposit.height !== height || deposit.status === "failed") yield* place(deposit, height)
  })

  /** An output that was never seen before becomes a deposit of whomever its address was given to. */
  const meet = Effect.fnUntraced(function* (output: Chain.Output) {
    const found = yield* receiving.depositByOutpoint(output.txId, output.vout)
    if (found._tag === "Some") return yield* settle(output)
    const [address] = yield* receiving.onChainAddresses([output.scriptPubKey])
    if (address === undefined) return
    const placement = yield* placementOf(output)
    return placement._tag === "gone" ? undefined : yield* see(output, address, heightOf(placement))
  })

  // Another process may move the same deposit at the same time: then what it did is read, and the rest is done.
  const insistent = <A, E extends { readonly _tag: string }>(effect: Effect.Effect<A, E>) =>
    Effect.retry(effect, { times: 5, while: (error) => error._tag === "DepositMoved", schedule: Schedule.exponential("10 millis") })

  /** The next of those that were given up: what came back, or was given up by mistake, is found in its block again, however long that is ago. */
  const nextGivenUp = Effect.gen(function* () {
    const found = yield* receiving.depositsGivenUp(givenUpBefore, givenUpAtOnce)
    givenUpBefore = found.length < givenUpAtOnce ? null : (found.at(-1)?.id ?? null)
    return found
  })

  /**
   * Looks again at what is said to be in blocks that may be others by now, and, when there is a new block, at what waits for one and at some of what was
   * given up.
   */
  const recheck = Effect.fnUntraced(function* ({ tip, unchangedTo }: Chain.Activity) {
    const uncertain = yield* all((after) => receiving.depositsAbove(unchangedTo, after, pageSize))
    const isNew = tip.hash !== checkedAt
    const inNoBlock = isNew ? yield* all((after) => receiving.depositsInNoBlock(after, pageSize)) : []
    const givenUp = isNew ? yield* nextGivenUp : []
    for (const { chainTxId, vout } of [...uncertain, ...inNoBlock, ...givenUp]) {
      if (chainTxId !== null && vout !== null) yield* insistent(settle({ txId: chainTxId, vout }))
    }
    checkedAt = tip.hash
  })

  /**
   * Credits whatever has become deep enough under this tip. A payment in many pieces is as large as all of them: as deep as is asked for what its company
   * waits for, and for what came to anybody in its block. What is deeper than anything is asked to be is not at risk with the others.
   */
  const confirm = Effect.fnUntraced(function* (tip: Chain.Tip) {
    const { ofCompany, inBlock } = yield* receiving.depositsUnconfirmed(tip.height - deepest)
    for (const deposit of yield* all((after) => receiving.depositsInBlocks(after, pageSize))) {
      const { chainTxId, vout, height, amount, companyId } = deposit
      if (chainTxId === null || vout === null || height === null) continue
      const atRisk = Msat.greatest(amount, ofCompany.get(companyId) ?? Msat.zero, inBlock.get(height) ?? Msat.zero)
      if (Chain.confirmations(tip, height) < Policy.confirmationsFor(policy, atRisk)) continue
      // Asked once more: a reorganisation that nobody has told us of yet must not be paid for. And nobody may ever tell us of it: whoever sees an
      // output first may write down what it heard long ago, when all others have looked past it.
      const placement = yield* chain.transaction(chainTxId)
      if (placement._tag !== "mined" || placement.height !== height) {
        yield* insistent(settle({ txId: chainTxId, vout }))
        continue
      }
      if (placement.isCoinbase && Chain.confirmations(tip, height) < Chain.coinbaseMaturity) continue
      yield* Effect.catchTag(journal.commit(Deposit.confirmed(deposit, yield* Clock.currentTimeMillis)), "DepositMoved", () => Effect.void) // another process was first
    }
  })

  return ChainDeposits.of({
    follow: Effect.fnUntraced(function* (fence) {
      const before = yield* ledger.cursor(source)
      const activity = yield* chain.activity(before._tag === "Some" ? before.value : null, ours)
      const { outputs, tip, cursor, blocksLeft } = activity
      yield* sample(tip)
      for (const output of outputs) yield* insistent(meet(output))
      yield* recheck(activity)
      // Only now: whoever dies before this line does the outputs again, and each finds that it is done.
      if (before._tag === "None" || before.value !== cursor) {
        const nowMillis = yield* Clock.currentTimeMillis
        yield* journal
          .commit(Cursor.moved({ source, value: cursor }, Id.fromMillis(nowMillis, entropy), nowMillis, fence))
          .pipe(Effect.catchTag("StaleFence", () => Effect.void))
      }
      yield* confirm(tip)
      if (blocksLeft > 0) yield* Effect.logInfo("chain: catching up", { blocksLeft, tip: tip.height })
      return blocksLeft
    })
  })
})

export const layer = Layer.effect(ChainDeposits, make)

/** Follows the chain for as long as the scope is open, in one process at a time. */
export const layerWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const { follow } = yield* ChainDeposits
    const { chainPollMillis } = yield* Policy.Policy
    yield* Duties.run("chain", (fence) => {
      let isBehind = false
      const step = Effect.map(follow(fence), (blocksLeft) => {
        isBehind = blocksLeft > 0
      })
      return Worker.run(
        "chain deposits",
        step,
        Effect.suspend(() => Effect.sleep(isBehind ? 0 : chainPollMillis))
      )
    })
  })
)
