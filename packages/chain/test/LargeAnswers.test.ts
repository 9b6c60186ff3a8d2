import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as BitcoinRpc from "../src/BitcoinRpc.ts"
import * as Block from "../src/Block.ts"
import { healthy, info, node } from "./RpcServer.ts"

const ours = "51"
const mine = (scripts: ReadonlyArray<string>) =>
  Effect.succeed(new Set(scripts.filter((script) => script === ours)))

/** A transaction in hex with one output to a script of one byte, and a witness of this many bytes. */
const transaction = (n: number, script: string, witnessBytes: number): string => {
  const length = Buffer.alloc(4)
  length.writeUInt32LE(witnessBytes)
  const input = `${Buffer.alloc(36, n).toString("hex")}00ffffffff`
  const output = `010000000000000001${script}`
  const witness = `01fe${length.toString("hex")}${"00".repeat(witnessBytes)}`
  return `02000000000101${input}01${output}${witness}00000000`
}

for (const [what, count, witnessBytes] of [
  ["43 mempool transactions of the largest standard size", 43, 399_000],
  ["5 mempool transactions of the largest valid size", 5, 3_999_000]
] as const) {
  it.live(`RPC: ${what} are read, although their response as one batch would be too large`, () =>
    Effect.scoped(
      Effect.gen(function* () {
        const raw = Array.from({ length: count }, (_, n) =>
          transaction(n, n === count - 1 ? ours : "52", witnessBytes)
        )
        const byId = new Map(raw.map((hex) => [Block.txIdOf(hex), hex]))
        const { options } = yield* node((call) => {
          if (call.method === "getrawmempool") return { result: [...byId.keys()] }
          const found = [...byId].find(([txId]) => txId === call.params[0])
          return call.method === "getrawtransaction" && found ? { result: found[1] } : healthy(call)
        })
        const source = BitcoinRpc.make({ ...options, beginning: { height: info.blocks + 1 } })
        const { outputs } = yield* source.activity(null, mine)
        assert.deepStrictEqual(
          outputs.map(({ txId }) => txId),
          [[...byId.keys()].at(-1)]
        )
      })
    )
  )
}

it.live("RPC: a response that is too large is reported as such, not as a node that cannot be reached", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const { source } = yield* node(() => ({ text: " ".repeat(33 * 1024 * 1024) }))
      const { reason, remedy } = yield* Effect.flip(source.tip)
      assert.strictEqual(reason, "a response is larger than 32 MiB")
      assert.match(String(remedy), /maxmempool/)
    })
  )
)
