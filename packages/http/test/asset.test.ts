import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
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
const bytesOf = ({ body }: Awaited<ReturnType<typeof answer>>) => (body._tag === "Uint8Array" ? body.body : assert.fail(body._tag))

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
    assert.deepStrictEqual([head.status, head.body._tag, { ...head.headers }], [200, "Empty", { ...get.headers }])
    assert.strictEqual(get.headers["content-length"], String(text.length))
  })
})
