import * as DirectoryLock from "@satrail/postgres/client/DirectoryLock"
import { Effect, type Scope } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { createHash } from "node:crypto"
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import os from "node:os"
import path from "node:path"
import { createInterface } from "node:readline"
import * as Debian from "./Debian.ts"
import * as Go from "./Go.ts"
import * as Keeper from "./Keeper.ts"
import { RegtestFailed } from "./Process.ts"

const binaries = path.resolve(import.meta.dirname, "../binaries")

/**
 * The network's programs that are built with Go. binaries/go.mod sets the versions of third-party programs.
 */
const packages = {
  btcd: { source: binaries, module: "github.com/btcsuite/btcd", tags: "", cgo: "0" },
  // lnd's build tag for tests, `lowscrypt`, disables key stretching for the wallet password, which would take
  // seconds at every start. The password is public here.
  lnd: {
    source: binaries,
    module: "github.com/lightningnetwork/lnd/cmd/lnd",
    tags: "invoicesrpc,lowscrypt",
    cgo: "0"
  },
  // The build tag adds the crash points at which tests kill the program.
  ldk: {
    source: path.resolve(import.meta.dirname, "../../nodes/ldk"),
    module: ".",
    tags: "crashpoints",
    cgo: "1"
  }
} as const
type Built = keyof typeof packages
/** The name of a program. bitcoind is the version that Debian provides when it is first needed. */
export type Name = Built | "bitcoind"

/**
 * Compiles without debugging information, which takes a seventh of the build time, and lnd's own packages without
 * optimization, which takes another fifth. Dependencies, such as cryptography, are optimized. The last pattern
 * that matches a package applies. LDK's program is compiled as build.sh does, so that both share Go's cache.
 */
const quick = ["-gcflags=all=-dwarf=false", "-gcflags=github.com/lightningnetwork/lnd/...=-dwarf=false -N -l"]

/** Duration of a cold build on a slow machine. A build that takes longer is considered hung. */
const maxBuildMillis = 40 * 60_000
/** Interval at which a process that waits for a build prints its progress. */
const progressMillis = 15_000
const lookAgainMillis = 500
const shownLines = 20

/** The folder for built programs, shared by all runs and versions. */
const cache = (): string => {
  const given = process.env["SATRAIL_REGTEST_CACHE"] ?? ""
  if (given !== "") return given
  const home = process.env["XDG_CACHE_HOME"] ?? ""
  return path.join(home === "" ? path.join(os.homedir(), ".cache") : home, "satrail", "regtest")
}

/**
 * Returns the path of a program on this machine. For a program that is built here, the path contains a hash of
 * its sources.
 */
const fileOf = (name: Name): string => {
  if (name === "bitcoind")
    return path.join(cache(), `${process.platform}-${process.arch}-debian`, "unpacked", name)
  const { source, ...how } = packages[name]
  const hash = createHash("sha256").update(JSON.stringify({ module: how.module, tags: how.tags }))
  for (const file of ["go.mod", "go.sum", ...globSync("*.go", { cwd: source }).toSorted()])
    hash.update(readFileSync(path.join(source, file)))
  return path.join(cache(), `${process.platform}-${process.arch}-${hash.digest("hex").slice(0, 16)}`, name)
}

/** The minimum Go version. */
const wanted = /^go ([\d.]+)$/m.exec(readFileSync(path.join(binaries, "go.mod"), "utf8"))?.[1] ?? ""

let found: Go.Go | Go.Missing | undefined
const goHere = () => (found ??= Go.find(wanted, Go.folders()))

/** Returns whether a program is ready to start. */
export const isReady = (name: Name): boolean => existsSync(fileOf(name))

