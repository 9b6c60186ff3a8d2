import { Console, Effect } from "effect"
import * as Btcd from "../src/Btcd.ts"
import { Chain } from "../src/Chain.ts"

// Starts a chain, prints its location, and waits to be killed.
await Effect.runPromise(
  Effect.gen(function* () {
    const { certificateFile, port } = yield* Chain
    yield* Console.log(JSON.stringify({ certificateFile, port }))
    yield* Effect.never
  }).pipe(Effect.provide(Btcd.layer))
)
