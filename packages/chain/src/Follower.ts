import * as Msat from "@satrail/bitcoin/Msat"
import type * as TxId from "@satrail/bitcoin/TxId"
import { type Activity, ChainUnavailable, type Ours, type Output, type Placement, type Tip } from "@satrail/core/nodes/ChainSource"
import { Effect, Option, Schema } from "effect"
import { randomUUID } from "node:crypto"
import * as Block from "./Block.ts"

/** What a follower asks a node. All of it fails while the node itself has not caught up with its network. */
export interface Node {
  readonly tip: Effect.Effect<Tip, ChainUnavailable>
  /** The hash of the block at this height of the chain as it is now; none above the tip. */
  readonly hashAt: (height: number) => Effect.Effect<Option.Option<string>, ChainUnavailable>
  readonly timeSecondsAt: (height: number) => Effect.Effect<number, ChainUnavailable>
  /** A block as it is serialised. */
  readonly block: (hash: string) => Effect.Effect<Buffer, ChainUnavailable>
  /** The ids of all transactions that wait. */
  readonly waiting: Effect.Effect<ReadonlyArray<TxId.TxId>, ChainUnavailable>
  /** Those of these transactions that still wait, serialised. */
  readonly transactions: (txIds: ReadonlyArray<TxId.TxId>) => Effect.Effect<ReadonlyArray<Buffer>, ChainUnavailable>
}

/** Where to begin where no cursor says so: at a height, or with the first block that can be younger than a wallet. */
export type Beginning = { readonly height: number } | { readonly birthdaySeconds: number }

/** How many blocks one call reads, and how many it remembers: no reorganisation is expected to be deeper. */
const blocksAtOnce = 20
const remembered = 144

/** How many transactions of the mempool one call reads. What is left is read by the next, or seen in its block. */
const waitingAtOnce = 2000

/** A block's time may be this much before the time it was found at (two hours, and one for a miner's clock). */
const clockSkewSeconds = 3 * 3600

/** The last blocks read, the newest last, and how much of the mempool was reported, by which process. */
const Cursor = Schema.fromJsonString(
  Schema.Struct({ height: Schema.Int, hashes: Schema.Array(Schema.String), told: Schema.Int, by: Schema.String })
)
type Cursor = typeof Cursor.Type

/** A cursor from before the block at this height, wherever another one has got to. */
export const cursorBefore = (height: number): string => Schema.encodeSync(Cursor)({ height: height - 1, hashes: [], told: 0, by: "" })

const parsed = <A>(operation: string, parse: () => A) =>
  Effect.try({ try: parse, catch: (cause) => new ChainUnavailable({ operation, cause }) })

const outputsOf = (transaction: Block.Transaction, placement: Placement, mine: ReadonlySet<string>): ReadonlyArray<Output> =>
  transaction.outputs
    .filter(({ scriptPubKey, sats }) => sats > 0n && mine.has(scriptPubKey))
    .map(({ vout, scriptPubKey, sats }) => ({ txId: transaction.txId(), vout, scriptPubKey, amount: Msat.fromSats(sats), placement }))

const scriptsOf = (transactions: ReadonlyArray<Block.Transaction>): ReadonlyArray<string> => [
  ...new Set(transactions.flatMap(({ outputs }) => outputs.map(({ scriptPubKey }) => scriptPubKey)))
]

/** Reads every block once, in order, and finds what is ours in it with one question, however many scripts are ours. */
export const make = (node: Node, beginning: Beginning) => {
  // What waits is known to this process alone: it tells another's cursor everything it has found, which is safe to hear twice.
  const by = randomUUID()
  let known = new Set<TxId.TxId>()
  let found: ReadonlyArray<{ readonly n: number; readonly output: Output }> = []
  let count = 0

  /** The height before which nothing can be ours. */
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
        cause: new Error(`the node is at block ${tip.height}, and ${cursor.height} was read already: it has to catch up first`)
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
        cause: new Error(`none of the last ${remembered} blocks read are in the node's chain: is it the node of another chain?`)
      })
    }
    if (height < cursor.height) yield* Effect.logWarning("chain: reorganised", { depth: cursor.height - height, forkHeight: height })
    return { height, hashes }
  })

  /** Looks at what has come to wait since the last time. */
  const look = Effect.fnUntraced(function* <E>(ours: Ours<E>) {
    const waiting = yield* node.waiting
    const fresh = waiting.filter((txId) => !known.has(txId)).slice(0, waitingAtOnce)
    const raw = fresh.length === 0 ? [] : yield* node.transactions(fresh)
    const transactions = yield* parsed("mempool", () => raw.map(Block.parseTransaction))
    const mine = transactions.length === 0 ? new Set<string>() : yield* ours(scriptsOf(transactions))
    const still = new Set(waiting)
    const outputs = transactions.flatMap((transaction) => outputsOf(transaction, { _tag: "mempool" }, mine))
    known = new Set([...known, ...fresh].filter((txId) => still.has(txId)))
    found = [...found.filter(({ output }) => still.has(output.txId)), ...outputs.map((output) => ({ n: ++count, output }))]
  })

  /** Reads a page of blocks on top of `hashes`. It ends early where the chain is reorganised meanwhile. */
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
        outputs.push(...outputsOf(transaction, { _tag: "mined", height, isCoinbase: transaction.isCoinbase }, mine))
      }
    }
    return { height, hashes: hashes.slice(-remembered), outputs }
  })

  return {
    activity: Effect.fnUntraced(function* <E>(after: string | null, ours: Ours<E>): Effect.fn.Return<Activity, ChainUnavailable | E> {
      const tip = yield* node.tip
      // A cursor of another kind of source says nothing about this chain.
      const cursor = Option.getOrUndefined(Schema.decodeUnknownOption(Cursor)(after))
      const from = cursor === undefined ? { height: (yield* firstHeight(tip)) - 1, hashes: [] } : yield* fork(cursor, tip)
      const { height, hashes, outputs } = yield* read(from, tip, ours)
      const blocksLeft = Math.max(0, tip.height - height)
      if (blocksLeft === 0) yield* look(ours)
      const told = cursor?.by === by ? cursor.told : 0
      const mined = new Set(outputs.map(({ txId }) => txId))
      const waiting = blocksLeft > 0 ? [] : found.filter(({ n, output }) => n > told && !mined.has(output.txId)).map(({ output }) => output)
      return {
        outputs: [...outputs, ...waiting],
        unchangedTo: from.height,
        tip,
        cursor: Schema.encodeSync(Cursor)({ height, hashes, told: waiting.length === 0 ? told : count, by }),
        blocksLeft
      }
    })
  }
}
