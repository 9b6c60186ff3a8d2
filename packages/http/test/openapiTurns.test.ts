import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { Api } from "../src/Api.ts"
import * as Docs from "../src/pages/Docs.ts"

it.effect("openapi: other requests are served while a document is made", () =>
  Effect.gen(function* () {
    for (const whom of ["customer", "operator"] as const) {
      let turns = 0
      yield* Effect.forkChild(
        Effect.forever(
          Effect.andThen(
            Effect.sync(() => turns++),
            Effect.yieldNow
          )
        )
      )
      const made = yield* Docs.document(whom, Api, "regtest")
      assert.isAtLeast(turns, 3, whom)
      assert.deepStrictEqual(made, Docs.documents(Api, { network: "regtest" })[whom])
    }
  })
)
