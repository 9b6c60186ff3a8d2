import { type ChildProcess, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"

// Ctrl-C, a crash or SIGKILL ends this process without cleanup. So a second process watches the started processes:
// when the pipe to it breaks, for any reason, it ends those processes and removes those folders.

let keeper: ChildProcess | undefined

const tell = (line: string): void => {
  if (keeper === undefined) {
    keeper = spawn(process.execPath, [path.join(import.meta.dirname, `keeperProgram${path.extname(import.meta.filename)}`)], {
      // A separate group, because Ctrl-C in a terminal signals the whole group.
      detached: true,
      stdio: ["pipe", "ignore", "ignore"]
    })
    keeper.unref()
    // If everything ends at the same time, the keeper may be gone first, and needs no message.
    keeper.stdin?.on("error", () => undefined)
    if (keeper.stdin !== null && "unref" in keeper.stdin && typeof keeper.stdin.unref === "function") keeper.stdin.unref()
  }
  keeper.stdin?.write(`${line}\n`)
}

/** Ends the process together with this one, however this one ends. */
export const keepProcess = (pid: number): void => tell(`+process ${pid}`)

/** It has ended, so its number may be reused by another process. */
export const forgetProcess = (pid: number): void => tell(`-process ${pid}`)

/** Creates an empty folder that is removed when this process ends, however it ends. */
export const makeFolder = (): string => {
  const folder = mkdtempSync(path.join(tmpdir(), "satrail-regtest-"))
  tell(`+folder ${folder}`)
  return folder
}

/**
 * Returns whether this process reserved a port. No caller in any process gets it before this process ends.
 * Testing whether the port is unused isn't enough, because another process may have tested it too and listen
 * a second later.
 */
export const takePort = (port: number): boolean => {
  const folder = path.join(tmpdir(), `satrail-port-${port}`)
  try {
    mkdirSync(folder)
  } catch {
    return false
  }
  tell(`+folder ${folder}`)
  return true
}

/** Removes such a folder early. */
export const removeFolder = (folder: string): void => {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  tell(`-folder ${folder}`)
}
