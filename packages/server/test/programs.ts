// Bundles the programs that tests start repeatedly, once per test run, because finding and reading a thousand
// modules takes a third of the start time. Without a bundle (in a mutant or soak run), the programs run from
// the sources, as with `npm start`.
import { mkdtempSync, rmSync } from "node:fs"
import os from "node:os"
import path from "node:path"
import { pathToFileURL } from "node:url"
import { type Plugin, rolldown } from "rolldown"
import { sources } from "./sources.ts"

/** Makes modules find the files next to them in the source folders. */
const places: Plugin = {
  name: "places",
  transform: (code, id) =>
    code.includes("import.meta.")
      ? code
          .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
          .replaceAll("import.meta.dirname", JSON.stringify(path.dirname(id)))
          .replaceAll("import.meta.filename", JSON.stringify(id))
      : undefined
}

/** Leaves the embedded database out of the bundle, next to its WebAssembly. */
const embedded: Plugin = {
  name: "embedded",
  async resolveId(source, importer) {
    if (!source.startsWith("@electric-sql/pglite")) return undefined
    const found = await this.resolve(source, importer, { skipSelf: true })
    return found && { id: pathToFileURL(found.id).href, external: true }
  }
}

export default async (): Promise<(() => void) | undefined> => {
  if (process.env["SATRAIL_TEST_PROGRAMS"] !== undefined) return undefined // another project of this run has already built the programs
  const folder = mkdtempSync(path.join(os.tmpdir(), "satrail-programs-"))
  process.env["SATRAIL_TEST_PROGRAMS"] = folder // inherited by every process that runs a test file
  const input = Object.fromEntries(Object.entries(sources).map(([name, file]) => [name, path.join(import.meta.dirname, file)]))
  const bundle = await rolldown({ input, platform: "node", plugins: [places, embedded] })
  await bundle.write({ dir: folder, comments: false, entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" })
  await bundle.close()
  return () => rmSync(folder, { recursive: true, force: true })
}
