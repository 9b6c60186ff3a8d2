import { assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createConnection } from "node:net"
import path from "node:path"
import * as PostgresServer from "../src/PostgresServer.ts"
import { eventually } from "../src/Waiting.ts"

const found = PostgresServer.find()

/** Whether anybody listens there. */
const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection(port, "127.0.0.1")
    const say = (is: boolean) => () => {
      socket.destroy()
      resolve(is)
    }
    socket.once("connect", say(true)).once("error", say(false))
  })

describe.skipIf("missing" in found)("A server of one's own", () => {
  it("PostgreSQL server: stops, crashes and starts again with its data, and is removed at the end", async () => {
    if ("missing" in found) return assert.fail()
    const server = await PostgresServer.start(found)
    for (const how of ["fast", "immediate"] as const) {
      assert.isTrue(await answers(server.port))
      await server.stop(how)
      assert.isFalse(await answers(server.port))
      await server.restart()
    }
    await server.end()
    assert.isFalse(await answers(server.port))
  })

  it("PostgreSQL server: an unknown setting is an error", async () => {
    if ("missing" in found) return assert.fail()
    const failed = await PostgresServer.start(found, { settings: ["no_such_thing=1"] }).catch(String)
    assert.include(failed, "no_such_thing")
  })

  it("PostgreSQL server: ends with the process that started it, also when that one is killed", async () => {
    const program = `
      import * as PostgresServer from ${JSON.stringify(path.join(import.meta.dirname, "../src/PostgresServer.ts"))}
      const server = await PostgresServer.start(${JSON.stringify(found)})
      console.log(server.port)`
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["ignore", "pipe", "inherit"] })
    const [said]: ReadonlyArray<unknown> = await once(child.stdout, "data")
    const port = Number(String(said))
    assert.isTrue(await answers(port))
    child.kill("SIGKILL")
    await eventually(
      "its end",
      () => answers(port),
      (isThere) => !isThere
    )
  })
})
