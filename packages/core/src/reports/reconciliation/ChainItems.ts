import { Effect, Option } from "effect"
import type { Gone } from "../../nodes/ChainBooks.ts"
import { ChainSource } from "../../nodes/ChainSource.ts"
import * as Coin from "../../nodes/Coin.ts"
import type { Deposit } from "../../receiving/Deposit.ts"
import { ReceivingReads } from "../../receiving/ReceivingReads.ts"
import { SendingReads } from "../../sending/SendingReads.ts"
import type { Found } from "./Difference.ts"
import { atOnce } from "./Items.ts"
import type { Look } from "./Look.ts"

/** How many evicted deposits one run looks up: the newest first, and then on to the oldest and around. */
const givenUpAtOnce = 50

/** Compares single coins: those that we count on, and those that came to us after we had given them up. */
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
    return [{ cause: "deposit_not_credited", about, companyId, recordId: id, ours: null, theirs: amount } satisfies Found]
  })

  return {
    /** What of the coins that are gone was not spent by payouts of ours meanwhile. */
    missing: Effect.fnUntraced(function* (gone: ReadonlyArray<Gone>) {
      const ours = gone.length === 0 ? new Set<string>() : yield* sending.spentCoins(gone.map(({ outpoint }) => outpoint))
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

    /** Evicted deposits that are in a block: the next ones, and those that were before. */
    givenUp: Effect.fnUntraced(function* (before: Look | undefined) {
      const next = yield* receiving.depositsGivenUp(before?.places.givenUp ?? null, givenUpAtOnce)
      const earlier = before?.found.filter(({ cause }) => cause === "deposit_not_credited") ?? []
      const known = yield* Effect.forEach(earlier, knownDeposit, { concurrency: atOnce })
      const deposits = new Map([...next, ...known.flatMap(Option.toArray)].map((deposit) => [deposit.id, deposit]))
      const found = yield* Effect.forEach(deposits.values(), notCredited, { concurrency: atOnce })
      return { found: found.flat(), place: next.length < givenUpAtOnce ? null : (next.at(-1)?.id ?? null) }
    })
  }
})
