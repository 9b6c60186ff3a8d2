import type * as TxId from "@satrail/bitcoin/TxId"
import type { ChainUnavailable, Ours, Output } from "@satrail/core/nodes/ChainSource"
import { Effect } from "effect"
import * as Block from "./Block.ts"
import { outputsOf, parsed, scriptsOf } from "./Outputs.ts"

/** What is asked of a node about what waits to be mined. */
export interface Node {
  /** The ids of all transactions that wait. */
  readonly waiting: Effect.Effect<ReadonlyArray<TxId.TxId>, ChainUnavailable>
  /** Those of these transactions that still wait, serialised. */
  readonly transactions: (txIds: ReadonlyArray<TxId.TxId>) => Effect.Effect<ReadonlyArray<Buffer>, ChainUnavailable>
}

/** How many transactions of the mempool one call reads. What is left is read by the next, or seen in its block. */
const waitingAtOnce = 2000

/** What waits and is ours, as far as this process has looked: in the order in which it found it. */
export const make = (node: Node) => {
  let known = new Set<TxId.TxId>()
  let found: ReadonlyArray<{ readonly n: number; readonly output: Output }> = []
  let count = 0

  return {
    /** Looks at what has come to wait since the last time. */
    look: Effect.fnUntraced(function* <E>(ours: Ours<E>) {
      const waiting = yield* node.waiting
      const fresh = waiting.filter((txId) => !known.has(txId)).slice(0, waitingAtOnce)
      const raw = fresh.length === 0 ? [] : yield* node.transactions(fresh)
      const transactions = yield* parsed("mempool", () => raw.map(Block.parseTransaction))
      const mine = transactions.length === 0 ? new Set<string>() : yield* ours(scriptsOf(transactions))
      const still = new Set(waiting)
      const outputs = transactions.flatMap((transaction) => outputsOf(transaction, { _tag: "mempool" }, mine))
      known = new Set([...known, ...fresh].filter((txId) => still.has(txId)))
      found = [...found.filter(({ output }) => still.has(output.txId)), ...outputs.map((output) => ({ n: ++count, output }))]
    }),
    /** How many were ever found. */
    count: () => count,
    /** Those that still wait, without the first so many that were ever found. */
    after: (told: number): ReadonlyArray<Output> => found.filter(({ n }) => n > told).map(({ output }) => output)
  }
}