/** Returns in one line why these programs can be neither found nor built here, or undefined if they can. */
export const missing = (
  names: ReadonlyArray<Name>,
  go: () => Go.Go | Go.Missing = goHere
): string | undefined => {
  const absent = names.filter((name) => !isReady(name))
  const debian = absent.includes("bitcoind") ? Debian.find() : undefined
  if (debian !== undefined && "missing" in debian) return debian.missing
  const unbuilt = absent.filter((name) => name !== "bitcoind")
  if (unbuilt.length === 0) return undefined
  const here = go()
  if ("command" in here) return undefined
  const instead = here.newest === undefined ? "there is none (https://go.dev/dl)" : `this is ${here.newest}`
  return `no real nodes here: ${unbuilt.join(" and ")} ${unbuilt.length === 1 ? "needs" : "need"} Go ${wanted} or newer, ${instead}`
}

const say = (line: string): void => void process.stderr.write(`${line}\n`)

/** Files that exist next to a program while it is being built. */
const besides = (file: string) => ({
  /** The build's progress, as text. */
  progress: `${file}.progress`,
  /** Go's temporary files, which remain if Go is killed. */
  work: `${file}.work`
})

const clear = (file: string): void => {
  for (const beside of Object.values(besides(file)))
    rmSync(beside, { recursive: true, force: true, maxRetries: 5 })
  // Remove folders that remained when earlier versions of this program were killed. A folder may still be in
  // use until our time limit for a build has passed.
  for (const folder of globSync(`${path.dirname(file)}.building-*`)) {
    if (Date.now() - statSync(folder).mtimeMs > maxBuildMillis)
      rmSync(folder, { recursive: true, force: true })
  }
}

/** Copies LDK's library next to the program, because Go's module cache may be gone when the program starts. */
const bringLibrary = ({ command }: Go.Go, source: string, into: string): void => {
  const module = execFileSync(command, ["list", "-m", "-f", "{{.Dir}}", "github.com/getAlby/ldk-node-go"], {
    cwd: source,
    encoding: "utf8"
  })
  const machine = process.arch === "arm64" ? "aarch64" : "x86_64"
  const [library] = globSync(path.join(module.trim(), `ldk_node/${machine}-unknown-linux-gnu/*.so`))
  if (library !== undefined) copyFileSync(library, path.join(into, path.basename(library)))
}

/**
 * Builds a program. The caller must hold the lock on the program's folder, so that no other process builds
 * there at the same time.
 */
const build = (name: Built, file: string): Effect.Effect<void, RegtestFailed> =>
  Effect.callback((resume) => {
    const here = goHere()
    if (!("command" in here))
      return resume(Effect.fail(new RegtestFailed({ message: missing([name]) ?? name })))
    clear(file)
    const { progress, work } = besides(file)
    mkdirSync(work)
    const built = path.join(work, name)
    const { source, module, tags, cgo } = packages[name]
    say(`building ${name} with Go ${here.version}; this takes minutes, once per machine`)
    const startedMillis = Date.now()
    let isBrokenOff = false
    const child = spawn(
      here.command,
      [
        "build",
        "-v",
        ...(cgo === "1" ? ["-trimpath"] : quick),
        `-ldflags=-s -w${cgo === "1" ? " -extldflags=-Wl,-rpath,$ORIGIN" : ""}`,
        `-tags=${tags}`,
        "-o",
        built,
        module
      ],
      {
        cwd: source,
        env: {
          ...process.env,
          CGO_ENABLED: cgo,
          GOTOOLCHAIN: "local",
          GOWORK: "off",
          GOFLAGS: "-mod=readonly -modcacherw -buildvcs=false",
          GOTMPDIR: work
        },
        stdio: ["ignore", "ignore", "pipe"],
        timeout: maxBuildMillis
      }
    )
    // Otherwise, if this process were killed, its build would continue alongside the next one.
    if (child.pid !== undefined) Keeper.keepProcess(child.pid)
    let [downloads, compiled] = [0, 0]
    const said: Array<string> = []
    // With -v Go prints each package as it compiles it.
    createInterface({ input: child.stderr }).on("line", (line) => {
      if (line.startsWith("go: downloading")) downloads++
      else {
        if (/^[\w./~-]+$/.test(line)) compiled++
        said.push(line)
      }
    })
    const tell = setInterval(() => {
      const far = `${downloads} modules downloaded, ${compiled} packages compiled after ${Math.round((Date.now() - startedMillis) / 1000)} s`
      writeFileSync(progress, far)
      say(`building ${name}: ${far}`)
    }, progressMillis)
    void Promise.race([once(child, "close"), once(child, "error")]).then(
      ([status]: ReadonlyArray<unknown>) => {
        clearInterval(tell)
        if (child.pid !== undefined) Keeper.forgetProcess(child.pid)
        if (isBrokenOff) return undefined // the folder may already belong to another process
        if (status === 0 && name === "ldk") bringLibrary(here, source, path.dirname(file))
        if (status === 0) renameSync(built, file)
        clear(file)
        const why = status instanceof Error ? status.message : said.slice(-shownLines).join("\n")
        return resume(
          status === 0
            ? Effect.void
            : Effect.fail(new RegtestFailed({ message: `go build ${module}: ${why}` }))
        )
      }
    )
    return Effect.promise(async () => {
      isBrokenOff = true
      clearInterval(tell)
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGKILL")
        await once(child, "close")
      }
      clear(file)
    })
  })

