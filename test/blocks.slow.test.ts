import { assert, beforeAll, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { globSync, mkdirSync, writeFileSync } from "node:fs"
import path from "node:path"
import * as Choices from "../packages/create-satrail/src/Choices.ts"
import * as Project from "../packages/create-satrail/src/Project.ts"
import { entries } from "../scripts/release/Package.ts"
import { type Block, blocks, blocksOf, root, write } from "./Blocks.ts"

const folder = path.join(root, "node_modules/.cache/blocks")

/**
 * The paths in this workspace at which the compiler finds the packages that an application would install: the
 * entry points of our packages, and their peer dependencies.
 */
const paths = Object.fromEntries([
  ...globSync("packages/*/src/index.ts", { cwd: root }).map((file) => {
    const folder = file.split(path.sep)[1] ?? ""
    return [folder === "satrail" ? folder : `@satrail/${folder}`, [path.join(root, file)]]
  }),
  ...Object.entries(entries).flatMap(([name, promised]) =>
    promised.map((entry) => [
      `${name}/${entry}`,
      [path.join(root, name.replace("@satrail", "packages"), "src", `${entry}.ts`)]
    ])
  ),
  [
    "@effect/platform-node/*",
    [path.join(root, "packages/server/node_modules/@effect/platform-node/dist/*.d.ts")]
  ],
  ["pg", [path.join(root, "packages/postgres/node_modules/@types/pg/index.d.ts")]]
])

/** Copied blocks are checked as strictly as our own sources. */
const config = {
  extends: path.join(root, "tsconfig.base.json"),
  compilerOptions: {
    composite: false,
    noEmit: true,
    allowImportingTsExtensions: true,
    rewriteRelativeImportExtensions: false,
    declarationMap: false,
    tsBuildInfoFile: null,
    noUnusedLocals: false,
    paths
  },
  include: ["**/*.ts"]
}

/** The compiler's errors, with positions on the page. */
const problems = (all: ReadonlyArray<Block>, into: string): Promise<ReadonlyArray<string>> => {
  write(all, into)
  mkdirSync(into, { recursive: true })
  writeFileSync(path.join(into, "tsconfig.json"), JSON.stringify(config))
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [path.join(root, "node_modules/typescript/bin/tsc"), "-p", into, "--pretty", "false"],
      (error, stdout, stderr) => {
        const lines = `${stdout}${stderr}`.split("\n").filter((line) => line !== "")
        if (error !== null && lines.length === 0) lines.push(String(error))
        const named = lines.map((line) => {
          const block = all.find(({ file }) => line.includes(`${file}(`))
          return block === undefined ? line : `${block.at}: ${line.slice(line.indexOf(`${block.file}(`))}`
        })
        resolve(named)
      }
    )
  })
}

// The compiler runs only once, because each run reads the whole workspace.
describe("guides:", () => {
  const wrong = blocksOf(
    "docs/x.md",
    'Text\n\n```ts\nimport { Companies } from "@satrail/service"\nCompanies.nothing()\n```\n'
  )
  const templates = Choices.kinds.flatMap(([kind]) =>
    Object.entries(Project.files({ folder: kind, kind, framework: "none" })).flatMap(([file, code]) =>
      file.endsWith(".ts")
        ? [
            {
              at: `template ${kind}, ${file}`,
              file: path.join(`create-${kind}`, file),
              isProgram: true,
              code
            }
          ]
        : []
    )
  )
  let found: ReadonlyArray<string> = []
  beforeAll(async () => {
    found = await problems([...blocks(), ...templates, ...wrong], folder)
  })

  it("guides: each TypeScript block on a page compiles, and so does each template of create-satrail", () => {
    assert.isAbove(blocks().length, 15)
    assert.isAbove(templates.length, 6)
    assert.deepStrictEqual(
      found.filter((line) => !line.startsWith("docs/x.md")),
      []
    )
  })

  it("guides: a block that does not compile is reported with its page and line", () => {
    const said = found.filter((line) => line.startsWith("docs/x.md"))
    assert.lengthOf(said, 1)
    assert.match(said.join(), /^docs\/x\.md:3: docs-x\/block1\.ts\(2,11\): error TS2339/)
  })
})
