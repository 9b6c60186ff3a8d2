// Runs the tests of Go sources with mutants: the bug is put into a copy of the folder.
import { programsMillis } from "@satrail/testing/Waiting"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import os from "node:os"
import path from "node:path"
import process from "node:process"
import { type Canary, patched } from "./Canaries.ts"
import type { Outcome } from "./Outcome.ts"

const root = path.resolve(import.meta.dirname, "../..")

export const isGo = (file: string): boolean => file.endsWith(".go")

export const isHere = (): boolean => spawnSync("go", ["version"]).status === 0

/** The fields of `go test -json` that are used here. */
interface Said {
  readonly Action?: string
  readonly Test?: string
  readonly Output?: string
}

/**
 * Runs the tests in the folder of `file` whose names match (a regular expression), with or without the
 * canary's bug.
 */
export const run = async (canary: Canary | undefined, file: string, titles: string): Promise<Outcome> => {
  const begunMillis = Date.now()
  const sources = path.dirname(file)
  const folder = mkdtempSync(path.join(os.tmpdir(), "satrail-canary-"))
  cpSync(path.join(root, sources), folder, { recursive: true })
  if (canary !== undefined)
    writeFileSync(
      path.join(folder, path.relative(sources, canary.file)),
      patched(canary, readFileSync(path.join(root, canary.file), "utf8"))
    )
  const child = spawn("go", ["test", "-json", "-run", titles, "./..."], {
    cwd: folder,
    env: { ...process.env, GOFLAGS: "-modcacherw" },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: programsMillis
  })
  let said = ""
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (said += text))
  await once(child, "close")
  rmSync(folder, { recursive: true })
  const lines = said.split("\n").filter((line) => line.startsWith("{"))
  const events = lines.map((line): Said => JSON.parse(line))
  const ended = (action: string) =>
    events.flatMap(({ Action, Test }) => (Action === action && Test !== undefined ? [Test] : []))
  const output = events.flatMap(({ Output }) => Output ?? [])
  return {
    failed: ended("fail").map((test) => ({
      title: `${file}: ${test}`,
      why: output.find((line) => line.includes("_test.go")) ?? ""
    })),
    passed: ended("pass").length,
    broken: output.join("").slice(-2000),
    seconds: (Date.now() - begunMillis) / 1000
  }
}
