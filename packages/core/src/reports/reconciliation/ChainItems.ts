import { Effect, Option } from "effect"
import type { Gone } from "../../nodes/ChainBooks.ts"
import { ChainSource } from "../../nodes/ChainSource.ts"
import * as Coin from "../../nodes/Coin.ts"
import type { Deposit } from "../../receiving/Deposit.ts"
import { ReceivingReads } from "../../receiving/ReceivingReads.ts"
import { SendingReads } from "../../sending/SendingReads.ts"
import type { Found } from "./Difference.ts"
import { atOnce } from "./LightningItems.ts"
import type { Run } from "./Run.ts"

/** Number of evicted deposits that one run looks up, newest first. After the oldest, the scan starts over. */
const givenUpAtOnce = 50

/**
 * Compares individual coins: those expected in the wallet, and those received after their deposit was
 * considered evicted.
 */
export const make = Effect.gen(function* () {
  const receiving = yield* ReceivingReads
  const sending = yield* SendingReads
  const blocks = yield* ChainSource

  const knownDeposit = ({ companyId, recordId }: Found) =>
    companyId === null || recordId === null ? Effect.succeedNone : receiving.deposit(companyId, recordId)

  const notCredited = Effect.fnUntraced(function* (deposit: Deposit) {
    const { id, companyId, status, amount, chainTxId, vout } = deposit
    if (chainTxId === null || vout === null || status !== "failed") return []
    const { _tag } = yield* blocks.transaction(chainTxId)
    if (_tag !== "mined") return []
    const about = Coin.outpoint(chainTxId, vout)
    return [
      {
        cause: "deposit_not_credited",
        about,
        companyId,
        recordId: id,
        ours: null,
        theirs: amount
      } satisfies Found
    ]
  })

  return {
    /** Returns the missing coins, except those that our own payouts have spent in the meantime. */
    missing: Effect.fnUntraced(function* (gone: ReadonlyArray<Gone>) {
      const ours =
        gone.length === 0
          ? new Set<string>()
          : yield* sending.spentCoins(gone.map(({ outpoint }) => outpoint))
      return gone
        .filter(({ outpoint }) => !ours.has(outpoint))
        .map(({ outpoint, amount }): Found => ({
          cause: "coin_gone",
          about: outpoint,
          companyId: null,
          recordId: null,
          ours: amount,
          theirs: null
        }))
    }),

    /**
     * Returns the evicted deposits that are in a block. Checks the next page of them, and those found in the
     * previous run.
     */
    givenUp: Effect.fnUntraced(function* (before: Run | undefined) {
      const next = yield* receiving.depositsGivenUp(before?.places.givenUp ?? null, givenUpAtOnce)
      const earlier = before?.found.filter(({ cause }) => cause === "deposit_not_credited") ?? []
      const known = yield* Effect.forEach(earlier, knownDeposit, { concurrency: atOnce })
      const deposits = new Map(
        [...next, ...known.flatMap(Option.toArray)].map((deposit) => [deposit.id, deposit])
      )
      const found = yield* Effect.forEach(deposits.values(), notCredited, { concurrency: atOnce })
      return { found: found.flat(), place: next.length < givenUpAtOnce ? null : (next.at(-1)?.id ?? null) }
    })
  }
})
