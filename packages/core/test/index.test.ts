import { assert, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import path from "node:path"
import * as root from "../src/index.ts"

const sources = path.join(import.meta.dirname, "../src")

it("interface: every refusal and outage can be imported from the root of the package", async () => {
  const promised = new Set<unknown>(Object.values(root).flatMap((module) => Object.values(module)))
  const missing: Array<string> = []
  for (const file of globSync("**/*.ts", { cwd: sources })) {
    const source = readFileSync(path.join(sources, file), "utf8")
    const names = Array.from(source.matchAll(/^export class (\w+) extends Schema\.TaggedError/gm), ([, name = ""]) => name)
    if (names.length === 0) continue
    const module: Readonly<Record<string, unknown>> = await import(path.join(sources, file))
    missing.push(...names.filter((name) => !promised.has(module[name])))
  }
  // KeyRangeTaken: of a Change that no service of a host makes.
  assert.deepStrictEqual(missing, ["KeyRangeTaken"])
})
