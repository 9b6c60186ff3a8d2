import { assert, it } from "@effect/vitest"
import * as Rescan from "@satrail/chain/Rescan"
import * as Id from "@satrail/core/base/Id"
import { Journal } from "@satrail/core/ledger/Journal"
import * as KeyRange from "@satrail/core/receiving/KeyRange"
import { Records } from "@satrail/core/service/Records"
import * as Memory from "@satrail/memory/Memory"
import { Effect } from "effect"
import { reserve } from "../src/commands/Rescan.ts"

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
