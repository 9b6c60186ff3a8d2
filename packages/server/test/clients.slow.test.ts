// Checks the OpenAPI documents of a running service with third-party tools: linters find nothing, and generated
// clients compile and run the main scenarios. test/clients pins the tools, which only this test installs. Once
// installed, they need no registry.
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { programsMillis } from "@satrail/testing/Waiting"
import { execFile, spawnSync } from "node:child_process"
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { createHash } from "node:crypto"
import os from "node:os"
import path from "node:path"
import * as Service from "./Service.ts"

const here = path.resolve(import.meta.dirname, "../../../test/clients")
// Next to the working copy's other caches.
const kept = path.resolve(import.meta.dirname, "../../../node_modules/.cache/clients")
const work = mkdtempSync(path.join(os.tmpdir(), "satrail-clients-"))

const run = (
  command: string,
  args: ReadonlyArray<string>,
  cwd = work
): Promise<{ readonly status: number; readonly said: string }> =>
  new Promise((resolve) => {
    const env = { ...process.env, NO_COLOR: "1", REDOCLY_TELEMETRY: "off", npm_config_local_prefix: "" }
    execFile(
      command,
      args,
      { cwd, env, maxBuffer: 64 * 1024 * 1024, timeout: programsMillis },
      (error, stdout, stderr) =>
        resolve({ status: error === null ? 0 : Number(error.code ?? 1), said: `${stdout}${stderr}` })
    )
  })

const right = async (command: string, args: ReadonlyArray<string>, cwd = work): Promise<string> => {
  const { status, said } = await run(command, args, cwd)
  assert.strictEqual(status, 0, `${command} ${args.join(" ")}: ${said}`)
  return said
}

/**
 * A folder with the tools pinned by these files of `test/clients`, installed once per version of the files.
 * Undefined if the installation is impossible.
 */
const installed = async (
  name: string,
  files: ReadonlyArray<string>,
  install: (folder: string) => Promise<{ readonly status: number }>
) => {
  const hash = createHash("sha256").update(
    files.map((file) => readFileSync(path.join(here, file), "utf8")).join("\0")
  )
  const folder = path.join(kept, `${name}-${hash.digest("hex").slice(0, 16)}`)
  if (existsSync(path.join(folder, "complete"))) return folder
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const file of files) cpSync(path.join(here, file), path.join(folder, file))
  if ((await install(folder)).status !== 0) return undefined
  writeFileSync(path.join(folder, "complete"), "")
  return folder
}

const npm = await installed("npm", ["package.json", "package-lock.json"], (folder) =>
  run("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts"], folder)
)
const hasVenv = spawnSync("python3", ["-c", "import ensurepip, venv"]).status === 0
const python = hasVenv
  ? await installed("python", ["requirements.txt"], async (folder) => {
      const made = await run("python3", ["-m", "venv", "."], folder)
      return made.status === 0
        ? run("bin/pip", ["install", "--quiet", "-r", "requirements.txt"], folder)
        : made
    })
  : undefined
if (npm === undefined)
  assert.isUndefined(
    process.env["REQUIRE_REGISTRY"],
    "the tools of test/clients/package.json cannot be installed"
  )
if (npm === undefined)
  console.log("clients: linters and TypeScript skipped, because no package registry can be reached")
if (python === undefined)
  assert.isUndefined(
    process.env["REQUIRE_PYTHON"],
    "the tools of test/clients/requirements.txt cannot be installed"
  )
if (python === undefined)
  console.log("clients: Python skipped, because python3 has no venv, or its registry cannot be reached")

const service = Service.make()
const documents = { customer: path.join(work, "customer.json"), operator: path.join(work, "operator.json") }

beforeAll(async () => {
  await service.start()
  for (const [name, route] of [
    ["customer", "/openapi.json"],
    ["operator", "/operator/openapi.json"]
  ] as const)
    writeFileSync(documents[name], (await service.ask("GET", route)).text)
}, programsMillis)
afterAll(async () => {
  await service.end()
  rmSync(work, { recursive: true, force: true })
})

const tool = (name: string) => path.join(npm ?? "", "node_modules/.bin", name)

