import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { HttpServerRequest } from "effect/http"
import * as Asset from "../src/wire/Asset.ts"

const text = "a page ".repeat(10_000)
const asset = await Effect.runPromise(Asset.make(text, "text/plain"))
const answer = (init: RequestInit) =>
  Effect.runPromise(
    Effect.provideService(
      Asset.answer(asset),
      HttpServerRequest.HttpServerRequest,
      HttpServerRequest.fromWeb(new Request("http://service/a", init))
    )
  )
const bytesOf = ({ body }: Awaited<ReturnType<typeof answer>>) =>
  body._tag === "Uint8Array" ? body.body : assert.fail(body._tag)

describe("an asset", () => {
  it("asset: all uncompressed responses that are being sent share one copy of the content", async () => {
    const together = await Promise.all(Array.from({ length: 100 }, () => answer({})))
    const [first, ...others] = together.map(bytesOf)
    assert.strictEqual(new TextDecoder().decode(first), text)
    for (const other of others) assert.strictEqual(other, first)
    assert.strictEqual(bytesOf(await answer({})), first)
  })

  it("asset: the response to HEAD has the headers of GET and does not decompress the content", async () => {
    const [head, get] = [await answer({ method: "HEAD" }), await answer({})]
    assert.deepStrictEqual(
      [head.status, head.body._tag, { ...head.headers }],
      [200, "Empty", { ...get.headers }]
    )
    assert.strictEqual(get.headers["content-length"], String(text.length))
  })
})

it.effect("pages: an asset is made once, even if the clients that requested it first have left", () =>
  Effect.gen(function* () {
    let made = 0
    const ready = yield* Deferred.make<void>()
    const asset = yield* Asset.once(
      Effect.andThen(
        Effect.suspend(() => Effect.as(Deferred.await(ready), made++)),
        Asset.make("text", "text/plain")
      )
    )
    const ask = Effect.forkChild(asset)
    for (let n = 0; n < 3; n++) {
      const client = yield* ask
      yield* Effect.yieldNow
      client.interruptUnsafe()
      yield* Effect.yieldNow
    }
    const last = yield* ask
    yield* Deferred.succeed(ready, undefined)
    yield* Fiber.join(last)
    assert.strictEqual(made, 1)
  })
)

it.effect("pages: an asset that could not be made is made again for the next request", () =>
  Effect.gen(function* () {
    let isRead = false
    const asset = yield* Asset.once(
      Effect.suspend(() => (isRead ? Effect.succeed("text") : Effect.fail("too many open files")))
    )
    assert.strictEqual(yield* Effect.flip(asset), "too many open files")
    isRead = true
    assert.strictEqual(yield* asset, "text")
  })
)
