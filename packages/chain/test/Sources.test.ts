import { assert, describe, it } from "@effect/vitest"
import type { ChainUnavailable } from "@satrail/core/ChainSource"
import * as Sandbox from "@satrail/sandbox/Sandbox"
import { Effect, Layer, Redacted } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { text } from "node:stream/consumers"
import * as BitcoinRpc from "../src/BitcoinRpc.ts"
import * as Esplora from "../src/Esplora.ts"
import * as EsploraServer from "./EsploraServer.ts"

const none = () => Effect.succeed(new Set<string>())

/** What a source says of itself when it does not answer. */
const reason = <A>(effect: Effect.Effect<A, ChainUnavailable>) => Effect.map(Effect.flip(effect), ({ cause }) => String(cause))

interface Call {
  readonly method: string
  readonly params: ReadonlyArray<unknown>
}
type Said = {
  readonly status?: number
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
  readonly text?: string
}

/** A bitcoin node that says what it is told to. */
const node = Effect.fnUntraced(function* (answer: (call: Call) => Said) {
  const reply = async (request: IncomingMessage, response: ServerResponse) => {
    const { status = 200, result = null, error = null, text: said } = answer(JSON.parse(await text(request)))
    response.writeHead(status).end(said ?? JSON.stringify({ id: 1, result, error }))
  }
  const server = createServer((request, response) => {
    void reply(request, response)
  })
  const address = yield* Effect.acquireRelease(
    Effect.callback<string>((resume) => {
      server.listen(0, "127.0.0.1", () => {
        const at = server.address()
        resume(Effect.succeed(`http://127.0.0.1:${typeof at === "object" ? at?.port : ""}`))
      })
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.closeAllConnections()
        server.close(() => resume(Effect.void))
      })
  )
  const options: BitcoinRpc.Options = {
    url: address,
    user: "u",
    password: Redacted.make("secret-of-ours"),
    network: "mainnet",
    beginning: { height: 0 },
    patienceMillis: 1000
  }
  return { options, source: BitcoinRpc.make(options) }
})

const info = { chain: "main", blocks: 800_000, headers: 800_000, bestblockhash: "00", initialblockdownload: false }
const healthy = (call: Call): Said =>
  call.method === "getblockchaininfo" ? { result: info } : { error: { code: -5, message: "No such transaction" } }

describe("A node over RPC", () => {
  for (const [what, answer, expected] of [
    ["that refuses our password", () => ({ status: 401, text: "" }), /refuses our user and password/],
    ["of another network", () => ({ result: { ...info, chain: "test" } }), /on test, and this service on mainnet/],
    ["that is loading", () => ({ error: { code: -28, message: "Loading block index…" } }), /starting: Loading/],
    ["that is in its first download", () => ({ result: { ...info, initialblockdownload: true } }), /catching up/],
    ["that lacks blocks it has heard of", () => ({ result: { ...info, blocks: 799_000 } }), /799000 of 800000/],
    ["that is none", () => ({ text: "<html>hello</html>" }), /no JSON-RPC/],
    ["whose answer is not what was asked for", () => ({ result: 7 }), /Expected/]
  ] as const satisfies ReadonlyArray<readonly [string, (call: Call) => Said, RegExp]>) {
    it.live(`${what} is away, and says nothing is gone`, () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { source } = yield* node(answer)
          assert.match(yield* reason(source.tip), expected)
          assert.match(yield* reason(source.transaction("ab".repeat(32))), expected)
          assert.match(yield* reason(source.activity(null, none)), expected)
          const rawTx = "0100000001" + "00".repeat(36) + "00ffffffff0100000000000000000000000000"
          assert.deepStrictEqual(yield* source.broadcast(rawTx), { _tag: "unknown" })
          assert.notInclude(yield* reason(source.tip), "secret-of-ours")
        })
      )
    )
  }

  it.live("that is well knows what is gone", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { source } = yield* node(healthy)
        assert.deepStrictEqual(yield* source.transaction("ab".repeat(32)), { _tag: "gone" })
      })
    )
  )

  it.live("that refuses for another reason than not knowing says nothing is gone", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { source } = yield* node((call) =>
          call.method === "getblockchaininfo" ? { result: info } : { error: { code: -1, message: "out of memory" } }
        )
        assert.match(yield* reason(source.transaction("ab".repeat(32))), /out of memory/)
      })
    )
  )

  it.live("that is not there is waited for; one that can never be the right one stops the start", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { options } = yield* node(() => ({ status: 401 }))
        yield* BitcoinRpc.check({ ...options, url: "http://127.0.0.1:1" })
        assert.include((yield* Effect.flip(BitcoinRpc.check(options))).message, "user and password")
        const other = yield* node(() => ({ result: { ...info, chain: "regtest" } }))
        assert.include((yield* Effect.flip(BitcoinRpc.check(other.options))).message, "SATRAIL_NETWORK")
        const unindexed = yield* node(({ method }) =>
          method === "getblockchaininfo"
            ? { result: info }
            : method === "getblockhash"
              ? { result: "00" }
              : method === "getblock"
                ? { result: { tx: ["ab"] } }
                : { error: { code: -5, message: "Use -txindex" } }
        )
        assert.include((yield* Effect.flip(BitcoinRpc.check(unindexed.options))).message, "txindex=1")
      })
    )
  )

  it.live("behind what was read already is waited for", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { source } = yield* node(healthy)
        const cursor = JSON.stringify({ height: 800_001, hashes: ["01"], told: 0, by: "" })
        assert.match(yield* reason(source.activity(cursor, none)), /has to catch up first/)
      })
    )
  )

  it.live("of another chain is refused, however far one walks back", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { source } = yield* node((call) => (call.method === "getblockhash" ? { result: "ff" } : healthy(call)))
        const hashes = Array.from({ length: 144 }, (_, n) => String(n))
        assert.match(yield* reason(source.activity(JSON.stringify({ height: 800_000, hashes, told: 0, by: "" }), none)), /another chain/)
      })
    )
  )
})

