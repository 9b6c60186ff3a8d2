// Divides the sources of core, http, postgres and ui into three tiers: files that need no list of features, files
// that import one, directly or indirectly, and features. Used by test/house.test.ts and `npm run house`.
import { existsSync } from "node:fs"
import path from "node:path"
import { files, importsOf, read, root } from "./Floors.ts"

export const divided = ["core", "http", "postgres", "ui"] as const

/** The lists of features. A feature's own folder is not one. */
const list = /^packages\/\w+\/src\/(?:console\/)?features\/index\.ts$/

const feature = /^packages\/\w+\/src\/(?:console\/)?features\/[a-z-]+\//

/** The composition: the files that may import a list. All others receive `Features`. */
const composition: Readonly<Record<(typeof divided)[number], RegExp>> = {
  core: /^(?:[^/]+|service\/.+|features\/index\.ts)$/,
  http: /^(?:[^/]+|features\/[^/]+|events\/.+|pages\/.+)$/,
  postgres: /^(?:[^/]+|features\/[^/]+|migrations\/.+)$/,
  ui: /^(?:[^/]+|console\/(?:[^/]+|features\/[^/]+|pages\/.+|operator\/.+))$/
}

const targetOf = (file: string, specifier: string): string | undefined => {
  if (specifier.startsWith(".")) return path.join(path.dirname(file), specifier)
  const [, name, module = "index"] = /^@satrail\/([^/]+)(?:\/(.+))?$/.exec(specifier) ?? []
  const target = `packages/${name}/src/${module}.ts`
  return name !== undefined && existsSync(path.join(root, target)) ? target : undefined
}

const targets = (file: string, source: string): ReadonlyArray<string> =>
  importsOf(source).flatMap(({ specifier }) => targetOf(file, specifier) ?? [])

/** Returns a file's imports of a list of features, if the file is not part of the composition. */
export const lists = (name: (typeof divided)[number], file: string, source: string): ReadonlyArray<string> =>
  composition[name].test(path.relative(`packages/${name}/src`, file))
    ? []
    : targets(file, source).flatMap((target) => (list.test(target) ? [`${file} -> ${target}`] : []))

export const sourcesOf = (name: string): ReadonlyArray<string> => files(`packages/${name}/src/**/*.ts`)

/** Returns the lines of each package in each tier. */
export const tiers = () => {
  const all = divided.flatMap(sourcesOf)
  const graph = new Map(all.map((file) => [file, targets(file, read(file))]))
  const needing = new Set(all.filter((file) => list.test(file)))
  // Repeats until no file is added, since imports may be circular.
  for (let before = 0; before !== needing.size;) {
    before = needing.size
    for (const [file, imported] of graph) if (imported.some((one) => needing.has(one))) needing.add(file)
  }
  const lines = (some: ReadonlyArray<string>) => some.reduce((sum, file) => sum + read(file).split("\n").length - 1, 0)
  return divided.map((name) => {
    const own = sourcesOf(name)
    const [features, rest] = [own.filter((file) => feature.test(file)), own.filter((file) => !feature.test(file))]
    return {
      name,
      free: lines(rest.filter((file) => !needing.has(file))),
      composed: lines(rest.filter((file) => needing.has(file))),
      features: lines(features)
    }
  })
}
