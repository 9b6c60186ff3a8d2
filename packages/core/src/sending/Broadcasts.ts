import { Effect } from "effect"
import { ChainSource } from "../nodes/ChainSource.ts"
import type { Draft } from "../nodes/ChainWallet.ts"
import { Signer } from "../nodes/Signer.ts"
import type { Withdrawal } from "./Withdrawal.ts"

/** Signs and broadcasts payout transactions. The caller stores each transaction between the two steps. */
export const make = Effect.gen(function* () {
  const chain = yield* ChainSource
  const signer = yield* Signer

  const signed = Effect.fnUntraced(function* ({ psbt, coins, fee, change, isDeep }: Draft) {
    const { txId, rawTx } = yield* signer.sign(psbt)
    return { _tag: "Chain" as const, txId, rawTx, psbt, coins, networkFee: fee, change, isDeep }
  })

  const broadcast = Effect.fnUntraced(function* (withdrawal: Withdrawal, rawTx: string) {
    const answer = yield* chain.broadcast(rawTx)
    if (answer._tag === "rejected") {
      yield* Effect.logError("payout: rejected by the network; stays pending until reviewed", {
        withdrawalId: withdrawal.id,
        reason: answer.reason
      })
    }
  })

  return { signed, broadcast }
})
