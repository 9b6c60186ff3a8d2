import { PGlite } from "@electric-sql/pglite"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import os from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"
import { brotliCompressSync, constants } from "node:zlib"

// Generates packages/postgres/empty-database.tar.br: the result of initdb as the installed PGlite runs it. Run
// it again, with GNU tar, for another version of PostgreSQL (emptyDatabase.slow.test.ts fails when that is
// necessary).

const directory = mkdtempSync(path.join(os.tmpdir(), "satrail-empty-"))
await (await PGlite.create({ dataDir: directory })).close()
rmSync(path.join(directory, "postmaster.pid"), { force: true })
const owned = ["--format=ustar", "--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner"]
const tar = execFileSync(
  "tar",
  [...owned, "-C", directory, "-cf", "-", ...readdirSync(directory).toSorted()],
  { maxBuffer: 2 ** 28 }
)
rmSync(directory, { recursive: true })
writeFileSync(
  fileURLToPath(new URL("../empty-database.tar.br", import.meta.url)),
  brotliCompressSync(tar, {
    params: {
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
      [constants.BROTLI_PARAM_SIZE_HINT]: tar.length
    }
  })
)
