import { Effect } from "effect"
import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs"
import os from "node:os"
import path from "node:path"
import { RegtestFailed } from "./Process.ts"

/** The programs of the network. Their versions are in binaries/go.mod. */
const packages = {
  btcd: { module: "github.com/btcsuite/btcd", tags: "" },
  lnd: { module: "github.com/lightningnetwork/lnd/cmd/lnd", tags: "invoicesrpc" }
} as const
export type Name = keyof typeof packages

const source = path.resolve(import.meta.dirname, "../binaries")

/** A cold build on a slow machine; a build that takes longer hangs. */
const maxBuildMillis = 40 * 60_000

/** Where what was built is kept, once for all runs and versions. */
const cache = (): string => {
  const given = process.env["SATRAIL_REGTEST_CACHE"] ?? ""
  if (given !== "") return given
  const home = process.env["XDG_CACHE_HOME"] ?? ""
  return path.join(home === "" ? path.join(os.homedir(), ".cache") : home, "satrail", "regtest")
}

/** A program built from these sources for this machine. Another version of anything in it is another file. */
const fileOf = (name: Name): string => {
  const hash = createHash("sha256").update(JSON.stringify(packages[name]))
  for (const file of ["go.mod", "go.sum"]) hash.update(readFileSync(path.join(source, file)))
  return path.join(cache(), `${process.platform}-${process.arch}-${hash.digest("hex").slice(0, 16)}`, name)
}

const goCommand = (): string | undefined =>
  [...(process.env["PATH"] ?? "").split(path.delimiter), "/usr/local/go/bin"].map((folder) => path.join(folder, "go")).find(existsSync)

/** Why these programs can be neither found nor built here; undefined when they can. */
export const missing = (names: ReadonlyArray<Name>): string | undefined =>
  names.every((name) => existsSync(fileOf(name))) || goCommand() !== undefined
    ? undefined
    : `no real nodes here: there is no Go (https://go.dev/dl) to build ${names.join(" and ")} with`

/** Built beside and moved into place, so that it is whole or not there. */
const build = (name: Name, file: string): Effect.Effect<void, RegtestFailed> =>
  Effect.callback((resume) => {
    const go = goCommand()
    if (go === undefined) return resume(Effect.fail(new RegtestFailed({ message: missing([name]) ?? name })))
    mkdirSync(path.dirname(file), { recursive: true })
    const beside = mkdtempSync(`${path.dirname(file)}.building-`)
    const { module, tags } = packages[name]
    console.error(`building ${name} with Go: some minutes, once for this machine`)
    const child = execFile(
      go,
      ["build", "-ldflags=-s -w", `-tags=${tags}`, "-o", path.join(beside, name), module],
      {
        cwd: source,
        env: {
          ...process.env,
          CGO_ENABLED: "0",
          GOTOOLCHAIN: "local",
          GOWORK: "off",
          GOFLAGS: "-mod=readonly -modcacherw -buildvcs=false"
        },
        timeout: maxBuildMillis,
        maxBuffer: 64 * 1024 * 1024
      },
      (error, _, stderr) => {
        if (error === null) renameSync(path.join(beside, name), file)
        rmSync(beside, { recursive: true, force: true })
        const said = stderr
          .split("\n")
          .filter((line) => !line.startsWith("go: downloading"))
          .slice(-20)
        resume(error === null ? Effect.void : Effect.fail(new RegtestFailed({ message: `go build ${module}: ${said.join("\n")}` })))
      }
    )
    return Effect.sync(() => {
      child.kill()
      rmSync(beside, { recursive: true, force: true })
    })
  })

/** The program's file: at once where it was built before, after some minutes where it was not. */
export const ensure = (name: Name): Effect.Effect<string, RegtestFailed> =>
  Effect.suspend(() => {
    const file = fileOf(name)
    return existsSync(file) ? Effect.succeed(file) : Effect.as(build(name, file), file)
  })
