import { assert, describe, it } from "@effect/vitest"
import { answerTo } from "@satrail/testing/answerTo"
import { boundPort } from "@satrail/testing/boundPort"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Listener from "../src/serving/Listener.ts"
import { smallParts } from "../src/serving/SmallParts.ts"

describe("bodies in small parts", () => {
  const head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
  const chunks = (count: number) => "1\r\nx\r\n".repeat(count)
  const end = "0\r\n\r\n"

  /** Returns everything that a server with this handler sends in response to `text`, as {@link answerTo} does. */
  const answered = async (
    text: string,
    handle: (request: IncomingMessage, response: ServerResponse) => void,
    rest = ""
  ) => {
    const server = Listener.make().on("request", handle).listen(0, "127.0.0.1")
    const answer = await answerTo(await boundPort(server), text, rest)
    await once(server.close(), "close")
    return answer
  }

  const counting = (request: IncomingMessage, response: ServerResponse) => {
    let bytes = 0
    request
      .on("data", ({ length }: Uint8Array) => (bytes += length))
      .on("end", () => response.end(`<${bytes}>`))
  }
  const closing = "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"

  it("listener: a body in many small parts, and a large body in parts of ordinary size, are read", async () => {
    const answer = await answered(head + chunks(smallParts.count) + end + closing, counting)
    assert.deepStrictEqual(answer.match(/<\d+>/g), [`<${smallParts.count}>`, "<0>"])
    const [part, count] = [smallParts.meanBytes, 2 * smallParts.count]
    const large = head + `${part.toString(16)}\r\n${"x".repeat(part)}\r\n`.repeat(count) + end + closing
    assert.deepStrictEqual((await answered(large, counting)).match(/<\d+>/g), [`<${part * count}>`, "<0>"])
  })

  it("listener: a body in too many small parts is refused with 413, and the rest of it is not read", async () => {
    let received = 0
    const answer = await answered(head + chunks(4 * smallParts.count), (request) => {
      request.on("data", () => received++)
    })
    assert.match(answer, /^HTTP\/1\.1 413 /)
    assert.include(answer, '"code":"body_too_large"')
    assert.isAtMost(received, smallParts.count + smallParts.count / smallParts.meanBytes + 1)
  })

  it("listener: once the response is sent, the rest of a body in too many small parts ends the connection", async () => {
    const refusing = (_: IncomingMessage, response: ServerResponse) => response.writeHead(401).end("<no>")
    const answer = await answered(head + chunks(1), refusing, chunks(4 * smallParts.count))
    assert.match(answer, /^HTTP\/1\.1 401 [^]*<no>/)
    assert.strictEqual(answer.match(/HTTP\/1\.1/g)?.length, 1)
    assert.match(
      await answered(head + chunks(1), refusing, chunks(smallParts.count - 1) + end + closing),
      /<no>[^]*<no>/
    )
  })
})
