import type { Reads } from "@satrail/ui/console/Api"
import { assert, describe, it } from "@effect/vitest"
import { Headers } from "effect/http"
import * as ConsoleApi from "../src/pages/ConsoleApi.ts"

const counting = (padding = "") => {
  const sent: Array<string> = []
  const send: ConsoleApi.Send = async (method, path) => {
    sent.push(`${method} ${path}`)
    return { status: 200, headers: Headers.empty, text: `{"data":${sent.length}}${padding}` }
  }
  return { sent, api: ConsoleApi.make(send, {} as Reads) }
}

describe("the API that a console page uses", () => {
  it("console: the parts of a page share the result of a read until the next write", async () => {
    const { sent, api } = counting()
    const reads = () => Promise.all([api.call("GET /v1/account"), api.call("GET /v1/account")])
    const [first, second] = await reads()
    assert.strictEqual(first, second)
    await api.call("GET /v1/transactions", { query: { limit: 8 } })
    await api.call("GET /v1/transactions", { query: { limit: 9 } })
    await api.call("POST /v1/vouchers/{id}/cancel", { params: { id: "1" } })
    await reads()
    assert.deepStrictEqual(sent, [
      "GET /v1/account",
      "GET /v1/transactions?limit=8",
      "GET /v1/transactions?limit=9",
      "POST /v1/vouchers/1/cancel",
      "GET /v1/account"
    ])
  })

  it("console: a long response is shared by the parts that wait for it, but not kept", async () => {
    const { sent, api } = counting(" ".repeat(1_000_000))
    const read = () => api.page("GET /v1/transactions", { query: { limit: 1000 } })
    const [first, second] = await Promise.all([read(), read()])
    assert.deepStrictEqual([first, sent.length], [second, 1])
    await read()
    assert.lengthOf(sent, 2)
  })
})
