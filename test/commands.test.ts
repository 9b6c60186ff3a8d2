// Checks which modules the command line loads. A command that only calls a running service must not wait until
// the adapters of databases and nodes are loaded.
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import path from "node:path"
import { importsOf } from "../scripts/house/Floors.ts"
import { local } from "../packages/server/src/commands/Local.ts"
import { satrail } from "../packages/server/src/commands/Commands.ts"
import { root } from "./Blocks.ts"

const fileOf = (importer: string, specifier: string): string | undefined => {
  if (specifier.startsWith(".")) return path.join(path.dirname(importer), specifier)
  const [, name, module = "index"] = /^@satrail\/([a-z]+)(?:\/(.+))?$/.exec(specifier) ?? []
  return name === undefined ? undefined : `packages/${name}/src/${module}.ts`
}

/** The modules that import code used only by local commands, or by a program with features of its own. */
const doors = [
  "packages/server/src/commands/LocalCommands.ts",
  "packages/server/src/commands/Spelling.ts",
  "packages/server/src/run.ts"
]

/**
 * Our modules and the libraries that `file` loads directly or indirectly, except through the modules in
 * `doors`.
 */
const loadedWith = (file: string, found = new Set<string>()): ReadonlySet<string> => {
  if (found.has(file)) return found
  found.add(file)
  for (const { clause, specifier } of importsOf(readFileSync(path.join(root, file), "utf8"))) {
    if (clause.startsWith("type ") || (clause === "" && doors.includes(file))) continue
    const next = fileOf(file, specifier)
    if (next === undefined) found.add(specifier)
    else loadedWith(next, found)
  }
  return found
}

describe("modules loaded by commands", () => {
  it("command line: calling a running service loads no adapter of a database, node or chain", () => {
    const loaded = [...loadedWith("packages/server/src/run.ts")]
    assert.include(loaded, "packages/server/src/client/Operator.ts")
    assert.include(loaded, "packages/server/src/client/Export.ts")
    const others = loaded.filter((one) =>
      /^packages\/(?!server\/|bitcoin\/|core\/src\/base\/|http\/src\/commands\/|(?:features\/src\/[\w-]+|service\/src\/features)\/commands\.ts$)/.test(
        one
      )
    )
    assert.isEmpty(others)
    assert.deepStrictEqual(
      loaded.filter(
        (one) =>
          !one.startsWith("packages/") &&
          !/^(?:node:|effect(?:\/|$)|@effect\/platform-node|@noble\/hashes|@scure\/base)/.test(one)
      ),
      []
    )
  })

  it("command line: exactly the commands that load the service are left out of a release's single file", () => {
    const source = readFileSync(path.join(root, doors[0] ?? ""), "utf8")
    const declared = Array.from(
      source.matchAll(
        /^export const \w+ = Command\.make\(\s*"([a-z-]+)"|^export const \w+ = Command\.make\("([a-z-]+)"/gm
      ),
      ([, a, b]) => a ?? b
    )
    assert.sameMembers([...local], declared)
    const names = satrail.subcommands.flatMap(({ commands }) => commands.map(({ name }) => name))
    assert.includeMembers(names, [...local])
    for (const door of doors) assert.isTrue(existsSync(path.join(root, door)))
  })
})
