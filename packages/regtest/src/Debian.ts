import { execFile, execFileSync } from "node:child_process"
import { chmodSync, existsSync, globSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs"
import path from "node:path"
import { promisify } from "node:util"
import * as Keeper from "./Keeper.ts"

// Bitcoin Core's kin for the tests: Debian's package of Bitcoin Knots. It is in Debian's unstable only, and wants newer libraries than a stable system has.
// So it is unpacked with its libraries into a folder of ours, and started with their loader: nothing is installed, and nothing of the machine's apt is touched.

const packageName = "bitcoin-knots"
/** What the package's scripts would need, and we do not run: as if it was here. */
const unneeded = ["debconf", "systemd-standalone-sysusers"]
const keyrings = ["/usr/share/keyrings/debian-archive-keyring.gpg", "/usr/share/keyrings/debian-archive-keyring.pgp"]

const maxCommandMillis = 10 * 60_000
const maxOutputBytes = 10_000_000

/** Where this machine gets Debian's packages, and how it knows them for Debian's. */
export interface Debian {
  readonly mirror: string
  readonly keyring: string
}

/** Debian as this machine's apt knows it; why not in a line, where it does not. */
export const find = (): Debian | { readonly missing: string } => {
  const no = (why: string) => ({ missing: `no bitcoind here: it is unpacked from Debian's ${packageName}, and ${why}` })
  if (process.platform !== "linux") return no(`this is ${process.platform}`)
  const keyring = keyrings.find((file) => existsSync(file))
  if (keyring === undefined) return no("Debian's keys are not here (package debian-archive-keyring)")
  try {
    execFileSync("dpkg", ["--version"], { stdio: "ignore" })
    const format = ["indextargets", "--no-release-info", "--format", "$(REPO_URI)", "Created-By: Packages"]
    const said = execFileSync("apt-get", format, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })
    const mirror = said.split("\n").find((uri) => /\/debian\/?$/.test(uri))
    return mirror === undefined ? no("no mirror of Debian is among apt's sources") : { mirror, keyring }
  } catch {
    return no("apt and dpkg are not here")
  }
}

/** Read after the machine's own settings, so that its proxy stays and its hooks and its state do not. */
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
// A mirror that was last told of unstable weeks ago will do: Debian's signature counts, and not its date.
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
 * Unpacks bitcoind and its libraries to `into`, and writes `into/bitcoind`, which starts it from wherever the folder is then. apt checks Debian's
 * signature, and each package against it. `work` is an empty folder of its own. Rejects with what apt said.
 */
export const unpack = async ({ mirror, keyring }: Debian, work: string, into: string, signal: AbortSignal): Promise<void> => {
  for (const made of ["state/lists/partial", "cache/archives/partial", "log"]) mkdirSync(path.join(work, made), { recursive: true })
  const settings = path.join(work, "apt.conf")
  writeFileSync(settings, configuration(work))
  writeFileSync(path.join(work, "sources.list"), `deb [signed-by=${keyring}] ${mirror} sid main\n`)
  const here = (name: string) =>
    `Package: ${name}\nStatus: install ok installed\nArchitecture: all\nMulti-Arch: foreign\nMaintainer: none\nVersion: 999\nDescription: not needed\n`
  writeFileSync(path.join(work, "state/status"), unneeded.map(here).join("\n"))

  await run("apt-get", ["-c", settings, "-q", "update"], signal)
  await run("apt-get", ["-c", settings, "-q", "-y", "--download-only", "--no-install-recommends", "install", packageName], signal)
  const archives = path.join(work, "cache/archives")
  const unpacked = path.join(work, "unpacked")
  for (const file of readdirSync(archives).filter((name) => name.endsWith(".deb"))) {
    await run("dpkg", ["-x", path.join(archives, file), unpacked], signal)
  }
  const [loader] = globSync("usr/lib/*/ld-linux-*.so.*", { cwd: unpacked })
  if (loader === undefined) throw new Error(`${packageName} came without a loader of programs`)
  const program = path.join(unpacked, "bitcoind")
  const libraries = path.dirname(loader)
  writeFileSync(
    program,
    `#!/bin/sh\nhere=$(dirname "$0")\nexec "$here/${loader}" --library-path "$here/${libraries}" "$here/usr/bin/bitcoind" "$@"\n`
  )
  chmodSync(program, 0o755)
  // It must run before anybody is told that it is here.
  await run(program, ["--version"], signal)
  renameSync(unpacked, into)
}
