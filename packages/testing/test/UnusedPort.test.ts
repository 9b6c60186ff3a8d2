import { assert, it } from "@effect/vitest"
import { connect, createServer } from "node:net"
import * as UnusedPort from "../src/UnusedPort.ts"

const codeOf = async (asked: { once: (event: "error", told: (error: NodeJS.ErrnoException) => void) => unknown }) =>
  (
    await new Promise<NodeJS.ErrnoException>((resolve) => {
      asked.once("error", resolve)
    })
  ).code

it("testing: an unused port refuses connections, and no other program can bind it until it is released", async () => {
  const { port, release } = await UnusedPort.make()
  assert.strictEqual(await codeOf(connect(port, "127.0.0.1")), "ECONNREFUSED")
  for (const host of ["127.0.0.1", "0.0.0.0"]) assert.strictEqual(await codeOf(createServer().listen(port, host)), "EADDRINUSE")
  assert.strictEqual(await codeOf(connect(port, "127.0.0.1")), "ECONNREFUSED")
  release()
})
