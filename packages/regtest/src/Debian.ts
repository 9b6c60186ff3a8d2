import { execFile, execFileSync } from "node:child_process"
import { chmodSync, existsSync, globSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs"
import path from "node:path"
import { promisify } from "node:util"
import * as Keeper from "./Keeper.ts"

// The tests' bitcoind is Debian's package of Bitcoin Knots, a fork of Bitcoin Core. The package exists only in
// Debian unstable, and requires newer libraries than a stable system has. Therefore we unpack bitcoind together
// with its libraries into our folder, and start it with the loader from those libraries. Nothing is installed,
// and the machine's apt configuration is not changed.

const packageName = "bitcoin-knots"
/** These packages are needed only by the package's scripts, which we don't run, so they are declared as installed. */
const unneeded = ["debconf", "systemd-standalone-sysusers"]
const keyrings = [
  "/usr/share/keyrings/debian-archive-keyring.gpg",
  "/usr/share/keyrings/debian-archive-keyring.pgp"
]

const maxCommandMillis = 10 * 60_000
const maxOutputBytes = 10_000_000

/** The mirror from which this machine gets Debian packages, and the file with the keys that authenticate them. */
export interface Debian {
  readonly mirror: string
  readonly keyring: string
}

/** Finds a Debian mirror in this machine's apt configuration. If there is none, returns the reason in one line. */
export const find = (): Debian | { readonly missing: string } => {
  const no = (why: string) => ({
    missing: `no bitcoind here: it would be unpacked from Debian's ${packageName}, but ${why}`
  })
  if (process.platform !== "linux") return no(`this is ${process.platform}`)
  const keyring = keyrings.find((file) => existsSync(file))
  if (keyring === undefined) return no("Debian's keys are missing (package debian-archive-keyring)")
  try {
    execFileSync("dpkg", ["--version"], { stdio: "ignore" })
    const format = ["indextargets", "--no-release-info", "--format", "$(REPO_URI)", "Created-By: Packages"]
    const said = execFileSync("apt-get", format, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
    const mirror = said.split("\n").find((uri) => /\/debian\/?$/.test(uri))
    return mirror === undefined ? no("apt's sources have no Debian mirror") : { mirror, keyring }
  } catch {
    return no("apt and dpkg are missing")
  }
}

/** Settings that apt reads after the machine's own. They keep the machine's proxy but not its hooks and state. */
const configuration = (folder: string) => `
#clear APT::Update;
#clear DPkg;
Dir::Etc::SourceList "${folder}/sources.list";
Dir::Etc::SourceParts "/dev/null";
Dir::Etc::Preferences "/dev/null";
Dir::Etc::PreferencesParts "/dev/null";
Dir::State "${folder}/state";
Dir::State::status "${folder}/state/status";
Dir::Cache "${folder}/cache";
Dir::Log "${folder}/log";
APT::Architectures "";
APT::Sandbox::User "";
APT::Get::AllowUnauthenticated "false";
Acquire::AllowInsecureRepositories "false";
Acquire::Languages "none";
Acquire::Retries "2";
// A mirror that last updated unstable weeks ago is fine, because Debian's signature matters, not its date.
Acquire::Check-Valid-Until "false";
`

const run = async (command: string, args: ReadonlyArray<string>, signal: AbortSignal): Promise<string> => {
  const running = promisify(execFile)(command, [...args], {
    signal,
    timeout: maxCommandMillis,
    maxBuffer: maxOutputBytes,
    env: { ...process.env, LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive" }
  })
  const { pid } = running.child
  if (pid !== undefined) Keeper.keepProcess(pid)
  try {
    return (await running).stdout
  } finally {
    if (pid !== undefined) Keeper.forgetProcess(pid)
  }
}

/**
 * Unpacks bitcoind and its libraries to `into`, and writes `into/bitcoind`, a script that starts bitcoind even
 * after the folder has been moved. apt verifies Debian's signature and each package. `work` is an empty folder.
 * Rejects with apt's output.
 */
export const unpack = async (
  { mirror, keyring }: Debian,
  work: string,
  into: string,
  signal: AbortSignal
): Promise<void> => {
  for (const made of ["state/lists/partial", "cache/archives/partial", "log"])
    mkdirSync(path.join(work, made), { recursive: true })
  const settings = path.join(work, "apt.conf")
  writeFileSync(settings, configuration(work))
  writeFileSync(path.join(work, "sources.list"), `deb [signed-by=${keyring}] ${mirror} sid main\n`)
  const here = (name: string) =>
    `Package: ${name}\nStatus: install ok installed\nArchitecture: all\nMulti-Arch: foreign\nMaintainer: none\nVersion: 999\nDescription: not needed\n`
  writeFileSync(path.join(work, "state/status"), unneeded.map(here).join("\n"))

  await run("apt-get", ["-c", settings, "-q", "update"], signal)
  await run(
    "apt-get",
    ["-c", settings, "-q", "-y", "--download-only", "--no-install-recommends", "install", packageName],
    signal
  )
  const archives = path.join(work, "cache/archives")
  const unpacked = path.join(work, "unpacked")
  for (const file of readdirSync(archives).filter((name) => name.endsWith(".deb"))) {
    await run("dpkg", ["-x", path.join(archives, file), unpacked], signal)
  }
  const [loader] = globSync("usr/lib/*/ld-linux-*.so.*", { cwd: unpacked })
  if (loader === undefined) throw new Error(`${packageName} was unpacked without a program loader`)
  const program = path.join(unpacked, "bitcoind")
  const libraries = path.dirname(loader)
  writeFileSync(
    program,
    `#!/bin/sh\nhere=$(dirname "$0")\nexec "$here/${loader}" --library-path "$here/${libraries}" "$here/usr/bin/bitcoind" "$@"\n`
  )
  chmodSync(program, 0o755)
  // Check that bitcoind runs before making it available.
  await run(program, ["--version"], signal)
  renameSync(unpacked, into)
}
