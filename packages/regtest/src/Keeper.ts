import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"

// Ctrl-C, a crash or SIGKILL ends this process without cleanup. A second process, the keeper, therefore tracks
// the processes started and the folders created here. When the pipe to the keeper breaks, for any reason, it
// kills those processes and removes those folders.

let keeper: ChildProcess | undefined

const tell = (line: string): void => {
  if (keeper === undefined) {
    keeper = spawn(
      process.execPath,
      [path.join(import.meta.dirname, `keeperProgram${path.extname(import.meta.filename)}`)],
      {
        // Run in a separate process group, because Ctrl-C in a terminal signals the whole group.
        detached: true,
        stdio: ["pipe", "ignore", "ignore"]
      }
    )
    keeper.unref()
    // If all processes are stopped at the same time, the keeper may exit first. It then needs no message.
    keeper.stdin?.on("error", () => undefined)
    if (keeper.stdin !== null && "unref" in keeper.stdin && typeof keeper.stdin.unref === "function")
      keeper.stdin.unref()
  }
  keeper.stdin?.write(`${line}\n`)
}

/** Makes the keeper kill a process when this one exits for any reason. */
export const keepProcess = (pid: number): void => tell(`+process ${pid}`)

/** Makes the keeper forget a process that has exited, because another process may get the same id. */
export const forgetProcess = (pid: number): void => tell(`-process ${pid}`)

/** Creates an empty folder that is removed when this process exits for any reason. */
export const makeFolder = (): string => {
  const folder = mkdtempSync(path.join(tmpdir(), "satrail-regtest-"))
  tell(`+folder ${folder}`)
  return folder
}

/** Removes a folder created by `makeFolder` before this process exits. */
export const removeFolder = (folder: string): void => {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  tell(`-folder ${folder}`)
}
