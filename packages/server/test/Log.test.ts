import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Log from "../src/deployment/Log.ts"

it("log: the human-readable format prints one line per request but omits successful reads by the console", async () => {
  const printed: Array<string> = []
  const write = process.stderr.write
  process.stderr.write = (text: unknown) => printed.push(String(text)) > 0
  try {
    await Effect.gen(function* () {
      yield* Effect.logInfo("request", { method: "GET", route: "/v1/events", status: 200, ms: 1.5 })
      yield* Effect.logInfo("request", {
        method: "GET",
        route: "/v1/account",
        status: 200,
        ms: 1,
        by: "console"
      })
      yield* Effect.logInfo("request", {
        method: "GET",
        route: "/v1/account",
        status: 401,
        ms: 1,
        by: "console"
      })
    }).pipe(Effect.provide(Log.layer({ logFormat: "pretty", logLevel: "Info" })), Effect.runPromise)
  } finally {
    process.stderr.write = write
  }
  assert.deepStrictEqual(
    printed.map((line) => line.replace(/^\d\d:\d\d:\d\d /, "")),
    ["GET /v1/events 200 1.5 ms\n", "GET /v1/account 401 1 ms\n"]
  )
})

it("log: an error of standard error, such as a full disk, does not end the process, also not for the last lines", async () => {
  const fail = () => process.stderr.emit("error", new Error("ENOSPC: no space left on device, write"))
  const before = process.stderr.listenerCount("error")
  for (let starts = 0; starts < 2; starts++) {
    // Without a listener, this throws.
    const used = Effect.andThen(Effect.logInfo("before"), Effect.sync(fail))
    await Effect.runPromise(Effect.provide(used, Log.layer({ logFormat: "json", logLevel: "Warn" })))
    // The last lines are written when the log is closed, and the error follows.
    assert.isTrue(fail())
  }
  assert.isAtMost(process.stderr.listenerCount("error"), before + 1)
})
