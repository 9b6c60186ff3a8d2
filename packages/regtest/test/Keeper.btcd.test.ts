import { assert, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { connect } from "node:net"
import path from "node:path"
import { setTimeout as pass } from "node:timers/promises"
import * as Real from "../src/Real.ts"

const patienceMillis = 180_000

const answers = async (port: number): Promise<boolean> => {
  const socket = connect(port, "127.0.0.1")
  try {
    await once(socket, "connect")
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

Real.suite("real programs and their keeper", ["btcd"], () => {
  for (const signal of ["SIGINT", "SIGKILL"] as const) {
    it(`regtest: no process or folder is left behind after ${signal} ends the network's process`, async () => {
      const child = spawn(process.execPath, [path.join(import.meta.dirname, "killed.ts")], {
        stdio: ["ignore", "pipe", "inherit"]
      })
      const [line] = await once(child.stdout, "data")
      const { certificateFile, port } = JSON.parse(String(line))
      assert.isTrue(existsSync(certificateFile))
      assert.isTrue(await answers(port))
      child.kill(signal)
      const deadlineMillis = Date.now() + patienceMillis
      while (existsSync(path.dirname(certificateFile)) || (await answers(port))) {
        assert.isBelow(Date.now(), deadlineMillis, "processes or folders are left behind")
        await pass(20)
      }
    })
  }
})
