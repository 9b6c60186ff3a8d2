import { assert, it } from "@effect/vitest"
import { Effect, Ref } from "effect"
import * as World from "../src/World.ts"

it.effect(
  "sandbox events: a subscriber receives each change once, however quickly the changes follow each other",
  () =>
    Effect.gen(function* () {
      const world = yield* World.make({ seed: "changes", network: "regtest" })
      const heard = yield* Ref.make(0)
      const hear = Effect.andThen(
        Effect.suspend(() => world.changed()),
        Ref.update(heard, (count) => count + 1)
      )
      // The limit ends a busy loop, if there is one.
      yield* Effect.forkChild(Effect.repeat(hear, { times: 100 }), { startImmediately: true })
      yield* world.setPaused("node", true)
      assert.strictEqual(yield* Ref.get(heard), 1)
      yield* world.setPaused("node", false)
      assert.strictEqual(yield* Ref.get(heard), 2)
    })
)
