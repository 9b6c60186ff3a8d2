import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { brotliDecompressSync } from "node:zlib"

// Running PostgreSQL's initdb in an embedded database takes seconds of processor time and 890 MB of memory. So
// packages/postgres/scripts/emptyDatabase.ts ran it once, and this package contains the result: a tar archive,
// compressed with Brotli.

/**
 * Loads a package, or finds one of its files. Bundlers leave these packages out, because they read files next to their code.
 * Node then looks for them from the bundle's folder, or from the working directory if the bundle is CommonJS.
 */
const here: string | undefined = import.meta.url // undefined in a CommonJS bundle
export const load = createRequire(here ?? join(process.cwd(), "bundle.cjs"))

const locate = (file: string): string => {
  try {
    return load.resolve(file)
  } catch (cause) {
    throw new Error(
      "A bundle needs files of @satrail/postgres. Install the package next to it: npm install @satrail/postgres",
      { cause }
    )
  }
}

/** The result of `initdb` as a tar archive. */
export const archive = () => {
  const folder = dirname(locate("@satrail/postgres/package.json"))
  return brotliDecompressSync(readFileSync(join(folder, "empty-database.tar.br")))
}

const blockBytes = 512

/** Returns the files and folders of a tar archive whose names are short, as in this one (POSIX.1-1988, ustar). */
function* entries(tar: Buffer) {
  const field = (from: number, length: number) =>
    tar.toString("latin1", from, from + length).replace(/\0.*$/s, "")
  for (let at = 0; field(at, 100) !== "";) {
    const size = Number.parseInt(field(at + 124, 12), 8)
    const from = at + blockBytes
    yield {
      name: field(at, 100),
      isFolder: field(at + 156, 1) === "5",
      content: tar.subarray(from, from + size)
    }
    at = from + Math.ceil(size / blockBytes) * blockBytes
  }
}

/**
 * Creates an empty database in a new directory. If the process dies, the directory is either complete or
 * missing.
 */
export const unpack = (directory: string): void => {
  const beside = `${directory}.new`
  const tar = archive()
  rmSync(beside, { recursive: true, force: true })
  mkdirSync(beside, { recursive: true, mode: 0o700 })
  for (const { name, isFolder, content } of entries(tar)) {
    const path = join(beside, name)
    mkdirSync(isFolder ? path : dirname(path), { recursive: true, mode: 0o700 })
    if (!isFolder) writeFileSync(path, content, { mode: 0o600 })
  }
  renameSync(beside, directory)
}
