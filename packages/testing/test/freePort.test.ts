import { assert, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { connect } from "node:net"
import path from "node:path"
import { freePort } from "../src/freePort.ts"

/** Starts a process that reserves a port, if possible this one, prints it and runs until it is killed. */
const holder = async (wanted?: number) => {
  const file = JSON.stringify(path.join(import.meta.dirname, "../src/freePort.ts"))
  const program = `import { firstPort, freePort, ports } from ${file}
    const random = Math.random
    let first = ${wanted === undefined} ? undefined : (${wanted} - firstPort + 0.5) / ports
    Math.random = () => {
      const next = first ?? random()
      first = undefined
      return next
    }
    console.log(await freePort())
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const [line] = await once(child.stdout, "data")
  const end = async () => {
    child.kill("SIGKILL")
    await once(child, "exit")
  }
  return { port: Number(String(line)), end }
}

it("testing: a port is given to only one caller, in any process, until that caller's process exits", async () => {
  const first = await holder()
  const second = await holder(first.port)
  assert.notStrictEqual(second.port, first.port)
  await first.end()
  const third = await holder(first.port)
  assert.strictEqual(third.port, first.port)
  await Promise.all([second.end(), third.end()])
})

it("testing: a free port refuses connections", async () => {
  const [error] = await once(connect(await freePort(), "127.0.0.1"), "error")
  assert.include(String(error), "ECONNREFUSED")
})
