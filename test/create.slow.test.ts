// A new user's first steps with each framework on an empty HOME: creates a project from the packed packages,
// installs it, checks its types, and on each supported Node starts it and gets paid.
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { isTurnOf } from "@satrail/testing/Turn"
import { programsMillis } from "@satrail/testing/Waiting"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { minimumNode } from "../packages/bitcoin/src/Runtime.ts"
import type { Framework, Kind } from "../packages/create-satrail/src/Choices.ts"
import * as Created from "../packages/create-satrail/test/Created.ts"
import { environment as isolated, files, hasRegistry, install, released, run } from "./packed.ts"

const work = mkdtempSync(path.join(tmpdir(), "satrail-created-"))

/**
 * Each framework is tested with one kind of project, because a kind's code is the same in every framework. Each
 * kind also has its own test without a framework. Frameworks take turns.
 */
const pairs: ReadonlyArray<readonly [Framework, Kind]> = [
  ["none", "shop"],
  ["express", "wallet"],
  ["fastify", "payouts"],
  ["hono", "bare"],
  ["next", "shop"]
]

/** A route that a developer adds after the service, with a body parser. */
const route = 'app.post("/echo", express.json(), (request, response) => void response.json(request.body))\n'

const kind = `node-${process.platform}-${process.arch}`
const lowest = path.join(work, "lowest")
const bins = new Map([
  [minimumNode, path.join(lowest, "node_modules", kind, "bin")],
  [process.versions.node, path.dirname(process.execPath)]
])
const home = path.join(work, "home")
const environment = (bin = "") => ({ ...isolated(home, bin), NEXT_TELEMETRY_DISABLED: "1" })

const seconds = (sinceMillis: number) => ((Date.now() - sinceMillis) / 1000).toFixed(1)

if (!hasRegistry) console.log("create: skipped, because no package registry can be reached")

describe.skipIf(!hasRegistry)(
  "npm create satrail, from packages",
  () => {
    let tarballs: ReadonlyMap<string, string> = new Map()
    let create = ""
    beforeAll(async () => {
      tarballs = await released()
      install(lowest, { [kind]: minimumNode })
      const tools = path.join(work, "tools")
      install(tools, { "create-satrail": `file:${tarballs.get("create-satrail") ?? assert.fail()}` })
      assert.sameMembers(
        readdirSync(path.join(tools, "node_modules")).filter((name) => !name.startsWith(".")),
        ["create-satrail"]
      )
      create = path.join(tools, "node_modules/.bin/create-satrail")
      mkdirSync(home)
    }, programsMillis)
    afterAll(() => rmSync(work, { recursive: true, force: true }))

    for (const [index, [framework, kind]] of pairs.entries()) {
      it.skipIf(!isTurnOf(index, 3))(
        `create: a ${kind} project with ${framework} is installed, type-checks, starts, and gets paid`,
        async () => {
          const current = environment(bins.get(process.versions.node))
          const startedMillis = Date.now()
          const said = run(
            work,
            create,
            [framework, "--kind", kind, "--framework", framework, "--json"],
            current
          )
          const folder = path.join(work, framework)
          assert.strictEqual(JSON.parse(said).folder, framework)
          const created = seconds(startedMillis)
          // Use local files instead of the registry's release.
          const file = path.join(folder, "package.json")
          const manifest = JSON.parse(readFileSync(file, "utf8"))
          assert.match(manifest.dependencies.satrail, /^\^\d/)
          assert.isTrue(
            JSON.parse(readFileSync(path.join(folder, "tsconfig.json"), "utf8")).compilerOptions.strict
          )
          writeFileSync(
            file,
            JSON.stringify({ ...manifest, dependencies: { ...manifest.dependencies, ...files(tarballs) } })
          )
          const main = path.join(folder, "src/main.ts")
          if (framework === "express")
            writeFileSync(
              main,
              readFileSync(main, "utf8").replace("const server =", `${route}const server =`)
            )
          run(folder, "npm", ["install", "--no-audit", "--no-fund"], current)
          for (const [turn, [version, bin]] of [...bins].entries()) {
            const env = environment(bin)
            assert.strictEqual(run(folder, "node", ["--version"], env).trim(), `v${version}`)
            // The types and a taken port are checked on one Node for each framework, and on both Nodes altogether.
            const isChecked = turn === index % bins.size
            if (isChecked) run(folder, "npm", ["run", "check"], env)
            rmSync(path.join(folder, ".satrail"), { recursive: true, force: true })
            const runMillis = Date.now()
            let paid = ""
            const told = await Created.runs({
              folder,
              command: ["npm", "run", "dev"],
              says: Created.paid[kind],
              env,
              onPaid: async (origin) => {
                paid = seconds(runMillis)
                if (framework !== "express") return
                const echo = await fetch(`${origin}/echo`, {
                  method: "POST",
                  body: '{"order":1}',
                  headers: { "content-type": "application/json" }
                })
                assert.deepStrictEqual([echo.status, await echo.text()], [200, '{"order":1}'])
              }
            })
            assert.match(told, Created.paid[kind])
            if (isChecked && framework !== "next")
              await Created.endsOnTakenPort({ folder, command: ["npm", "start"], env })
            console.log(
              `${framework}, Node ${version}: created in ${created} s; npm run dev to paid in ${paid} s`
            )
          }
        }
      )
    }
  },
  programsMillis
)
