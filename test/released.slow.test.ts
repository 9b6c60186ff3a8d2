// The packages `satrail` and `@satrail/client` as released, on every runtime that they support.
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { programsMillis } from "@satrail/testing/Waiting"
import { spawnSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { minimumNode } from "../packages/bitcoin/src/Runtime.ts"
import * as Created from "../packages/create-satrail/test/Created.ts"
import * as Editor from "../packages/satrail/test/Editor.ts"
import { root } from "./Blocks.ts"
import { files, hasRegistry, install, released } from "./packed.ts"

const work = mkdtempSync(path.join(tmpdir(), "satrail-released-"))
const host = path.join(work, "host")

if (!hasRegistry) console.log("released: skipped, because no package registry can be reached")

/** A strict application's compiler settings. Declarations of effect use DOM types, which a Node program lacks. */
const strict = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  noEmit: true,
  target: "ES2024",
  lib: ["ES2024", "DOM"],
  module: "nodenext",
  types: ["node"]
}
const compiler = path.join(root, "node_modules/typescript/bin/tsc")

const ofPlatform = `${process.platform}-${process.arch}`

/** A runtime: its package in the registry, its program in that package, and how it runs a file. */
interface Runtime {
  readonly name: string
  readonly dependency: readonly [name: string, version: string]
  readonly program: string
  readonly args: ReadonlyArray<string>
}

const node = (version: string): Runtime => ({
  name: `Node ${version}`,
  dependency: [`node-${ofPlatform}`, version],
  program: `node-${ofPlatform}/bin/node`,
  args: []
})

const runtimes: ReadonlyArray<Runtime> = [
  node(minimumNode),
  node("24"),
  { name: "Bun", dependency: ["bun", "1"], program: ".bin/bun", args: [] },
  { name: "Deno", dependency: ["deno", "2"], program: ".bin/deno", args: ["run", "--allow-all"] }
]

describe.skipIf(!hasRegistry)(
  "the released packages",
  () => {
    beforeAll(async () => {
      install(host, { ...files(await released()), effect: "*", "@types/node": "24" })
      cpSync(path.join(root, "examples/quickstart/main.ts"), path.join(host, "quickstart.ts"))
      const shop = readFileSync(path.join(root, "packages/client/test/shop.ts"), "utf8")
      writeFileSync(path.join(host, "shop.ts"), shop.replace("../src/index.ts", "@satrail/client"))
    }, programsMillis)
    afterAll(() => rmSync(work, { recursive: true, force: true }))

    it("released: for each method, editors show a sentence and an example", async () => {
      const folder = path.join(host, "editor")
      assert.deepStrictEqual(
        await Editor.problems({ folder, from: "satrail", config: { compilerOptions: strict }, compiler }),
        []
      )
    })

    it("released: declarations contain none of effect's types, and a program type-checks when satrail is replaced with the client", async () => {
      const folder = path.join(host, "types")
      mkdirSync(folder)
      for (const file of [
        "satrail/test/plain.types.ts",
        "client/test/grounds/program.ts",
        "client/test/grounds/grounds.ts"
      ]) {
        const text = readFileSync(path.join(root, "packages", file), "utf8")
        const released = text
          .replaceAll(
            /"(?:\.\.\/)+src\/index\.ts"/g,
            file.startsWith("client") ? '"@satrail/client"' : '"satrail"'
          )
          .replace('"../../src/operator.ts"', '"@satrail/client/operator"')
          .replace('"./program.ts"', '"./program.js"')
        assert.notInclude(released, "../")
        writeFileSync(path.join(folder, path.basename(file)), released)
      }
      writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions: strict }))
      assert.strictEqual(await Created.problems(compiler, folder), "")
      // The check fails if there is an error.
      const wrong = 'import type { Pay } from "satrail"\nexport const invoices: Pay["invoices"] = 1\n'
      writeFileSync(path.join(folder, "wrong.ts"), wrong)
      assert.match(await Created.problems(compiler, folder), /^wrong\.ts|types\/wrong\.ts/)
    })

    for (const { name, dependency, program, args } of runtimes) {
      describe(`on ${name}`, () => {
        const tools = path.join(work, name.replace(" ", "-"))
        beforeAll(() => install(tools, Object.fromEntries([dependency])), programsMillis)

        /** Runs a file of the application. */
        const ran = (file: string) => {
          const env = { PATH: process.env["PATH"], HOME: path.join(work, "home"), NO_COLOR: "1" }
          const command = path.join(tools, "node_modules", program)
          const { status, stdout, stderr } = spawnSync(command, [...args, file], {
            cwd: host,
            env,
            encoding: "utf8"
          })
          assert.deepStrictEqual([status, stderr], [0, ""], stdout)
          return stdout
        }

        it(`released: the quick start's lines run unchanged (${name})`, () => {
          const lines = readFileSync(path.join(host, "quickstart.ts"), "utf8").replace(/^(?:\/\/.*\n)+/, "")
          assert.isAtMost(lines.split("\n").filter((line) => line !== "").length, 12)
          for (const page of ["packages/satrail/README.md", "docs/start.md"])
            assert.include(readFileSync(path.join(root, page), "utf8"), lines, page)
          rmSync(path.join(host, ".satrail"), { recursive: true, force: true })
          const startedMillis = Date.now()
          const said = ran("quickstart.ts")
          console.log(`${name}: the quick start took ${((Date.now() - startedMillis) / 1000).toFixed(1)} s`)
          assert.match(said, /^please pay lnbcrt\w+\nship order 1042; 21000 sats available\n$/)
        })

        it(`released: a shop serves HTTP, a client sells there, and a test's clock advances (${name})`, () => {
          const lines = [
            "a web request: 200",
            "21000 sats for order 1042",
            "the other invoice is expired",
            "closed",
            ""
          ]
          assert.deepStrictEqual(ran("shop.ts").split("\n"), lines)
        })
      })
    }
  },
  programsMillis
)
