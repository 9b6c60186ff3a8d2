// `npm run release`: builds the published packages, checks them with their users' tools, and publishes them.
//   --dry-run --out DIR   does everything except publishing: writes the tarballs, SHA256SUMS and
//                         sbom.cdx.json to DIR
//   --set X.Y.Z           only sets a new version everywhere and moves the notes of changes/ into its
//                         section of CHANGELOG.md
// See docs/decisions/packages.md#0069.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { parseArgs } from "node:util"
import { notesIn, problemWith, withNotes } from "./Changes.ts"
import { sha256 } from "./Native.ts"
import { pack, type Packed } from "./Pack.ts"
import { entriesOf, manifests, published, repository, root, version } from "./Package.ts"
import { CommandFailed, run } from "./Run.ts"

const lint = { publint: "0.3.25", attw: "0.18.5" }

/** Reports a problem that the user must fix, without a stack trace. */
const refuse = (why: string): never => {
  process.stderr.write(`release: ${why}\n`)
  process.exit(1)
}

const git = (...args: ReadonlyArray<string>) => run("git", args).trim()

const { values } = parseArgs({
  options: {
    "dry-run": { type: "boolean", default: false },
    out: { type: "string" },
    set: { type: "string" }
  }
})

const step = (does: string) => process.stdout.write(`${does}\n`)

/** The service's version as a constant, because a bundle has no manifest. */
const versionFile = path.join(root, "packages/server/src/base/Version.ts")

/** Sets the version in every manifest of the workspace. Private packages share the version too. */
const setVersion = (next: string) => {
  const notes = notesIn(path.join(root, "changes"))
  const problem = problemWith(next, version, notes)
  if (problem !== undefined) refuse(`--set: ${problem}`)
  for (const file of manifests) {
    const text = readFileSync(path.join(root, file), "utf8")
    writeFileSync(path.join(root, file), text.replace(/^( {2}"version": ")[^"]+/m, `$1${next}`))
  }
  writeFileSync(versionFile, readFileSync(versionFile, "utf8").replace(/(?<=version = ")[^"]+/, next))
  const changelog = path.join(root, "CHANGELOG.md")
  writeFileSync(changelog, withNotes(readFileSync(changelog, "utf8"), next, notes))
  for (const { file } of notes) rmSync(path.join(root, file))
  step(
    `every manifest has version ${next} now, and its section in CHANGELOG.md has ${notes.length} notes: read it, then commit`
  )
}

/** Checks that the sources of a release are committed and its changes are in the changelog. */
const checkSources = () => {
  if (!readFileSync(path.join(root, "CHANGELOG.md"), "utf8").includes(`\n## ${version}\n`)) {
    refuse(`CHANGELOG.md has no section "## ${version}" for users`)
  }
  if (values["dry-run"]) return
  const [note] = notesIn(path.join(root, "changes"))
  if (note !== undefined)
    refuse(`${note.file} is not part of a version yet: --set X.Y.Z moves it to the changelog`)
  if (git("status", "--porcelain") !== "") refuse("there are uncommitted changes")
  if (git("tag", "--points-at", "HEAD", "--list", `v${version}`) === "") refuse(`HEAD has no tag v${version}`)
  const [origin, ours] = [git("remote", "get-url", "origin"), repository].map((url) =>
    url.replace(/^git\+|\.git$/g, "")
  )
  if (origin !== ours)
    refuse(`package.json says the repository is ${String(ours)}, and git's origin is ${String(origin)}`)
}

/**
 * Checks packages with publint, and those that can be imported also with attw. Wildcard entries are internal
 * and not checked.
 */
const look = (all: ReadonlyArray<Packed>) => {
  // npx takes longer to find a program than publint takes to check a package, so it is run only once.
  const tools = ["-p", `publint@${lint.publint}`, "-p", `@arethetypeswrong/cli@${lint.attw}`]
  const [publint = "", attw = ""] = run("npx", [
    "-y",
    ...tools,
    "-c",
    "command -v publint; command -v attw"
  ]).split("\n")
  for (const { name, file, staged } of all) {
    run(publint, ["run", "--strict", "--pack", "false", staged])
    const [entry] = published().flatMap((one) =>
      one.source.name === name ? entriesOf(one).filter((other) => !other.includes("*")) : []
    )
    if (entry !== undefined) run(attw, ["--profile", "esm-only", "--entrypoints", entry, "--no-color", file])
    step(`${entry !== undefined ? "publint and attw" : "publint"}: ${name} passed`)
  }
}

const sums = (all: ReadonlyArray<Packed>, out: string) => {
  const lines = all.map(({ file }) => `${sha256(file)}  ${path.basename(file)}`)
  writeFileSync(path.join(out, "SHA256SUMS"), `${lines.join("\n")}\n`)
  for (const { name, staged, native } of all)
    if (native)
      step(
        `${name} contains, with SHA-256:\n${readFileSync(path.join(staged, "SHA256SUMS"), "utf8").trimEnd()}`
      )
}

/** Writes a CycloneDX list of all packages that a host would install today. */
const sbom = (all: ReadonlyArray<Packed>, out: string, work: string) => {
  const host = path.join(work, "host")
  mkdirSync(host)
  const files = (some: ReadonlyArray<Packed>) =>
    Object.fromEntries(some.map(({ name, file }) => [name, `file:${file}`]))
  const dependencies = files(all.filter(({ native }) => native === undefined))
  const optionalDependencies = files(all.filter(({ native }) => native !== undefined))
  const manifest = { name: "satrail", version, private: true, dependencies, optionalDependencies }
  writeFileSync(path.join(host, "package.json"), JSON.stringify(manifest))
  run("npm", ["install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund"], host)
  const document = run(
    "npm",
    ["sbom", "--package-lock-only", "--sbom-format", "cyclonedx", "--sbom-type", "library"],
    host
  )
  writeFileSync(path.join(out, "sbom.cdx.json"), document)
  step(`sbom.cdx.json: ${JSON.parse(document).components.length} components`)
}

/** Publishes the packages. Skips versions that are already published, so that an interrupted release can be resumed. */
const publish = (all: ReadonlyArray<Packed>) => {
  for (const { name, file } of all) {
    const there = run("npm", ["view", name, "versions", "--json", "--loglevel=silent"])
    if (there.includes(`"${version}"`)) {
      step(`${name} ${version} is already published`)
      continue
    }
    run("npm", ["publish", file])
    step(`published ${name} ${version}`)
  }
}

const release = async () => {
  checkSources()
  const out = path.resolve(values.out ?? refuse("--out DIR is required: the folder for the tarballs"))
  const work = mkdtempSync(path.join(tmpdir(), "satrail-release-"))
  try {
    const { packed: all, missing } = await pack(out, work, step)
    for (const { name, why } of missing) {
      if (!values["dry-run"]) refuse(`${name} must be built: ${why}`)
      step(`left out ${name}, which a release needs: ${why}`)
    }
    step(`checking ${all.length} packages with publint and attw`)
    look(all)
    sums(all, out)
    step("listing what a host would install, in sbom.cdx.json")
    sbom(all, out, work)
    if (values["dry-run"]) step(`nothing was published: ${out} has the files that would be`)
    else publish(all)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

if (values.set !== undefined) setVersion(values.set)
else
  await release().catch((error: unknown) => {
    if (!(error instanceof CommandFailed)) throw error
    refuse(error.message)
  })
