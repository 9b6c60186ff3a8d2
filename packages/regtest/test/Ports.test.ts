import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { setTimeout as pass } from "node:timers/promises"
import * as Keeper from "../src/Keeper.ts"

const patienceMillis = 180_000

/** Reserves a port in a separate process, which then exits. */
const elsewhere = (port: number): boolean => {
  const keeper = JSON.stringify(path.join(import.meta.dirname, "../src/Keeper.ts"))
  const program = `import { takePort } from ${keeper}; console.log(takePort(${port}))`
  return execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" }).trim() === "true"
}

describe("ports of started programs", () => {
  // Numbers that are above every valid port and unique to this run.
  const one = 100_000 + 2 * process.pid
  const other = one + 1

  it("regtest: a port is given to only one caller, in any process, until that caller's process exits", async () => {
    assert.deepStrictEqual([Keeper.takePort(one), Keeper.takePort(one), elsewhere(one)], [true, false, false])
    assert.isTrue(elsewhere(other))
    const deadlineMillis = Date.now() + patienceMillis
    while (existsSync(path.join(tmpdir(), `satrail-port-${other}`))) {
      assert.isBelow(Date.now(), deadlineMillis, "the process has exited, and its port is still reserved")
      await pass(20)
    }
    assert.isTrue(Keeper.takePort(other))
  })
})
