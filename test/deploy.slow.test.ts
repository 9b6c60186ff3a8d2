import { assert, describe, it } from "@effect/vitest"
import { eventually } from "@satrail/testing/Waiting"
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { dockerfile, instructionsOf, root } from "./deployFiles.ts"

describe("the image", () => {
  const runs = instructionsOf(dockerfile).filter(({ name }) => name === "RUN")
  const valueOf = (name: string) => instructionsOf(dockerfile).findLast((one) => one.name === name)?.rest ?? assert.fail(`no ${name}`)

  it("image: has all that the server needs, and no build tools: run from a copy, it is healthy and stops when asked to", async () => {
    const app = mkdtempSync(path.join(tmpdir(), "satrail-image-"))
    const at = (text: string) => text.replaceAll("/app", `${app}/app`)
    try {
      // The Dockerfile's own commands, but for the installation: the tests run in one.
      const steps = runs.map(({ rest }) => rest).filter((step) => /tsc|deploy/.test(step))
      assert.lengthOf(steps, 2)
      const env = { ...process.env, CI: "true", npm_config_prefer_offline: "true" }
      for (const step of steps) execFileSync("sh", ["-c", at(step)], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] })
      const modules = readdirSync(`${app}/app/node_modules`)
      assert.includeMembers(modules, ["effect", "pg"])
      for (const tool of ["typescript", "vitest", "oxlint"]) assert.notInclude(modules, tool)

      const [command = "", ...args]: ReadonlyArray<string> = [...JSON.parse(valueOf("ENTRYPOINT")), ...JSON.parse(at(valueOf("CMD")))]
      assert.strictEqual(command, "node")
      const settings = Object.fromEntries(
        valueOf("ENV")
          .split(" ")
          .map((one) => one.split("="))
      )
      const started = spawn(process.execPath, args, {
        cwd: "/",
        env: { ...settings, HOST: "127.0.0.1", PORT: "0", SATRAIL_DATA: `${app}/data` },
        stdio: ["ignore", "pipe", "pipe"]
      })
      let [said, wrong] = ["", ""]
      started.stdout.setEncoding("utf8").on("data", (text: string) => (said += text))
      started.stderr.setEncoding("utf8").on("data", (text: string) => (wrong += text))
      const ended = once(started, "exit")
      try {
        await eventually(
          "a start",
          async () => said + wrong,
          (text) => text.includes("Ctrl-C") || started.exitCode !== null
        )
        const port = /running at http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1] ?? assert.fail(`it does not run: ${said}${wrong}`)
        const [, check = ""] = /CMD (\[.*\])$/.exec(valueOf("HEALTHCHECK")) ?? []
        const [, ...asked]: ReadonlyArray<string> = JSON.parse(check)
        execFileSync(process.execPath, asked, { env: { PORT: port } })
        started.kill("SIGTERM")
        assert.deepStrictEqual(await ended, [0, null])
        // Nobody answers any more, and the check says so.
        assert.throws(() => execFileSync(process.execPath, asked, { env: { PORT: port }, stdio: "ignore" }))
      } finally {
        started.kill("SIGKILL")
      }
    } finally {
      rmSync(app, { recursive: true, force: true })
    }
  })
})
