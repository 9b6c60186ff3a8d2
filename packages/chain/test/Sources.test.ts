import { assert, describe, it } from "@effect/vitest"
import * as Msat from "@satrail/bitcoin/Msat"
import * as TxId from "@satrail/bitcoin/TxId"
import type { ChainUnavailable } from "@satrail/core/nodes/ChainSource"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as BitcoinRpc from "../src/BitcoinRpc.ts"
import * as Esplora from "../src/Esplora.ts"
import * as CoreServer from "./CoreServer.ts"
import * as EsploraServer from "./EsploraServer.ts"
import { absent, type Call, healthy, info, node, type Said, standing } from "./RpcServer.ts"

const none = () => Effect.succeed(new Set<string>())

/** The reason that a source gives when it is unavailable. */
const reason = <A>(effect: Effect.Effect<A, ChainUnavailable>) =>
  Effect.map(Effect.flip(effect), ({ cause }) => String(cause))

describe("a node over RPC", () => {
  for (const [what, answer, expected] of [
    ["that rejects our password", () => ({ status: 401, text: "" }), /rejects the user and password/],
    [
      "of another network",
      () => ({ result: { ...info, chain: "test" } }),
      /on test, but this service is on mainnet/
    ],
    [
      "that is loading",
      () => ({ error: { code: -28, message: "Loading block index…" } }),
      /starting: Loading/
    ],
    [
      "that is in its initial block download",
      () => ({ result: { ...info, initialblockdownload: true } }),
      /behind: block 800000 of an unknown number/
    ],
    [
      "that lacks announced blocks",
      () => ({ result: { ...info, blocks: 799_000 } }),
      /behind: block 799000 of 800000/
    ],
    ["that is overloaded", () => ({ status: 503, text: "Work queue depth exceeded" }), /overloaded/],
    ["that is not a JSON-RPC server", () => ({ text: "<html>hello</html>" }), /not JSON-RPC/],
    ["whose response has the wrong type", () => ({ result: 7 }), /Expected/]
  ] as const satisfies ReadonlyArray<readonly [string, (call: Call) => Said, RegExp]>) {
    it.live(`RPC: a node ${what} counts as an outage, and no transaction is reported as missing`, () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { source } = yield* node(answer)
          assert.match(yield* reason(source.tip), expected)
          assert.match(yield* reason(source.transaction(TxId.make("ab".repeat(32)))), expected)
          assert.match(yield* reason(source.activity(null, none)), expected)
          const rawTx = "0100000001" + "00".repeat(36) + "00ffffffff0100000000000000000000000000"
          assert.deepStrictEqual(yield* source.broadcast(rawTx), { _tag: "unknown" })
          assert.notInclude(yield* reason(source.tip), "secret-of-ours")
        })
      )
    )
  }

  it.live("RPC: a text with other characters than hex digits is rejected as a transaction", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { source } = yield* node(() => ({ result: 7 }))
        const rawTx = "0100000001" + "00".repeat(36) + "00ffffffff0100000000000000000000000000"
        // Node's decoder reads only the low byte of the last one, which is that of "1".
        for (const wrong of ["0x", " ", "\u0131"])
          assert.strictEqual(
            (yield* source.broadcast(rawTx.slice(0, -wrong.length) + wrong))._tag,
            "rejected"
          )
      })
    )
  )

  it.live("RPC: a healthy node reports an unknown transaction as missing", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { source } = yield* node(healthy)
        assert.deepStrictEqual(yield* source.transaction(TxId.make("ab".repeat(32))), { _tag: "gone" })
      })
    )
  )

  it.live("RPC: a transaction is reported as missing only after a not-found error", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { source } = yield* node(
          (call) => standing(call) ?? { error: { code: -1, message: "out of memory" } }
        )
        assert.match(yield* reason(source.transaction(TxId.make("ab".repeat(32)))), /out of memory/)
      })
    )
  )

  it.effect("RPC: after the clock was set back, a node is asked again whether it has caught up", () =>
    Effect.scoped(
      Effect.gen(function* () {
        let blocks = info.blocks
        const { source } = yield* node((call) => {
          if (call.method === "getblockchaininfo") return { result: { ...info, blocks } }
          if (call.method === "getblockheader") return { result: { height: 900, time: 0 } }
          if (call.method === "getrawtransaction")
            return { result: { blockhash: "00", confirmations: 1, vin: [{}] } }
          return standing(call) ?? { result: "00" }
        })
        const mined = source.transaction(TxId.make("ab".repeat(32)))
        yield* TestClock.setTime(3_600_000)
        assert.propertyVal(yield* mined, "_tag", "mined")
        blocks = 1000
        assert.propertyVal(yield* mined, "_tag", "mined")
        yield* TestClock.setTime(0)
        assert.match(yield* reason(mined), /1000 of 800000/)
      })
    )
  )

  it.live("RPC: startup waits for an unreachable node, and fails on a permanent error", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { options } = yield* node(() => ({ status: 401 }))
        yield* BitcoinRpc.check({ ...options, url: "http://127.0.0.1:1" })
        yield* BitcoinRpc.check(
          (yield* node(() => ({ status: 503, text: "Work queue depth exceeded" }))).options
        )
        assert.include((yield* Effect.flip(BitcoinRpc.check(options))).message, "user and password")
        const other = yield* node(() => ({ result: { ...info, chain: "regtest" } }))
        assert.include((yield* Effect.flip(BitcoinRpc.check(other.options))).message, "SATRAIL_NETWORK")
      })
    )
  )

  // The messages with which nodes return code -5 when a transaction is not found. Some mean that the
  // transaction does not exist; others do not.
  for (const [who, message, says] of [
    ["Core with a complete index", absent, "gone"],
    ["btcd", `No information available about transaction ${"ab".repeat(32)}`, "gone"],
    [
      "Core while it builds its index",
      CoreServer.notFound({ _tag: "building", height: 0 }),
      /is indexing its transactions/
    ],
    ["Core without an index", CoreServer.notFound({ _tag: "none" }), /keeps no index of transactions/],
    [
      "btcd without an index",
      "The transaction index must be enabled to query the blockchain (specify --txindex)",
      /keeps no index of transactions/
    ],
    [
      "Core for the genesis coinbase",
      "The genesis block coinbase is not considered an ordinary transaction and cannot be retrieved",
      /\(-5\)/
    ],
    ["another node implementation", "Invalid address or key", /Invalid address or key \(-5\)/]
  ] as const) {
    it.live(
      `RPC: error -5 from ${who} means that the transaction is ${says === "gone" ? "missing" : "not known"}`,
      () =>
        Effect.scoped(
          Effect.gen(function* () {
            const { source } = yield* node((call) => standing(call) ?? { error: { code: -5, message } })
            const asked = source.transaction(TxId.make("ab".repeat(32)))
            if (says === "gone") assert.deepStrictEqual(yield* asked, { _tag: "gone" })
            else assert.match(yield* reason(asked), says)
          })
        )
    )
  }

  for (const [what, index, expected] of [
    ["has no index", { result: {} }, /keeps no index of transactions/],
    [
      "is building its index",
      { result: { txindex: { synced: false, best_block_height: 412_000 } } },
      /indexing: block 412000 of 800000/
    ],
    [
      "has an index that is far behind",
      { result: { txindex: { synced: true, best_block_height: 799_990 } } },
      /indexing: block 799990 of 800000/
    ],
    ["does not report its index", { error: { code: -1, message: "out of memory" } }, /out of memory/]
  ] as const satisfies ReadonlyArray<readonly [string, Said, RegExp]>) {
    it.live(`RPC: the tip of a node that ${what} cannot be read, and the error gives the reason`, () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { source } = yield* node((call) => (call.method === "getindexinfo" ? index : healthy(call)))
          assert.match(yield* reason(source.tip), expected)
          assert.match(yield* reason(source.transaction(TxId.make("ab".repeat(32)))), expected)
          // /readyz shows the reason to anyone, and the remedy only to the operator.
          const { reason: shown = "", remedy = "" } = yield* Effect.flip(source.tip)
          if (what !== "does not report its index") assert.match(shown, expected)
          assert.match(
            `${shown} ${remedy}`,
            what === "has no index"
              ? /txindex=1.*--txindex/
              : what === "does not report its index"
                ? /^ $/
                : /Wait/
          )
        })
      )
    )
  }

  it.live(
    "C59: RPC: the version is read from Core, its forks and btcd, and a node that reports no version is accepted",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const no: Said = { error: { code: -1, message: "Command unimplemented" } }
          const judged = Effect.fnUntraced(function* (networkInfo: Said, info: Said) {
            const { options } = yield* node(({ method }) =>
              method === "getnetworkinfo" ? networkInfo : method === "getinfo" ? info : no
            )
            return yield* BitcoinRpc.judgement(options)
          })
          const core = (subversion: string) => judged({ result: { version: 1, subversion } }, no)
          const btcd = (version: number) => judged(no, { result: { version } })
          assert.deepInclude(yield* core("/Satoshi:0.16.2/"), { verdict: "refused", version: "0.16.2" })
          assert.deepInclude(yield* core("/Satoshi:28.1.0(a comment)/Knots:20250305/"), {
            verdict: "warned",
            version: "28.1.0"
          })
          assert.isUndefined(yield* core("/Satoshi:29.4.3/Knots:20260508/"))
          assert.isUndefined(yield* core("/Another:0.16.2/"))
          assert.deepInclude(yield* btcd(240_000), { verdict: "refused", version: "0.24.0" })
          assert.isUndefined(yield* btcd(240_200))
          assert.isUndefined(yield* btcd(250_000))
          assert.isUndefined(yield* judged(no, no))
          // A user without permission for these calls (rpcwhitelist) gets no verdict on the node's version, but
          // can still use the node. The calls that are required report their own errors.
          assert.strictEqual((yield* Effect.flip(judged({ status: 403 }, no)))._tag, "ChainUnavailable")
        })
      )
  )

  it.live("RPC: a node without getindexinfo (btcd) can be used", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { source, options } = yield* node((call) =>
          call.method === "getindexinfo"
            ? { error: { code: -32_601, message: "Method not found" } }
            : healthy(call)
        )
        assert.deepStrictEqual(yield* source.tip, { height: 800_000, hash: "00" })
        assert.deepStrictEqual(yield* source.transaction(TxId.make("ab".repeat(32))), { _tag: "gone" })
        assert.deepStrictEqual(yield* BitcoinRpc.standing(options), {
          tip: { height: 800_000, hash: "00" },
          index: undefined
        })
      })
    )
  )

  for (const [what, said, expected] of [
    ["has loaded its mempool", { result: { loaded: true } }, "gone"],
    ["does not report whether its mempool is loaded (btcd)", { result: { size: 0, bytes: 0 } }, "gone"],
    ["lacks getmempoolinfo", { error: { code: -32_601, message: "Method not found" } }, "gone"],
    ["is loading its mempool", { result: { loaded: false } }, /loading its mempool/],
    ["cannot report its mempool", { error: { code: -1, message: "out of memory" } }, /out of memory/]
  ] as const satisfies ReadonlyArray<readonly [string, Said, "gone" | RegExp]>) {
    it.live(
      `RPC: an unknown transaction of a node that ${what} is ${expected === "gone" ? "missing" : "not known"}`,
      () =>
        Effect.scoped(
          Effect.gen(function* () {
            const { source } = yield* node((call) =>
              call.method === "getmempoolinfo" ? said : healthy(call)
            )
            const asked = source.transaction(TxId.make("ab".repeat(32)))
            if (expected === "gone") assert.deepStrictEqual(yield* asked, { _tag: "gone" })
            else assert.match(yield* reason(asked), expected)
          })
        )
    )
  }

  it.live("RPC: a transaction that is mined between two requests is found in its block", () =>
    Effect.scoped(
      Effect.gen(function* () {
        // The block arrives after the tip was read, and is indexed before the tip is read again.
        let isMined = false
        const { source } = yield* node((call) => {
          const tip = isMined ? { blocks: 800_001, headers: 800_001, bestblockhash: "01" } : {}
          switch (call.method) {
            case "getblockchaininfo":
              return { result: { ...info, ...tip } }
            case "getindexinfo":
              return { result: { txindex: { synced: true, best_block_height: isMined ? 800_001 : 800_000 } } }
            case "getbestblockhash":
              isMined = true
              return { result: "01" }
            case "getblockheader":
              return { result: { height: 800_001, time: 0 } }
            case "getblockhash":
              return { result: "01" }
            default:
              return isMined ? { result: { blockhash: "01", confirmations: 1, vin: [{}] } } : healthy(call)
          }
        })
        assert.deepStrictEqual(yield* source.transaction(TxId.make("ab".repeat(32))), {
          _tag: "mined",
          height: 800_001,
          isCoinbase: false
        })
      })
    )
  )

  it.live("RPC: while the tip moves with every request, no transaction is reported as missing", () =>
    Effect.scoped(
      Effect.gen(function* () {
        let blocks = 800_000
        const { source } = yield* node((call) =>
          call.method === "getbestblockhash" ? { result: String(++blocks) } : healthy(call)
        )
        assert.match(yield* reason(source.transaction(TxId.make("ab".repeat(32)))), /kept changing/)
      })
    )
  )

  it.live(
    "RPC: startup fails if the node has no index, but not if the node is still building the index",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const started = (index: Said, refusal: string) =>
            Effect.flatMap(
              node(({ method }) => {
                const block: Said = method === "getblockhash" ? { result: "00" } : { result: { tx: ["ab"] } }
                if (method === "getblockchaininfo") return { result: info }
                if (method === "getindexinfo") return index
                return method === "getrawtransaction" ? { error: { code: -5, message: refusal } } : block
              }),
              ({ options }) => Effect.result(BitcoinRpc.check(options))
            )
          const unknown: Said = { error: { code: -32_601, message: "Method not found" } }
          const [none, building] = [
            CoreServer.notFound({ _tag: "none" }),
            CoreServer.notFound({ _tag: "building", height: 0 })
          ]
          for (const refused of [yield* started({ result: {} }, none), yield* started(unknown, none)]) {
            assert.include(refused._tag === "Failure" ? refused.failure.message : "", "txindex=1")
          }
          assert.strictEqual(
            (yield* started({ result: { txindex: { synced: false, best_block_height: 7 } } }, building))._tag,
            "Success"
          )
          assert.strictEqual((yield* started(unknown, building))._tag, "Success")
        })
      )
  )

  it.live("RPC: startup waits for a node behind the checkpoint", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { source } = yield* node(healthy)
        const cursor = JSON.stringify({ height: 800_001, hashes: ["01"], told: 0, by: "" })
        assert.match(yield* reason(source.activity(cursor, none)), /must catch up first/)
      })
    )
  )

  it.live("RPC: a node whose chain contains none of the last 144 blocks that were read is rejected", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { source } = yield* node((call) =>
          call.method === "getblockhash" ? { result: "ff" } : healthy(call)
        )
        const hashes = Array.from({ length: 144 }, (_, n) => String(n))
        assert.match(
          yield* reason(source.activity(JSON.stringify({ height: 800_000, hashes, told: 0, by: "" }), none)),
          /another chain/
        )
      })
    )
  )
})