describe.skipIf(npm === undefined)("the OpenAPI documents, with third-party tools", () => {
  for (const [name, file] of Object.entries(documents)) {
    it(
      `openapi: spectral reports nothing for the document of the ${name}, not even a hint`,
      { timeout: programsMillis },
      async () => {
        const rules = path.join(work, "spectral.json")
        // All rules except three. Tags stay in reading order, a license with an SPDX identifier may not have a
        // URL as well (OpenAPI 3.1), and the contact has no e-mail address.
        writeFileSync(
          rules,
          JSON.stringify({
            extends: [["spectral:oas", "all"]],
            rules: { "openapi-tags-alphabetical": "off", "license-url": "off", "contact-properties": "off" }
          })
        )
        const said = await right(tool("spectral"), [
          "lint",
          "--fail-severity",
          "hint",
          "--ruleset",
          rules,
          file
        ])
        assert.match(said, /No results with a severity of 'hint' or higher found!/)
      }
    )

    it(
      `openapi: redocly reports nothing for the document of the ${name}, not even a warning`,
      { timeout: programsMillis },
      async () => {
        const { totals } = JSON.parse(
          (
            await run(tool("redocly"), ["lint", "--extends", "recommended-strict", "--format", "json", file])
          ).said
            .replace(/^[^{]*/, "")
            .replace(/[^}]*$/, "")
        )
        assert.deepStrictEqual(totals, { errors: 0, warnings: 0, ignored: 0 })
      }
    )
  }

  it("openapi: the linters detect errors", { timeout: programsMillis }, async () => {
    const broken = path.join(work, "broken.json")
    const { servers: _, ...rest } = JSON.parse(readFileSync(documents.operator, "utf8"))
    rest.paths["/operator/metrics"].get.parameters = [{ name: "x", in: "query", schema: { type: "array" } }]
    writeFileSync(broken, JSON.stringify({ ...rest, openapi: "3.0.3" }))
    const rules = path.join(work, "spectral.json")
    assert.notStrictEqual(
      (await run(tool("spectral"), ["lint", "--fail-severity", "hint", "--ruleset", rules, broken])).status,
      0
    )
    assert.notStrictEqual(
      (await run(tool("redocly"), ["lint", "--extends", "recommended-strict", broken])).status,
      0
    )
  })

  it(
    "client: a client generated for TypeScript compiles in strict mode and runs the main scenarios",
    { timeout: programsMillis },
    async () => {
      const folder = path.join(work, "typescript")
      mkdirSync(folder)
      symlinkSync(path.join(npm ?? "", "node_modules"), path.join(folder, "node_modules"))
      cpSync(path.join(here, "stories.ts"), path.join(folder, "stories.ts"))
      writeFileSync(path.join(folder, "package.json"), JSON.stringify({ type: "module" }))
      await right(tool("openapi-typescript"), [documents.customer, "-o", path.join(folder, "document.ts")])
      const options = [
        "--strict",
        "--noUncheckedIndexedAccess",
        "--target",
        "es2024",
        "--module",
        "nodenext",
        "--skipLibCheck"
      ]
      const types = [
        "--types",
        "node",
        "--typeRoots",
        path.resolve(import.meta.dirname, "../../../node_modules/@types")
      ]
      await right(
        tool("tsc"),
        [...options, ...types, "--allowImportingTsExtensions", "--noEmit", "stories.ts"],
        folder
      )
      const { key } = await service.company("paid")
      const said = await right(process.execPath, ["--no-warnings", "stories.ts", service.url(), key], folder)
      assert.strictEqual(said.trim(), "told: insufficient_balance /docs/errors#insufficient_balance")
    }
  )
})

describe.skipIf(python === undefined)("a client for Python", () => {
  it(
    "client: a client generated for Python loads without a warning and runs the main scenarios",
    { timeout: programsMillis },
    async () => {
      const bin = path.join(python ?? "", "bin")
      const folder = path.join(work, "python")
      writeFileSync(path.join(work, "python.yaml"), "post_hooks: []\n")
      const output = path.join(folder, "satrail_client")
      mkdirSync(folder)
      const said = await right(path.join(bin, "openapi-python-client"), [
        "generate",
        `--path=${documents.customer}`,
        `--output-path=${output}`,
        "--meta=none",
        `--config=${path.join(work, "python.yaml")}`
      ])
      assert.notMatch(said, /WARNING|ERROR|Unable/i)
      cpSync(path.join(here, "stories.py"), path.join(folder, "stories.py"))
      const { key } = await service.company("paid")
      const told = await right(
        path.join(bin, "python"),
        ["-W", "error", "stories.py", service.url(), key],
        folder
      )
      assert.strictEqual(told.trim(), "told: insufficient_balance /docs/errors#insufficient_balance")
    }
  )
})
