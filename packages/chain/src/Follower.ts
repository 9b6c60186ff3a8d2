import * as Outage from "@satrail/core/base/Outage"
import {
  type Activity,
  ChainUnavailable,
  type Ours,
  type Output,
  type Tip
} from "@satrail/core/nodes/ChainSource"
import { Effect, Option, Schema } from "effect"
import { randomUUID } from "node:crypto"
import * as Block from "./Block.ts"
import * as Mempool from "./Mempool.ts"
import { outputsOf, parsed, scriptsOf } from "./Outputs.ts"

/** A node for a follower. Every call fails until the node has caught up with its network. */
export interface Node extends Mempool.Node {
  readonly tip: Effect.Effect<Tip, ChainUnavailable>
  /** Returns the hash of the block at this height in the current chain; none above the tip. */
  readonly hashAt: (height: number) => Effect.Effect<Option.Option<string>, ChainUnavailable>
  readonly timeSecondsAt: (height: number) => Effect.Effect<number, ChainUnavailable>
  /** Returns a serialized block. */
  readonly block: (hash: string) => Effect.Effect<Buffer, ChainUnavailable>
}

/** The starting point without a cursor: a height, or the first block that may be younger than the wallet. */
export type Beginning = { readonly height: number } | { readonly birthdaySeconds: number }

/**
 * Number of blocks that one call reads, and number of blocks that are remembered. No reorganization deeper than
 * the latter is expected.
 */
const blocksAtOnce = 20
const remembered = 144

/** Maximum time by which a block's timestamp may precede its actual time: two hours, plus one for the miner's clock. */
const clockSkewSeconds = 3 * 3600

/**
 * The last blocks read, newest last, and the number of mempool outputs reported, with the process that
 * reported them.
 */
const Cursor = Schema.fromJsonString(
  Schema.Struct({
    height: Schema.Int,
    hashes: Schema.Array(Schema.String),
    told: Schema.Int,
    by: Schema.String
  })
)
type Cursor = typeof Cursor.Type

/** Returns a cursor whose next block is the one at this height. */
export const cursorBefore = (height: number): string =>
  Schema.encodeSync(Cursor)({ height: height - 1, hashes: [], told: 0, by: "" })

/** Returns the height of the last block read; undefined if another kind of source wrote the cursor. */
export const heightIn = (cursor: string): number | undefined =>
  Option.getOrUndefined(Option.map(Schema.decodeUnknownOption(Cursor)(cursor), ({ height }) => height))

/**
 * Reads every block once, in order, and finds our outputs with one query per block, however many scripts are
 * ours.
 */