const served = Layer.provideMerge(EsploraServer.layer, Sandbox.layer({ seed: "served", network: "regtest" }))

describe("an Esplora server", () => {
  for (const [what, instead, expected] of [
    ["whose proxy returns 404", { status: 404, body: "<html>not found</html>" }, /404/],
    ["whose gateway returns 404", { status: 404, body: '{"message":"Not Found"}' }, /404/],
    ["whose router returns 404", { status: 404, body: "404 page not found" }, /404/],
    ["that has no such route", { status: 404, body: 'endpoint does not exist "/tx"' }, /404/],
    ["that is overloaded", { status: 503, body: "busy" }, /503/],
    ["that rate-limits us", { status: 429, body: "Too Many Requests" }, /429/],
    ["that returns something else", { status: 200, body: "{}" }, /Missing key|Expected/]
  ] as const) {
    it.live(`Esplora: a server ${what} counts as an outage, and no transaction is reported as missing`, () =>
      Effect.gen(function* () {
        const server = yield* EsploraServer.EsploraServer
        const source = Esplora.make({ url: server.url, beginning: { height: 100 } })
        const txId = TxId.make("0f".repeat(32))
        assert.deepStrictEqual(yield* source.transaction(txId), { _tag: "gone" })
        server.interfere = (path) => (path.startsWith("/tx") ? instead : undefined)
        assert.match(yield* reason(source.transaction(txId)), expected)
        server.interfere = () => instead
        assert.isString(yield* reason(source.activity(null, none)))
        assert.isString(yield* reason(source.feeRate))
      }).pipe(Effect.provide(served))
    )
  }

  it.live(
    "Esplora: if a transaction is missing and a new block arrives, the transaction is requested again",
    () =>
      Effect.gen(function* () {
        const server = yield* EsploraServer.EsploraServer
        const sandbox = yield* Sandbox.Sandbox
        const source = Esplora.make({ url: server.url, beginning: { height: 100 } })
        const { destination } = yield* sandbox.destination({ type: "chain_address" })
        const txId = yield* sandbox.send({ address: destination, amount: Msat.fromSats(50_000) })
        // The transaction has left the mempool, and its block appears only when the tip is requested again.
        let looks = 0
        server.interfere = (path) =>
          path === `/tx/${txId}` && ++looks <= 2 ? { status: 404, body: "Transaction not found" } : undefined
        const tips = ["", "0d".repeat(32)]
        const interfere = server.interfere
        server.interfere = (path) => {
          const tip = path === "/blocks/tip/hash" && looks === 2 ? tips.pop() : ""
          return tip === undefined || tip === "" ? interfere(path) : { status: 200, body: tip }
        }
        assert.deepStrictEqual(yield* source.transaction(txId), { _tag: "mempool" })
        assert.strictEqual(looks, 3)
      }).pipe(Effect.provide(served))
  )

  it.live(
    "Esplora: while the tip differs between requests, as behind a load balancer, no transaction is reported as missing",
    () =>
      Effect.gen(function* () {
        const server = yield* EsploraServer.EsploraServer
        const source = Esplora.make({ url: server.url, beginning: { height: 100 } })
        const [, oldest = ""] = yield* Effect.forEach([0, 1], (height) =>
          Effect.promise(async () => (await fetch(`${server.url}/block-height/${height}`)).text())
        )
        let asked = 0
        server.interfere = (path) =>
          path === "/blocks/tip/hash" && ++asked % 2 === 0 ? { status: 200, body: oldest } : undefined
        assert.match(yield* reason(source.transaction(TxId.make("0f".repeat(32)))), /kept changing/)
      }).pipe(Effect.provide(served))
  )

  it.live(
    "Esplora: while a server is behind a tip that it reported earlier, no transaction is reported as missing",
    () =>
      Effect.gen(function* () {
        const server = yield* EsploraServer.EsploraServer
        const source = Esplora.make({ url: server.url, beginning: { height: 100 } })
        const { height } = yield* source.tip
        const older = yield* Effect.promise(async () =>
          (await fetch(`${server.url}/block-height/${height - 1}`)).text()
        )
        server.interfere = (path) => (path === "/blocks/tip/hash" ? { status: 200, body: older } : undefined)
        assert.match(
          yield* reason(source.transaction(TxId.make("0f".repeat(32)))),
          new RegExp(`at block ${height - 1}, and was at ${height} before`)
        )
      }).pipe(Effect.provide(served))
  )

  it.live("Esplora: a block other than the requested one is rejected", () =>
    Effect.gen(function* () {
      const server = yield* EsploraServer.EsploraServer
      const source = Esplora.make({ url: server.url, beginning: { height: 100 } })
      server.interfere = (path) =>
        path.endsWith("/raw") ? { status: 200, body: "0".repeat(100) } : undefined
      assert.match(yield* reason(source.activity(null, none)), /a block other than/)
    }).pipe(Effect.provide(served))
  )

  it.live(
    "Esplora: the source requests whole blocks from the wallet's birthday on, and never reveals an address",
    () =>
      Effect.gen(function* () {
        const server = yield* EsploraServer.EsploraServer
        const { mine } = yield* Sandbox.Sandbox
        yield* mine(30)
        const source = Esplora.make({
          url: server.url,
          beginning: { birthdaySeconds: 1_700_000_000 + 130 * 600 }
        })
        const { tip, unchangedTo } = yield* source.activity(null, none)
        assert.strictEqual(tip.height, 139)
        // The source begins three hours (18 blocks) before the birthday, because clocks differ.
        assert.strictEqual(unchangedTo, 130 - 18 - 1)
        assert.isTrue(
          server.asked.every((path) => /^\/(blocks|block|block-height|mempool|tx|fee-estimates)/.test(path))
        )
        assert.strictEqual(yield* source.feeRate, 13)
      }).pipe(Effect.provide(served))
  )
})
