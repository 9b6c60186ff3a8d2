// Runs a bundled program with the bytecode that an earlier process of the same test run left, as build/Load.ts
// does for the service. Compiling functions takes a third of a start.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import path from "node:path"
import vm from "node:vm"

const folder = import.meta.dirname
const loaded = new Map<string, { readonly exports: object; readonly keep: () => void }>()
const external = createRequire(import.meta.url)

/** Tests kill most of these processes, so none waits for its end. By this time it has started. */
const keepAfterMillis = 3000

const loadOnce = (name: string): object => {
  const known = loaded.get(name)
  if (known !== undefined) return known.exports
  const file = path.join(folder, name)
  const cache = `${file}.bytecode`
  const cachedData = existsSync(cache) ? readFileSync(cache) : undefined
  const script = new vm.Script(`(function (exports, require) {${readFileSync(file, "utf8")}\n})`, {
    filename: file,
    ...(cachedData !== undefined && { cachedData })
  })
  const keep = () => {
    if (
      (cachedData !== undefined && script.cachedDataRejected === false) ||
      (cachedData === undefined && existsSync(cache))
    )
      return
    const written = `${cache}.${process.pid}`
    writeFileSync(written, script.createCachedData())
    renameSync(written, cache)
  }
  const exports = {}
  loaded.set(name, { exports, keep })
  script.runInThisContext()(exports, (name: string): unknown =>
    name.startsWith("./") ? loadOnce(name) : external(name)
  )
  return exports
}

export const load = (name: string): void => {
  loadOnce(name)
  setTimeout(() => loaded.forEach(({ keep }) => keep()), keepAfterMillis).unref()
}
