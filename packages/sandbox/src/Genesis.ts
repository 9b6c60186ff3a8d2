import type * as Coin from "@satrail/core/nodes/Coin"
import * as Payout from "@satrail/core/sending/Payout"
import { Result } from "effect"
import * as Chain from "./Chain.ts"
import type { ChainEvent } from "./Event.ts"
import type * as Keys from "./Keys.ts"
import * as Outside from "./Outside.ts"

/** Height of the sandbox's initial blocks. No reorganization removes blocks up to this height. */
export const height = 109

/** Our wallet's initial outputs, so that payouts don't have to wait for deposits. */
export const float = { outputs: 10, sats: 100_000_000n } as const

/** An arbitrary start time, plus 10 minutes per block. */
const timeSeconds = (blockHeight: number) => 1_700_000_000 + blockHeight * 600

/**
 * The initial chain. It has enough blocks that the external wallet's first coinbases can be spent. The last
 * block contains our wallet's float.
 */
export const chain = (keys: Keys.Keys): Chain.State => {
  let state = Chain.empty
  const add = (event: ChainEvent) => {
    state = Chain.apply(state, event)
  }
  const give = (owner: "wallet" | "outside", { type, branch, index }: Coin.Place) => {
    const { scriptPubKey } = keys[owner].key({ type, branch, index }).address
    add({ _tag: "AddressGiven", owner, type, branch, index, scriptPubKey })
    return scriptPubKey
  }

  give("outside", { type: "segwit", branch: 0, index: 0 })
  const floatScript = give("wallet", { type: Payout.changeType, branch: 1, index: 0 })
  for (let at = 0; at < height; at++) add(Chain.nextBlock(state, [], timeSeconds(at)))

  const outputs = Array.from({ length: float.outputs }, () => ({ scriptPubKey: floatScript, sats: float.sats }))
  const rawTx = Result.getOrThrow(Outside.payment(state, keys, outputs))
  add({ _tag: "TransactionSeen", rawTx })
  add(Chain.nextBlock(state, state.mempool, timeSeconds(height)))
  return state
}