/** Downloads bitcoind. The caller must hold the lock on bitcoind's folder. */
const fetched = (file: string): Effect.Effect<void, RegtestFailed> => {
  const into = path.dirname(file)
  const { work } = besides(into)
  return Effect.gen(function* () {
    const debian = Debian.find()
    if ("missing" in debian) return yield* new RegtestFailed({ message: debian.missing })
    clear(into)
    mkdirSync(work)
    say("fetching bitcoind from Debian; this takes seconds, once per machine")
    yield* Effect.tryPromise({
      try: (signal) => Debian.unpack(debian, work, into, signal),
      catch: (cause) =>
        new RegtestFailed({
          message: `no bitcoind here: ${cause instanceof Error ? cause.message : String(cause)}`
        })
    })
  }).pipe(Effect.ensuring(Effect.sync(() => clear(into))))
}

/** Returns the progress of another process's build, if that process has written it. */
const progressOf = (file: string): string => {
  try {
    return `: ${readFileSync(besides(file).progress, "utf8")}`
  } catch {
    return "" // not yet written, or already removed
  }
}

/**
 * Waits until no other process is building this program, and locks out others until the scope closes. While it
 * waits, regularly prints which process it is waiting for.
 */
const turn = (name: Name, file: string, folder: string): Effect.Effect<void, RegtestFailed, Scope.Scope> => {
  let toldMillis = Number.NEGATIVE_INFINITY
  const tell = (pid: number) => {
    // If this process holds the lock, its own build already prints progress.
    if (pid === process.pid || Date.now() - toldMillis < progressMillis) return
    toldMillis = Date.now()
    say(`waiting for process ${pid}, which is building ${name}${progressOf(file)}`)
  }
  const again: Effect.Effect<void, RegtestFailed, Scope.Scope> = DirectoryLock.hold(folder).pipe(
    Effect.catchTags({
      DirectoryLocked: ({ pid }) =>
        Effect.andThen(
          Effect.andThen(
            Effect.sync(() => tell(pid)),
            Effect.sleep(lookAgainMillis)
          ),
          again
        ),
      DirectoryUnusable: ({ message }) => Effect.fail(new RegtestFailed({ message }))
    })
  )
  return again
}

/**
 * Returns the program's path. If the program has not been built before, this takes minutes. If several callers
 * run concurrently, only one of them builds it.
 */
export const ensure = (name: Name): Effect.Effect<string, RegtestFailed> =>
  Effect.suspend(() => {
    const file = fileOf(name)
    if (existsSync(file)) return Effect.succeed(file)
    const folder = name === "bitcoind" ? path.dirname(path.dirname(file)) : path.dirname(file)
    const make = Effect.suspend(() => (name === "bitcoind" ? fetched(file) : build(name, file)))
    return Effect.scoped(
      Effect.andThen(
        turn(name, file, folder),
        Effect.suspend(() => (existsSync(file) ? Effect.succeed(file) : Effect.as(make, file)))
      )
    )
  })
