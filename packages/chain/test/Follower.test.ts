import { assert, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import type * as TxId from "@satrail/bitcoin/TxId"
import { Effect, Option } from "effect"
import { ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import * as Block from "../src/Block.ts"
import * as Follower from "../src/Follower.ts"

const ours = "51"

const mine = (scripts: ReadonlyArray<string>) =>
  Effect.succeed(new Set(scripts.filter((script) => script === ours)))

/** A minimal transaction that pays us. */
const paying = (n: number): Buffer => {
  const outpoint = Buffer.alloc(36, n)
  const sats = Buffer.alloc(8)
  sats.writeBigUInt64LE(BigInt(n) * 1000n)
  return Buffer.concat([
    Buffer.of(2, 0, 0, 0, 1),
    outpoint,
    Buffer.of(0, 0xff, 0xff, 0xff, 0xff, 1),
    sats,
    Buffer.of(1, 0x51),
    Buffer.alloc(4)
  ])
}

interface Made {
  readonly hash: string
  readonly bytes: Buffer
}

/** A block on top of another one. `branch` distinguishes blocks at the same height. */
const block = (previous: string, branch: number, ...transactions: ReadonlyArray<Buffer>): Made => {
  const header = Buffer.alloc(80, branch)
  header.set(Buffer.from(previous, "hex").toReversed(), 4)
  const bytes = Buffer.concat([header, Buffer.of(transactions.length), ...transactions])
  return { hash: Block.hashOf(bytes), bytes }
}

it.effect(
  "C45: follower: no payment of the winning branch is lost in a reorganization between two blocks of one page",
  () =>
    Effect.gen(function* () {
      const base = block("00".repeat(32), 1)
      const lost = block(base.hash, 2)
      const won = block(base.hash, 3, paying(7))
      const tip = block(won.hash, 3)
      const made = new Map([base, lost, won, tip].map((one) => [one.hash, one.bytes]))
      let chain = [base, lost, tip]
      // The other branch wins as soon as the losing block is read.
      const node: Follower.Node = {
        tip: Effect.sync(() => ({ height: 2, hash: tip.hash })),
        hashAt: (height) => Effect.sync(() => Option.fromUndefinedOr(chain[height]?.hash)),
        timeSecondsAt: () => Effect.succeed(0),
        block: (hash) =>
          Effect.sync(() => {
            if (hash === lost.hash) chain = [base, won, tip]
            return made.get(hash) ?? assert.fail(hash)
          }),
        waiting: Effect.succeed([]),
        transactions: () => Effect.succeed([])
      }
      const { activity } = Follower.make(node, { height: 0 })
      const first = yield* activity(null, mine)
      assert.deepStrictEqual([first.outputs, first.blocksLeft], [[], 1])
      const second = yield* activity(first.cursor, mine)
      assert.deepStrictEqual(
        second.outputs.map(({ amount, placement }) => [amount, placement]),
        [[Msat.fromSats(7000), { _tag: "mined", height: 1, isCoinbase: false }]]
      )
      assert.deepStrictEqual([second.unchangedTo, second.blocksLeft], [0, 0])
    })
)

/** A node with this one block, and one output to us in each of 150 mempool transactions. */
const crowded = () => {
  const only = block("00".repeat(32), 1, paying(200))
  const inMempool = new Map(
    Array.from({ length: 150 }, (_, n) => [Block.parseTransaction(paying(n + 1)).txId(), paying(n + 1)])
  )
  const node: Follower.Node = {
    tip: Effect.succeed({ height: 0, hash: only.hash }),
    hashAt: () => Effect.succeed(Option.some(only.hash)),
    timeSecondsAt: () => Effect.succeed(0),
    block: () => Effect.succeed(only.bytes),
    waiting: Effect.sync(() => [...inMempool.keys()]),
    transactions: (txIds) => Effect.sync(() => txIds.flatMap((txId) => inMempool.get(txId) ?? []))
  }
  return { node, inMempool }
}
const broken = new ChainUnavailable({ operation: "mempool", cause: new Error("broken") })

for (const [what, fault] of [
  ["the list of the mempool", { waiting: Effect.fail(broken) }],
  ["a mempool transaction", { transactions: () => Effect.fail(broken) }],
  ["the content of a mempool transaction", { transactions: () => Effect.succeed([Buffer.of(1)]) }]
] as const satisfies ReadonlyArray<readonly [string, Partial<Follower.Node>]>) {
  it.effect(`follower: blocks are read while ${what} cannot be read`, () =>
    Effect.gen(function* () {
      const { activity } = Follower.make({ ...crowded().node, ...fault }, { height: 0 })
      const { outputs, blocksLeft } = yield* activity(null, mine)
      assert.deepStrictEqual([outputs.map(({ placement }) => placement._tag), blocksLeft], [["mined"], 0])
    })
  )
}

it.effect("follower: after a failure, mempool transactions that were read are not read again", () =>
  Effect.gen(function* () {
    const { node, inMempool } = crowded()
    const asked: Array<TxId.TxId> = []
    const last = [...inMempool.keys()].at(-1)
    let isBroken = true
    const faulty: Follower.Node = {
      ...node,
      transactions: (txIds) => {
        if (isBroken && txIds.some((txId) => txId === last)) return Effect.fail(broken)
        asked.push(...txIds)
        return node.transactions(txIds)
      }
    }
    const { activity } = Follower.make(faulty, { height: 1 })
    const first = yield* activity(null, mine)
    assert.isAbove(first.outputs.length, 0)
    isBroken = false
    const second = yield* activity(first.cursor, mine)
    const found = [...first.outputs, ...second.outputs].map(({ txId }) => txId)
    assert.deepStrictEqual([asked, found], [[...inMempool.keys()], [...inMempool.keys()]])
  })
)

it.effect(
  "C45: follower: an output that leaves the mempool is reported once as gone, unless it is in a block that was read",
  () =>
    Effect.gen(function* () {
      const all = [paying(1), paying(2), paying(3)]
      const idOf = (raw: Buffer) => Block.parseTransaction(raw).txId()
      const base = block("00".repeat(32), 1)
      let chain = [base]
      let waiting: ReadonlyArray<Buffer> = []
      const node: Follower.Node = {
        tip: Effect.sync(() => ({ height: chain.length - 1, hash: chain.at(-1)?.hash ?? "" })),
        hashAt: (height) => Effect.sync(() => Option.fromUndefinedOr(chain[height]?.hash)),
        timeSecondsAt: () => Effect.succeed(0),
        block: (hash) =>
          Effect.sync(() => chain.find((one) => one.hash === hash)?.bytes ?? assert.fail(hash)),
        waiting: Effect.sync(() => waiting.map(idOf)),
        transactions: (txIds) => Effect.succeed(all.filter((raw) => txIds.includes(idOf(raw))))
      }
      const { activity } = Follower.make(node, { height: 0 })
      let cursor: string | null = null
      /** The amounts and placements that are reported for these transactions in the mempool. */
      const reports = Effect.fnUntraced(function* (...inMempool: ReadonlyArray<number>) {
        waiting = inMempool.flatMap((n) => all[n - 1] ?? [])
        const found = yield* activity(cursor, mine)
        cursor = found.cursor
        return found.outputs
          .map(({ amount, placement }) => `${Number(Msat.toSats(amount)) / 1000} ${placement._tag}`)
          .toSorted()
      })
      assert.deepStrictEqual(yield* reports(1, 2), ["1 mempool", "2 mempool"])
      assert.deepStrictEqual(yield* reports(2, 3), ["1 gone", "3 mempool"])
      assert.deepStrictEqual(yield* reports(2, 3), [])
      // The first comes back, and the second is mined.
      chain = [base, block(base.hash, 2, ...all.slice(1, 2))]
      assert.deepStrictEqual(yield* reports(1, 3), ["1 mempool", "2 mined"])
      assert.deepStrictEqual(yield* reports(1), ["3 gone"])
      assert.deepStrictEqual(yield* reports(), ["1 gone"])
      assert.deepStrictEqual(yield* reports(), [])
    })
)
