import { assert, describe, it } from "@effect/vitest"
import { eventually } from "@satrail/testing/Waiting"
import { Effect } from "effect"
import * as Load from "../src/Load.ts"
import * as Program from "../src/Program.ts"
import * as Subject from "../src/Subject.ts"
import { server } from "./HttpServer.ts"

const requests = ["GET /a HTTP/1.1\r\nHost: x\r\n\r\n", "GET /b HTTP/1.1\r\nHost: x\r\n\r\n"]
const short = { requests, clients: 4, warmupMillis: 0, millis: 200 }
const run = (load: Load.Load) => Effect.promise(() => Load.run(load))

describe("a load", () => {
  it.live("load: closed loop: requests are sent one after the other, and each response is counted", () =>
    Effect.gen(function* () {
      const seen = new Map<string, number>()
      const port = yield* server((request, response) => {
        seen.set(request.url ?? "", (seen.get(request.url ?? "") ?? 0) + 1)
        // The body is sent in two pieces, because a response ends only after its whole body.
        response.writeHead(200, { "content-length": 10 })
        response.write("12345")
        setImmediate(() => response.end("67890"))
      })
      const fresh = () => {
        seen.clear()
        return Load.run({ ...short, port })
      }
      // A machine that stalls may receive no response in the measured time.
      const outcome = yield* Effect.promise(() =>
        eventually("a measured response", fresh, ({ answered }) => answered > 0)
      )
      const [a = 0, b = 0] = [seen.get("/a"), seen.get("/b")]
      assert.strictEqual(outcome.bad, 0, outcome.firstBad)
      assert.deepStrictEqual([a, b], [Math.ceil(outcome.sent / 2), Math.floor(outcome.sent / 2)])
      assert.isAtMost(outcome.answered, outcome.sent)
      assert.strictEqual(outcome.perSecond, (outcome.answered * 1000) / short.millis)
      assert.isAtMost(outcome.p50Millis, outcome.p99Millis)
    })
  )

  it.live("load: unexpected responses are reported", () =>
    Effect.gen(function* () {
      const port = yield* server((request, response) => {
        response.writeHead(request.url === "/b" ? 503 : 200, { "content-length": 0 })
        response.end()
      })
      const { bad, sent, firstBad } = yield* run({ ...short, port })
      assert.strictEqual(bad, Math.floor(sent / 2))
      assert.strictEqual(firstBad, "the status was 503")
    })
  )

  it.live("load: a connection that the server closes is reported", () =>
    Effect.gen(function* () {
      const port = yield* server((request) => request.socket.destroy())
      const { bad, answered, firstBad } = yield* run({ ...short, port })
      assert.deepStrictEqual(
        { bad, answered, firstBad },
        { bad: 4, answered: 0, firstBad: "the server closed the connection" }
      )
    })
  )

  it.live("load: open loop: every request that is due is counted", () =>
    Effect.gen(function* () {
      let asked = 0
      const port = yield* server((_, response) => {
        asked++
        response.writeHead(204, { "content-length": 0 })
        response.end()
      })
      const outcome = yield* run({ ...short, port, perSecond: 500 })
      assert.strictEqual(outcome.bad, 0, outcome.firstBad)
      assert.strictEqual(outcome.answered, asked)
      assert.strictEqual(outcome.sent, asked)
    })
  )

  it.live("load: open loop: the latencies show that a server stalls", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { port } = yield* Program.server("stallingProgram", { sources: import.meta.dirname })
        const generator = yield* Subject.generator
        const { p99Millis } = yield* generator({
          ...short,
          port,
          clients: 2,
          warmupMillis: 200,
          millis: 3000,
          perSecond: 500
        })
        assert.isAtLeast(p99Millis, 200)
      })
    )
  )
})
