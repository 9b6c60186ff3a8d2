// Creates a folder with the published files of a package: the compiled modules that have a source, a manifest,
// the README and the license.
import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs"
import path from "node:path"
import * as Commands from "../../packages/server/build/Commands.ts"
import { manuals } from "../../packages/server/src/serving/Manuals.ts"
import { entries, manifest, type Package, root } from "./Package.ts"

const specifier = /(\bfrom\s+|\bimport\s*\(\s*|^import\s+|^declare module\s+)(["'])([^"']+)\2/gm

const isPublic = (name: string, module: string): boolean =>
  entries[name]?.some((entry) =>
    entry.startsWith("*/") ? /^[^/]+(.+)$/.exec(module)?.[1] === entry.slice(1) : entry === module
  ) === true

/**
 * Returns a module's text with the import paths of published packages. In the workspace, a package imports
 * other packages' modules by path. In published packages, only the root and `entries` are public, and other
 * modules are under `internal`. Declarations refer to compiled files, because the sources are not published.
 */
export const rewritten = (source: string): string =>
  source
    .replace(specifier, (_, before: string, quote: string, target: string) => {
      const [, name, inside] = /^(@satrail\/[a-z]+)\/(.+)$/.exec(target) ?? []
      if (name !== undefined && inside !== undefined && !isPublic(name, inside))
        return `${before}${quote}${name}/internal/${inside}${quote}`
      return `${before}${quote}${target.startsWith(".") ? target.replace(/\.ts$/, ".js") : target}${quote}`
    })
    .replace(/^\/\/# sourceMappingURL=.*\n?/gm, "")

/**
 * Bundles a dependency into the package, because every host would otherwise install some dependencies of it
 * that are never loaded. The bundled copy depends only on packages that we depend on too. Its modules and
 * license are unchanged.
 */
const bundle = ({ folder, source }: Package, name: string, into: string): void => {
  const from = realpathSync(path.join(root, folder, "node_modules", name))
  const target = path.join(into, "node_modules", name)
  cpSync(from, target, {
    recursive: true,
    filter: (file) => !/^(?:src|node_modules|ai-docs)(?:\/|$)|\.map$/.test(path.relative(from, file))
  })
  const { dependencies, peerDependencies, ...rest } = JSON.parse(
    readFileSync(path.join(from, "package.json"), "utf8")
  )
  const ours = { ...source.dependencies, ...source.peerDependencies }
  const shared = (wanted = {}) =>
    Object.fromEntries(Object.entries(wanted).filter(([other]) => ours[other] !== undefined))
  const manifest = { ...rest, dependencies: shared(dependencies), peerDependencies: shared(peerDependencies) }
  writeFileSync(path.join(target, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
}

/** Writes the published files of a compiled package to `into`. */
export const stage = (one: Package, into: string): void => {
  const folder = path.join(root, one.folder)
  for (const source of globSync("**/*.ts", { cwd: path.join(folder, "src") })) {
    for (const end of [".js", ".d.ts"]) {
      const file = path.join("dist", source.replace(/\.ts$/, end))
      mkdirSync(path.dirname(path.join(into, file)), { recursive: true })
      writeFileSync(path.join(into, file), rewritten(readFileSync(path.join(folder, file), "utf8")))
    }
  }
  for (const file of ["README.md", ...one.assets]) {
    // The documentation is in the repository's root folder, and the server's package contains a copy.
    cpSync(path.join(file === "docs" ? root : folder, file), path.join(into, file), { recursive: true })
    if (file === "docs")
      for (const manual of manuals) cpSync(path.join(root, manual), path.join(into, file, manual))
  }
  for (const name of one.source.bundleDependencies ?? []) bundle(one, name, into)
  copyFileSync(path.join(root, "LICENSE"), path.join(into, "LICENSE"))
  writeFileSync(path.join(into, "package.json"), `${JSON.stringify(manifest(one), null, 2)}\n`)
}

/** Bundles the command line into one file, which replaces the module that loads commands on demand. */
export const bundleCommands = ({ folder }: Package, into: string): Promise<void> => {
  const dist = path.join(root, folder, "dist")
  return Commands.bundle(dist, path.join(into, "dist/cli.js"), dist)
}
