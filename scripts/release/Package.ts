// The published packages and their manifests. They are derived from packages/*/package.json, the catalog in
// pnpm-workspace.yaml and the root package.json, so that each fact about a release is written only once
// (docs/decisions/packages.md#0069).
import { existsSync, readdirSync, readFileSync } from "node:fs"
import path from "node:path"
import { minimumNode } from "../../packages/bitcoin/src/Runtime.ts"
import { packageOf, platforms } from "../../packages/ldk/src/Program.ts"

export const root = path.join(import.meta.dirname, "../..")

type Versions = Readonly<Record<string, string>>
type PeersMeta = Readonly<Record<string, { readonly optional: boolean }>>

interface Source {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly description?: string
  readonly keywords?: ReadonlyArray<string>
  readonly license: string
  readonly exports?: Readonly<Record<string, { readonly compiled?: string }>>
  readonly bin?: Readonly<Record<string, string>>
  readonly files?: ReadonlyArray<string>
  readonly dependencies?: Versions
  readonly bundleDependencies?: ReadonlyArray<string>
  readonly peerDependencies?: Versions
  readonly peerDependenciesMeta?: PeersMeta
}

export interface Package {
  /** The package's folder in the workspace. */
  readonly folder: string
  readonly source: Source
  /** Files and folders published along with the compiled ones, such as `roles.sql`. */
  readonly assets: ReadonlyArray<string>
}

const json = (file: string) => JSON.parse(readFileSync(path.join(root, file), "utf8"))

/** The version that all published packages share. */
export const version: string = json("package.json").version

/** The URL of the repository. A release requires that the git remote `origin` has the same URL. */
export const repository: string = json("package.json").repository.url

/** All manifests that contain the version. */
export const manifests: ReadonlyArray<string> = [
  "package.json",
  ...readdirSync(path.join(root, "packages")).map((name) => `packages/${name}/package.json`)
]

const compiled = new Set(["dist", "!dist/.tsbuildinfo", "src"])

/** Returns the public packages of the workspace, each after its dependencies. */
export const published = (): ReadonlyArray<Package> => {
  const all = new Map<string, Package>()
  for (const name of readdirSync(path.join(root, "packages"))) {
    const folder = `packages/${name}`
    const source: Source = json(`${folder}/package.json`)
    if (source.private !== true) {
      all.set(source.name, {
        folder,
        source,
        assets: (source.files ?? []).filter((file) => !compiled.has(file))
      })
    }
  }
  const ordered = new Set<Package>()
  const visit = (one: Package) => {
    for (const name of Object.keys(one.source.dependencies ?? {})) {
      const below = all.get(name)
      if (below !== undefined && !ordered.has(below)) visit(below)
    }
    ordered.add(one)
  }
  for (const one of all.values()) visit(one)
  return [...ordered]
}

/** The versions in pnpm-workspace.yaml by the name of their catalog. The name of the default catalog is "". */
const catalogs = (() => {
  const found = new Map<string, Map<string, string>>()
  let current: string | undefined
  for (const line of readFileSync(path.join(root, "pnpm-workspace.yaml"), "utf8").split("\n")) {
    const [, indent = "", name = "", wanted = ""] = /^( *)"?([^\s"#:]+)"?: *(.*)$/.exec(line) ?? []
    if (name === "") continue
    if (indent === "") current = name === "catalog" ? "" : undefined
    else if (wanted === "") current = name
    else if (current !== undefined) found.set(current, (found.get(current) ?? new Map()).set(name, wanted))
  }
  return found
})()

/**
 * Returns the version of a dependency in a published manifest. For our own packages it is an exact version,
 * because they use each other's internals. For libraries it is a range of compatible versions, so that a host
 * has one copy and gets fixes without waiting for us. For peer dependencies it is the range in the catalog.
 */
