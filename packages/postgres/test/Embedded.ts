import { PGlite } from "@electric-sql/pglite"
import { Effect, Layer } from "effect"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs"
import { createRequire } from "node:module"
import os from "node:os"
import path from "node:path"
import * as PgliteClient from "../src/PgliteClient.ts"

// PostgreSQL's initdb takes an embedded database seconds of processor time. So it is done once for each version, and copied.

const root = path.resolve(import.meta.dirname, "../../..")
const manifest = path.join(path.dirname(createRequire(import.meta.url).resolve("@electric-sql/pglite")), "../package.json")
const { version }: { readonly version: string } = JSON.parse(readFileSync(manifest, "utf8"))
const template = path.join(root, "node_modules/.cache/satrail", `pglite-${version}`)

/** Made beside and moved into place: several processes may come here at once. */
const make = async (): Promise<void> => {
  if (existsSync(template)) return
  mkdirSync(path.dirname(template), { recursive: true })
  const beside = mkdtempSync(`${template}-`)
  await (await PGlite.create({ dataDir: path.join(beside, "data") })).close()
  if (!existsSync(template)) renameSync(path.join(beside, "data"), template)
  rmSync(beside, { recursive: true, force: true })
}

/** Puts an empty database where an embedded one of this directory begins. */
export const fill = async (directory: string): Promise<void> => {
  await make()
  cpSync(template, path.join(directory, "data"), { recursive: true })
}

/** A client of an empty embedded database, gone when the scope closes. */
export const layer = Layer.unwrap(
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const directory = mkdtempSync(path.join(os.tmpdir(), "satrail-embedded-"))
        await fill(directory)
        return directory
      }),
      (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
    ),
    (directory) => PgliteClient.layer({ directory })
  )
)
