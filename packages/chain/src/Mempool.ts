import type * as TxId from "@satrail/bitcoin/TxId"
import type { ChainUnavailable, Ours, Output } from "@satrail/core/nodes/ChainSource"
import { Effect } from "effect"
import * as Block from "./Block.ts"
import { outputsOf, parsed, scriptsOf } from "./Outputs.ts"

/** Calls about a node's mempool. */
export interface Node {
  /** Reads the ids of all transactions in the mempool. */
  readonly waiting: Effect.Effect<ReadonlyArray<TxId.TxId>, ChainUnavailable>
  /** Returns, serialized, those of the transactions that are still in the mempool. */
  readonly transactions: (txIds: ReadonlyArray<TxId.TxId>) => Effect.Effect<ReadonlyArray<Buffer>, ChainUnavailable>
}

/**
 * Maximum number of mempool transactions per call. The next call reads the rest, unless they are mined first.
 */
const waitingAtOnce = 2000

/** Number of transactions requested at once. All of them are in memory together. */
const batchSize = 100

/** Tracks our outputs in the mempool, in the order in which this process found them. */
export const make = (node: Node) => {
  let known = new Set<TxId.TxId>()
  let found: ReadonlyArray<{ readonly n: number; readonly output: Output }> = []
  let count = 0

  return {
    /** Reads the transactions that are new since the last call. After a failure, the next call continues there. */
    look: Effect.fnUntraced(function* <E>(ours: Ours<E>) {
      const waiting = yield* node.waiting
      const still = new Set(waiting)
      known = new Set([...known].filter((txId) => still.has(txId)))
      found = found.filter(({ output }) => still.has(output.txId))
      const fresh = waiting.filter((txId) => !known.has(txId)).slice(0, waitingAtOnce)
      for (let at = 0; at < fresh.length; at += batchSize) {
        const batch = fresh.slice(at, at + batchSize)
        const raw = yield* node.transactions(batch)
        const transactions = yield* parsed("mempool", () => raw.map(Block.parseTransaction))
        const mine = transactions.length === 0 ? new Set<string>() : yield* ours(scriptsOf(transactions))
        const outputs = transactions.flatMap((transaction) => outputsOf(transaction, { _tag: "mempool" }, mine))
        found = [...found, ...outputs.map((output) => ({ n: ++count, output }))]
        for (const txId of batch) known.add(txId)
      }
    }),
    /** Returns the number of outputs ever found. */
    count: () => count,
    /** Returns the outputs that are still in the mempool, except the first `told` that were found. */
    after: (told: number): ReadonlyArray<Output> => found.filter(({ n }) => n > told).map(({ output }) => output)
  }
}
