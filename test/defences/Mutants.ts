import { globSync, readFileSync } from "node:fs"
import path from "node:path"
import { canaries } from "./Canaries.ts"

/** A bug that is put into the program while the tests that must detect it are run. */
export interface Mutant {
  readonly name: string
  readonly bug: string
  /** The source that it changes, or the table of port mutants that contains it. */
  readonly where: string
  readonly noticedBy: ReadonlyArray<string>
  /** The test file that is run for this mutant, and the titles of the tests for vitest's -t. */
  readonly test: string
  readonly titles: string
}

const root = path.resolve(import.meta.dirname, "../..")

/** Tables of port mutants: each entry names a mutant and ends with the guarantees that it must break. */
const tables = globSync(
  ["packages/contracts/test/*.bite.test.ts", "packages/simulator/test/*.bite.slow.test.ts"],
  { cwd: root }
).toSorted()
const entries = /^ {2}"([^"]+)": \[([\s\S]*?)(?=^ {2}"[^"]+": \[|^\})/gm
const promises = /\[((?:\s*"[^"]+",?)+)\s*\]\s*\],?\s*$/

const nameOf = (file: string, bug: string) =>
  `${path.basename(file).split(".")[0]} ${bug.replace(/^an? (?:relay client|node adapter|\w+) (?:that|whose|with|without) /, "")}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/-$/, "")

const ofPorts: ReadonlyArray<Mutant> = tables.flatMap((file) =>
  Array.from(readFileSync(path.join(root, file), "utf8").matchAll(entries), ([, bug = "", entry = ""]) => {
    const titles = bug.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&")
    const broken = Array.from(
      (promises.exec(entry)?.[1] ?? "").matchAll(/"([^"]+)"/g),
      ([, promise = ""]) => promise
    )
    return {
      name: nameOf(file, bug),
      bug,
      where: file,
      noticedBy: broken.length > 0 ? broken : ["the simulator's first scenarios"],
      test: file,
      titles
    }
  })
)

/** Every mutant, in sources (Canaries.ts) and in ports. */
export const mutants: ReadonlyArray<Mutant> = [
  ...canaries.map(({ name, bug, file, test, titles, isInStories }) => ({
    name,
    bug,
    where: file,
    noticedBy: [`${test}: ${titles}`, ...(isInStories ? ["the simulator's first scenarios"] : [])],
    test,
    titles
  })),
  ...ofPorts
]

/** Mutants of ports, which the tests of the ports apply. */
export const inPorts = ofPorts
