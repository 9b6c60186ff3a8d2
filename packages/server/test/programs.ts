// For the whole run: the programs that tests start again and again, each bundled from its sources once. A third of what a start takes is to find and read a
// thousand modules. Without this (a canary, a soak) they are run from the sources, as `npm start` does.
import { mkdtempSync, rmSync } from "node:fs"
import os from "node:os"
import path from "node:path"
import { pathToFileURL } from "node:url"
import { type Plugin, rolldown } from "rolldown"
import { sources } from "./sources.ts"

/** What a module reads beside itself is where its source is. */
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

/** The embedded database stays where it is, with its WebAssembly. */
const embedded: Plugin = {
  name: "embedded",
  async resolveId(source, importer) {
    if (!source.startsWith("@electric-sql/pglite")) return undefined
    const found = await this.resolve(source, importer, { skipSelf: true })
    return found && { id: pathToFileURL(found.id).href, external: true }
  }
}

export default async (): Promise<(() => void) | undefined> => {
  if (process.env["SATRAIL_TEST_PROGRAMS"] !== undefined) return undefined // another project of this run has them
  const folder = mkdtempSync(path.join(os.tmpdir(), "satrail-programs-"))
  process.env["SATRAIL_TEST_PROGRAMS"] = folder // whoever runs a test file inherits it
  const input = Object.fromEntries(Object.entries(sources).map(([name, file]) => [name, path.join(import.meta.dirname, file)]))
  const bundle = await rolldown({ input, platform: "node", plugins: [places, embedded] })
  await bundle.write({ dir: folder, comments: false, entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" })
  await bundle.close()
  return () => rmSync(folder, { recursive: true, force: true })
}
