import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import path from "node:path"
import { promisify } from "node:util"

const root = path.dirname(import.meta.dirname)

describe("examples", () => {
  for (const [name, said] of [
    ["marketplace", "Ann sold for 18000 sats, and returned half\n"],
    ["game", "Ann keeps 5845 sats in the game\n"]
  ] as const)
    it(`example: ${name} runs, in at most 30 lines`, async () => {
      const file = path.join(root, "examples", name, "main.ts")
      const { stdout } = await promisify(execFile)(process.execPath, [file])
      assert.strictEqual(stdout, said)
      assert.isAtMost(readFileSync(file, "utf8").trimEnd().split("\n").length, 30)
    })
})
