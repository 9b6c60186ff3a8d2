// Becomes bundle/main.mjs: sets V8's options and runs service.cjs with the bytecode of an earlier start (docs/decisions/packages.md#0142).
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { createRequire, getCompileCacheDir } from "node:module"
import path from "node:path"
import { setFlagsFromString } from "node:v8"
import vm from "node:vm"
import { crc32 } from "node:zlib"
import type * as Bundled from "../src/bundled.ts"

/** Node's modules that the service imports. The build writes them here. */
declare const builtins: ReadonlyArray<string>

const [, , argument] = process.argv
if (argument !== undefined) {
  process.stderr.write(
    "This file starts the service and takes no arguments. Settings are environment variables. For commands, use satrail.\n"
  )
  process.exit(["--help", "-h", "help"].includes(argument) ? 0 : 2)
}

// Node would compile its own modules again if the options were set before they are loaded, as on the command line.
for (const name of builtins) process.getBuiltinModule(name)
for (const option of [
  "--no-allocation-site-pretenuring",
  "--heap-growing-percent=50",
  "--semi-space-growth-factor=8",
  "--expose-gc"
])
  setFlagsFromString(option)
globalThis.gc = vm.runInNewContext("gc")

const file = path.join(import.meta.dirname, "service.cjs")
const folder = getCompileCacheDir()
const cache = folder === undefined ? undefined : path.join(folder, "satrail-service")

/** Identifies the source and the bytecode, because V8 checks only the length of the source. */
const header = (version: number, bytecode: Buffer): Buffer =>
  Buffer.from(Uint32Array.of(version, crc32(bytecode)).buffer)
const headerBytes = 8

const kept = (version: number): Buffer | undefined => {
  if (cache === undefined) return undefined
  try {
    const bytes = readFileSync(cache)
    const bytecode = bytes.subarray(headerBytes)
    return header(version, bytecode).equals(bytes.subarray(0, headerBytes)) ? bytecode : undefined
  } catch {
    return undefined
  }
}

// A function, so that the buffers are freed.
const compile = () => {
  const source = readFileSync(file)
  const version = crc32(source)
  const bytecode = kept(version)
  // The source is ASCII.
  const script = new vm.Script(`(function (exports, require, __filename) {${source.toString("latin1")}\n})`, {
    filename: file,
    ...(bytecode !== undefined && { cachedData: bytecode })
  })
  return { version, script, isKept: bytecode !== undefined && script.cachedDataRejected === false }
}

const compiled = compile()

/** Keeps all functions compiled so far. Node's own cache has only what is compiled before a file runs. */
const keep = () => {
  if (compiled.isKept || cache === undefined) return
  compiled.isKept = true
  const written = `${cache}.${process.pid}`
  try {
    const bytecode = compiled.script.createCachedData()
    writeFileSync(written, Buffer.concat([header(compiled.version, bytecode), bytecode]))
    renameSync(written, cache)
  } catch (error) {
    rmSync(written, { force: true })
    process.emitWarning(
      `Could not cache the compiled service; the next start will be slower: ${String(error)}`
    )
  }
}

const service: Partial<typeof Bundled> = {}
compiled.script.runInThisContext()(service, createRequire(file), file)
if (service.run === undefined) throw new Error("service.cjs does not export run")
service.run(keep)
