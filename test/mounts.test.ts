import { assert, describe, it } from "@effect/vitest"
import { boundPort } from "@satrail/testing/boundPort"
import { execFile } from "node:child_process"
import { once } from "node:events"
import { copyFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { connect } from "node:net"
import path from "node:path"
import { promisify } from "node:util"
import { nodeHandler } from "../examples/mounts/node.ts"

const root = path.dirname(import.meta.dirname)
const mounts = path.join(root, "examples/mounts")

describe("the code that mounts the service in a server", () => {
  it("mounts: a connection whose body was rejected accepts its next request, and does not keep the server open", async () => {
    const answer = nodeHandler(async (request) =>
      request.method === "POST"
        ? new Response("too large", { status: 413 })
        : new Response("next", { status: 200 })
    )
    const server = createServer(
      (request, response) => void answer(request, response, request.url ?? "/")
    ).listen(0, "127.0.0.1")
    const port = await boundPort(server)
    const socket = connect(port, "127.0.0.1").setEncoding("utf8")
    let said = ""
    const heard = (text: string) =>
      new Promise<void>((resolve) => {
        const look = () => {
          if (!said.includes(text)) return
          socket.off("data", look)
          resolve()
        }
        socket.on("data", look)
        look()
      })
    socket.on("data", (text) => (said += text))
    const size = 4_000_000
    socket.write(`POST /v1 HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n${"x".repeat(size)}`)
    await heard("413")
    socket.write("GET /v1 HTTP/1.1\r\nHost: a\r\n\r\n")
    await heard("next")
    const closed = once(server, "close")
    server.close()
    await closed
    assert.lengthOf(said.match(/^HTTP\/1\.1 /gm) ?? [], 2)
    socket.destroy()
  })

  it("mounts: a client that never sends the rest of a rejected body is disconnected", async () => {
    const answer = nodeHandler(async () => new Response("too large", { status: 413 }))
    const server = createServer(
      (request, response) => void answer(request, response, request.url ?? "/")
    ).listen(0, "127.0.0.1")
    const port = await boundPort(server)
    const socket = connect(port, "127.0.0.1")
    socket.write("POST /v1 HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\nx")
    socket.resume()
    socket.on("error", () => {})
    await once(socket, "close")
    const closed = once(server, "close")
    server.close()
    await closed
    assert.isFalse(server.listening)
  })

  it("mounts: node.ts compiles with TypeScript's default libraries, and also with only ES2024 and Node's types", async () => {
    const folder = mkdtempSync(path.join(root, "node_modules/.mounts-"))
    try {
      copyFileSync(path.join(mounts, "node.ts"), path.join(folder, "node.ts"))
      symlinkSync(path.join(root, "node_modules/@types"), path.join(folder, "types"))
      for (const lib of [undefined, ["ES2024"]]) {
        const compilerOptions = {
          strict: true,
          exactOptionalPropertyTypes: true,
          noUncheckedIndexedAccess: true,
          noEmit: true,
          target: "ES2024"
        }
        const options = {
          ...compilerOptions,
          module: "nodenext",
          types: ["node"],
          typeRoots: ["./types"],
          ...(lib && { lib })
        }
        writeFileSync(
          path.join(folder, "tsconfig.json"),
          JSON.stringify({ compilerOptions: options, include: ["node.ts"] })
        )
        const ran = promisify(execFile)(process.execPath, [
          path.join(root, "node_modules/typescript/bin/tsc"),
          "-p",
          folder
        ])
        const { stdout } = await ran.catch((error: { readonly stdout: string }) => error)
        assert.strictEqual(stdout, "", lib === undefined ? "default lib" : lib.join())
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
