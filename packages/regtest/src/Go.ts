import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import path from "node:path"

/** A Go that can build what is wanted. */
export interface Go {
  readonly command: string
  readonly version: string
}

/** There is none, and the newest that there is instead. */
export interface Missing {
  readonly newest: string | undefined
}

/** Where Go is looked for: where commands are, and where its own installer puts it. */
export const folders = (): ReadonlyArray<string> => [...(process.env["PATH"] ?? "").split(path.delimiter), "/usr/local/go/bin"]

/** Whether a version such as `1.26` or `1.26rc1` is `wanted` or newer. What is missing at its end counts as 0. */
export const isAtLeast = (version: string, wanted: string): boolean => {
  const [found, needed] = [version, wanted].map((text) => text.split(/\D+/).map(Number))
  if (found === undefined || needed === undefined) return false
  const at = needed.findIndex((number, at) => (found[at] ?? 0) !== number)
  return at === -1 || (found[at] ?? 0) > (needed[at] ?? 0)
}

/** What a Go says it is: `1.19` of "go version go1.19 linux/amd64"; undefined where it says nothing of the kind. */
const versionOf = (command: string): string | undefined => {
  try {
    // What is on this machine, and not what it would fetch for itself.
    const said = execFileSync(command, ["version"], { encoding: "utf8", env: { ...process.env, GOTOOLCHAIN: "local" }, stdio: "pipe" })
    return /\bgo(\d+(?:\.\d+)*)/.exec(said)?.[1]
  } catch {
    return undefined
  }
}

/** The first Go in `folders` that is `wanted` or newer. */
export const find = (wanted: string, folders: ReadonlyArray<string>): Go | Missing => {
  let newest: string | undefined
  for (const command of new Set(folders.map((folder) => path.join(folder, "go")))) {
    const version = existsSync(command) ? versionOf(command) : undefined
    if (version === undefined) continue
    if (isAtLeast(version, wanted)) return { command, version }
    if (newest === undefined || isAtLeast(version, newest)) newest = version
  }
  return { newest }
}
