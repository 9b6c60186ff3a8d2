import { assert, describe, it } from "@effect/vitest"
import * as TxId from "@satrail/bitcoin/TxId"
import type { Network } from "@satrail/bitcoin/Network"
import type { ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import * as Serving from "@satrail/regtest/Serving"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { createServer } from "node:http"
import * as BitcoinRpc from "../src/BitcoinRpc.ts"
import * as Esplora from "../src/Esplora.ts"
import * as Follower from "../src/Follower.ts"
import * as RpcServer from "./RpcServer.ts"

const beginning = { height: 0 }
const txId = TxId.make("ab".repeat(32))
const hash = "cd".repeat(32)
const rawTx = "0100000001" + "00".repeat(36) + "00ffffffff0100000000000000000000000000"
const nowSeconds = 1_700_000_000

/** A source of blocks, and what a test sets: its height, and what it knows of every transaction. */
interface World {
  height: number
  headers: number
  isDownloading: boolean
  timeSeconds: number
  transaction: "unknown" | "mempool"
}
const current: World = {
  height: 175,
  headers: 175,
  isDownloading: false,
  timeSeconds: nowSeconds,
  transaction: "unknown"
}

interface Given {
  readonly lastRead?: number
  readonly network?: Network
}

const overRpc = Effect.fnUntraced(function* (world: World, { lastRead, network = "mainnet" }: Given) {
  const { options } = yield* RpcServer.node((call) => {
    const { height, headers, isDownloading, timeSeconds, transaction } = world
    const chain = network === "mainnet" ? "main" : network
    switch (call.method) {
      case "getblockchaininfo":
        return {
          result: {
            chain,
            blocks: height,
            headers,
            bestblockhash: hash,
            initialblockdownload: isDownloading,
            time: timeSeconds
          }
        }
      case "getindexinfo":
        return { result: { txindex: { synced: true, best_block_height: height } } }
      case "getbestblockhash":
        return { result: hash }
      case "getmempoolinfo":
        return { result: { loaded: true } }
      case "getrawtransaction":
        return transaction === "mempool"
          ? { result: { vin: [{}] } }
          : { error: { code: -5, message: RpcServer.absent } }
      default:
        return { result: null }
    }
  })
  const all = { ...options, network, beginning, lastRead: Effect.succeed(lastRead) }
  return { source: BitcoinRpc.make(all), unspent: BitcoinRpc.unspent(all) }
})

const overEsplora = Effect.fnUntraced(function* (world: World, { lastRead, network = "mainnet" }: Given) {
  const server = createServer(({ url = "" }, response) => {
    const { height, timeSeconds, transaction } = world
    const said = url.startsWith("/blocks/tip/hash")
      ? hash
      : url.startsWith("/block/")
        ? JSON.stringify({ id: hash, height, timestamp: timeSeconds })
        : url.startsWith("/tx/") && !url.includes("outspends") && transaction === "mempool"
          ? JSON.stringify({ status: { confirmed: false }, vin: [{ is_coinbase: false }] })
          : undefined
    response.writeHead(said === undefined ? 404 : 200).end(said ?? "Transaction not found")
  })
  const all = { url: yield* Serving.on(server), network, beginning, lastRead: Effect.succeed(lastRead) }
  return { source: Esplora.make(all), unspent: Esplora.unspent(all) }
})

for (const [name, open] of [
  ["bitcoind", overRpc],
  ["Esplora", overEsplora]
] as const) {
  describe(`${name} that is behind`, () => {
    for (const [what, world, given, expected] of [
      [
        "lacks blocks that the service has read",
        { height: 163, headers: 163 },
        { lastRead: 175 },
        "behind: block 163 of 175"
      ],
      [
        "lacks the last block that the service has read",
        { height: 174, headers: 174 },
        { lastRead: 175 },
        "behind: block 174 of 175"
      ],
      [
        "has received no block for hours",
        { timeSeconds: nowSeconds - 5 * 3600 },
        {},
        "behind: block 175 of an unknown number"
      ],
      ...(name === "bitcoind"
        ? ([
            ["lacks announced blocks", { height: 163 }, {}, "behind: block 163 of 175"],
            [
              "is in its initial block download",
              { isDownloading: true },
              {},
              "behind: block 175 of an unknown number"
            ]
          ] as const)
        : [])
    ] as const satisfies ReadonlyArray<readonly [string, Partial<World>, Given, string]>) {
      it.effect(
        `chain: nothing is concluded from ${name} when it ${what}, not even that a transaction is in the mempool`,
        () =>
          Effect.scoped(
            Effect.gen(function* () {
              yield* TestClock.setTime(nowSeconds * 1000)
              for (const transaction of ["unknown", "mempool"] as const) {
                const { source, unspent } = yield* open({ ...current, ...world, transaction }, given)
                const none = () => Effect.succeed(new Set<string>())
                const all = [
                  source.tip,
                  source.transaction(txId),
                  unspent([`${txId}:0`]),
                  source.activity(null, none)
                ]
                for (const asked of all.map((one: Effect.Effect<unknown, ChainUnavailable>) =>
                  Effect.flip(one)
                )) {
                  const { reason, remedy = "" } = yield* asked
                  assert.deepStrictEqual([reason, /Wait/.test(remedy)], [expected, true])
                }
                assert.deepStrictEqual(yield* source.broadcast(rawTx), { _tag: "unknown" })
              }
            })
          )
      )
    }

    it.effect(
      `chain: ${name} that falls behind after it was current is noticed before the next conclusion`,
      () =>
        Effect.scoped(
          Effect.gen(function* () {
            yield* TestClock.setTime(nowSeconds * 1000)
            const world = { ...current }
            const { source, unspent } = yield* open(world, { lastRead: 175 })
            assert.deepStrictEqual(
              [yield* source.transaction(txId), yield* unspent([`${txId}:0`])],
              [{ _tag: "gone" }, []]
            )
            Object.assign(world, { height: 163, headers: 163 })
            assert.strictEqual(
              (yield* Effect.flip(source.transaction(txId))).reason,
              "behind: block 163 of 175"
            )
            assert.strictEqual(
              (yield* Effect.flip(unspent([`${txId}:0`]))).reason,
              "behind: block 163 of 175"
            )
            world.transaction = "mempool"
            assert.strictEqual(
              (yield* Effect.flip(source.transaction(txId))).reason,
              "behind: block 163 of 175"
            )
            Object.assign(world, { height: 175, headers: 175 })
            assert.deepStrictEqual(yield* source.transaction(txId), { _tag: "mempool" })
          })
        )
    )

    it.effect(
      `chain: ${name} is current one block above the last one read, and on regtest however old its block is`,
      () =>
        Effect.scoped(
          Effect.gen(function* () {
            yield* TestClock.setTime(nowSeconds * 1000)
            const above = yield* open(current, { lastRead: 174 })
            assert.propertyVal(yield* above.source.tip, "height", 175)
            const old = { ...current, timeSeconds: nowSeconds - 30 * 86_400 }
            const { source } = yield* open(old, { network: "regtest" })
            assert.propertyVal(yield* source.tip, "height", 175)
          })
        )
    )
  })
}

describe("the last block read", () => {
  it("chain: its height is read from the cursor that the follower stores", () => {
    assert.strictEqual(Follower.heightIn(Follower.cursorBefore(176)), 175)
    assert.isUndefined(Follower.heightIn("another source's"))
  })
})
