import { assert, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import path from "node:path"

const root = path.dirname(import.meta.dirname)
const folder = path.join(root, "examples/frameworks")
const page = readFileSync(path.join(root, "docs/guides/frameworks.md"), "utf8")

it("frameworks: the guide's code matches the code in examples/frameworks, which is run with each framework", () => {
  const blocks = Array.from(page.matchAll(/^```tsx?\n([^]*?)^```$/gm), ([, code = ""]) => code)
  const files = globSync("**/*.{ts,tsx}", { cwd: folder }).filter((file) => file !== "check.ts")
  assert.sameMembers(
    blocks,
    files.map((file) => readFileSync(path.join(folder, file), "utf8"))
  )
})

it("frameworks: the guide has at most 900 words", () => {
  assert.isAtMost((page.match(/\S+/g) ?? []).length, 900)
})
