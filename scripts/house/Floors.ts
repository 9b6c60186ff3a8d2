// Defines the order of the folders in each package, and finds the imports between files. Used by
// test/house.test.ts and `npm run house`.
import { globSync, readFileSync } from "node:fs"
import path from "node:path"

export const root = path.dirname(path.dirname(import.meta.dirname))
export const files = (pattern: string) =>
  globSync(pattern, { cwd: root, exclude: ["**/node_modules", "**/dist"] }).toSorted()
export const read = (file: string) => readFileSync(path.join(root, file), "utf8")

/**
 * The folders of the large packages, from the bottom up. A folder may import from itself and from the folders
 * before it. A file outside these folders may import from all of them. In the package `features`, a floor is one
 * layer of all features. The folders of `features/` in other packages are one floor, except for those listed here.
 */
export const floors: Readonly<Record<string, ReadonlyArray<string>>> = {
  core: [
    "base",
    "ledger",
    "nodes",
    "accounts",
    "receiving",
    "sending",
    "reports",
    "reports/reconciliation",
    "events",
    "service"
  ],
  http: ["commands", "wire", "edge", "api", "resources", "pages"],
  postgres: ["client", "statements", "reads", "journal", "migrations"],
  features: ["core", "postgres", "http", "console"],
  service: [
    "features",
    "core",
    "memory",
    "postgres/reads",
    "postgres/migrations",
    "postgres",
    "console/pages",
    "console",
    "console/operator",
    "http/events",
    "http/pages",
    "http"
  ],
  server: [
    "base",
    "environment",
    "backends",
    "deployment",
    "check",
    "sandbox",
    "serving/features",
    "serving",
    "client",
    "features",
    "commands"
  ]
}

/** Returns the floor of a folder of a package. */
export const floorOf = (name: string, folder: string): string => {
  if (name === "features") return folder.split("/")[1] ?? "."
  return floors[name]?.includes(folder) === true ? folder : folder.replace(/features\/.*$/, "features")
}

/** Maximum number of files outside the folders. */
export const maxLoose = 10

export interface Import {
  readonly specifier: string
  /** The text between `import` and `from`; empty for `import("…")` and `import "…"`. */
  readonly clause: string
}

/**
 * Returns every import and re-export in a source, including imports of types. The source must be formatted, so
 * that each statement begins a line.
 */
export const importsOf = (source: string): ReadonlyArray<Import> => [
  ...Array.from(
    source.matchAll(/^(?:import|export)\s+([\w$*{},\s]+?)\s+from\s+"([^"]+)"/gm),
    ([, clause = "", specifier = ""]) => ({
      specifier,
      clause
    })
  ),
  ...Array.from(source.matchAll(/(?:^import\s+|\bimport\(\s*)"([^"]+)"/gm), ([, specifier = ""]) => ({
    specifier,
    clause: ""
  }))
]

/** Returns the files of the same package that a file imports. */
export const importsWithin = (file: string): ReadonlyArray<string> =>
  importsOf(read(file)).flatMap(({ specifier }) =>
    specifier.startsWith(".") ? [path.join(path.dirname(file), specifier)] : []
  )

/** Returns a file's imports from folders above its own. */
export const upwards = (name: string, file: string, source: string): ReadonlyArray<string> => {
  const order = floors[name] ?? []
  const heightOf = (one: string) => {
    const folder = path.dirname(path.relative(`packages/${name}/src`, one))
    return floorOf(name, folder) === "." ? order.length : order.indexOf(floorOf(name, folder))
  }
  return importsOf(source).flatMap(({ specifier }) => {
    if (!specifier.startsWith(".")) return []
    const target = path.join(path.dirname(file), specifier)
    return heightOf(target) > heightOf(file) ? [`${file} -> ${target}`] : []
  })
}

/**
 * Returns groups of at least two files that all import each other, directly or indirectly (strongly connected
 * components, found by Tarjan's algorithm).
 */
export const circles = (
  graph: ReadonlyMap<string, ReadonlyArray<string>>
): ReadonlyArray<ReadonlyArray<string>> => {
  const order = new Map<string, number>()
  const open: Array<string> = []
  const found: Array<ReadonlyArray<string>> = []
  const visit = (file: string): number => {
    const at = order.size
    order.set(file, at)
    open.push(file)
    let lowest = at
    for (const next of graph.get(file) ?? []) {
      if (!order.has(next)) lowest = Math.min(lowest, visit(next))
      else if (open.includes(next)) lowest = Math.min(lowest, order.get(next) ?? lowest)
    }
    if (lowest === at) {
      const group = open.splice(open.indexOf(file))
      if (group.length > 1) found.push(group.toSorted())
    }
    return lowest
  }
  for (const file of graph.keys()) if (!order.has(file)) visit(file)
  return found
}
