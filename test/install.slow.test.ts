// Installs a release like a new user: takes its packages into an empty folder outside this workspace, checks
// types as strictly as possible, and runs programs. It uses the lowest supported Node and this workspace's
// Node.
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { isBuiltin, stripTypeScriptTypes } from "node:module"
import { tmpdir } from "node:os"
import path from "node:path"
import { setTimeout } from "node:timers/promises"
import { isTurnOf } from "@satrail/testing/Turn"
import { programsMillis } from "@satrail/testing/Waiting"
import { minimumNode, problem } from "../packages/bitcoin/src/Runtime.ts"
import { entriesOf, published, version } from "../scripts/release/Package.ts"
import { blocks, root, write } from "./Blocks.ts"
import * as Packed from "./packed.ts"

/** An unsupported version, to test the error message. */
const oldNode = "20.19.5"

const work = mkdtempSync(path.join(tmpdir(), "satrail-install-"))
let release = ""
const kind = `node-${process.platform}-${process.arch}`

const environment = (bin: string) => ({
  ...Packed.environment(path.join(work, "home"), bin),
  NODE_COMPILE_CACHE: path.join(work, "compiled")
})

interface Ended {
  readonly status: number
  readonly said: string
}

const runWith = (
  env: Readonly<Record<string, string | undefined>>,
  folder: string,
  command: string,
  ...args: ReadonlyArray<string>
): Promise<Ended> =>
  new Promise((resolve) => {
    execFile(
      command,
      args,
      { cwd: folder, env, maxBuffer: 64 * 1024 * 1024, timeout: programsMillis },
      (error, stdout, stderr) => {
        resolve({ status: error === null ? 0 : Number(error.code ?? 1), said: `${stdout}${stderr}` })
      }
    )
  })

const run = (bin: string, folder: string, command: string, ...args: ReadonlyArray<string>): Promise<Ended> =>
  runWith(environment(bin), folder, command, ...args)

/** The first line of the output as JSON. npm may print warnings after it. */
const answered = ({ said }: Ended) => JSON.parse(said.split("\n")[0] ?? "")

const right = async (
  bin: string,
  folder: string,
  command: string,
  ...args: ReadonlyArray<string>
): Promise<string> => {
  const { status, said } = await run(bin, folder, command, ...args)
  assert.strictEqual(status, 0, `${command} ${args.join(" ")} in ${folder}: ${said}`)
  return said
}

/** The folder of the `node` program of a version from the registry. */
const nodeAt = async (version: string): Promise<string> => {
  const folder = path.join(work, `node-${version}`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, "package.json"), "{}")
  await right(
    path.dirname(process.execPath),
    folder,
    "npm",
    "install",
    "--no-audit",
    "--no-fund",
    `${kind}@${version}`
  )
  return path.join(folder, "node_modules", kind, "bin")
}

/** The size of a folder in megabytes. */
const megabytes = (folder: string): number => {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile()
  )
  return (
    files.reduce((sum, { parentPath, name }) => sum + statSync(path.join(parentPath, name)).size, 0) / 1e6
  )
}

/** The packages installed in a folder, by size. */
const installed = (folder: string): ReadonlyMap<string, number> => {
  const modules = path.join(folder, "node_modules")
  const names = readdirSync(modules).flatMap((name) =>
    name.startsWith("@")
      ? readdirSync(path.join(modules, name)).map((inner) => `${name}/${inner}`)
      : name.startsWith(".")
        ? []
        : [name]
  )
  return new Map(
    names
      .map((name): [string, number] => [name, megabytes(path.join(modules, name))])
      .toSorted(([, a], [, b]) => b - a)
  )
}

const all = () => readdirSync(release).filter((file) => file.endsWith(".tgz"))
/** All packages except LDK's programs, which packages/ldk/test/installed.bitcoind.test.ts installs. */
const tarballs = () => all().filter((file) => !file.startsWith("satrail-ldk-linux-"))
const nameOf = (file: string) => file.replace(/-\d+\.\d+\.\d+\.tgz$/, "").replace(/^satrail-/, "@satrail/")

