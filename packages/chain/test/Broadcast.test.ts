import { assert, describe, it } from "@effect/vitest"
import * as TxId from "@satrail/bitcoin/TxId"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Effect, Layer } from "effect"
import * as BitcoinRpc from "../src/BitcoinRpc.ts"
import * as Block from "../src/Block.ts"
import * as Esplora from "../src/Esplora.ts"
import * as EsploraServer from "./EsploraServer.ts"
import { absent, type Call, healthy, info, node, type Said, standing } from "./RpcServer.ts"

// Every response of a node that decides where a transaction is, or whether a broadcast was accepted. Only the node's
// verdict on the transaction itself is a rejection, and a rejected payout is broadcast again.

const rawTx = "0100000001" + "00".repeat(36) + "00ffffffff0100000000000000000000000000"
const txId = TxId.make("ab".repeat(32))
const error = (code: number): Said => ({ error: { code, message: "words" } })
const rejected = { _tag: "rejected", reason: "words" }

/** The responses to `sendrawtransaction`, and what they mean (codes: Bitcoin Core, rpc/protocol.h). */
const sent: ReadonlyArray<readonly [what: string, response: Said, outcome: object]> = [
  ["its id", { result: "ab".repeat(32) }, { _tag: "accepted" }],
  ["error -22, invalid", error(-22), rejected],
  ["error -25, inputs missing or spent", error(-25), rejected],
  ["error -26, refused by the network's rules", error(-26), rejected],
  ["error -27, already in a block", error(-27), { _tag: "known" }],
  ...[-1, -4, -5, -8, -9, -20, -21, -23, -24, -29, -32601, -32603].map(
    (code) => [`error ${code}`, error(code), { _tag: "unknown" }] as const
  ),
  ["error -28, starting", error(-28), { _tag: "unknown" }],
  ["status 401", { status: 401, text: "" }, { _tag: "unknown" }],
  ["status 503", { status: 503, text: "Work queue depth exceeded" }, { _tag: "unknown" }],
  ["a page", { text: "<html></html>" }, { _tag: "unknown" }],
  ["a result of another form", { result: 7 }, { _tag: "unknown" }]
]

const hash = "cd".repeat(32)
const known = (change: object): Said => ({
  result: { txid: txId, hex: rawTx, vin: [{ txid: "00" }], vout: [], ...change }
})
const header = (height: number): Said => ({ result: { height, time: 1_700_000_000 } })

/** The responses to `getrawtransaction`, with the block that the node has at that height. */
const found: ReadonlyArray<
  readonly [what: string, response: Said, inChain: string, outcome: object | "not known"]
> = [
  [
    "in a block of the chain",
    known({ blockhash: hash, confirmations: 1 }),
    hash,
    { _tag: "mined", height: 799_999, isCoinbase: false }
  ],
  [
    "a coinbase in a block of the chain",
    known({ blockhash: hash, confirmations: 1, vin: [{ coinbase: "00" }] }),
    hash,
    { _tag: "mined", height: 799_999, isCoinbase: true }
  ],
  [
    "in a block that a reorganization removed",
    known({ blockhash: hash, confirmations: 1 }),
    "ef".repeat(32),
    { _tag: "gone" }
  ],
  ["in a block without confirmations", known({ blockhash: hash, confirmations: 0 }), hash, { _tag: "gone" }],
  ["in a block, without a number of confirmations", known({ blockhash: hash }), hash, { _tag: "gone" }],
  ["in no block", known({}), hash, { _tag: "mempool" }],
  ["absent", { error: { code: -5, message: absent } }, hash, { _tag: "gone" }],
  ["refused with error -1", error(-1), hash, "not known"],
  ["refused with error -8", error(-8), hash, "not known"],
  [
    "refused with another error in the words of an absent one",
    { error: { code: -8, message: absent } },
    hash,
    "not known"
  ]
]

