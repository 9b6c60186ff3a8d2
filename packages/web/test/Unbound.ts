import { execFileSync, spawn } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import os from "node:os"
import path from "node:path"

// A real resolver for one test: Debian's unbound, with ldns to sign a zone. The packages are unpacked into
// satrail's cache folder, so nothing is installed.

/** The path of unbound, and the environment in which its programs run. */
export interface Programs {
  readonly unbound: string
  readonly folder: string
  readonly environment: NodeJS.ProcessEnv
}

const packages = ["unbound", "ldnsutils"]
const programs = ["unbound", "ldns-keygen", "ldns-signzone"]
const limitMillis = 600_000

const run = (
  command: string,
  args: ReadonlyArray<string>,
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {}
) =>
  execFileSync(command, [...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: limitMillis,
    ...options
  })

/** Returns the libraries that a package depends on and the machine may lack. */
const librariesOf = (name: string): ReadonlyArray<string> =>
  [
    ...run("apt-cache", ["depends", "--no-recommends", "--no-suggests", name]).matchAll(
      /^\s*Depends: (lib[\w.+-]+)$/gm
    )
  ].flatMap(([, library]) =>
    library === undefined || /^lib(?:c6|ssl\d\w*|systemd0)$/.test(library) ? [] : [library]
  )

const unpack = (into: string) => {
  const work = `${into}.work-${process.pid}`
  mkdirSync(work, { recursive: true })
  try {
    run("apt-get", ["download", ...new Set(packages.flatMap((name) => [name, ...librariesOf(name)]))], {
      cwd: work
    })
    const unpacked = path.join(work, "unpacked")
    for (const file of readdirSync(work).filter((name) => name.endsWith(".deb")))
      run("dpkg", ["-x", path.join(work, file), unpacked])
    if (!existsSync(into)) renameSync(unpacked, into)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Returns the programs, or one line that explains why they are not available. */
export const find = (): Programs | string => {
  if (process.platform !== "linux") return `this is ${process.platform}`
  try {
    const into = path.join(
      process.env["XDG_CACHE_HOME"] ?? path.join(os.homedir(), ".cache"),
      "satrail",
      "unbound"
    )
    mkdirSync(path.dirname(into), { recursive: true })
    if (!existsSync(into)) unpack(into)
    const libraries = readdirSync(path.join(into, "usr/lib"), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => path.join(into, "usr/lib", name))
    const environment = {
      ...process.env,
      LD_LIBRARY_PATH: libraries.join(":"),
      PATH: [path.join(into, "usr/sbin"), path.join(into, "usr/bin"), process.env["PATH"]].join(":")
    }
    for (const program of programs) run("sh", ["-c", `command -v ${program}`], { env: environment })
    run("unbound", ["-V"], { env: environment })
    return { unbound: path.join(into, "usr/sbin/unbound"), folder: into, environment }
  } catch (error) {
    return `Debian's unbound and ldnsutils are not available: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : ""}`
  }
}

/** Signs a zone with a new key. Returns the paths of the signed zone and of the key. */
export const sign = ({ environment }: Programs, folder: string, origin: string, zone: string) => {
  writeFileSync(path.join(folder, origin), zone)
  const key = run("ldns-keygen", ["-a", "ECDSAP256SHA256", "-k", origin], {
    cwd: folder,
    env: environment
  }).trim()
  run("ldns-signzone", [origin, key], { cwd: folder, env: environment })
  return { zoneFile: path.join(folder, `${origin}.signed`), keyFile: path.join(folder, `${key}.key`) }
}

/** Replaces a string in a signed zone without signing it again, so that its signature is wrong. */
export const forge = (zoneFile: string, find: string, replace: string) => {
  const zone = readFileSync(zoneFile, "utf8")
  if (!zone.includes(find)) throw new Error(`${find} is not in the zone`)
  writeFileSync(zoneFile, zone.replace(find, replace))
}

/** Starts a local unbound with these zones and this trusted key. The caller must kill the process. */
export const start = (
  { environment }: Programs,
  folder: string,
  port: number,
  keyFile: string,
  zones: Readonly<Record<string, string>>
) => {
  const file = path.join(folder, "unbound.conf")
  const zoneLines = Object.entries(zones).map(
    ([name, zoneFile]) =>
      `auth-zone:\n  name: "${name}"\n  zonefile: "${zoneFile}"\n  for-downstream: no\n  for-upstream: yes\n  fallback-enabled: no\n`
  )
  writeFileSync(
    file,
    `server:
  interface: 127.0.0.1@${port}
  do-daemonize: no
  use-syslog: no
  username: ""
  chroot: ""
  directory: "${folder}"
  pidfile: ""
  module-config: "validator iterator"
  trust-anchor-file: "${keyFile}"
remote-control:
  control-enable: no
${zoneLines.join("")}`
  )
  return spawn("unbound", ["-d", "-c", file], { env: environment, stdio: ["ignore", "ignore", "pipe"] })
}
