import { assert, describe, it } from "@effect/vitest"
import { boundPort } from "@satrail/testing/boundPort"
import { once } from "node:events"
import type { IncomingMessage, ServerResponse } from "node:http"
import { connect, type Socket } from "node:net"
import { setImmediate as turn } from "node:timers/promises"
import * as Listener from "../src/serving/Listener.ts"

describe("pipelined requests", () => {
  const get = "GET / HTTP/1.1\r\n\r\n"
  const start = async (handle: (response: ServerResponse, request: IncomingMessage) => void) => {
    const server = Listener.make().listen(0, "127.0.0.1")
    server.on("request", (request, response) => handle(response, request))
    server.on("checkContinue", (request, response) => {
      response.writeContinue()
      handle(response, request)
    })
    const port = await boundPort(server)
    const open = () => {
      const socket = connect(port, "127.0.0.1").on("error", () => {})
      const read = { text: "" }
      socket.setEncoding("utf8").on("data", (part: string) => (read.text += part))
      return { socket, read }
    }
    return { server, open }
  }
  const close = async (server: Awaited<ReturnType<typeof start>>["server"]) => {
    server.closeAllConnections()
    await once(server.close(), "close")
  }

  it("listener: pipelined requests begin one after another and get all their responses in order, whatever they expect", async () => {
    const count = 2000
    let [begun, open, most] = [0, 0, 0]
    const { server, open: connected } = await start((response) => {
      const answer = `<${begun++}>`
      most = Math.max(most, ++open)
      setImmediate(() => {
        open--
        response.end(answer)
      })
    })
    const { socket, read } = connected()
    socket.write(
      Array.from({ length: count }, (_, n) =>
        n % 3 === 0 ? get : `${get.slice(0, -2)}Expect: 100-continue\r\n\r\n`
      ).join("")
    )
    while (!read.text.includes(`<${count - 1}>`)) await once(socket, "data")
    assert.deepStrictEqual(
      read.text.match(/<\d+>/g),
      Array.from({ length: count }, (_, n) => `<${n}>`)
    )
    assert.strictEqual(most, 1)
    socket.write(get)
    while (!read.text.includes(`<${count}>`)) await once(socket, "data")
    await close(server)
  })

  it("listener: while a client does not read a response, its next requests do not begin, and the rest is not read", async () => {
    const sockets = new Array<Socket>()
    const { server, open } = await start((response, { socket }) => {
      sockets.push(socket)
      response.end(Buffer.alloc(64 * 1024 * 1024))
    })
    const { socket } = open()
    socket.pause().write(get.repeat(1_000_000))
    await once(server, "request")
    for (let n = 0; n < 100; n++) await turn()
    assert.strictEqual(sockets.length, 1)
    assert.isAtMost(sockets[0]?.bytesRead ?? Infinity, 131_072)
    socket.destroy()
    await close(server)
  })

  it("listener: a body that follows pipelined requests is read once its request begins", async () => {
    const { server, open } = await start((response, request) => {
      let bytes = 0
      request.on("data", (part: Buffer) => (bytes += part.length)).on("end", () => response.end(`<${bytes}>`))
    })
    const { socket, read } = open()
    const body = "x".repeat(1_000_000)
    socket.write(`${get}${get}POST / HTTP/1.1\r\nContent-Length: ${body.length}\r\n\r\n${body}${get}`)
    while ((read.text.match(/<\d+>/g) ?? []).length < 4) await once(socket, "data")
    assert.deepStrictEqual(read.text.match(/<\d+>/g), ["<0>", "<0>", `<${body.length}>`, "<0>"])
    await close(server)
  })

  it("listener: if too many pipelined requests wait in the process, the connections with the most of them are closed", async () => {
    const held = new Array<ServerResponse>()
    const { server, open } = await start((response) =>
      held.length < 8 ? held.push(response) : response.end("<>")
    )
    const modest = open()
    modest.socket.write(get.repeat(11))
    await once(server, "request")
    const greedy = Array.from({ length: 7 }, open)
    const closed = Promise.race(greedy.map(({ socket }) => once(socket, "close")))
    for (const { socket } of greedy) socket.write(get.repeat(3600))
    await closed
    assert.isFalse(modest.socket.destroyed)
    for (const response of held) response.end("<>")
    while ((modest.read.text.match(/<>/g) ?? []).length < 11) await once(modest.socket, "data")
    await close(server)
  })

  it("listener: complete requests before unreadable bytes all get their responses", async () => {
    let begun = 0
    const { server, open } = await start((response) => setImmediate(() => response.end(`<${begun++}>`)))
    const { socket, read } = open()
    socket.write(`${get.repeat(3)}hello\r\n\r\n`)
    await once(socket, "close")
    assert.deepStrictEqual(read.text.match(/<\d+>/g), ["<0>", "<1>", "<2>"])
    await close(server)
  })
})
