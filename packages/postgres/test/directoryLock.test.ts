import { assert, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import fs, { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as DirectoryLock from "../src/client/DirectoryLock.ts"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "satrail-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

/** Another process, which locks the directory until that process is killed. */
const holder = Effect.fnUntraced(function* (path: string) {
  const lock = new URL("../src/client/DirectoryLock.ts", import.meta.url).href
  const program = `
    import { Effect } from "effect"
    import * as DirectoryLock from ${JSON.stringify(lock)}
    await Effect.runPromise(Effect.scoped(Effect.andThen(DirectoryLock.hold(${JSON.stringify(path)}), Effect.callback(() => {
      console.log("held")
      setInterval(() => {}, 1000)
    }))))`
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(process.execPath, ["--input-type=module", "-e", program], {
        cwd: import.meta.dirname,
        stdio: ["ignore", "pipe", "inherit"]
      })
    ),
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  )
  yield* Effect.promise(() => once(child.stdout, "data"))
  return child
})

const file = (path: string) => join(path, "lock")

const lockOf = (path: string): unknown => JSON.parse(readFileSync(file(path), "utf8"))

it.effect(
  "directory: a directory can be locked only once, even within one process, and is unlocked when its scope closes",
  () =>
    Effect.gen(function* () {
      const path = yield* directory
      const scope = yield* Scope.make()
      yield* Scope.provide(DirectoryLock.hold(path), scope)
      const error = yield* Effect.flip(DirectoryLock.hold(path))
      assert.deepStrictEqual(
        { ...error },
        { ...new DirectoryLock.DirectoryLocked({ directory: path, pid: process.pid }) }
      )
      yield* Scope.close(scope, Exit.void)
      assert.isFalse(existsSync(file(path)))
      yield* DirectoryLock.hold(path)
    })
)

it.effect(
  "directory: an error names the process that has the lock and the remedy; if that process is killed, the lock is taken over",
  () =>
    Effect.gen(function* () {
      const path = yield* directory
      const child = yield* holder(path)
      const error = yield* Effect.flip(DirectoryLock.hold(path))
      assert.include(error.message, `in use by process ${child.pid}. Stop that process`)
      child.kill("SIGKILL")
      yield* Effect.promise(() => once(child, "exit"))
      assert.isTrue(existsSync(file(path)))
      yield* DirectoryLock.hold(path)
      assert.deepInclude(lockOf(path), { pid: process.pid })
    })
)

it.effect("directory: a malformed lock, as left by a full disk, is ignored", () =>
  Effect.gen(function* () {
    const path = yield* directory
    writeFileSync(file(path), "")
    yield* DirectoryLock.hold(path)
    assert.deepInclude(lockOf(path), { pid: process.pid })
  })
)

it.effect(
  "directory: a process that finds a stale lock never removes the lock of another process that took it over first",
  () =>
    Effect.gen(function* () {
      const path = yield* directory
      writeFileSync(file(path), "stale")
      let absences = 0
      // Another process takes over just after this one reads the stale lock. While there is no lock, a third could take it.
      const { readFileSync: read, renameSync: rename, rmSync: remove } = fs
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          const counted = () => {
            if (!existsSync(file(path))) absences++
          }
          const readThenLose = (...args: Parameters<typeof read>) => {
            const found = read(...args)
            if (args[0] === file(path) && found === "stale")
              writeFileSync(file(path), JSON.stringify({ pid: process.ppid, started: null }))
            return found
          }
          Object.assign(fs, {
            readFileSync: readThenLose,
            renameSync: (...args: Parameters<typeof rename>) => [rename(...args), counted()],
            rmSync: (...args: Parameters<typeof remove>) => [remove(...args), counted()]
          })
          syncBuiltinESMExports()
        }),
        () =>
          Effect.sync(() => {
            Object.assign(fs, { readFileSync: read, renameSync: rename, rmSync: remove })
            syncBuiltinESMExports()
          })
      )
      const error = yield* Effect.flip(DirectoryLock.hold(path))
      assert.deepInclude({ ...error }, { _tag: "DirectoryLocked", pid: process.ppid })
      assert.strictEqual(absences, 0)
    })
)

it.effect("directory: a takeover that was killed halfway is taken over as well", () =>
  Effect.gen(function* () {
    const path = yield* directory
    writeFileSync(file(path), "stale")
    writeFileSync(`${file(path)}.takeover`, "stale")
    yield* DirectoryLock.hold(path)
    assert.deepInclude(lockOf(path), { pid: process.pid })
    assert.deepStrictEqual(fs.readdirSync(path), ["lock"])
  })
)

const tellsStarts = existsSync("/proc/self/stat")

it.effect.skipIf(!tellsStarts)(
  "directory: a reused pid counts as another process (skipped where /proc has no start times)",
  () =>
    Effect.gen(function* () {
      const path = yield* directory
      // The parent process is alive during this test, and did not start at boot.
      writeFileSync(file(path), JSON.stringify({ pid: process.ppid, started: "0" }))
      yield* DirectoryLock.hold(path)
      assert.deepInclude(lockOf(path), { pid: process.pid })
    })
)

it.effect("directory: a process that may be alive keeps its lock", () =>
  Effect.gen(function* () {
    const path = yield* directory
    writeFileSync(file(path), JSON.stringify({ pid: process.ppid, started: null }))
    const error = yield* Effect.flip(DirectoryLock.hold(path))
    assert.deepInclude({ ...error }, { _tag: "DirectoryLocked", pid: process.ppid })
  })
)

it.effect("directory: a directory that cannot be created is reported", () =>
  Effect.gen(function* () {
    const path = join(yield* directory, "file")
    writeFileSync(path, "")
    const error = yield* Effect.flip(DirectoryLock.hold(path))
    assert.strictEqual(error._tag, "DirectoryUnusable")
    assert.include(error.message, path)
  })
)

it.effect.skipIf(!tellsStarts)(
  "directory: a location where nothing can be created, such as /proc, is rejected immediately (skipped without /proc)",
  () =>
    Effect.gen(function* () {
      for (const path of ["/proc", "/proc/nowhere", "/proc/nowhere/deeper"]) {
        const error = yield* Effect.flip(DirectoryLock.hold(path))
        assert.strictEqual(error._tag, "DirectoryUnusable", path)
        assert.include(error.message, path)
      }
    })
)

it.effect(
  "directory: the directory and its parents are created, and only the owner can access the directory",
  () =>
    Effect.gen(function* () {
      const above = join(yield* directory, "a")
      yield* DirectoryLock.hold(join(above, "b", "c"))
      for (const path of [above, join(above, "b"), join(above, "b", "c")])
        assert.strictEqual(statSync(path).mode & 0o777, 0o700, path)
    })
)
