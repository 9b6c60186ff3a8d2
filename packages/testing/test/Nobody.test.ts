import { assert, it } from "@effect/vitest"
import { connect, createServer } from "node:net"
import * as Nobody from "../src/Nobody.ts"

const codeOf = async (asked: { once: (event: "error", told: (error: NodeJS.ErrnoException) => void) => unknown }) =>
  (
    await new Promise<NodeJS.ErrnoException>((resolve) => {
      asked.once("error", resolve)
    })
  ).code

it("testing: a port of nobody refuses connections, and nobody can listen at it until it is given up", async () => {
  const { port, end } = await Nobody.make()
  assert.strictEqual(await codeOf(connect(port, "127.0.0.1")), "ECONNREFUSED")
  for (const host of ["127.0.0.1", "0.0.0.0"]) assert.strictEqual(await codeOf(createServer().listen(port, host)), "EADDRINUSE")
  assert.strictEqual(await codeOf(connect(port, "127.0.0.1")), "ECONNREFUSED")
  end()
})
