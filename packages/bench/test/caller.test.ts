import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Caller from "../src/Caller.ts"
import { server } from "./HttpServer.ts"

it.live("bench caller: asks again on a new connection where the server has closed the one that it kept", () =>
  Effect.scoped(
    Effect.gen(function* () {
      const used = new Map<object, number>()
      const port = yield* server(({ socket }, response) => {
        const before = used.get(socket) ?? 0
        used.set(socket, before + 1)
        if (before > 0) socket.resetAndDestroy()
        else response.end('"well"')
      })
      const ask = Caller.make(port, {})
      const first = yield* ask("GET", "/", Schema.String)
      yield* Effect.promise(() => new Promise(setImmediate)) // its connection is free then
      const answers = [first, yield* ask("GET", "/", Schema.String)]
      assert.deepStrictEqual(answers, ["well", "well"])
      assert.deepStrictEqual([...used.values()], [2, 1])
    })
  )
)