/** The programs that an application's author runs: those of the guides, and the examples. */
const examples = ["embed-effect", "embed-promise", "custom-node", "phoenixd", "mounts", "marketplace", "game"]
/** The examples that run outside the workspace, with their dependencies except our packages. */
const frameworks = ["express@5", "@types/express@5", "fastify@5", "hono@4", "@hono/node-server"]
/** Further dependencies of examples/frameworks: see docs/guides/frameworks.md. */
const others = [
  "@nestjs/common@11",
  "@nestjs/core@11",
  "@nestjs/platform-express@11",
  "reflect-metadata",
  "rxjs",
  "react@19",
  "@types/react@19"
]
/**
 * The bundlers, and the plugin that the guide recommends for webpack. The versions are the newest, as an
 * application would install them, because pinned versions would be installed in every contributor's workspace.
 */
const bundlers = ["esbuild@0", "rolldown@1", "webpack@5", "terser-webpack-plugin@5"]
const programs = blocks().filter(({ isProgram }) => isProgram)

const config = (module: "nodenext" | "preserve", moduleResolution: "nodenext" | "bundler") => ({
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    verbatimModuleSyntax: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    target: "ES2024",
    lib: ["ES2024"],
    types: ["node"],
    module,
    moduleResolution
  },
  include: ["blocks", "examples"],
  exclude: ["examples/frameworks"]
})

/** Compiler settings for shops that have a page and, with NestJS, decorators. */
const shops = () => {
  const { compilerOptions } = config("nodenext", "nodenext")
  const options = {
    ...compilerOptions,
    lib: ["ES2024", "DOM"],
    jsx: "react-jsx",
    experimentalDecorators: true
  }
  return { compilerOptions: options, include: ["examples/frameworks"] }
}

/** The manifest of an application that installs these packages from the release. */
const manifestWith = (names: ReadonlyArray<string>): string => {
  const files = tarballs().filter((file) => names.includes(nameOf(file)))
  const dependencies = Object.fromEntries(
    files.map((file) => [nameOf(file), `file:${path.join(release, file)}`])
  )
  return JSON.stringify({ name: "host", private: true, type: "module", dependencies })
}

const hostOf = (version: string) => path.join(work, `host-${version}`)

/** A new folder with the programs, and with every package of the release installed. */
const host = async (bin: string, version: string): Promise<string> => {
  const folder = hostOf(version)
  mkdirSync(folder)
  writeFileSync(path.join(folder, "package.json"), manifestWith(tarballs().map(nameOf)))
  // The newest versions in the allowed ranges, the types of this Node, and nothing else.
  const newest = [
    "effect",
    "vitest",
    "@effect/vitest",
    "typescript",
    "@types/node@24",
    "@effect/platform-node",
    ...frameworks,
    ...others
  ]
  const startedMillis = Date.now()
  await right(bin, folder, "npm", "install", "--no-audit", "--no-fund", ...newest)
  console.log(`Node ${version}: installed in ${Math.round((Date.now() - startedMillis) / 1000)} s`)
  write(blocks(), path.join(folder, "blocks"))
  for (const name of [...examples, "frameworks"]) {
    cpSync(path.join(root, "examples", name), path.join(folder, "examples", name), {
      recursive: true,
      filter: (file) => !file.includes("node_modules")
    })
  }
  writeFileSync(path.join(folder, "tsconfig.nodenext.json"), JSON.stringify(config("nodenext", "nodenext")))
  writeFileSync(path.join(folder, "tsconfig.frameworks.json"), JSON.stringify(shops()))
  writeFileSync(path.join(folder, "tsconfig.bundler.json"), JSON.stringify(config("preserve", "bundler")))
  return folder
}

/**
 * Compiler errors about our packages or the application. Other packages' declarations (effect, hono) use DOM
 * types (CryptoKey, BinaryType), which a Node program lacks.
 */
const ours = (said: string) =>
  said.split("\n").filter((line) => line !== "" && !/^node_modules\/(?!@?satrail\/)/.test(line))

