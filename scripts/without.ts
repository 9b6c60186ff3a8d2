// `npm run without -- NAME`: takes a feature out of a copy of the working tree, checks the types of the sources, and runs the fast tests that do
// not mention it. Features that need it are taken out too. Ends with 0 if all of that is green. --keep leaves the copy where it is.
import { execFileSync, spawnSync } from "node:child_process"
import { cpSync, existsSync, globSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import os from "node:os"
import path from "node:path"
import process from "node:process"
import { files, importsOf, read, root } from "./house/Floors.ts"
import { mentions, namesIn, snake } from "./house/Mentions.ts"

/** Tests of all features at once, and why they cannot pass without one. */
const mixed: Readonly<Record<string, string>> = {}

const [name = "", ...options] = process.argv.slice(2)
const all = [...new Set(files("packages/*/src/features/*/**/*.ts").map((file) => file.split("/")[4] ?? ""))]
if (!all.includes(name)) {
  console.error(`npm run without -- NAME [--keep]\nNAME is one of: ${all.join(", ")}`)
  process.exit(2)
}

/** The feature that a file of one belongs to: `memory` has files where other packages have folders. */
const featureOf = (file: string): string | undefined => {
  const [, found] = /(?:\/src|^@satrail\/\w+|^test\/defences)\/features\/([\w-]+)(?:\/|\.ts$)/.exec(file) ?? []
  return found === undefined ? undefined : all.find((one) => one === snake(found).replaceAll("_", "-"))
}

/** The feature that each import of a file leads to. */
const targetsOf = (file: string, source: string): ReadonlyArray<string | undefined> =>
  importsOf(source).map(({ specifier }) => featureOf(specifier.startsWith(".") ? path.join(path.dirname(file), specifier) : specifier))

const sources = files("packages/*/{src,browser}/**/*.{ts,tsx}").concat(files("test/defences/**/*.ts"))
const gone = new Set([name])
for (let before = 0; before < gone.size;) {
  before = gone.size
  for (const file of sources) {
    const own = featureOf(file)
    if (own !== undefined && targetsOf(file, read(file)).some((one) => one !== undefined && gone.has(one))) gone.add(own)
  }
}
console.log(`without ${[...gone].join(", ")}${gone.size > 1 ? `: what comes after ${name} needs it` : ""}`)

/** The copy: packages of others are those of the tree itself, packages of the workspace are the copied ones. */
const copy = mkdtempSync(path.join(os.tmpdir(), "without-"))
const tracked = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], { cwd: root, encoding: "utf8", maxBuffer: 1 << 26 })
for (const file of tracked.split("\n").filter((file) => file !== "" && existsSync(path.join(root, file))))
  cpSync(path.join(root, file), path.join(copy, file))
for (const folder of globSync(["node_modules", "{packages,examples}/*/node_modules"], { cwd: root })) {
  mkdirSync(path.join(copy, folder), { recursive: true })
  for (const entry of readdirSync(path.join(root, folder))) {
    const [from, to] = [path.join(root, folder, entry), path.join(copy, folder, entry)]
    if (entry === ".pnpm") symlinkSync(from, to)
    else if (entry === ".install-stamp" || !entry.startsWith(".")) cpSync(from, to, { recursive: true, verbatimSymlinks: true })
  }
}

const has = (source: string, word: string) => new RegExp(`(?<![\\w$])${word}(?![\\w$])`).test(source)

/** A list without the lines of a feature: its imports, and of the rest the lines and the members of arrays that name what they import. */
const shortened = (file: string, source: string): string => {
  const lines = source.split("\n")
  const imports = lines.filter((line) => targetsOf(file, line).some((one) => one !== undefined && gone.has(one)))
  const names = imports.flatMap((line) =>
    Array.from(line.matchAll(/(?:import|type|,|\{|\bas) +(?!type |as )([\w$]+)(?= *[,}]| from)/g), ([, one = ""]) => one)
  )
  return lines
    .filter((line) => !imports.includes(line))
    .flatMap((line) => {
      const named = names.filter((one) => has(line, one))
      if (named.length === 0) return [line]
      if (!/\[.*\]/.test(line)) return []
      return [named.reduce((rest, one) => rest.replace(new RegExp(`(?<=[[ ])${one}(?:, |(?=\\]))`), "").replace(", ]", "]"), line)]
    })
    .join("\n")
}

/** Files that only list features, or what they export. */
const isList = (file: string) => /\/features\/[\w-]+\.ts$|\/Following\.ts$|^packages\/core\/src\/\w+\.ts$/.test(file)

const left: Array<string> = []
for (const file of sources) {
  const own = featureOf(file)
  if (own !== undefined && gone.has(own)) rmSync(path.join(copy, file))
  else if (targetsOf(file, read(file)).some((one) => one !== undefined && gone.has(one))) {
    if (isList(file)) writeFileSync(path.join(copy, file), shortened(file, read(file)))
    else left.push(file)
  }
}
if (left.length > 0) console.log(`imported outside the lists:\n${left.map((file) => `  ${file}`).join("\n")}`)

const words = [...gone].map((one) => one.replaceAll("-", "_").replace(/s$/, "s?")).join("|")
const names = new Map<string, boolean>()
const isMention = (file: string): boolean => {
  const known = names.get(file) ?? mentions(namesIn(file, read(file)), words)
  names.set(file, known)
  return known
}
const mentioning = sources.filter((file) => existsSync(path.join(copy, file)) && !isList(file) && isMention(file))
console.log(`${mentioning.length} other sources mention it:\n${mentioning.map((file) => `  ${file}`).join("\n")}`)

/** Whether a test, or a helper that it imports, mentions it. */
const isAbout = (file: string, seen = new Set<string>()): boolean => {
  if (seen.has(file) || !existsSync(path.join(root, file))) return false
  seen.add(file)
  const helpers = importsOf(read(file)).flatMap(({ specifier }) => {
    const target = path.join(path.dirname(file), specifier)
    return specifier.startsWith(".") && /(?:^|\/)test\//.test(target) ? [target] : []
  })
  return isMention(file) || helpers.some((helper) => isAbout(helper, seen))
}
const fast = files("{packages,examples}/*/test/**/*.test.ts")
  .concat(files("test/**/*.test.ts"))
  .filter((file) => /\/\w+\.test\.ts$/.test(file))
const tests = fast.filter((file) => !isAbout(file) && mixed[file] === undefined)
console.log(`${tests.length} of ${fast.length} fast test files do not mention it`)

const run = (...args: ReadonlyArray<string>) => spawnSync(process.execPath, args, { cwd: copy, stdio: "inherit" }).status === 0
const projects = globSync("packages/{*,ui/browser}/tsconfig.json", { cwd: copy })
const isTyped = run("node_modules/typescript/bin/tsc", "-b", ...projects)
const isGreen =
  isTyped &&
  (options.includes("--types") ||
    run("node_modules/vitest/vitest.mjs", "run", "--project=fast*", "--reporter=dot", "--silent=true", ...tests))
if (options.includes("--keep")) console.log(copy)
else if (lstatSync(copy).isDirectory()) rmSync(copy, { recursive: true })
console.log(isGreen ? "green" : isTyped ? "tests fail" : "sources do not compile")
process.exitCode = isGreen ? 0 : 1
