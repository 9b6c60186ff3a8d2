import { assert, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import type * as Follower from "../src/Follower.ts"
import * as Keys from "../src/Keys.ts"
import * as Rescan from "../src/Rescan.ts"
import { accounts } from "./Ours.ts"

it.effect("C60: rescan: a rescan fails when a block below the tip is not found, instead of reporting fewer coins", () =>
  Effect.gen(function* () {
    const empty = Buffer.concat([Buffer.alloc(80), Buffer.of(0)])
    const node: Follower.Node = {
      tip: Effect.succeed({ height: 3, hash: "03" }),
      hashAt: (height) => Effect.succeed(height < 2 ? Option.some(String(height)) : Option.none()),
      timeSecondsAt: () => Effect.succeed(0),
      block: () => Effect.succeed(empty),
      waiting: Effect.succeed([]),
      transactions: () => Effect.succeed([])
    }
    const failed = yield* Effect.flip(Rescan.scan(node, Keys.make(accounts), { fromHeight: 0, gap: 1 }))
    assert.match(String(failed.cause), /block 2 of 3/)
  })
)
