import { type ChildProcess, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"

// Ctrl-C, a crash or SIGKILL ends this process without a chance to clean up. So a second one watches over what was started: when the pipe to it
// breaks, for whatever reason, it ends those processes and removes those folders.

let keeper: ChildProcess | undefined

const tell = (line: string): void => {
  if (keeper === undefined) {
    keeper = spawn(process.execPath, [path.join(import.meta.dirname, `keeperProgram${path.extname(import.meta.filename)}`)], {
      // A group of its own: Ctrl-C in a terminal goes to everyone in the group.
      detached: true,
      stdio: ["pipe", "ignore", "ignore"]
    })
    keeper.unref()
    // The keeper may be gone first when everything ends at once; then nobody is left to be told.
    keeper.stdin?.on("error", () => undefined)
    if (keeper.stdin !== null && "unref" in keeper.stdin && typeof keeper.stdin.unref === "function") keeper.stdin.unref()
  }
  keeper.stdin?.write(`${line}\n`)
}

/** The process ends with this one, however this one ends. */
export const keepProcess = (pid: number): void => tell(`+process ${pid}`)

/** It ended: its number may be another's from now on. */
export const forgetProcess = (pid: number): void => tell(`-process ${pid}`)

/** A new, empty folder, which goes with this process, however this one ends. */
export const makeFolder = (): string => {
  const folder = mkdtempSync(path.join(tmpdir(), "satrail-regtest-"))
  tell(`+folder ${folder}`)
  return folder
}

/**
 * Whether a port is this process's from now on: nobody else who asks here is given it, in whichever process, before this one ends. That nobody listens there
 * yet says nothing of who was told so too, and begins to a second later.
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

/** Removes such a folder before its time. */
export const removeFolder = (folder: string): void => {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  tell(`-folder ${folder}`)
}
