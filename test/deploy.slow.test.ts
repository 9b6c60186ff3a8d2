import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { eventually } from "@satrail/testing/Waiting"
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { copyFileSync, existsSync, linkSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { all, dockerfile, read, root } from "./deployFiles.ts"
import { build, bytesIn, type Image, inside, open } from "./image.ts"

const megabytes = (bytes: number) => Math.round(bytes / 1024 / 1024)

describe("the image, built by the Dockerfile's steps without an engine", () => {
  const work = mkdtempSync(path.join(tmpdir(), "satrail-image-"))
  const node = path.join(work, "node")
  let image: Image
  const running = new Set<ChildProcess>()

  beforeAll(() => {
    open(work)
    // The folder is accessible to the image's user, and contains nothing else.
    try {
      linkSync(process.execPath, node)
    } catch {
      copyFileSync(process.execPath, node)
    }
    const startedMillis = Date.now()
    image = build(dockerfile, read("deploy/Dockerfile.dockerignore"), root, work, {
      ...process.env,
      CI: "true",
      npm_config_prefer_offline: "true"
    })
    const seconds = Math.round((Date.now() - startedMillis) / 1000)
    console.log(
      `image: /app is ${megabytes(bytesIn(path.join(image.root, "app")))} MB, by the Dockerfile's steps in ${seconds} s`
    )
  })
  afterAll(() => {
    for (const child of running) child.kill("SIGKILL")
    rmSync(work, { recursive: true, force: true })
  })

  /**
   * How to run a program as in the image: with the image's user and settings, and with an empty working
   * directory and PATH.
   */
  const asInside = () => {
    const isRoot = process.getuid?.() === 0
    const empty = path.join(image.root, "tmp")
    const own = Object.fromEntries(
      Object.entries(image.env).map(([name, value]) => [name, inside(image.root, value)])
    )
    const env = { PATH: empty, ...own, HOST: "127.0.0.1", PORT: "0" }
    return { cwd: empty, env, ...(isRoot && { uid: Number(image.user), gid: Number(image.user) }) }
  }

  it("image: the image contains everything that the server needs, but no build tools, test sources or package manager", () => {
    const app = path.join(image.root, "app")
    const modules = readdirSync(path.join(app, "node_modules"))
    assert.includeMembers(modules, ["effect", "pg", "@electric-sql"])
    for (const tool of ["typescript", "vitest", "oxlint", "vitepress", "pnpm", "npm"])
      assert.notInclude(modules, tool)
    assert.deepStrictEqual(readdirSync(image.root).toSorted(), ["app", "data", "tmp"])
    assert.isFalse(existsSync(path.join(app, "test")))
    assert.isBelow(megabytes(bytesIn(app)), 150)
  })

  it("image: the image contains a list of its own contents", () => {
    const { bomFormat, components } = JSON.parse(
      readFileSync(path.join(image.root, "app/sbom.cdx.json"), "utf8")
    )
    const names = components.map(({ group, name }: { group?: string; name: string }) =>
      group === undefined ? name : `${group}/${name}`
    )
    assert.strictEqual(bomFormat, "CycloneDX")
    assert.includeMembers(names, ["effect", "pg", "@satrail/core", "@electric-sql/pglite"])
    assert.notInclude(names, "vitest")
  })

  it("image: a container with the image's user and settings is healthy, serves the documentation, and stops on request", async () => {
    assert.match(
      readFileSync(path.join(image.root, "app/bundle/service.cjs"), "utf8"),
      /^"use strict";/,
      "as in the modules it was made from"
    )
    const [command, ...settings] = image.entrypoint
    assert.strictEqual(command, "node")
    const args = [...settings, ...image.command.map((one) => inside(image.root, one))]
    const started = spawn(node, args, { ...asInside(), stdio: ["ignore", "pipe", "pipe"] })
    running.add(started)
    let [said, wrong] = ["", ""]
    started.stdout.setEncoding("utf8").on("data", (text: string) => (said += text))
    started.stderr.setEncoding("utf8").on("data", (text: string) => (wrong += text))
    const ended = once(started, "exit")
    await eventually(
      "a start",
      async () => said + wrong,
      (text) => text.includes("Ctrl-C") || started.exitCode !== null
    )
    const port =
      /running at http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1] ??
      assert.fail(`it does not run: ${said}${wrong}`)
    assert.notInclude(wrong, "other users can read")
    assert.notInclude(wrong, "Warning", "of Node, about an experimental or deprecated feature")
    const [asking, ...asked] = image.healthcheck
    assert.strictEqual(asking, "node")
    const check = () =>
      spawnSync(node, asked, { ...asInside(), env: { ...asInside().env, PORT: port } }).status
    assert.strictEqual(check(), 0)
    const page = await (await fetch(`http://127.0.0.1:${port}/docs/guides/deploy`)).text()
    assert.include(page, "Several processes behind a proxy")
    // A page's assets are read from the folder of the module that serves the page.
    const [, script = ""] =
      /<script[^>]* src="([^"]+)"/.exec(await (await fetch(`http://127.0.0.1:${port}/console`)).text()) ?? []
    assert.strictEqual((await fetch(new URL(script, `http://127.0.0.1:${port}/console`))).status, 200)
    started.kill("SIGTERM")
    assert.deepStrictEqual(await ended, [0, null])
    assert.include(
      readdirSync(path.join(image.root, "data/compiled"), { recursive: true }).map(String).join(),
      "satrail-service",
      "for the next start"
    )
    // Nothing responds, so the check fails.
    assert.strictEqual(check(), 1)
  })

  it("image: the command line runs from the path given in compose.yaml and the guide, and creates a wallet", () => {
    const [cli = ""] = all(read("deploy/compose.yaml"), /command: \[(\S+), migrate\]/g)
    assert.include(read("docs/guides/containers.md"), ` satrail ${cli} wallet create --network mainnet`)
    const [, ...settings] = image.entrypoint
    const { cwd, env, ...user } = asInside()
    const args = [...settings, inside(image.root, cli), "wallet", "create", "--network", "mainnet"]
    const { status, stdout, stderr } = spawnSync(node, args, {
      cwd,
      ...user,
      env: { ...env, CHAIN_WALLET_PASSPHRASE: "p".repeat(32) },
      encoding: "utf8"
    })
    assert.strictEqual(status, 0, `${stdout}${stderr}`)
    assert.isTrue(existsSync(path.join(image.root, "data/wallet.json")))
  })
})

