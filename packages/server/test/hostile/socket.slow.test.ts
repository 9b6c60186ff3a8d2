import { afterAll, assert, describe, it } from "@effect/vitest"
import * as OpenApi from "@satrail/testing/OpenApi"
import { ManagedRuntime } from "effect"
import { HttpServer } from "effect/http"
import { differences } from "../../../http/test/Watched.ts"
import { type Draft, shortest, show, wireOf } from "./Draft.ts"
import * as Judge from "./Judge.ts"
import * as Mangle from "./Mangle.ts"
import * as Raw from "./Raw.ts"
import * as Store from "./Store.ts"
import * as Suite from "./Suite.ts"

const world = await Suite.open(Store.memory())
const runtime = ManagedRuntime.make(world.server)
const { address } = await runtime.runPromise(HttpServer.HttpServer)
const port = "port" in address ? address.port : assert.fail("no port")
afterAll(async () => {
  await runtime.dispose()
  await world.dispose()
})

const send = async (draft: Draft) => {
  const [answer, ...more] = await Raw.ask(port, wireOf(draft), draft.method)
  return answer !== undefined && more.length === 0
    ? answer
    : assert.fail(`not exactly one response to ${show(wireOf(draft))}`)
}

/** How long to wait for a response to bytes that may not be a request. */
const quietMillis = 50

describe("hostile requests over a connection", () => {
  it("hostile: each request over a connection gets one documented envelope, and a rejected request changes nothing", async () => {
    const { operations, refused } = await Suite.sendAll(world, 2000, send, OpenApi.hasEnd)
    assert.isAbove(refused.size, operations.length / 2)
  })

  it("hostile: bytes that barely resemble a request get envelopes or no response, and change nothing if they are rejected", async () => {
    // It is unknown whether mangled bytes stopped or limited something, so operations that do so are left out.
    const { document, random, next } = await Suite.read(
      world,
      send,
      (one) => Suite.leavesRunning(one) && OpenApi.hasEnd(one)
    )
    let answered = 0
    for (let sent = 0; sent < 1500;) {
      const draft = { ...next(), isBent: true }
      if (draft.method === "HEAD") continue // a mangled request may have another method, which decides whether the response has a body
      const problemsOf = async (bytes: Buffer) => {
        const before = await world.store.look()
        const answers = await Raw.ask(port, bytes, draft.method, quietMillis)
        const isRefused = answers.length > 0 && answers.every((answer) => Judge.isRefusal(draft, answer))
        const changed = isRefused ? differences(before, await world.store.look()) : []
        const problems = answers.flatMap((answer) => Judge.problems(document, draft, answer))
        return { answers, problems: [...problems, ...changed.map((name) => `${name} changed`)] }
      }
      const bytes = Mangle.mangled(random, draft)
      const { answers, problems } = await problemsOf(bytes)
      if (problems.length > 0) {
        const fails = async (one: Buffer) => (await problemsOf(one)).problems.join() === problems.join()
        const least = await shortest(bytes, Mangle.smaller, fails)
        assert.fail(Suite.told(sent, problems, least, (await problemsOf(least)).answers.at(-1)))
      }
      sent += 1
      if (answers.length > 0) answered += 1
    }
    assert.isAbove(answered, 1000)
  })
})
