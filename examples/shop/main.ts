// A shop and its payments service, each in its own process. A customer pays, and the shop ships, even if one of the two is down in between.
// Run it: npm run example -- shop
import assert from "node:assert/strict"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import * as Shop from "./Shop.ts"

const directory = mkdtempSync(path.join(tmpdir(), "shop-"))
const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })
const port = await freePort()
const service = `http://127.0.0.1:${port}`

/** Waits until `look` finds something. */
const until = async <A>(what: string, look: () => A | undefined | Promise<A | undefined>): Promise<A> => {
  for (const deadline = Date.now() + 120_000; Date.now() < deadline;) {
    const found = await Promise.resolve()
      .then(look)
      .catch(() => undefined)
    if (found !== undefined) return found
    await new Promise((resolve) => {
      setTimeout(resolve, 100)
    })
  }
  throw new Error(`not in time: ${what}`)
}

let running: ChildProcess | undefined
/** Starts the service with its sandbox. Every start uses the same data. */
const start = async () => {
  running = spawn(
    process.execPath,
    [path.resolve(import.meta.dirname, "../../packages/server/src/main.ts")],
    {
      env: {
        PATH: process.env["PATH"],
        PORT: String(port),
        SATRAIL_DATA: path.join(directory, "service"),
        SATRAIL_LOG_LEVEL: "error"
      },
      stdio: "ignore"
    }
  )
  await until("the service is ready", async () => ((await fetch(`${service}/readyz`)).ok ? true : undefined))
}
const kill = async () => {
  const ended = new Promise<void>((resolve) => {
    running?.once("exit", () => resolve())
  })
  running?.kill("SIGKILL")
  await ended
}

try {
  await start()
  const apiKey = await until(
    "the demo company's key",
    (): string => JSON.parse(readFileSync(path.join(directory, "service/demo.json"), "utf8")).api_key
  )
  const options = { service, apiKey, file: path.join(directory, "shop.json"), port: await freePort() }
  const pay = (paymentRequest: string) =>
    fetch(`${service}/sandbox/pay`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ payment_request: paymentRequest })
    })

  const shop = await Shop.open(options)
  console.log(`open       http://127.0.0.1:${options.port}`)
  const first = await shop.buy("1001", "cake")
  assert.equal(await shop.buy("1001", "cake"), first)
  assert.equal((await pay(first)).status, 200)
  await until("the cake is shipped", () => (shop.shipped("1001") === 1 ? true : undefined))
  console.log("shipped    the cake")

  // The shop is down while a customer pays, and then restarts.
  const second = await shop.buy("1002", "tea")
  await shop.close()
  await pay(second)
  const again = await Shop.open(options)
  await until("the tea is shipped", () => (again.shipped("1002") === 1 ? true : undefined))
  console.log("shipped    the tea, after the shop was closed")

  // The service is killed right after a customer paid, and starts again.
  const third = await again.buy("1003", "coffee")
  await pay(third)
  await kill()
  await start()
  await until("the coffee is shipped", () => (again.shipped("1003") === 1 ? true : undefined))
  assert.deepEqual([again.shipped("1001"), again.shipped("1002")], [1, 1], "nothing is shipped twice")
  console.log("shipped    the coffee, after the service was killed")
  await again.close()
} finally {
  running?.kill("SIGKILL")
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
}