/** The compiler of the first application, with one type checker, because several check much of the code twice. */
const tsc = (...args: ReadonlyArray<string>) => [
  path.join(hostOf(minimumNode), "node_modules/typescript/bin/tsc"),
  "--checkers",
  "1",
  ...args
]

/**
 * A new folder in which the release except `without`, and `others`, are installed. Packages other than effect
 * and ours must stay below the given size in megabytes.
 */
const lean = async (
  name: string,
  without: ReadonlyArray<string>,
  others: ReadonlyArray<string>,
  megabytesOfOthers: number
): Promise<string> => {
  const bin = path.dirname(process.execPath)
  const folder = path.join(work, name)
  mkdirSync(folder)
  const taken = tarballs()
    .map(nameOf)
    .filter((one) => ![...without, "satrail", "@satrail/ldk", "create-satrail"].includes(one))
  writeFileSync(path.join(folder, "package.json"), manifestWith(taken))
  const startedMillis = Date.now()
  await right(bin, folder, "npm", "install", "--no-audit", "--no-fund", ...others)
  const seconds = Math.round((Date.now() - startedMillis) / 1000)
  const packages = installed(folder)
  const sum = (isMeant: (name: string) => boolean) =>
    [...packages].reduce((all, [name, size]) => all + (isMeant(name) ? size : 0), 0)
  const largest = [...packages].slice(0, 8).map(([name, size]) => `${name} ${size.toFixed(1)}`)
  console.log(
    `${name}: ${packages.size} packages in ${seconds} s, ${sum(() => true).toFixed(1)} MB; the largest: ${largest.join(", ")}`
  )
  assert.isBelow(
    sum((one) => one !== "effect" && !one.startsWith("@satrail/")),
    megabytesOfOthers
  )
  // Check that the declarations need nothing else either.
  const entries = published().flatMap((one) =>
    taken.includes(one.source.name)
      ? entriesOf(one)
          .filter((entry) => !entry.includes("*"))
          .map((entry) => path.posix.join(one.source.name, entry))
      : []
  )
  writeFileSync(
    path.join(folder, "main.ts"),
    entries.map((one, index) => `export * as e${index} from "${one}"\n`).join("")
  )
  writeFileSync(
    path.join(folder, "tsconfig.json"),
    JSON.stringify({ ...config("nodenext", "nodenext"), include: ["main.ts"] })
  )
  const { said } = await run(bin, folder, "node", ...tsc("-p", "."))
  assert.deepStrictEqual(ours(said), [])
  return folder
}

const running = new Set<ChildProcess>()

/**
 * Starts the service as its README describes. Waits until it is ready, runs `meanwhile`, and stops it. Returns
 * the result.
 */
const started = async (
  bin: string,
  folder: string,
  meanwhile: (variables: Readonly<Record<string, string>>) => Promise<void>
) => {
  const variables = { HOST: "127.0.0.1", SATRAIL_DATA: path.join(folder, "data") }
  const env = { ...environment(bin), ...variables, PORT: "0" }
  const npx = spawn(path.join(folder, "node_modules/.bin/satrail"), ["start"], {
    cwd: folder,
    env,
    stdio: ["ignore", "pipe", "pipe"]
  })
  running.add(npx)
  let said = ""
  for (const stream of [npx.stdout, npx.stderr])
    stream.setEncoding("utf8").on("data", (text) => (said += text))
  const ended = once(npx, "exit")
  const portOf = () => /running at http:\S+:(\d+),/.exec(said)?.[1]
  const status = async () => (await fetch(`http://127.0.0.1:${portOf()}/readyz`)).status
  while (portOf() === undefined || (await status()) !== 200) {
    assert.isNull(npx.exitCode, said)
    await setTimeout(100)
  }
  const port = portOf() ?? assert.fail(said)
  await meanwhile({ ...variables, PORT: port })
  assert.include(await (await fetch(`http://127.0.0.1:${port}/docs/`)).text(), "Mainnet in an afternoon")
  assert.strictEqual((await fetch(`http://127.0.0.1:${port}/docs/guides/webhooks.md`)).status, 200)
  npx.kill("SIGTERM")
  const [code] = await ended
  running.delete(npx)
  return { code, said }
}

