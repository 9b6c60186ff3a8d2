// What a package is published as, in a folder of its own: the compiled modules that have a source, a manifest, its README and the licence.
import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs"
import path from "node:path"
import { entries, manifest, type Package, root } from "./Package.ts"

const specifier = /(\bfrom\s+|\bimport\s*\(\s*|^import\s+)(["'])([^"']+)\2/gm

/**
 * A module as others load it. In the workspace a package takes any module of another one by its path; published, only the root and its `entries` are promised and the rest is
 * reached as `internal`. Declarations name each other by what exists: the compiled files.
 */
export const rewritten = (source: string): string =>
  source
    .replace(specifier, (_, before: string, quote: string, target: string) => {
      const [, name, inside] = /^(@satrail\/[a-z]+)\/(.+)$/.exec(target) ?? []
      if (name !== undefined && inside !== undefined && entries[name]?.includes(inside) !== true)
        return `${before}${quote}${name}/internal/${inside}${quote}`
      return `${before}${quote}${target.startsWith(".") ? target.replace(/\.ts$/, ".js") : target}${quote}`
    })
    .replace(/^\/\/# sourceMappingURL=.*\n?/gm, "")

/**
 * A dependency that travels inside the package, for what it would have every host install beside it and we never load: it asks for what we have as well. Its modules
 * and its licence are as they were.
 */
const bundle = ({ folder, source }: Package, name: string, into: string): void => {
  const from = realpathSync(path.join(root, folder, "node_modules", name))
  const target = path.join(into, "node_modules", name)
  cpSync(from, target, { recursive: true, filter: (file) => !/^(?:src|node_modules)(?:\/|$)|\.map$/.test(path.relative(from, file)) })
  const { dependencies, peerDependencies, ...rest } = JSON.parse(readFileSync(path.join(from, "package.json"), "utf8"))
  const ours = { ...source.dependencies, ...source.peerDependencies }
  const shared = (wanted = {}) => Object.fromEntries(Object.entries(wanted).filter(([other]) => ours[other] !== undefined))
  const manifest = { ...rest, dependencies: shared(dependencies), peerDependencies: shared(peerDependencies) }
  writeFileSync(path.join(target, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
}

/** Fills `into` with what is published of a compiled package. */
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
    // The documentation is the repository's, and the server's package has a copy.
    cpSync(path.join(file === "docs" ? root : folder, file), path.join(into, file), { recursive: true })
  }
  for (const name of one.source.bundleDependencies ?? []) bundle(one, name, into)
  copyFileSync(path.join(root, "LICENSE"), path.join(into, "LICENSE"))
  writeFileSync(path.join(into, "package.json"), `${JSON.stringify(manifest(one), null, 2)}\n`)
}
