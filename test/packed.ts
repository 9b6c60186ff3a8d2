// The packages of a release, packed once and installed from files like a new user would from the registry.
import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import path from "node:path"
import type { Native } from "../scripts/release/Native.ts"
import { pack as packAll } from "../scripts/release/Pack.ts"

/** Runs a program and returns its output. */
export const run = (cwd: string, command: string, args: ReadonlyArray<string>, env: NodeJS.ProcessEnv = process.env): string =>
  execFileSync(command, args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 64 * 1024 * 1024 })

const cache = spawnSync("npm", ["config", "get", "cache"], { encoding: "utf8" }).stdout.trim()

/**
 * An environment with this Node and a new home, without this workspace's settings, except for the machine's
 * registry and its cache.
 */
export const environment = (home: string, bin: string): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => /^(?:npm_config_|NPM_CONFIG_|NODE_EXTRA_CA|https?_proxy$|HTTPS?_PROXY$)/.test(name))
  ),
  NPM_CONFIG_USERCONFIG: process.env["NPM_CONFIG_USERCONFIG"] ?? path.join(process.env["HOME"] ?? "", ".npmrc"),
  npm_config_cache: cache,
  npm_config_local_prefix: "",
  HOME: home,
  NO_COLOR: "1",
  PATH: `${bin}${path.delimiter}${process.env["PATH"] ?? ""}`
})

/** Packs every published package into `work`, with these programs of LDK. Returns the tarballs by name. */
export const pack = async (work: string, programs: ReadonlyArray<Native> = []): Promise<ReadonlyMap<string, string>> => {
  const { packed, missing } = await packAll(path.join(work, "packed"), path.join(work, "staged"), () => undefined, programs)
  if (missing[0] !== undefined) throw new Error(missing[0].why)
  return new Map(packed.map(({ name, file }) => [name, file]))
}

/** The tarballs that a program with `satrail` installs, as dependencies of a manifest. */
export const files = (tarballs: ReadonlyMap<string, string>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...tarballs].filter(([name]) => !/^create-|contracts$|\/ldk/.test(name)).map(([name, file]) => [name, `file:${file}`])
  )

/** Installs packages into a new folder. */
export const install = (folder: string, dependencies: Readonly<Record<string, string>>): void => {
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }))
  run(folder, "npm", ["install", "--no-audit", "--no-fund"])
}

/** Whether a package registry can be reached. Without one, tests that install packages are skipped unless it is required. */
export const hasRegistry =
  process.env["REQUIRE_REGISTRY"] !== undefined ||
  spawnSync("npm", ["ping", "--fetch-retries=0", "--fetch-timeout=20000"], { encoding: "utf8" }).status === 0
