// `npm run release`: makes the packages that a release publishes, looks at them as their users' tools will, and publishes them.
//   --dry-run --out DIR   everything but publishing: DIR has the tarballs, SHA256SUMS and sbom.cdx.json
//   --set X.Y.Z           gives everything a new version, puts the notes of changes/ into its section of CHANGELOG.md, and does nothing else
// See docs/decisions/packages.md#0069.
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { parseArgs } from "node:util"
import { notesIn, problemWith, withNotes } from "./Changes.ts"
import { manifests, published, repository, root, version } from "./Package.ts"
import { stage } from "./Stage.ts"

const lint = { publint: "0.3.25", attw: "0.18.5" }

/** The problem, without a stack: it is the reader's. */
const refuse = (why: string): never => {
  process.stderr.write(`release: ${why}\n`)
  process.exit(1)
}

const run = (command: string, args: ReadonlyArray<string>, cwd = root): string => {
  try {
    return execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 64 * 1024 * 1024 })
  } catch (cause) {
    const said = cause instanceof Error && "stdout" in cause && "stderr" in cause ? `${String(cause.stdout)}${String(cause.stderr)}` : ""
    return refuse(`\`${command} ${args.join(" ")}\` failed.\n${said}`)
  }
}
const git = (...args: ReadonlyArray<string>) => run("git", args).trim()

const { values } = parseArgs({
  options: { "dry-run": { type: "boolean", default: false }, out: { type: "string" }, set: { type: "string" } }
})

const step = (does: string) => process.stdout.write(`${does}\n`)

/** In every manifest of the workspace, private ones too: they are one thing. */
const setVersion = (next: string) => {
  const notes = notesIn(path.join(root, "changes"))
  const problem = problemWith(next, version, notes)
  if (problem !== undefined) refuse(`--set: ${problem}`)
  for (const file of manifests) {
    const text = readFileSync(path.join(root, file), "utf8")
    writeFileSync(path.join(root, file), text.replace(/^( {2}"version": ")[^"]+/m, `$1${next}`))
  }
  const changelog = path.join(root, "CHANGELOG.md")
  writeFileSync(changelog, withNotes(readFileSync(changelog, "utf8"), next, notes))
  for (const { file } of notes) rmSync(path.join(root, file))
  step(`everything is ${next}, and its section of CHANGELOG.md has ${notes.length} notes: read it, and commit`)
}

/** What a release is made of can be found again, and says what is new in it. */
const checkSources = () => {
  if (!readFileSync(path.join(root, "CHANGELOG.md"), "utf8").includes(`\n## ${version}\n`)) {
    refuse(`CHANGELOG.md has no section "## ${version}": it says what a user has to know`)
  }
  if (values["dry-run"]) return
  const [note] = notesIn(path.join(root, "changes"))
  if (note !== undefined) refuse(`${note.file} is in no version: --set X.Y.Z puts it into the changelog`)
  if (git("status", "--porcelain") !== "") refuse("there are changes that are not committed")
  if (git("tag", "--points-at", "HEAD", "--list", `v${version}`) === "") refuse(`HEAD has no tag v${version}`)
  const [origin, ours] = [git("remote", "get-url", "origin"), repository].map((url) => url.replace(/^git\+|\.git$/g, ""))
  if (origin !== ours) refuse(`package.json says the repository is ${String(ours)}, and git's origin is ${String(origin)}`)
}

/** The tarballs, each after those that it depends on. */
const pack = (out: string, work: string) =>
  published().map((one) => {
    const staged = path.join(work, path.basename(one.folder))
    mkdirSync(staged, { recursive: true })
    stage(one, staged)
    const [packed] = JSON.parse(run("npm", ["pack", "--json", "--pack-destination", out, staged]))
    step(`packed ${one.source.name} ${version}: ${Math.ceil(packed.size / 1024)} kB, unpacked ${Math.ceil(packed.unpackedSize / 1024)} kB`)
    return { name: one.source.name, file: path.join(out, packed.filename), staged }
  })

type Packed = ReturnType<typeof pack>

/** As publint and TypeScript see them. Wildcards are our internals, of which nothing is promised. */
const look = (all: Packed) => {
  for (const { name, file, staged } of all) {
    run("npx", ["-y", `publint@${lint.publint}`, "run", "--strict", "--pack", "false", staged])
    run("npx", ["-y", `@arethetypeswrong/cli@${lint.attw}`, "--profile", "esm-only", "--entrypoints", ".", "--no-color", file])
    step(`publint and attw: ${name} is right`)
  }
}

const sums = (all: Packed, out: string) => {
  const lines = all.map(({ file }) => `${createHash("sha256").update(readFileSync(file)).digest("hex")}  ${path.basename(file)}`)
  writeFileSync(path.join(out, "SHA256SUMS"), `${lines.join("\n")}\n`)
}

/** What a host's installation of all of it consists of today (CycloneDX). */
const sbom = (all: Packed, out: string, work: string) => {
  const host = path.join(work, "host")
  mkdirSync(host)
  const dependencies = Object.fromEntries(all.map(({ name, file }) => [name, `file:${file}`]))
  writeFileSync(path.join(host, "package.json"), JSON.stringify({ name: "satrail", version, private: true, dependencies }))
  run("npm", ["install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund"], host)
  const document = run("npm", ["sbom", "--package-lock-only", "--sbom-format", "cyclonedx", "--sbom-type", "library"], host)
  writeFileSync(path.join(out, "sbom.cdx.json"), document)
  step(`sbom.cdx.json: ${JSON.parse(document).components.length} components`)
}

/** A release that broke off goes on where it stopped: a version that is there already is what it was. */
const publish = (all: Packed) => {
  for (const { name, file } of all) {
    const there = run("npm", ["view", name, "versions", "--json", "--loglevel=silent"])
    if (there.includes(`"${version}"`)) {
      step(`${name} ${version} is there already`)
      continue
    }
    run("npm", ["publish", "--provenance", "--access", "public", file])
    step(`published ${name} ${version}`)
  }
}

const release = () => {
  checkSources()
  const out = path.resolve(values.out ?? refuse("--out DIR says where the tarballs go"))
  mkdirSync(out, { recursive: true })
  const work = mkdtempSync(path.join(tmpdir(), "satrail-release-"))
  try {
    const projects = published().map(({ folder }) => folder)
    run(process.execPath, ["node_modules/typescript/bin/tsc", "-b", ...projects])
    const all = pack(out, work)
    look(all)
    sums(all, out)
    sbom(all, out, work)
    if (values["dry-run"]) step(`nothing was published: ${out} has what would be`)
    else publish(all)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

if (values.set === undefined) release()
else setVersion(values.set)
