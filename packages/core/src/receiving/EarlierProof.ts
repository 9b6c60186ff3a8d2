import { Effect, Option } from "effect"
import { cached } from "../base/ReadCache.ts"
import type { Cursor } from "../ledger/Change.ts"
import type { StoreUnavailable } from "../ledger/Journal.ts"
import { LedgerReads } from "../ledger/LedgerReads.ts"
import { ChainSource, type ChainUnavailable, type Output } from "../nodes/ChainSource.ts"
import * as Deposit from "./Deposit.ts"
import { DepositsOf } from "./DepositsOf.ts"
import type { OnChainAddress } from "./OnChainAddress.ts"
import * as Purpose from "./Purpose.ts"

/** Number of a record's newest payments among which a replaced one is searched, because each is looked up. */
const replaceableAtOnce = 10

/** What the chain shows of the time of a payment, and the payment that it replaces. */
export interface Earlier {
  /** The replaced payment, if it has not been dropped. */
  readonly replaced: Deposit.Deposit | undefined
  /** `Infinity` if the chain shows none. */
  readonly paidAtMillis: number
  /**
   * Stores the time of a replaced payment from when it is dropped until its replacement is recorded, each in the same
   * commit. If the process dies in between, the replacement still counts from that time, and only one payment does.
   */
  readonly claim?: { readonly open: Cursor; readonly close: Cursor }
}

/** A closed claim. */
const closed = ""

const claimOf = ({ amount }: Output, address: string, paidAtMillis: number) => {
  const source = `replaced ${address} ${amount}`
  return { open: { source, value: String(paidAtMillis) }, close: { source, value: closed } }
}

/**
 * Finds out whether the chain shows that a payment had been made before it was first seen: it is in an earlier block,
 * or replaces a payment seen earlier, such as with a higher fee.
 */
export const earlierProofs = Effect.gen(function* () {
  const chain = yield* ChainSource
  const ledger = yield* LedgerReads
  const depositsOf = yield* DepositsOf

  /** For the outputs of one transaction, which share what is looked up. `height` is that of its block. */
  return Effect.fnUntraced(function* (height: number | null) {
    const placementOf = cached(chain.transaction)
    const minedAtMillis = yield* Effect.cached(
      height === null
        ? Effect.succeed(Infinity)
        : Effect.map(chain.timeSecondsAt(height), (seconds) => seconds * 1000)
    )

    /**
     * Returns the unconfirmed payment that a new payment to the same address replaces. Only one of the same amount
     * counts: its inputs, which the new one spends, are no longer known.
     */
    const replacedBy = Effect.fnUntraced(function* (
      { amount }: Output,
      address: string,
      earlier: ReadonlyArray<Deposit.Deposit>
    ) {
      for (const deposit of earlier) {
        const { recipient, status, height, chainTxId } = deposit
        if (
          recipient !== address ||
          deposit.amount !== amount ||
          status !== "pending" ||
          height !== null ||
          chainTxId === null
        )
          continue
        if ((yield* placementOf(chainTxId))._tag === "gone") return deposit
      }
      return undefined
    })

    return Effect.fnUntraced(function* (
      output: Output,
      owner: OnChainAddress
    ): Effect.fn.Return<Earlier, ChainUnavailable | StoreUnavailable> {
      const collector = Purpose.collectorOf(owner)
      if (collector === null) return { replaced: undefined, paidAtMillis: Infinity }
      const { source } = claimOf(output, owner.address, 0).open
      const open = Option.getOrElse(yield* ledger.cursor(source), () => closed)
      const replaced =
        open === closed
          ? yield* replacedBy(
              output,
              owner.address,
              yield* depositsOf(owner.companyId, collector, replaceableAtOnce)
            )
          : undefined
      const minedAt = yield* minedAtMillis
      if (open === closed && replaced === undefined) return { replaced, paidAtMillis: minedAt }
      const replacedAtMillis = replaced === undefined ? Number(open) : Deposit.paidAt(replaced)
      return {
        replaced,
        paidAtMillis: Math.min(minedAt, replacedAtMillis),
        claim: claimOf(output, owner.address, replacedAtMillis)
      }
    })
  })
})
