// `npm run house`: prints metrics of the code's structure, each with its goal. With --check, it fails if a
// metric exceeds its limit.
import { execFileSync } from "node:child_process"
import path from "node:path"
import process from "node:process"
import { mentioning, sources, tests } from "./Features.ts"
import { importsWithin, circles, files, floors, maxLoose, read, root, upwards } from "./Floors.ts"
import { divided, lists, sourcesOf, tiers } from "./Tiers.ts"

interface Row {
  readonly name: string
  readonly value: number
  readonly goal?: number
  readonly note?: string
  /** Whether the goal is a limit, so that --check fails if the value exceeds it. */
  readonly isLimit?: true
}

const packages = files("packages/*/package.json").map((file) => path.basename(path.dirname(file)))
/** With --mentions FEATURE, the files that mention the feature are listed. */
const shown = process.argv[process.argv.indexOf("--mentions") + 1] ?? ""

const featureRows = (): ReadonlyArray<Row> =>
  mentioning(sources, tests).map(({ feature, sources, tests }) => {
    if (feature === shown) console.log(sources.join("\n"))
    return {
      name: `files that mention ${feature}`,
      value: sources.length,
      goal: 20,
      note: `and ${tests.length} of tests`
    }
  })

const looseRows = (): ReadonlyArray<Row> =>
  packages.map((name) => {
    const row = { name: `loose files of ${name}`, value: files(`packages/${name}/src/*.{ts,tsx}`).length }
    if (floors[name] !== undefined) return { ...row, goal: maxLoose, isLimit: true }
    return files(`packages/${name}/src/*/**/*.{ts,tsx}`).length === 0 ? { ...row, note: "no folders" } : row
  })

const importRows = (): ReadonlyArray<Row> => {
  const arrows = Object.keys(floors).flatMap((name) =>
    sourcesOf(name).flatMap((file) => upwards(name, file, read(file)))
  )
  const found = packages.flatMap((name) =>
    circles(new Map(sourcesOf(name).map((file) => [file, importsWithin(file)])))
  )
  const circle =
    found[0] === undefined ? "" : `${found[0].length} files, such as ${found[0].slice(0, 2).join(" and ")}`
  return [
    {
      name: "imports from a higher folder",
      value: arrows.length,
      goal: 0,
      note: arrows[0] ?? "",
      isLimit: true
    },
    { name: "import circles", value: found.length, goal: 0, note: circle, isLimit: true }
  ]
}

/** Lines of the packages that a payment is in and that know no feature, of features, and of the composition. */
const tierRows = (): ReadonlyArray<Row> => {
  const importing = divided.flatMap((name) => sourcesOf(name).flatMap((file) => lists(file, read(file))))
  return [
    ...tiers().map(({ name, lines }) => ({ name: `lines of ${name}`, value: lines })),
    {
      name: "imports of features by packages without",
      value: importing.length,
      goal: 0,
      note: importing[0] ?? "",
      isLimit: true
    }
  ]
}

/**
 * Packages whose sources are only for tests and measurements. All other packages are part of the product,
 * including the simulated systems in `memory` and `sandbox`.
 */
const proving = /^packages\/(?:bench|contracts|regtest|simulator|testing)\//

/**
 * Counts the lines of TypeScript and Go, including comments and blank lines. Scripts, package builds and
 * examples are not counted.
 */
const lineRows = (): ReadonlyArray<Row> => {
  const linesOf = (some: ReadonlyArray<string>) =>
    some.reduce((sum, file) => sum + read(file).split("\n").length - 1, 0)
  const go = files("packages/nodes/ldk/*.go")
  const isProof = (file: string) => proving.test(file) || file.endsWith("_test.go")
  const product = [...sources, ...go].filter((file) => !isProof(file))
  const proof = [...[...sources, ...go].filter(isProof), ...tests]
  return [
    { name: "lines of product", value: linesOf(product) },
    { name: "lines of proof", value: linesOf(proof) }
  ]
}

const docRows = (): ReadonlyArray<Row> => {
  const wordsOf = (some: ReadonlyArray<string>) =>
    some.reduce((sum, file) => sum + (read(file).match(/\S+/g) ?? []).length, 0)
  const decisions = files("docs/decisions/*.md")
  return [
    { name: "files of decisions", value: decisions.length, goal: 60 },
    { name: "words of decisions", value: wordsOf(decisions), goal: 15_000 },
    { name: "words of docs", value: wordsOf(files("docs/**/*.md")), goal: 76_950 }
  ]
}

interface Finding {
  readonly message: string
  readonly code: string
  readonly filename: string
  readonly labels: ReadonlyArray<{ readonly span: { readonly line: number } }>
}

/**
 * Lengths as counted by oxlint, without blank lines and comments. The limits in lengths.json are low, so that
 * oxlint reports more than the longest ones.
 */
const lengthRows = (): ReadonlyArray<Row> => {
  // .oxlintrc.json exempts these: the last is data, the others are generated.
  const exempt = [
    "packages/ui/src/console/wire.ts",
    "packages/client/src/Records.ts",
    "packages/contracts/src/records/Records.ts"
  ]
  const args = [
    "-c",
    "scripts/house/lengths.json",
    "-f",
    "json",
    ...exempt.map((file) => `--ignore-pattern=${file}`)
  ]
  const folders = [...packages.map((name) => `packages/${name}/src`), "packages/ui/browser"]
  const output = execFileSync(process.execPath, ["node_modules/oxlint/bin/oxlint", ...args, ...folders], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 28
  })
  const { diagnostics }: { readonly diagnostics: ReadonlyArray<Finding> } = JSON.parse(output)
  const longest = (name: string, rule: string, goal: number): Row => {
    const found = diagnostics
      .filter(({ code }) => code === `eslint(${rule})`)
      .map(({ message, filename, labels }) => ({
        value: Number(/\((\d+)\)/.exec(message)?.[1]),
        filename,
        line: labels[0]?.span.line ?? 1
      }))
      .toSorted((a, b) => b.value - a.value)[0]
    if (found === undefined)
      throw new Error(`oxlint found nothing above the limit of ${rule} in lengths.json`)
    return { name, value: found.value, goal, note: `${found.filename}:${found.line}`, isLimit: true }
  }
  return [
    longest("longest file", "max-lines", 500),
    longest("longest function", "max-lines-per-function", 125)
  ]
}

const rows = [
  ...featureRows(),
  ...looseRows(),
  ...importRows(),
  ...tierRows(),
  ...lineRows(),
  ...docRows(),
  ...lengthRows()
]
const print = ({ name, value, goal, note = "" }: Row) =>
  `${name.padEnd(36)}${String(value).padStart(7)}${String(goal ?? "").padStart(8)}  ${note}`.trimEnd()
console.log(`${"".padEnd(36)}${"now".padStart(7)}${"goal".padStart(8)}`)
for (const row of rows) console.log(print(row))

const exceeded = rows.filter(
  ({ value, goal, isLimit }) => isLimit === true && goal !== undefined && value > goal
)
if (process.argv.includes("--check") && exceeded.length > 0) {
  console.error(`\nlimit exceeded:\n${exceeded.map(print).join("\n")}`)
  process.exitCode = 1
}