const served = Layer.provideMerge(EsploraServer.layer, Sandbox.layer({ seed: "served", network: "regtest" }))

describe("A server that speaks Esplora", () => {
  for (const [what, instead, expected] of [
    ["whose proxy says 404", { status: 404, body: "<html>not found</html>" }, /404/],
    ["that is overloaded", { status: 503, body: "busy" }, /503/],
    ["that limits us", { status: 429, body: "Too Many Requests" }, /429/],
    ["that says something else", { status: 200, body: "{}" }, /Missing key|Expected/]
  ] as const) {
    it.live(`${what} is away, and says nothing is gone`, () =>
      Effect.gen(function* () {
        const server = yield* EsploraServer.EsploraServer
        const source = Esplora.make({ url: server.url, beginning: { height: 100 } })
        const txId = "0f".repeat(32)
        assert.deepStrictEqual(yield* source.transaction(txId), { _tag: "gone" })
        server.interfere = (path) => (path.startsWith("/tx") ? instead : undefined)
        assert.match(yield* reason(source.transaction(txId)), expected)
        server.interfere = () => instead
        assert.isString(yield* reason(source.activity(null, none)))
        assert.isString(yield* reason(source.feeRate))
      }).pipe(Effect.provide(served))
    )
  }

  it.live("that sends another block than was asked for is not believed", () =>
    Effect.gen(function* () {
      const server = yield* EsploraServer.EsploraServer
      const source = Esplora.make({ url: server.url, beginning: { height: 100 } })
      server.interfere = (path) => (path.endsWith("/raw") ? { status: 200, body: "0".repeat(100) } : undefined)
      assert.match(yield* reason(source.activity(null, none)), /another block/)
    }).pipe(Effect.provide(served))
  )

  it.live("is asked for whole blocks, and never for an address; a wallet's birthday says where to begin", () =>
    Effect.gen(function* () {
      const server = yield* EsploraServer.EsploraServer
      const { mine } = yield* Sandbox.Sandbox
      yield* mine(30)
      const source = Esplora.make({ url: server.url, beginning: { birthdaySeconds: 1_700_000_000 + 130 * 600 } })
      const { tip, unchangedTo } = yield* source.activity(null, none)
      assert.strictEqual(tip.height, 139)
      // Three hours before it: clocks differ.
      assert.strictEqual(unchangedTo, 130 - 18 - 1)
      assert.isTrue(server.asked.every((path) => /^\/(blocks|block|block-height|mempool|tx|fee-estimates)/.test(path)))
      assert.strictEqual(yield* source.feeRate, 13)
    }).pipe(Effect.provide(served))
  )
})
