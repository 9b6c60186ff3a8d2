import { readdirSync, rmSync } from "node:fs"
import path from "node:path"

const folder = path.join(import.meta.dirname, "../node_modules/.cache/node")

/** A run of all tests adds a thousand files that no later run reads: test files have another URL in each run. */
const mostFiles = 20_000

/** Deletes a folder of bytecode with more files than this. It contains a folder for each version of Node. */
export const deleteLarge = (folder: string, most: number): void => {
  try {
    const files = readdirSync(folder).flatMap((version) => readdirSync(path.join(folder, version)))
    if (files.length > most) rmSync(folder, { recursive: true, force: true })
  } catch {
    // There is none yet, or another run writes to it or deletes it at the same time.
  }
}

/**
 * Keeps the bytecode of what the processes of tests load, so that no later process compiles it again. This saves a third of
 * the processor time of a run of one file.
 */
export const keepBytecode = (): void => {
  deleteLarge(folder, mostFiles)
  process.env["NODE_COMPILE_CACHE"] ??= folder
}
