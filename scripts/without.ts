// `npm run without -- NAME…`: removes features from a copy of the working tree, type-checks the sources, and
// runs the fast tests of the service's packages that do not mention these features. Features that depend on
// them are removed too. Exits with 0 if everything passes. `--quick` skips tests that start databases and
// servers, `--types` skips all tests, and `--keep` keeps the copy. CI removes one feature per run, selected by
// `--turn=N`, where N is the number of commits.
import { execFileSync, spawnSync } from "node:child_process"
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import os from "node:os"
import path from "node:path"
import process from "node:process"
import { format } from "oxfmt"
import { wordOf } from "./house/Features.ts"
import { files, importsOf, read, root } from "./house/Floors.ts"
import { mentions, namesIn, snake } from "./house/Mentions.ts"

/**
 * The packages whose tests are run. The tests of other packages are about the repository, or use the service
 * over HTTP.
 */
const tested = [
  "contracts",
  "core",
  "features",
  "http",
  "memory",
  "postgres",
  "server",
  "service",
  "simulator"
]

const words = process.argv.slice(2)
const flags = words.filter((word) => word.startsWith("--"))
const all = [...new Set(files("packages/features/src/*/**/*.ts").map((file) => file.split("/")[3] ?? ""))]
const turns = all.toSorted()
const turn = flags.find((flag) => flag.startsWith("--turn="))?.slice("--turn=".length)
const asked =
  turn === undefined
    ? words.filter((word) => !word.startsWith("--"))
    : [turns[Number(turn) % turns.length] ?? ""]
if (asked.length === 0 || !asked.every((name) => all.includes(name))) {
  console.error(
    `npm run without -- NAME… [--quick] [--types] [--keep], or --turn=N for one of them in turn\nNAME is one of: ${all.join(", ")}`
  )
  process.exit(2)
}

/**
 * Returns the feature that a file or a module belongs to: a folder of `packages/features`, or a file or folder in the
 * `features/` of a package whose kit needs the whole service.
 */
const featureOf = (file: string): string | undefined => {
  const [, found] =
    /^(?:packages|@satrail)\/(?:features\/|\w+\/(?:src\/|test\/)?(?:serving\/)?features\/)(?:(?:src|test)\/)?([\w-]+)(?:\/|\.ts$)/.exec(
      file
    ) ?? []
  return all.find((one) => one === found)
}

/** Returns, for each import of a file, the feature that it belongs to. */
const targetsOf = (file: string, source: string): ReadonlyArray<string | undefined> =>
  importsOf(source).map(({ specifier }) =>
    featureOf(specifier.startsWith(".") ? path.join(path.dirname(file), specifier) : specifier)
  )

const sources = files("packages/*/{src,browser}/**/*.{ts,tsx}").concat(
  files("{test/defences/**/*,packages/features/test/*/mutants}.ts")
)
const gone = new Set(asked)
for (let before = 0; before < gone.size;) {
  before = gone.size
  for (const file of sources) {
    const own = featureOf(file)
    if (own !== undefined && targetsOf(file, read(file)).some((one) => one !== undefined && gone.has(one)))
      gone.add(own)
  }
}
console.log(
  `without ${[...gone].join(", ")}${gone.size > asked.length ? `: the others depend on ${asked.join(", ")}` : ""}`
)

/**
 * The folder of the copy. It uses the external packages of the original tree, but contains copies of the
 * workspace packages.
 */
const copy = mkdtempSync(path.join(os.tmpdir(), "without-"))
const tracked = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
  maxBuffer: 1 << 26
})
for (const file of tracked.split("\n").filter((file) => file !== "" && existsSync(path.join(root, file))))
  cpSync(path.join(root, file), path.join(copy, file))
for (const folder of globSync(["node_modules", "{packages,examples}/*/node_modules"], { cwd: root })) {
  mkdirSync(path.join(copy, folder), { recursive: true })
  for (const entry of readdirSync(path.join(root, folder))) {
    const [from, to] = [path.join(root, folder, entry), path.join(copy, folder, entry)]
    if (entry === ".pnpm") symlinkSync(from, to)
    else if (entry === ".install-stamp" || !entry.startsWith("."))
      cpSync(from, to, { recursive: true, verbatimSymlinks: true })
  }
}

// Reuse compiled output, which saves most of the time. Only changed sources and those that depend on them are
// checked again.
for (const folder of globSync("packages/{*,ui/browser}/dist", { cwd: root }))
  cpSync(path.join(root, folder), path.join(copy, folder), { recursive: true, preserveTimestamps: true })

// Allow unused imports, because a list may keep an import that only the feature's lines used.
const options = path.join(copy, "tsconfig.base.json")
writeFileSync(
  options,
  readFileSync(options, "utf8").replaceAll(/"noUnused(Locals|Parameters)": true/g, '"noUnused$1": false')
)

const has = (source: string, word: string) => new RegExp(`(?<![\\w$])${word}(?![\\w$])`).test(source)

/**
 * Removes a feature from a list: its imports, and the lines and array members that use the imported names.
 */
