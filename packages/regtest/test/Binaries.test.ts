import { afterEach, assert, beforeEach, describe, it } from "@effect/vitest"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { setTimeout as pass } from "node:timers/promises"
import * as Binaries from "../src/Binaries.ts"
import * as Go from "../src/Go.ts"

// A fake Go that builds nothing until allowed. The tests check which processes start it and what is left
// behind.
const script = `#!/bin/sh
[ "$1" = version ] && { echo "go version go1.99.0 linux/amd64"; exit; }
echo $$ >> "$FAKE/calls"
echo "go: downloading github.com/example/one v1.0.0" >&2
echo "github.com/example/one" >&2
touch "$GOTMPDIR/leftover"
while [ ! -e "$FAKE/go-on" ]; do sleep 0.05; done
[ -e "$FAKE/fail" ] && { echo "example.go:1:1: syntax error" >&2; exit 1; }
while [ "$1" != -o ]; do shift; done
echo built > "$2"
`

const maxWaitMillis = 180_000

let home = ""
let started: Array<ChildProcess> = []
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), "satrail-go-"))
  started = []
  mkdirSync(path.join(home, "bin"))
  writeFileSync(path.join(home, "bin/go"), script)
  chmodSync(path.join(home, "bin/go"), 0o755)
})
afterEach(() => {
  for (const child of started) child.kill("SIGKILL")
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
})

const at = (name: string) => path.join(home, name)
const calls = () =>
  existsSync(at("calls")) ? readFileSync(at("calls"), "utf8").trim().split("\n").map(Number) : []

const eventually = async (what: string, isSo: () => boolean): Promise<void> => {
  for (const deadlineMillis = Date.now() + maxWaitMillis; !isSo(); await pass(20))
    assert.isBelow(Date.now(), deadlineMillis, what)
}

/** Starts a process that needs btcd. */
const build = () => {
  const child = spawn(process.execPath, [path.join(import.meta.dirname, "buildProgram.ts")], {
    env: {
      PATH: `${at("bin")}${path.delimiter}${process.env["PATH"]}`,
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      FAKE: home,
      SATRAIL_REGTEST_CACHE: at("cache")
    },
    stdio: ["ignore", "pipe", "pipe"]
  })
  started.push(child)
  let [said, wrong] = ["", ""]
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text))
  child.stderr.setEncoding("utf8").on("data", (text: string) => (wrong += text))
  const ended = once(child, "close").then(([code]: ReadonlyArray<unknown>) => ({ code, said, wrong }))
  return { child, ended, wrong: () => wrong }
}

/** Returns every file in the cache, in any folder. */
const cached = () => readdirSync(at("cache"), { recursive: true, encoding: "utf8" }).toSorted()

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

describe("building real nodes", { timeout: 10 * maxWaitMillis }, () => {
  it("build: processes that need the same program at the same time build it once, and waiting processes print the builder's id", async () => {
    const [first, ...others] = [build(), build(), build()]
    await eventually("one build, and two processes that wait", () => {
      const waiting = [first, ...others].filter((one) => one?.wrong().includes("waiting for process"))
      return calls().length === 1 && waiting.length === 2
    })
    writeFileSync(at("go-on"), "")
    const ends = await Promise.all([first, ...others].map((one) => one?.ended))
    const [folder = "", file = ""] = cached()
    assert.deepStrictEqual(cached(), [folder, `${folder}/btcd`])
    for (const end of ends) assert.deepInclude(end, { code: 0, said: at(`cache/${file}`) })
    assert.lengthOf(calls(), 1)
    assert.strictEqual(readFileSync(at(`cache/${file}`), "utf8"), "built\n")
  })

  it("build: if a build is killed, a waiting process ends that build's Go process, removes the files, and builds again", async () => {
    const killed = build()
    await eventually("a build", () => calls().length === 1)
    const [folder = ""] = cached()
    const old = at(`cache/${folder}.building-abcdef`)
    const recent = at(`cache/${folder}.building-ghijkl`)
    for (const left of [old, recent]) mkdirSync(left)
    utimesSync(old, 0, 0)
    const next = build()
    await eventually("a process that waits for the build", () => next.wrong().includes("waiting for process"))
    killed.child.kill("SIGKILL")
    await eventually("a second build", () => calls().length === 2)
    assert.isFalse(existsSync(old))
    await eventually("the end of the first build", () => !isAlive(calls()[0] ?? 0))
    writeFileSync(at("go-on"), "")
    assert.deepInclude(await next.ended, { code: 0 })
    // An earlier version may still be building in the recent folder.
    assert.deepStrictEqual(cached(), [folder, `${folder}.building-ghijkl`, `${folder}/btcd`])
  })

  it("build: a failed build reports Go's message, leaves nothing behind, and is retried by the next process", async () => {
    for (const name of ["go-on", "fail"]) writeFileSync(at(name), "")
    const failed = await build().ended
    assert.strictEqual(failed.code, 1)
    assert.include(
      failed.wrong,
      "go build github.com/btcsuite/btcd: github.com/example/one\nexample.go:1:1: syntax error"
    )
    assert.lengthOf(cached(), 1)
    rmSync(at("fail"))
    assert.deepInclude(await build().ended, { code: 0 })
  })
})

describe("the Go used for builds", () => {
  const wanted = "1.25.10"
  const install = (folder: string, version: string) => {
    mkdirSync(at(folder))
    writeFileSync(at(`${folder}/go`), `#!/bin/sh\necho "go version go${version} linux/amd64"\n`)
    chmodSync(at(`${folder}/go`), 0o755)
    return at(folder)
  }

  it("go: an old version is skipped in favor of a newer one, in any order", () => {
    const [old, good] = [install("old", "1.19"), install("good", "1.26.8")]
    assert.deepStrictEqual(Go.find(wanted, [at("nothing"), old, good]), {
      command: `${good}/go`,
      version: "1.26.8"
    })
    assert.deepStrictEqual(Go.find(wanted, [old, install("older", "1.18.3")]), { newest: "1.19" })
    assert.deepStrictEqual(Go.find(wanted, [at("nothing")]), { newest: undefined })
  })

  it("go: versions are compared as numbers", () => {
    for (const version of ["1.25.10", "1.25.11", "1.26", "1.26rc1", "2.0"])
      assert.isTrue(Go.isAtLeast(version, wanted), version)
    for (const version of ["1.25.9", "1.25", "1.9", "1.19.8", "0.99.99"])
      assert.isFalse(Go.isAtLeast(version, wanted), version)
  })

  it("go: if no version is new enough, one line shows the required version and those found", () => {
    const before = process.env["SATRAIL_REGTEST_CACHE"]
    process.env["SATRAIL_REGTEST_CACHE"] = at("cache")
    try {
      assert.strictEqual(
        Binaries.missing(["lnd"], () => ({ newest: "1.19" })),
        "no real nodes here: lnd needs Go 1.25.10 or newer, this is 1.19"
      )
      assert.strictEqual(
        Binaries.missing(["btcd", "lnd"], () => ({ newest: undefined })),
        "no real nodes here: btcd and lnd need Go 1.25.10 or newer, there is none (https://go.dev/dl)"
      )
      assert.isUndefined(Binaries.missing(["lnd"], () => ({ command: "go", version: "1.26" })))
    } finally {
      if (before === undefined) delete process.env["SATRAIL_REGTEST_CACHE"]
      else process.env["SATRAIL_REGTEST_CACHE"] = before
    }
  })
})