const isHere =
  spawnSync("npm", ["ping", "--fetch-retries=0", "--fetch-timeout=20000"], { encoding: "utf8" }).status === 0
if (!isHere && process.env["REQUIRE_REGISTRY"] === undefined)
  console.log("install: skipped, because no package registry can be reached")

describe.skipIf(!isHere && process.env["REQUIRE_REGISTRY"] === undefined)(
  "the packages of a release",
  () => {
    let lowest = ""
    beforeAll(async () => {
      mkdirSync(path.join(work, "home"))
      release = await Packed.release()
      lowest = await nodeAt(minimumNode)
      await host(lowest, minimumNode)
      // Both applications are installed by the same npm, so copy one. The lean applications below are installed
      // with this workspace's Node.
      cpSync(hostOf(minimumNode), hostOf(process.versions.node), { recursive: true, verbatimSymlinks: true })
    }, programsMillis)
    afterAll(() => {
      for (const child of running) child.kill("SIGKILL")
      rmSync(work, { recursive: true, force: true })
    })

    it("release: every package has a checksum, and the release lists everything that the packages install", () => {
      assert.lengthOf(
        tarballs(),
        globSync("packages/*/README.md", { cwd: root, exclude: ["packages/regtest/*"] }).length
      )
      assert.lengthOf(readFileSync(path.join(release, "SHA256SUMS"), "utf8").trim().split("\n"), all().length)
      const { components } = JSON.parse(readFileSync(path.join(release, "sbom.cdx.json"), "utf8"))
      assert.includeMembers(
        components.map(({ name }: { name: string }) => name),
        ["effect", "pg"]
      )
    })

    it("release: no package has a declaration above 200 kB, which would slow editors down", () => {
      const declarations = globSync("node_modules/@satrail/*/dist/**/*.d.ts", { cwd: hostOf(minimumNode) })
      assert.isAbove(declarations.length, 300)
      const large = declarations.map((file) => ({
        file,
        bytes: statSync(path.join(hostOf(minimumNode), file)).size
      }))
      assert.deepStrictEqual(
        large.filter(({ bytes }) => bytes > 200_000),
        []
      )
    })

    for (const version of [minimumNode, process.versions.node]) {
      describe(`on Node ${version}`, () => {
        let bin = ""
        let folder = ""
        beforeAll(async () => {
          bin = version === minimumNode ? lowest : path.dirname(process.execPath)
          folder = hostOf(version)
          assert.strictEqual((await right(bin, work, "node", "--version")).trim(), `v${version}`)
        }, programsMillis)

        it(`install: npx @satrail/server start becomes ready and stops on SIGTERM (Node ${version})`, async () => {
          const satrail = (variables: Readonly<Record<string, string>>, ...args: ReadonlyArray<string>) =>
            runWith({ ...environment(bin), ...variables }, folder, "npx", "@satrail/server", ...args)
          const { code, said } = await started(bin, folder, async (variables) => {
            const opened = await satrail(
              variables,
              "companies",
              "create",
              "--name",
              "Acme",
              "--plan",
              "paid",
              "--json"
            )
            const { id, plan } = answered(opened)
            assert.strictEqual(plan, "paid", opened.said)
            const key = await satrail(
              variables,
              "keys",
              "issue",
              id,
              "--name",
              "shop",
              "--scopes",
              "receive",
              "--json"
            )
            assert.match(answered(key).key, /^sr_regtest_/, key.said)
          })
          assert.strictEqual(code, 0, said)
          assert.include(said, "API key")
          assert.include(await right(bin, folder, "npx", "@satrail/server", "--help"), "companies")
          assert.include(await right(bin, folder, "npx", "@satrail/server", "check"), "settings")
          // The bundle that calls a running service is one file and imports only Node's modules.
          const remote = readFileSync(path.join(folder, "node_modules/@satrail/server/dist/cli.js"), "utf8")
          const imported = Array.from(
            remote.matchAll(/^import .*?"([^"]+)";$/gm),
            ([, specifier]) => specifier
          )
          assert.isAbove(imported.length, 3)
          assert.isTrue(
            imported.every((one = "") => isBuiltin(one)),
            imported.join(" ")
          )
          // Node 22 prints a warning when it loads SQLite.
          assert.notInclude(imported, "node:sqlite")
        })

        it(`install: unsupported entry points have internal in their names (Node ${version})`, async () => {
          const load = (specifier: string) =>
            run(bin, folder, "node", "-e", `import(${JSON.stringify(specifier)})`)
          for (const entry of ["@satrail/service", "@satrail/core/ports", "@satrail/features/vouchers/core"])
            assert.strictEqual((await load(entry)).status, 0, entry)
          assert.include((await load("@satrail/service/core/Satrail")).said, "ERR_PACKAGE_PATH_NOT_EXPORTED")
          assert.strictEqual(
            (await load("@satrail/postgres/package.json")).said.includes("NOT_EXPORTED"),
            false
          )
        })
      })
    }

    // The compiler's input is the same for both Node versions. On this workspace's Node, other tests run the
    // examples and contracts from their sources, and the packages of a release run above. So the programs run
    // here only on the lowest Node, except the mounts, which no other test runs.
    const lowestHost = hostOf(minimumNode)

    it("install: types are correct for a strict compiler, with the module resolutions nodenext and bundler", async () => {
      for (const how of ["nodenext", "bundler"]) {
        const { status, said } = await run(lowest, lowestHost, "node", ...tsc("-p", `tsconfig.${how}.json`))
        assert.deepStrictEqual([how, ours(said)], [how, []])
        assert.isAtMost(status, 2)
      }
    })

    // The gate also runs the examples and some guides from their sources, on this workspace's Node.
    it.skipIf(!isTurnOf(1, 3))(
      `install: the programs of the guides and the examples run (Node ${minimumNode})`,
      async () => {
        assert.isAbove(programs.length, 8)
        for (const { at, file } of programs.filter(({ file }) => !file.endsWith(".test.ts"))) {
          const { status, said } = await run(lowest, lowestHost, "node", path.join("blocks", file))
          assert.strictEqual(status, 0, `${at}: ${said}`)
        }
        for (const name of examples)
          await right(
            lowest,
            lowestHost,
            "node",
            `examples/${name}/${name === "mounts" ? "check" : "main"}.ts`
          )
      }
    )

    // Each of the following tests is about another kind of application. They take turns.
    it.skipIf(!isTurnOf(0, 3))(
      `install: the contract tests run with the newest vitest in their range (Node ${minimumNode})`,
      async () => {
        const tests = programs
          .filter(({ file }) => file.endsWith(".test.ts"))
          .map(({ file }) => path.join("blocks", file))
        const said = await right(
          lowest,
          lowestHost,
          "node",
          "node_modules/vitest/vitest.mjs",
          "run",
          `--testTimeout=${programsMillis}`,
          `--hookTimeout=${programsMillis}`,
          ...tests,
          "examples/custom-node/test/contract.test.ts"
        )
        const [, passed = ""] = /Tests\s+(\d+) passed/.exec(said) ?? []
        assert.isAbove(Number(passed), 100, said)
      }
    )

    it(`install: the example that mounts the service in other servers runs (Node ${process.versions.node})`, async () => {
      const { status, said } = await run(
        path.dirname(process.execPath),
        hostOf(process.versions.node),
        "node",
        "examples/mounts/check.ts"
      )
      assert.strictEqual(status, 0, said)
    })

    it.skipIf(!isTurnOf(0, 3))(
      `install: the guide's shops sell and receive webhooks in each framework (Node ${process.versions.node})`,
      async () => {
        const [bin, folder] = [path.dirname(process.execPath), hostOf(process.versions.node)]
        const { said } = await run(bin, folder, "node", ...tsc("-p", "tsconfig.frameworks.json"))
        assert.deepStrictEqual(ours(said), [])
        // Node does not run decorators.
        const into = [
          "--noEmit",
          "false",
          "--allowImportingTsExtensions",
          "false",
          "--rewriteRelativeImportExtensions"
        ]
        const nest = { ...shops(), include: ["examples/frameworks/nest.ts"] }
        writeFileSync(path.join(folder, "tsconfig.nest.json"), JSON.stringify(nest))
        const compiled = ["--rootDir", "examples/frameworks", "--outDir", "examples/frameworks/compiled"]
        await run(bin, folder, "node", ...tsc("-p", "tsconfig.nest.json", ...into, ...compiled))
        const checked = await right(bin, folder, "node", "examples/frameworks/check.ts")
        for (const name of ["express", "fastify", "hono", "nest", "node", "next"])
          assert.include(checked, `${name}: sells and receives`)
      }
    )

    it.skipIf(!isTurnOf(1, 3))(
      "install: bundles of esbuild, rolldown and webpack run without node_modules: a host of the core, the program of the first guide, and a mounted handler",
      async () => {
        const bin = path.dirname(process.execPath)
        const folder = path.join(work, "bundling")
        mkdirSync(folder)
        writeFileSync(path.join(folder, "package.json"), manifestWith(tarballs().map(nameOf)))
        await right(bin, folder, "npm", "install", "--no-audit", "--no-fund", ...bundlers)
        for (const name of ["host.mjs", "mounted.mjs", "build.mjs"])
          cpSync(path.join(root, "test/bundled", name), path.join(folder, name))
        const { code } =
          programs.find(({ at }) => at.startsWith("docs/start.md")) ??
          assert.fail("docs/start.md has no program")
        // CommonJS has no `await` outside functions.
        const [, imports = "", body = ""] =
          /^((?:import .*\n)+)([^]*)$/.exec(stripTypeScriptTypes(code)) ?? []
        writeFileSync(path.join(folder, "shop.mjs"), `${imports}export const shop = async () => {${body}}\n`)
        // A complete bundle needs only these packages, for the files that they read.
        const files = path.join(work, "bundling-files")
        for (const name of ["@electric-sql", "@satrail/postgres", "@satrail/ui"])
          cpSync(path.join(folder, "node_modules", name), path.join(files, "node_modules", name), {
            recursive: true
          })
        for (const { entry, out, last, flags = [] } of [
          { entry: "host.mjs", out: path.join(work, "bundled-host"), last: "settled" },
          { entry: "mounted.mjs", out: path.join(files, "out"), last: "200,200,200" },
          { entry: "mounted.mjs", out: path.join(folder, "out"), last: "200,200,200", flags: ["--external"] }
        ]) {
          await right(bin, folder, "node", "build.mjs", entry, out, ...flags)
          for (const name of ["esbuild.mjs", "esbuild.cjs", "rolldown.mjs", "webpack.mjs"]) {
            const alone = path.join(out, name.replace(".", "-"))
            mkdirSync(alone)
            cpSync(path.join(out, name), path.join(alone, name))
            const { status, said } = await run(bin, alone, "node", name)
            // Log lines may come first.
            const found = { status, last: said.trimEnd().split("\n").at(-1) }
            assert.deepStrictEqual(found, { status: 0, last }, `${out}, ${name}: ${said.slice(-2000)}`)
            if (entry === "mounted.mjs") assert.match(said, /^ship order 1042; [\d.]+ sats available$/m)
          }
        }
      }
    )

    it.skipIf(!isTurnOf(0, 3))(
      "install: an application that embeds the core with a custom database installs only the packages that it needs",
      async () => {
        const bin = path.dirname(process.execPath)
        const folder = await lean(
          "embedding",
          ["@satrail/server", "@satrail/contracts", "@satrail/react"],
          ["effect", "pg"],
          15
        )
        for (const name of ["@electric-sql", "redis", "@redis", "@effect", "vitest", "undici"]) {
          assert.isFalse(existsSync(path.join(folder, "node_modules", name)), name)
        }
        const ask = `const [{ Storage }, { Effect, Layer }] = [await import("@satrail/service/postgres"), await import("effect")]
        await Effect.runPromise(Effect.scoped(Layer.build(Storage.layerEmbedded()))).catch(({ message }) => console.log(message))`
        assert.deepStrictEqual(await run(bin, folder, "node", "--input-type=module", "-e", ask), {
          status: 0,
          said: "The embedded database is a separate package: npm install @electric-sql/pglite\n"
        })
      }
    )

    it.skipIf(!isTurnOf(2, 3))(
      "install: an application that embeds the service installs the embedded database and no other database client",
      async () => {
        const folder = await lean("serving", ["@satrail/contracts", "@satrail/react"], [], 45)
        assert.isTrue(existsSync(path.join(folder, "node_modules/@electric-sql/pglite")))
        for (const name of ["redis", "@redis", "undici"])
          assert.isFalse(existsSync(path.join(folder, "node_modules", name)), name)
        const bin = path.dirname(process.execPath)
        assert.include(await right(bin, folder, "npx", "@satrail/server", "--version"), version)
        await right(bin, folder, "npm", "ls") // no bundled package lacks a dependency
        const { code, said } = await started(bin, folder, async () => {})
        assert.strictEqual(code, 0, said)
      }
    )

    it("install: satrail alone takes at most 120 MB and 150 packages, of which effect and the embedded database are above 5 MB", async () => {
      const folder = path.join(work, "alone")
      mkdirSync(folder)
      const needed = (name: string): ReadonlyArray<string> => {
        const { dependencies = {} } = JSON.parse(
          readFileSync(path.join(hostOf(minimumNode), "node_modules", name, "package.json"), "utf8")
        )
        const ours = Object.keys(dependencies).filter((other) => other.startsWith("@satrail/"))
        return [name, ...ours.flatMap(needed)]
      }
      writeFileSync(path.join(folder, "package.json"), manifestWith(needed("satrail")))
      const said = await right(
        path.dirname(process.execPath),
        folder,
        "npm",
        "install",
        "--no-audit",
        "--no-fund",
        "--loglevel=notice"
      )
      const count = Number(/added (\d+) packages/.exec(said)?.[1])
      const size = megabytes(path.join(folder, "node_modules"))
      const large = [...installed(folder)].filter(([, size]) => size > 5)
      const listed = large.map(([name, size]) => `${name} ${size.toFixed(1)} MB`).join(", ")
      console.log(`satrail: ${count} packages, ${size.toFixed(1)} MB; above 5 MB: ${listed}`)
      assert.isAtMost(count, 150)
      assert.isAtMost(size, 120)
      // docs/decisions/packages.md#0075 gives the reason for each.
      assert.deepStrictEqual(
        new Set(large.map(([name]) => name)),
        new Set(["effect", "@electric-sql/pglite"])
      )
    })

    it.skipIf(!isTurnOf(2, 3))(
      "install: importing a package or running npx on an older Node fails with a one-sentence message",
      async () => {
        const bin = await nodeAt(oldNode)
        const folder = path.join(work, `host-${process.versions.node}`)
        assert.isTrue(existsSync(folder))
        const sentence = problem(oldNode) ?? assert.fail()
        assert.deepStrictEqual(await run(bin, folder, "node", "node_modules/.bin/satrail", "start"), {
          status: 1,
          said: `${sentence}\n`
        })
        // create-satrail imports nothing, so the project's own satrail reports the old version.
        for (const file of tarballs().filter((one) => !one.startsWith("create-"))) {
          const load = `import(${JSON.stringify(nameOf(file))}).then(() => console.log("loaded"), ({ message }) => console.log(message))`
          // Packages for browsers run on any Node.
          const isAnywhere = ["@satrail/client", "@satrail/react"].includes(nameOf(file))
          const expected = isAnywhere ? "loaded" : sentence
          assert.deepStrictEqual(
            await run(bin, folder, "node", "-e", load),
            { status: 0, said: `${expected}\n` },
            file
          )
        }
      }
    )
  },
  programsMillis
)