const hasEngine = spawnSync("docker", ["info"], { stdio: "ignore" }).status === 0
if (!hasEngine) console.log("image: not built by an engine, because no container engine is available")

describe.skipIf(!hasEngine)("the image, by an engine", () => {
  const name = `satrail-test-${process.pid}`
  const docker = (...args: ReadonlyArray<string>) =>
    execFileSync("docker", args, { cwd: root, encoding: "utf8" }).trim()
  afterAll(() => {
    spawnSync("docker", ["rm", "--force", "--volumes", name])
    spawnSync("docker", ["image", "rm", name])
  })

  it("image: a container built and started by compose is healthy, has no package manager, and stops on request", async () => {
    docker("build", "--file", "deploy/Dockerfile", "--tag", name, ".")
    docker(
      "run",
      "--detach",
      "--name",
      name,
      "--read-only",
      "--tmpfs",
      "/tmp",
      "--cap-drop",
      "ALL",
      "--volume",
      "/data",
      name
    )
    await eventually(
      "health",
      async () => docker("inspect", "--format", "{{.State.Health.Status}}", name),
      (status) => status !== "starting"
    )
    assert.strictEqual(
      docker("inspect", "--format", "{{.State.Health.Status}}", name),
      "healthy",
      docker("logs", name)
    )
    assert.strictEqual(docker("exec", name, "node", "-p", "process.getuid()"), "1000")
    assert.notStrictEqual(
      spawnSync("docker", ["exec", name, "node", "-e", "require.resolve('pnpm')"]).status,
      0
    )
    docker("stop", "--time", "60", name)
    assert.strictEqual(docker("inspect", "--format", "{{.State.ExitCode}}", name), "0")
  })
})
