import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Chain } from "../src/Chain.ts"
import * as Miner from "../src/Miner.ts"
import * as Real from "../src/Real.ts"

const hashAt = Effect.fnUntraced(function* (height: number) {
  return yield* (yield* Chain).call("getblockhash", [height], Schema.String)
})

Real.onChain("a real node", () => {
  it.layer(Real.chain, { excludeTestServices: true })("a chain of our own", (it) => {
    it.effect("chain: a node mines blocks on request", () =>
      Effect.gen(function* () {
        const { height, mine } = yield* Chain
        const before = yield* height
        const hashes = yield* mine(3)
        assert.strictEqual(yield* height, before + 3)
        assert.strictEqual(yield* hashAt(before + 3), hashes[2])
      })
    )

    it.effect("chain: a longer branch replaces blocks", () =>
      Effect.gen(function* () {
        const { height, mine, reorg } = yield* Chain
        const old = yield* mine(2)
        const top = yield* height
        const fresh = yield* reorg(2)
        assert.strictEqual(yield* height, top + 1)
        assert.strictEqual(yield* hashAt(top), fresh[1])
        assert.notInclude(old, fresh[1])
      })
    )

    it.effect("chain: payments spend the miner's coins", () =>
      Effect.gen(function* () {
        const { call, mine, send } = yield* Chain
        yield* mine(Miner.firstBlocks)
        const ids = [yield* send(Miner.address, 1_000n), yield* send(Miner.address, 2_000n)]
        const [hash = ""] = yield* mine(1)
        const { tx } = yield* call("getblock", [hash, 1], Schema.Struct({ tx: Schema.Array(Schema.String) }))
        assert.includeMembers([...tx], ids)
      })
    )

    it.effect("chain: a paused node does not respond, and loses nothing", () =>
      Effect.gen(function* () {
        const { height, mine, pause, resume } = yield* Chain
        yield* mine(1)
        const top = yield* height
        yield* pause
        assert.strictEqual((yield* Effect.option(Effect.timeout(height, "200 millis")))._tag, "None")
        yield* resume
        assert.strictEqual(yield* height, top)
      })
    )
  })
})