describe("a node over RPC", () => {
  it.live("RPC: a coin is unspent if no transaction in a block or the mempool spends it", () =>
    Effect.gen(function* () {
      const asked = new Array<unknown>()
      const { options } = yield* node((call) => {
        if (call.method !== "gettxout") return healthy(call)
        asked.push(call.params)
        return { result: call.params[1] === 0 ? { value: 1 } : null }
      })
      const coins = [`${txId}:0`, `${txId}:1`]
      assert.deepStrictEqual(yield* BitcoinRpc.unspent(options)(coins), coins.slice(0, 1))
      assert.deepStrictEqual(asked, [
        [txId, 0, true],
        [txId, 1, true]
      ])
    }).pipe(Effect.scoped)
  )

  for (const [what, response, outcome] of sent) {
    it.live(`RPC: a broadcast whose response is ${what} is ${JSON.stringify(outcome)}`, () =>
      Effect.gen(function* () {
        const { source } = yield* node((call) =>
          call.method === "sendrawtransaction" ? response : healthy(call)
        )
        assert.deepStrictEqual<unknown>(yield* source.broadcast(rawTx), outcome)
      }).pipe(Effect.scoped)
    )
  }

  it.live(
    "RPC: a transaction that the node has is not broadcast again, and none is broadcast by a node that is behind",
    () =>
      Effect.gen(function* () {
        const calls: Array<string> = []
        const counted = (answer: (call: Call) => Said) => (call: Call) => {
          calls.push(call.method)
          return answer(call)
        }
        const has = yield* node(counted((call) => standing(call) ?? known({})))
        assert.deepStrictEqual<unknown>(yield* has.source.broadcast(rawTx), { _tag: "known" })
        const behind = yield* node(
          counted((call) =>
            call.method === "getblockchaininfo"
              ? { result: { ...info, initialblockdownload: true } }
              : healthy(call)
          )
        )
        assert.deepStrictEqual<unknown>(yield* behind.source.broadcast(rawTx), { _tag: "unknown" })
        assert.notInclude(calls, "sendrawtransaction")
      }).pipe(Effect.scoped)
  )

  for (const [what, response, inChain, outcome] of found) {
    it.live(`C45: RPC: a transaction that is ${what} is ${JSON.stringify(outcome)}`, () =>
      Effect.gen(function* () {
        const { source } = yield* node((call) =>
          call.method === "getrawtransaction"
            ? response
            : call.method === "getblockheader"
              ? header(799_999)
              : call.method === "getblockhash"
                ? { result: inChain }
                : healthy(call)
        )
        const placement = Effect.match(source.transaction(txId), {
          onSuccess: (found): unknown => found,
          onFailure: () => "not known"
        })
        assert.deepStrictEqual(yield* placement, outcome)
      }).pipe(Effect.scoped)
    )
  }
})

describe("a node over RPC whose index falls behind", () => {
  it.live(
    "C45: RPC: a transaction in the mempool is found there, and one that has left it is not known until the index has caught up",
    () =>
      Effect.gen(function* () {
        let [looks, isBehind] = [0, false]
        const index = { result: { txindex: { synced: false, best_block_height: 799_999 } } }
        const { source } = yield* node((call) =>
          call.method === "getrawtransaction" && looks-- > 0
            ? known({})
            : isBehind && call.method === "getindexinfo"
              ? index
              : healthy(call)
        )
        assert.deepStrictEqual<unknown>(yield* source.transaction(txId), { _tag: "gone" })
        isBehind = true
        looks = 2
        assert.deepStrictEqual<unknown>(yield* source.transaction(txId), { _tag: "mempool" })
        looks = 1
        assert.strictEqual((yield* Effect.flip(source.transaction(txId)))._tag, "ChainUnavailable")
      }).pipe(Effect.scoped)
  )
})

const served = Layer.provideMerge(
  EsploraServer.layer,
  Sandbox.layer({ seed: "broadcast", network: "regtest" })
)
const body = (code: number) => `sendrawtransaction RPC error: {"code":${code},"message":"words"}`

