// Bundles the programs that tests start repeatedly, once per test run, because finding and reading a thousand
// modules takes a third of the start time. Without a bundle (in a mutant or soak run), the programs run from
// the sources.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import os from "node:os"
import path from "node:path"
import { pathToFileURL } from "node:url"
import { type OutputOptions, type Plugin, rolldown } from "rolldown"
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
const embedded = (format: "es" | "cjs"): Plugin => ({
  name: "embedded",
  async resolveId(source, importer) {
    if (!source.startsWith("@electric-sql/pglite") || importer === undefined) return undefined
    if (format === "cjs") return { id: createRequire(importer).resolve(source), external: true }
    const found = await this.resolve(source, importer, { skipSelf: true })
    return found && { id: pathToFileURL(found.id).href, external: true }
  }
})

export default async (): Promise<(() => void) | undefined> => {
  if (process.env["SATRAIL_TEST_PROGRAMS"] !== undefined) return undefined // another project of this run has already built the programs
  const folder = mkdtempSync(path.join(os.tmpdir(), "satrail-programs-"))
  process.env["SATRAIL_TEST_PROGRAMS"] = folder // inherited by every process that runs a test file
  const inputOf = (names: ReadonlyArray<keyof typeof sources>) =>
    Object.fromEntries(names.map((name) => [name, path.join(import.meta.dirname, sources[name])]))
  const bundle = async (format: "es" | "cjs", input: Record<string, string>, output: OutputOptions) => {
    const made = await rolldown({ input, platform: "node", plugins: [places, embedded(format)] })
    await made.write({ dir: folder, format, comments: false, ...output })
    await made.close()
  }
  // These await at their top, so they remain modules.
  await bundle("es", inputOf(["cli", "killed"]), {
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs"
  })
  const programs = ["main", "replica", "network", "pair", "points"] as const
  await bundle("cjs", inputOf(programs), {
    strict: true,
    dynamicImportInCjs: false,
    entryFileNames: "[name].cjs",
    chunkFileNames: "[name]-[hash].cjs"
  })
  const loader = await rolldown({ input: path.join(import.meta.dirname, "Compiled.ts"), platform: "node" })
  await loader.write({ file: path.join(folder, "compiled.mjs") })
  await loader.close()
  for (const name of programs)
    writeFileSync(
      path.join(folder, `${name}.mjs`),
      `import { load } from "./compiled.mjs"\nload("./${name}.cjs")\n`
    )
  return () => rmSync(folder, { recursive: true, force: true })
}
