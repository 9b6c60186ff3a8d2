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
  readonly transactions: (
    txIds: ReadonlyArray<TxId.TxId>
  ) => Effect.Effect<ReadonlyArray<Buffer>, ChainUnavailable>
}

/**
 * Maximum number of mempool transactions per call. The next call reads the rest, unless they are mined first.
 */
const waitingAtOnce = 2000

/** Maximum number of our outputs that left the mempool and are remembered, newest last. */
const maxGone = 10_000

/** Number of transactions requested at once. All of them are in memory together. */
const batchSize = 100

/**
 * Tracks our outputs in the mempool, in the order in which this process found them. One that leaves it without being in a
 * block was replaced, spent elsewhere or evicted, and is reported once more, as gone.
 */
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
      const gone = found.filter(({ output }) => output.placement._tag === "gone" && !still.has(output.txId))
      const lost = found.filter(({ output }) => output.placement._tag !== "gone" && !still.has(output.txId))
      found = [
        ...gone.slice(-maxGone),
        ...found.filter(({ output }) => output.placement._tag !== "gone" && still.has(output.txId)),
        ...lost.map(({ output }) => ({
          n: ++count,
          output: { ...output, placement: { _tag: "gone" } as const }
        }))
      ]
      const fresh = waiting.filter((txId) => !known.has(txId)).slice(0, waitingAtOnce)
      for (let at = 0; at < fresh.length; at += batchSize) {
        const batch = fresh.slice(at, at + batchSize)
        const raw = yield* node.transactions(batch)
        const transactions = yield* parsed("mempool", () => raw.map(Block.parseTransaction))
        const mine = transactions.length === 0 ? new Set<string>() : yield* ours(scriptsOf(transactions))
        const outputs = transactions.flatMap((transaction) =>
          outputsOf(transaction, { _tag: "mempool" }, mine)
        )
        found = [...found, ...outputs.map((output) => ({ n: ++count, output }))]
        for (const txId of batch) known.add(txId)
      }
    }),
    /** Stops tracking transactions that are in a block. */
    confirm: (txIds: ReadonlySet<TxId.TxId>) => {
      if (txIds.size > 0) found = found.filter(({ output }) => !txIds.has(output.txId))
    },
    /** Returns the number of outputs ever found, and of those that left the mempool. */
    count: () => count,
    /** Returns the outputs in the mempool, and those that left it, except the first `told`. */
    after: (told: number): ReadonlyArray<Output> =>
      found.filter(({ n }) => n > told).map(({ output }) => output)
  }
}