describe("an Esplora server", () => {
  for (const [what, status, text, outcome] of [
    ["its id", 200, "ab".repeat(32), "accepted"],
    ["error -22", 400, body(-22), "rejected"],
    ["error -25", 400, body(-25), "rejected"],
    ["error -26", 400, body(-26), "rejected"],
    ["error -27", 400, body(-27), "known"],
    ["error -1", 400, body(-1), "unknown"],
    ["error -28", 400, body(-28), "unknown"],
    ["status 400 without a code", 400, "Bad Request", "unknown"],
    ["error -26 with status 500", 500, body(-26), "unknown"],
    ["error -26 with status 502", 502, body(-26), "unknown"],
    ["status 404", 404, "Not Found", "unknown"],
    ["status 429", 429, "Too Many Requests", "unknown"]
  ] as const) {
    it.live(`Esplora: a broadcast whose response is ${what} is ${outcome}`, () =>
      Effect.gen(function* () {
        const server = yield* EsploraServer.EsploraServer
        server.interfere = (path) => (path === "/tx" ? { status, body: text } : undefined)
        const said = yield* Esplora.make({ url: server.url, beginning: { height: 100 } }).broadcast(rawTx)
        assert.strictEqual(said._tag, outcome)
        if (said._tag === "rejected") assert.strictEqual(said.reason, text)
      }).pipe(Effect.provide(served))
    )
  }

  it.live(
    "Esplora: a transaction that the server has is not broadcast again, and none is while the server does not respond",
    () =>
      Effect.gen(function* () {
        const server = yield* EsploraServer.EsploraServer
        const source = Esplora.make({ url: server.url, beginning: { height: 100 } })
        const own = Block.txIdOf(rawTx) ?? assert.fail("no transaction")
        const mempool = JSON.stringify({
          txid: own,
          vin: [{ is_coinbase: false }],
          status: { confirmed: false }
        })
        server.interfere = (path) => (path === `/tx/${own}` ? { status: 200, body: mempool } : undefined)
        assert.deepStrictEqual<unknown>(yield* source.broadcast(rawTx), { _tag: "known" })
        server.interfere = (path) => (path === `/tx/${own}` ? { status: 503, body: "busy" } : undefined)
        assert.deepStrictEqual<unknown>(yield* source.broadcast(rawTx), { _tag: "unknown" })
        server.interfere = (path) => (path === "/blocks/tip/hash" ? { status: 503, body: "busy" } : undefined)
        assert.deepStrictEqual<unknown>(yield* source.broadcast(rawTx), { _tag: "unknown" })
        assert.deepStrictEqual<unknown>(yield* source.broadcast("00"), {
          _tag: "rejected",
          reason: "it is not a transaction"
        })
        assert.notInclude(server.asked, "/tx")
      }).pipe(Effect.provide(served))
  )

  for (const [what, status, isCoinbase, outcome] of [
    ["unconfirmed", { confirmed: false }, false, { _tag: "mempool" }],
    [
      "confirmed",
      { confirmed: true, block_height: 100, block_hash: hash },
      false,
      { _tag: "mined", height: 100, isCoinbase: false }
    ],
    [
      "a confirmed coinbase",
      { confirmed: true, block_height: 100, block_hash: hash },
      true,
      { _tag: "mined", height: 100, isCoinbase: true }
    ]
  ] as const) {
    it.live(`C45: Esplora: a transaction that is ${what} is ${JSON.stringify(outcome)}`, () =>
      Effect.gen(function* () {
        const server = yield* EsploraServer.EsploraServer
        const source = Esplora.make({ url: server.url, beginning: { height: 100 } })
        const body = JSON.stringify({ txid: txId, vin: [{ is_coinbase: isCoinbase }], status })
        server.interfere = (path) => (path === `/tx/${txId}` ? { status: 200, body } : undefined)
        assert.deepStrictEqual<unknown>(yield* source.transaction(txId), outcome)
      }).pipe(Effect.provide(served))
    )
  }

  it.live(
    "Esplora: a coin is unspent only if the server knows its transaction and no other that spends it",
    () =>
      Effect.gen(function* () {
        const server = yield* EsploraServer.EsploraServer
        const unspent = Esplora.unspent({ url: server.url })
        const [coin, spent, unlisted] = [0, 1, 2].map((vout) => `${txId}:${vout}`) as [string, string, string]
        server.interfere = (path) =>
          path === `/tx/${txId}/outspends`
            ? { status: 200, body: JSON.stringify([{ spent: false }, { spent: true }]) }
            : path.endsWith("/outspends")
              ? { status: 404, body: "Transaction not found" }
              : undefined
        assert.deepStrictEqual(yield* unspent([coin, spent, `${hash}:0`]), [coin])
        assert.strictEqual((yield* Effect.flip(unspent([coin, unlisted])))._tag, "ChainUnavailable")
      }).pipe(Effect.provide(served))
  )
})
