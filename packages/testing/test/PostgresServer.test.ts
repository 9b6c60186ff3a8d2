import { assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createConnection } from "node:net"
import path from "node:path"
import * as PostgresServer from "../src/PostgresServer.ts"
import * as Client from "../src/Client.ts"
import { eventually } from "../src/Waiting.ts"

const found = PostgresServer.find()

/** Returns whether something listens on the port. */
const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection(port, "127.0.0.1")
    const say = (is: boolean) => () => {
      socket.destroy()
      resolve(is)
    }
    socket.once("connect", say(true)).once("error", say(false))
  })

describe.skipIf("missing" in found)("A PostgreSQL server for tests", () => {
  it("PostgreSQL server: a server keeps its data when it is stopped, crashes and restarts, and is removed at the end", async () => {
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

  it("PostgreSQL server: a standby can be promoted after the primary stops, and the old primary can follow it", async () => {
    if ("missing" in found) return assert.fail()
    const settings = PostgresServer.rewindable
    const first = await PostgresServer.start(found, { settings })
    const second = await PostgresServer.start(found, { settings, standbyOf: first.port })
    const ask = (url: string, text: string) =>
      Client.run(found, "psql", [
        "--no-psqlrc",
        "--quiet",
        "--tuples-only",
        "--no-align",
        `--command=${text}`,
        url
      ]).trim()
    const isStandby = (url: string) => ask(url, "select pg_is_in_recovery()") === "t"
    assert.deepStrictEqual([isStandby(first.url), isStandby(second.url)], [false, true])
    await first.stop("immediate")
    await second.promote()
    assert.isFalse(isStandby(second.url))
    ask(second.url, "create table t as select 1 as n")
    await first.restart()
    ask(first.url, "create table t as select 2 as n")
    await first.stop("fast")
    await first.follow(second.port)
    await first.restart()
    assert.isTrue(isStandby(first.url))
    await eventually(
      "the former primary has the new primary's row",
      async () => ask(first.url, "select n from t"),
      (n) => n === "1"
    )
    await Promise.all([first.end(), second.end()])
  })

  it("PostgreSQL server: an unknown setting is an error", async () => {
    if ("missing" in found) return assert.fail()
    const failed = await PostgresServer.start(found, { settings: ["no_such_thing=1"] }).catch(String)
    assert.include(failed, "no_such_thing")
  })

  it("PostgreSQL server: a server stops when the process that started it exits, even if that process is killed", async () => {
    const program = `
      import * as PostgresServer from ${JSON.stringify(path.join(import.meta.dirname, "../src/PostgresServer.ts"))}
      const server = await PostgresServer.start(${JSON.stringify(found)})
      console.log(server.port)`
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"]
    })
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
