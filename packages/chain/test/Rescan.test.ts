import { assert, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Block from "../src/Block.ts"
import type * as Follower from "../src/Follower.ts"
import * as Keys from "../src/Keys.ts"
import * as Rescan from "../src/Rescan.ts"
import { accounts } from "./Ours.ts"

/** A node whose block `n` is the `n`th of these. The blocks from `lost` on are not found. */
const nodeOf = (blocks: ReadonlyArray<Buffer>, lost = blocks.length): Follower.Node => {
  const byHash = new Map<string, Buffer>()
  for (const block of blocks) {
    const [last = "00".repeat(32)] = [...byHash.keys()].slice(-1)
    const linked = Buffer.concat([
      block.subarray(0, 4),
      Buffer.from(last, "hex").toReversed(),
      block.subarray(36)
    ])
    byHash.set(Block.hashOf(linked), linked)
  }
  const hashes = [...byHash.keys()]
  return {
    tip: Effect.succeed({ height: blocks.length - 1, hash: "" }),
    hashAt: (height) =>
      Effect.succeed(height < lost ? Option.fromUndefinedOr(hashes[height]) : Option.none()),
    timeSecondsAt: () => Effect.succeed(0),
    block: (hash) => Effect.succeed(byHash.get(hash) ?? assert.fail("no block")),
    waiting: Effect.succeed([]),
    transactions: () => Effect.succeed([])
  }
}

const empty = Buffer.concat([Buffer.alloc(80), Buffer.of(0)])

/** A block with one transaction, which pays 1000 sats to this script. */
const paying = (scriptPubKey: string) => {
  const script = Buffer.from(scriptPubKey, "hex")
  const input = Buffer.concat([Buffer.alloc(36, 1), Buffer.of(0), Buffer.alloc(4)])
  const amount = Buffer.alloc(8)
  amount.writeBigUInt64LE(1000n)
  const tx = [
    Buffer.alloc(4, 2),
    Buffer.of(1),
    input,
    Buffer.of(1),
    amount,
    Buffer.of(script.length),
    script,
    Buffer.alloc(4)
  ]
  return Buffer.concat([Buffer.alloc(80, 1), Buffer.of(1), ...tx])
}

it.effect(
  "C60: rescan: a rescan fails when a block below the tip is not found, instead of reporting fewer coins",
  () =>
    Effect.gen(function* () {
      const node = nodeOf([empty, empty, empty, empty], 2)
      const failed = yield* Effect.flip(Rescan.scan(node, Keys.make(accounts), { fromHeight: 0, gap: 1 }))
      assert.match(String(failed.cause), /block 2 of 3/)
    })
)

it.effect(
  "rescan: a rescan fails when the chain is reorganized meanwhile, instead of missing a payment that moves to an earlier block",
  () =>
    Effect.gen(function* () {
      const keys = Keys.make(accounts)
      const paid = paying(keys.key({ type: "segwit", branch: 0, index: 0 }).address.scriptPubKey)
      const [before, after] = [nodeOf([empty, empty, paid, empty]), nodeOf([empty, paid, empty, empty])]
      let asked = 0
      const node = {
        ...before,
        hashAt: (height: number) => (asked++ < 2 ? before : after).hashAt(height),
        block: (hash: string) => (asked <= 2 ? before : after).block(hash)
      }
      const failed = yield* Effect.flip(Rescan.scan(node, keys, { fromHeight: 0, gap: 1 }))
      assert.match(String(failed.cause), /block 1 of 3/)
    })
)

it.effect(
  "rescan: a payment to a key after the reserved ones is found, although no earlier key was paid in the blocks read",
  () =>
    Effect.gen(function* () {
      const keys = Keys.make(accounts)
      const place = { type: "segwit", branch: 0, index: 22 } as const
      const node = nodeOf([paying(keys.key(place).address.scriptPubKey)])
      const reserved = [{ type: "segwit", branch: 0, next: 20 } as const]
      const { coins, next } = yield* Rescan.scan(node, keys, { fromHeight: 0, gap: 5, reserved })
      assert.deepStrictEqual(
        coins.map(({ index }) => index),
        [place.index]
      )
      assert.deepInclude(next, { type: "segwit", branch: 0, next: 23 })
    })
)