export const make = (node: Node, beginning: Beginning) => {
  // The mempool is tracked per process. A process that is given another process's cursor reports all mempool
  // outputs it has found, because repeating them is safe.
  const by = randomUUID()
  const mempool = Mempool.make(node)
  let mempoolOutage: string | undefined

  /**
   * Reads the mempool. A failure is logged, and delays no block: a payment that was not seen in the mempool is
   * found in its block.
   */
  const lookAtMempool = <E>(ours: Ours<E>) =>
    mempool.look(ours).pipe(
      Effect.as(undefined),
      Effect.catchIf(
        (error): error is ChainUnavailable => error instanceof ChainUnavailable,
        (error) => Effect.succeed(Outage.text(error) ?? String(error.cause))
      ),
      Effect.flatMap((reason) => {
        const isKnown = reason === undefined || reason === mempoolOutage
        mempoolOutage = reason
        return isKnown
          ? Effect.void
          : Effect.logWarning(
              "chain: the mempool cannot be read; payments are seen once they are in a block",
              { reason }
            )
      })
    )

  /** Returns the height below which no output can be ours. */
  const firstHeight = Effect.fnUntraced(function* (tip: Tip) {
    if ("height" in beginning) return beginning.height
    const since = beginning.birthdaySeconds - clockSkewSeconds
    let [low, high] = [0, tip.height]
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if ((yield* node.timeSecondsAt(middle)) < since) low = middle + 1
      else high = middle
    }
    return low
  })

  /** Walks back from the cursor to the last block that is still in the chain. */
  const fork = Effect.fnUntraced(function* (cursor: Cursor, tip: Tip) {
    if (cursor.height > tip.height) {
      return yield* new ChainUnavailable({
        operation: "activity",
        cause: new Error(
          `the node is at block ${tip.height}, but block ${cursor.height} was already read, so it must catch up first`
        )
      })
    }
    const hashes = [...cursor.hashes]
    let height = cursor.height
    while (hashes.length > 0 && Option.getOrUndefined(yield* node.hashAt(height)) !== hashes.at(-1)) {
      hashes.pop()
      height--
    }
    if (hashes.length === 0 && cursor.hashes.length >= remembered) {
      return yield* new ChainUnavailable({
        operation: "activity",
        cause: new Error(
          `none of the last ${remembered} blocks read are in the node's chain: the node may be on another chain`
        )
      })
    }
    if (height < cursor.height)
      yield* Effect.logWarning("chain: reorganized", { depth: cursor.height - height, forkHeight: height })
    return { height, hashes }
  })

  /** Reads a page of blocks on top of `hashes`. The page ends early if the chain is reorganized during the read. */
  const read = Effect.fnUntraced(function* <E>(
    from: { readonly height: number; readonly hashes: ReadonlyArray<string> },
    tip: Tip,
    ours: Ours<E>
  ) {
    const hashes = [...from.hashes]
    const outputs: Array<Output> = []
    let { height } = from
    while (height < Math.min(tip.height, from.height + blocksAtOnce)) {
      const hash = Option.getOrUndefined(yield* node.hashAt(height + 1))
      if (hash === undefined) break
      const bytes = yield* node.block(hash)
      const { previousHash, transactions } = yield* parsed("block", () => Block.parse(bytes))
      if (hashes.length > 0 && previousHash !== hashes.at(-1)) break
      height++
      hashes.push(hash)
      const mine = yield* ours(scriptsOf(transactions))
      for (const transaction of transactions) {
        outputs.push(
          ...outputsOf(transaction, { _tag: "mined", height, isCoinbase: transaction.isCoinbase }, mine)
        )
      }
    }
    return { height, hashes: hashes.slice(-remembered), outputs }
  })

  return {
    activity: Effect.fnUntraced(function* <E>(
      after: string | null,
      ours: Ours<E>
    ): Effect.fn.Return<Activity, ChainUnavailable | E> {
      const tip = yield* node.tip
      // Ignore a cursor written by another kind of source.
      const cursor = Option.getOrUndefined(Schema.decodeUnknownOption(Cursor)(after))
      const from =
        cursor === undefined
          ? { height: (yield* firstHeight(tip)) - 1, hashes: [] }
          : yield* fork(cursor, tip)
      const { height, hashes, outputs } = yield* read(from, tip, ours)
      const blocksLeft = Math.max(0, tip.height - height)
      const mined = new Set(outputs.map(({ txId }) => txId))
      mempool.confirm(mined)
      if (blocksLeft === 0) yield* lookAtMempool(ours)
      const told = cursor?.by === by ? cursor.told : 0
      const found = blocksLeft > 0 ? [] : mempool.after(told)
      const mine =
        found.length === 0
          ? new Set<string>()
          : yield* ours([...new Set(found.map(({ scriptPubKey }) => scriptPubKey))])
      const waiting = found.filter(({ txId, scriptPubKey }) => !mined.has(txId) && mine.has(scriptPubKey))
      return {
        outputs: [...outputs, ...waiting],
        unchangedTo: from.height,
        tip,
        cursor: Schema.encodeSync(Cursor)({
          height,
          hashes,
          told: waiting.length === 0 ? told : mempool.count(),
          by
        }),
        blocksLeft
      }
    })
  }
}
