import * as PackageFiles from "@satrail/bitcoin/PackageFiles"
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { brotliDecompressSync } from "node:zlib"

// Running PostgreSQL's initdb in an embedded database takes seconds of processor time and 890 MB of memory. So
// packages/postgres/scripts/emptyDatabase.ts ran it once, and this package contains the result: a tar archive,
// compressed with Brotli.

/** The result of `initdb` as a tar archive. */
export const archive = () => {
  const folder = PackageFiles.folderOf("@satrail/postgres", import.meta.url, "../..")
  return brotliDecompressSync(readFileSync(join(folder, "empty-database.tar.br")))
}

const blockBytes = 512

/** Returns the files and folders of a tar archive whose names are short, as in this one (POSIX.1-1988, ustar). */
function* entries(tar: Buffer) {
  const field = (from: number, length: number) => tar.toString("latin1", from, from + length).replace(/\0.*$/s, "")
  for (let at = 0; field(at, 100) !== "";) {
    const size = Number.parseInt(field(at + 124, 12), 8)
    const from = at + blockBytes
    yield { name: field(at, 100), isFolder: field(at + 156, 1) === "5", content: tar.subarray(from, from + size) }
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
