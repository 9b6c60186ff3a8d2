// Packs the packages of a release once, and installs them from files as a new user would from the registry.
import { execFile, execFileSync, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs"
import path from "node:path"
import { setTimeout } from "node:timers/promises"
import { promisify } from "node:util"
import type { Native } from "../scripts/release/Native.ts"
import { pack as packAll } from "../scripts/release/Pack.ts"
import { published, version } from "../scripts/release/Package.ts"

/** Runs a program and returns its output. */
export const run = (
  cwd: string,
  command: string,
  args: ReadonlyArray<string>,
  env: NodeJS.ProcessEnv = process.env
): string =>
  execFileSync(command, args, {
    cwd,
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    maxBuffer: 64 * 1024 * 1024
  })

const cache = spawnSync("npm", ["config", "get", "cache"], { encoding: "utf8" }).stdout.trim()

/**
 * An environment with this Node and a new home. It has none of this workspace's settings except the machine's
 * registry and cache.
 */
export const environment = (home: string, bin: string): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) =>
      /^(?:npm_config_|NPM_CONFIG_|NODE_EXTRA_CA|https?_proxy$|HTTPS?_PROXY$)/.test(name)
    )
  ),
  NPM_CONFIG_USERCONFIG:
    process.env["NPM_CONFIG_USERCONFIG"] ?? path.join(process.env["HOME"] ?? "", ".npmrc"),
  npm_config_cache: cache,
  npm_config_local_prefix: "",
  HOME: home,
  NO_COLOR: "1",
  PATH: `${bin}${path.delimiter}${process.env["PATH"] ?? ""}`
})

/** Packs every published package, and these LDK programs, into `work`. Returns the tarballs by name. */
export const pack = async (
  work: string,
  programs: ReadonlyArray<Native> = []
): Promise<ReadonlyMap<string, string>> => {
  const { packed, missing } = await packAll(
    path.join(work, "packed"),
    path.join(work, "staged"),
    () => undefined,
    programs
  )
  if (missing[0] !== undefined) throw new Error(missing[0].why)
  return new Map(packed.map(({ name, file }) => [name, file]))
}

/**
 * The folder of a release that is made once per test run: the first test file that needs it makes it, and the
 * others wait.
 */
export const release = async (): Promise<string> => {
  const folder = process.env["SATRAIL_TEST_PROGRAMS"]
  if (folder === undefined) throw new Error("the tests of a release need the slow project's setup")
  const [begun, out] = [path.join(folder, "release.begun"), path.join(folder, "release.out")]
  const [ready, failed] = [path.join(folder, "release"), path.join(folder, "release.failed")]
  if (mkdirSync(begun, { recursive: true }) !== undefined)
    try {
      const options = { cwd: path.dirname(import.meta.dirname), maxBuffer: 64 * 1024 * 1024 }
      await promisify(execFile)(
        process.execPath,
        ["scripts/release/main.ts", "--dry-run", "--out", out],
        options
      )
      renameSync(out, ready)
    } catch (cause) {
      mkdirSync(failed)
      throw cause
    }
  while (!existsSync(ready)) {
    if (existsSync(failed)) throw new Error("another test file could not make the release")
    await setTimeout(500)
  }
  return ready
}

/** The release's tarballs by name, without LDK's programs. */
export const released = async (): Promise<ReadonlyMap<string, string>> => {
  const folder = await release()
  return new Map(
    published().map(({ source: { name } }) => [
      name,
      path.join(folder, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`)
    ])
  )
}

/** The tarballs that a program which uses `satrail` installs, as a manifest's dependencies. */
export const files = (tarballs: ReadonlyMap<string, string>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...tarballs]
      .filter(([name]) => !/^create-|contracts$|\/ldk/.test(name))
      .map(([name, file]) => [name, `file:${file}`])
  )

/** Installs packages into a new folder. */
export const install = (folder: string, dependencies: Readonly<Record<string, string>>): void => {
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    path.join(folder, "package.json"),
    JSON.stringify({ private: true, type: "module", dependencies })
  )
  run(folder, "npm", ["install", "--no-audit", "--no-fund"])
}

/** Whether a package registry can be reached. Without one, tests that install packages are skipped unless it is required. */
export const hasRegistry =
  process.env["REQUIRE_REGISTRY"] !== undefined ||
  spawnSync("npm", ["ping", "--fetch-retries=0", "--fetch-timeout=20000"], { encoding: "utf8" }).status === 0
