import { rmSync } from "node:fs"
import { createInterface } from "node:readline"

// Tracks the processes and folders that its parent process created. After the parent exits, removes them and
// exits too. See Keeper.ts.

const kept = { process: new Set<string>(), folder: new Set<string>() }

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined)

const isAlive = (pid: string): boolean => {
  try {
    process.kill(Number(pid), 0)
    return true
  } catch {
    return false
  }
}

const lines = createInterface({ input: process.stdin })
lines.on("line", (line) => {
  const [, sign, kind, name = ""] = /^([+-])(process|folder) (.+)$/.exec(line) ?? []
  if (kind !== "process" && kind !== "folder") return
  if (sign === "+") kept[kind].add(name)
  else kept[kind].delete(name)
})
lines.on("close", () => {
  for (const pid of kept.process) if (isAlive(pid)) process.kill(Number(pid), "SIGKILL")
  const remove = () => {
    // A process that is still shutting down may write to its folder again.
    if ([...kept.process].some(isAlive)) return setTimeout(remove, 20)
    for (const folder of kept.folder) rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    return process.exit()
  }
  remove()
})