const publishedAs = (name: string, wanted: string): string => {
  if (wanted === "workspace:*") return version
  const [, catalog] = /^catalog:(.*)$/.exec(wanted) ?? []
  if (catalog === undefined)
    throw new Error(`${name} is ${wanted}: move its version to a catalog in pnpm-workspace.yaml`)
  const listed = catalogs.get(catalog)?.get(name)
  if (listed === undefined)
    throw new Error(`${name} is not in the catalog "${catalog}" of pnpm-workspace.yaml`)
  return catalog === "" ? `^${listed}` : listed
}

const resolved = (dependencies: Versions = {}): Versions =>
  Object.fromEntries(Object.entries(dependencies).map(([name, wanted]) => [name, publishedAs(name, wanted)]))

/** Modules that have side effects when they are loaded. */
const sideEffects: Readonly<Record<string, ReadonlyArray<string>>> = {
  "@satrail/bitcoin": ["./dist/checkRuntime.js"],
  "@satrail/server": ["./dist/bin.js", "./dist/cli.js", "./dist/main.js"],
  "@satrail/ldk": ["./dist/bin.js"],
  satrail: ["./dist/bin.js"]
}

/** The public entries of packages, in addition to their roots. */
export const entries: Readonly<Record<string, ReadonlyArray<string>>> = {
  "@satrail/client": ["operator"],
  "@satrail/core": ["money", "ports"],
  "@satrail/features": ["*/core", "*/http", "*/memory", "*/postgres", "*/console", "*/commands"],
  "@satrail/server": ["run"],
  "@satrail/service": ["commands", "http", "memory", "postgres", "records", "services"]
}

const web = repository.replace(/^git\+/, "").replace(/\.git$/, "")

/**
 * The manifest fields that all published packages share. With provenance, the registry links a version to the
 * build that published it.
 */
export const shared = (directory: string) => ({
  version,
  repository: { type: "git", url: repository, directory },
  homepage: `${web}#readme`,
  bugs: `${web}/issues`,
  engines: { node: `>=${minimumNode}` },
  publishConfig: { access: "public", provenance: true }
})

/** Optional dependencies. npm installs those whose fields `os`, `cpu` and `libc` match the machine. */
const optional: Readonly<Record<string, Versions>> = {
  "@satrail/ldk": Object.fromEntries(platforms.map((platform) => [packageOf(platform), version]))
}

/** The public entries of a package, as in `exports`. A package that only satrail's others import has none. */
export const entriesOf = ({ folder, source }: Pick<Package, "folder" | "source">): ReadonlyArray<string> => [
  ...(existsSync(path.join(root, folder, "src/index.ts")) ? ["."] : []),
  ...(entries[source.name] ?? []).map((entry) => `./${entry}`)
]

export const manifest = ({ folder, source, assets }: Package) => {
  const {
    name,
    description,
    keywords,
    license,
    bin,
    dependencies,
    bundleDependencies,
    peerDependencies,
    peerDependenciesMeta
  } = source
  return {
    name,
    description,
    keywords,
    license,
    ...shared(folder),
    type: "module",
    sideEffects: sideEffects[name] ?? false,
    ...(bin && { bin }),
    exports: {
      ...Object.fromEntries(
        entriesOf({ folder, source }).map((entry) => {
          const compiled = source.exports?.[entry]?.compiled ?? `./dist/${entry.slice(2)}.js`
          return [entry, { types: compiled.replace(/\.js$/, ".d.ts"), default: compiled }]
        })
      ),
      "./internal/*": { types: "./dist/*.d.ts", default: "./dist/*.js" },
      ...Object.fromEntries(
        assets.filter((file) => path.extname(file) !== "").map((file) => [`./${file}`, `./${file}`])
      ),
      "./package.json": "./package.json"
    },
    files: ["dist", ...assets],
    dependencies: resolved(dependencies),
    ...(optional[name] && { optionalDependencies: optional[name] }),
    ...(bundleDependencies && { bundleDependencies }),
    peerDependencies: resolved(peerDependencies),
    ...(peerDependenciesMeta && { peerDependenciesMeta })
  }
}
