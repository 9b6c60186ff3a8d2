import { execFileSync } from "node:child_process"
import { existsSync } from "node:fs"
import path from "node:path"

/** A suitable Go installation. */
export interface Go {
  readonly command: string
  readonly version: string
}

/** No suitable Go installation, but the newest version found. */
export interface Missing {
  readonly newest: string | undefined
}

/** Returns the folders to search for Go: those on the PATH, and the one that Go's installer uses. */
export const folders = (): ReadonlyArray<string> => [
  ...(process.env["PATH"] ?? "").split(path.delimiter),
  "/usr/local/go/bin"
]

/** Returns whether a version such as `1.26` or `1.26rc1` is at least `wanted`. Missing parts count as 0. */
export const isAtLeast = (version: string, wanted: string): boolean => {
  const [found, needed] = [version, wanted].map((text) => text.split(/\D+/).map(Number))
  if (found === undefined || needed === undefined) return false
  const at = needed.findIndex((number, at) => (found[at] ?? 0) !== number)
  return at === -1 || (found[at] ?? 0) > (needed[at] ?? 0)
}

/**
 * Returns the version of a Go program, such as `1.19` from "go version go1.19 linux/amd64", or undefined if it
 * prints none.
 */
const versionOf = (command: string): string | undefined => {
  try {
    // Ask for the installed version, not one that Go would download.
    const said = execFileSync(command, ["version"], {
      encoding: "utf8",
      env: { ...process.env, GOTOOLCHAIN: "local" },
      stdio: "pipe"
    })
    return /\bgo(\d+(?:\.\d+)*)/.exec(said)?.[1]
  } catch {
    return undefined
  }
}

/** Returns the first Go installation in `folders` whose version is at least `wanted`. */
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
