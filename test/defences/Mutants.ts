import { globSync, readFileSync } from "node:fs"
import path from "node:path"
import { canaries } from "./Canaries.ts"

/** A bug that is put into the program for as long as the tests run that must notice it. */
export interface Mutant {
  readonly name: string
  readonly bug: string
  /** The source that it changes, or the table of mutants of ports that it is in. */
  readonly where: string
  readonly noticedBy: ReadonlyArray<string>
  /** The tests that are run for it, and their titles as vitest's -t takes them. */
  readonly test: string
  readonly titles: string
}

const root = path.resolve(import.meta.dirname, "../..")

/** Where ports are exchanged for mutants: each entry of a table names one, and ends with the promises that it must break. */
const tables = globSync(["packages/contracts/test/*.bite.test.ts", "packages/simulator/test/*.bite.slow.test.ts"], { cwd: root }).toSorted()
const entries = /^ {2}"([^"]+)": \[([\s\S]*?)(?=^ {2}"[^"]+": \[|^\})/gm
const promises = /\[((?:\s*"[^"]+",?)+)\s*\]\s*\],?\s*$/

const nameOf = (file: string, bug: string) =>
  `${path.basename(file).split(".")[0]} ${bug.replace(/^one (that|whose|in which) /, "")}`
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/-$/, "")

const ofPorts: ReadonlyArray<Mutant> = tables.flatMap((file) =>
  Array.from(readFileSync(path.join(root, file), "utf8").matchAll(entries), ([, bug = "", entry = ""]) => {
    const titles = bug.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&")
    const broken = Array.from((promises.exec(entry)?.[1] ?? "").matchAll(/"([^"]+)"/g), ([, promise = ""]) => promise)
    return {
      name: nameOf(file, bug),
      bug,
      where: file,
      noticedBy: broken.length > 0 ? broken : ["the first stories of the simulator"],
      test: file,
      titles
    }
  })
)

/** Every one there is: texts of sources (Canaries.ts), and ports. */
export const mutants: ReadonlyArray<Mutant> = [
  ...canaries.map(({ name, bug, file, test, titles, isInStories }) => ({
    name,
    bug,
    where: file,
    noticedBy: [`${test}: ${titles}`, ...(isInStories ? ["the first stories of the simulator"] : [])],
    test,
    titles
  })),
  ...ofPorts
]

/** Those that are in a port, whose tests put them there themselves. */
export const inPorts = ofPorts
