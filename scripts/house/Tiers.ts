// Divides the sources into three tiers: files that need no list of features, features, and the composition. Used by
// test/house.test.ts and `npm run house`.
import { existsSync } from "node:fs"
import path from "node:path"
import { files, importsOf, read, root } from "./Floors.ts"

/** The packages that know no feature. Features import from them, never the reverse. */
export const divided = ["core", "http", "postgres", "memory", "ui"] as const

const targetOf = (file: string, specifier: string): string | undefined => {
  if (specifier.startsWith(".")) return path.join(path.dirname(file), specifier)
  const [, name, module = "index"] = /^@satrail\/([^/]+)(?:\/(.+))?$/.exec(specifier) ?? []
  return [`packages/${name}/src/${module}.ts`, `packages/${name}/src/${module}/index.ts`].find((file) =>
    existsSync(path.join(root, file))
  )
}

const targets = (file: string, source: string): ReadonlyArray<string> =>
  importsOf(source).flatMap(({ specifier }) => targetOf(file, specifier) ?? [])

/** Returns a file's imports of features and of their composition, which a package without features may not have. */
export const lists = (file: string, source: string): ReadonlyArray<string> =>
  targets(file, source).flatMap((target) =>
    /^packages\/(?:features|service)\//.test(target) ? [`${file} -> ${target}`] : []
  )

export const sourcesOf = (name: string): ReadonlyArray<string> => files(`packages/${name}/src/**/*.ts`)

const linesOf = (some: ReadonlyArray<string>) =>
  some.reduce((sum, file) => sum + read(file).split("\n").length - 1, 0)

/** Returns the lines of each package without features, and of the layers of features and their composition. */
export const tiers = () => [
  ...divided.map((name) => ({ name, lines: linesOf(sourcesOf(name)) })),
  { name: "features", lines: linesOf(sourcesOf("features")) },
  { name: "service", lines: linesOf(sourcesOf("service")) }
]
