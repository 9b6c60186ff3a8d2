import type { Network } from "@satrail/bitcoin/Network"
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

/** The parts of the initial chain that only the keys can make. */
export interface Signed {
  readonly outsideScript: string
  readonly walletScript: string
  /** The transaction that pays the float, with the change after it. */
  readonly floatTx: string
}

const usualWallet = "5120de10f504aca0bd392def15ef5d9aec36030111f3466ff8559269353465d4c820"
const usualOutside = "0014e306362b296c6e6aad14b5e565fd08dce6ded13b"

/**
 * The signed parts for the usual seed on regtest. Making them takes an eighth of the time in which the service
 * starts, because the first use of a key prepares a table of points.
 */
export const usual: Signed & { readonly seed: string; readonly network: Network } = {
  seed: "satrail",
  network: "regtest",
  outsideScript: usualOutside,
  walletScript: usualWallet,
  floatTx: [
    "02000000000101bddcfd7282445a29b02cbcc652596c15f42a420eab31a5233717ec4fb7dc6aae0000000000fdffffff0b",
    `00e1f5050000000022${usualWallet}`.repeat(float.outputs),
    `b1236bee0000000016${usualOutside}`,
    "02483045022100f080ff22af0fdf451cbe6db0114810774ce00fba54cc7c8d9236efeb91d0675f",
    "02201eae526c71d24f5f7ddf63c0ef787ebb7908559f51646ee2dd979c552496f6fa01",
    "2102bed9a30ed456fe02fdfdc9e2c1d6a7baa746174d6557498a79cbab43b31fb96f00000000"
  ].join("")
}

/**
 * The initial chain. It has enough blocks that the external wallet's first coinbases can be spent. The last
 * block contains our wallet's float. If the signed parts are known, no key is used.
 */
export const chain = (keys: Keys.Keys, known?: Signed): Chain.State => {
  let state = Chain.empty
  const add = (event: ChainEvent) => {
    state = Chain.apply(state, event)
  }
  const give = (
    owner: "wallet" | "outside",
    { type, branch, index }: Coin.Place,
    script: string | undefined
  ) => {
    const scriptPubKey = script ?? keys[owner].key({ type, branch, index }).address.scriptPubKey
    add({ _tag: "AddressGiven", owner, type, branch, index, scriptPubKey })
    return scriptPubKey
  }

  give("outside", { type: "segwit", branch: 0, index: 0 }, known?.outsideScript)
  const floatScript = give("wallet", { type: Payout.changeType, branch: 1, index: 0 }, known?.walletScript)
  for (let at = 0; at < height; at++) add(Chain.nextBlock(state, [], timeSeconds(at)))

  const outputs = Array.from({ length: float.outputs }, () => ({
    scriptPubKey: floatScript,
    sats: float.sats
  }))
  const rawTx = known?.floatTx ?? Result.getOrThrow(Outside.payment(state, keys, outputs))
  add({ _tag: "TransactionSeen", rawTx })
  add(Chain.nextBlock(state, state.mempool, timeSeconds(height)))
  return state
}
