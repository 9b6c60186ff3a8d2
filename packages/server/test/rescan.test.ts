import { assert, it } from "@effect/vitest"
import * as Rescan from "@satrail/chain/Rescan"
import * as Follower from "@satrail/chain/Follower"
import * as Id from "@satrail/core/base/Id"
import * as Cursor from "@satrail/core/ledger/Cursor"
import { Journal } from "@satrail/core/ledger/Journal"
import * as KeyRange from "@satrail/core/receiving/KeyRange"
import { Records } from "@satrail/core/service/Records"
import * as Memory from "@satrail/memory/Memory"
import { Effect, Exit } from "effect"
import { refuseGap, reserve } from "../src/commands/Rescan.ts"
import { run } from "./CommandLine.ts"

const wallet = "00".repeat(4)
const type = "segwit"

/** Returns the next keys of the receiving and the change branch, after a rescan of a wallet restored with 100 keys each. */
const afterRescan = Effect.fnUntraced(function* (used: readonly [number, number], gap: number) {
  const records = yield* Records
  for (const branch of [0, 1] as const) {
    const range = { id: yield* Id.make, wallet, type, branch, first: 0, next: 100 } as const
    yield* (yield* Journal).commit(KeyRange.reserved(range, 0))
  }
  const found = { coins: [], next: used.map((next, at) => ({ type, branch: at === 0 ? 0 : 1, next }) as const) }
  // Another rescan skips no more keys.
  for (const _ of [1, 2]) yield* reserve(wallet, found, gap)
  return [yield* records.nextKey(wallet, type, 0), yield* records.nextKey(wallet, type, 1)]
})

for (const [what, used, next] of [
  ["if one of them was paid", [106, 103], [606, 103]],
  ["if none of them was paid", [95, 90], [595, 100]]
] as const) {
  it.effect(`rescan: addresses issued after the backup are not issued again, ${what}`, () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* afterRescan(used, Rescan.usualGap), [...next])
    }).pipe(Effect.provide(Memory.layer))
  )
}

it.effect("rescan: a height after the next unread block is refused, because deposits in the blocks between would never be credited", () =>
  Effect.gen(function* () {
    const refused = Effect.fnUntraced(function* (fromHeight: number) {
      const exit = yield* Effect.exit(refuseGap(fromHeight, 500))
      return Exit.isSuccess(exit) ? undefined : String(exit.cause)
    })
    assert.isUndefined(yield* refused(500), "nothing was read yet")
    assert.include(yield* refused(501), "--from-height must be at most 500")
    const cursor = { source: "chain", value: Follower.cursorBefore(101) }
    yield* (yield* Journal).commit(Cursor.moved(cursor, yield* Id.make, 0))
    assert.isUndefined(yield* refused(101))
    assert.include(yield* refused(102), "--from-height must be at most 101. From a later block, the service would skip blocks")
  }).pipe(Effect.provide(Memory.layer))
)

for (const args of ["--from-height=-1", "--from-height 1 --gap 0"]) {
  it.effect(`rescan: ${args} is refused before anything is read`, () =>
    Effect.gen(function* () {
      const { exit, stderr } = yield* run(`wallet rescan ${args}`, { SATRAIL_DATA: "/nowhere" })
      assert.isTrue(Exit.isFailure(exit))
      assert.include(stderr, "Expected a whole number from")
    })
  )
}