const shortened = async (file: string): Promise<string> => {
  // Wide, because a short list has to stand on one line.
  const { code } = await format(file, read(file), { printWidth: 140, semi: false, trailingComma: "none" })
  const lines = code.split("\n")
  const imports = lines.filter((line) =>
    targetsOf(file, line).some((one) => one !== undefined && gone.has(one))
  )
  const names = imports.flatMap((line) =>
    Array.from(
      line.matchAll(/(?:import|type|,|\{|\bas) +(?!type |as )([\w$]+)(?= *[,}]| from)/g),
      ([, one = ""]) => one
    )
  )
  return lines
    .filter((line) => !imports.includes(line))
    .flatMap((line) => {
      const named = names.filter((one) => has(line, one))
      if (named.length === 0) return [line]
      if (!/\[.*\]/.test(line)) return []
      return [
        named.reduce(
          (rest, one) => rest.replace(new RegExp(`(?<=[[ ])${one}(?:, |(?=\\]))`), "").replace(", ]", "]"),
          line
        )
      ]
    })
    .join("\n")
}

/** Returns whether a file only lists features or their exports. */
const isList = (file: string) =>
  /\/features\/[\w-]+\.ts$|^packages\/service\/src\/\w+\.ts$|^test\/defences\/Features\.ts$/.test(file)

for (const one of gone)
  rmSync(path.join(copy, "packages/features/test", one), { recursive: true, force: true })
const left: Array<string> = []
for (const file of sources.concat(files("packages/*/test/features/*.ts"))) {
  const own = featureOf(file)
  if (own !== undefined && gone.has(own)) {
    rmSync(path.join(copy, file), { force: true })
    for (const made of globSync(file.replace("/src/", "/dist/").replace(/\.tsx?$/, ".*"), { cwd: copy }))
      rmSync(path.join(copy, made))
  } else if (targetsOf(file, read(file)).some((one) => one !== undefined && gone.has(one))) {
    if (isList(file)) writeFileSync(path.join(copy, file), await shortened(file))
    else left.push(file)
  }
}
if (left.length > 0) console.log(`imported outside the lists:\n${left.map((file) => `  ${file}`).join("\n")}`)

const pattern = [...gone].flatMap((one) => [one.replace(/s$/, "s?"), wordOf(one)]).join("|")
const names = new Map<string, boolean>()
const isMention = (file: string): boolean => {
  const known =
    names.get(file) ?? mentions(`${snake(path.basename(file))}\n${namesIn(file, read(file))}`, pattern)
  names.set(file, known)
  return known
}
const mentioning = sources.filter(
  (file) => existsSync(path.join(copy, file)) && !isList(file) && isMention(file)
)
console.log(
  `${mentioning.length} other sources mention it:\n${mentioning.map((file) => `  ${file}`).join("\n")}`
)

/** Returns whether a test, or a helper that it imports, mentions a removed feature. */
const isAbout = (file: string, seen = new Set<string>()): boolean => {
  if (seen.has(file) || isList(file) || !existsSync(path.join(root, file))) return false
  seen.add(file)
  const helpers = importsOf(read(file)).flatMap(({ specifier }) => {
    const target = path.join(path.dirname(file), specifier)
    return specifier.startsWith(".") && /(?:^|\/)test\//.test(target) ? [target] : []
  })
  return isMention(file) || helpers.some((helper) => isAbout(helper, seen))
}
const fast = files(`packages/{${tested.join(",")}}/test/**/*.test.ts`).filter((file) =>
  /\/\w+\.test\.ts$/.test(file)
)
const tests = fast.filter((file) => !isAbout(file))
console.log(`${tests.length} of ${fast.length} fast test files do not mention it`)

const run = (...args: ReadonlyArray<string>) =>
  spawnSync(process.execPath, args, { cwd: copy, stdio: "inherit" }).status === 0
const projects = globSync("packages/{*,ui/browser}/tsconfig.json", { cwd: copy })
const isTyped = run("scripts/run.mjs", "typecheck", ...projects)
const isTested =
  isTyped &&
  (flags.includes("--types") ||
    run(
      "node_modules/vitest/vitest.mjs",
      "run",
      `--project=${flags.includes("--quick") ? "fast" : "fast*"}`,
      "--reporter=json",
      "--outputFile=results.json",
      "--silent=true",
      ...tests
    ))

interface Results {
  readonly numPassedTests: number
  readonly numTotalTests: number
  readonly testResults: ReadonlyArray<{
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: ReadonlyArray<{
      readonly fullName: string
      readonly failureMessages: ReadonlyArray<string>
    }>
  }>
}
const results = path.join(copy, "results.json")
if (existsSync(results)) {
  const { numPassedTests, numTotalTests, testResults } = JSON.parse(readFileSync(results, "utf8")) as Results
  for (const { assertionResults, message, name, status } of testResults) {
    if (status !== "passed") console.log(`${path.relative(copy, name)} failed. ${message}`)
    for (const { failureMessages, fullName } of assertionResults)
      if (failureMessages.length > 0) console.log(`  ${fullName}: ${failureMessages[0]}`)
  }
  console.log(`${numPassedTests} of ${numTotalTests} tests passed after ${Math.round(process.uptime())} s`)
}
if (flags.includes("--keep")) console.log(copy)
else rmSync(copy, { recursive: true })
console.log(isTested ? "green" : isTyped ? "tests fail" : "sources do not compile")
process.exitCode = isTested ? 0 : 1
