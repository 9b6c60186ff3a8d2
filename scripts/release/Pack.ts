// Compiles the published packages and packs each into a tarball.
import { mkdirSync } from "node:fs"
import path from "node:path"
import { type Native, natives, stageNative } from "./Native.ts"
import { published, version } from "./Package.ts"
import { run } from "./Run.ts"
import { bundleCommands, stage } from "./Stage.ts"

export interface Packed {
  readonly name: string
  readonly file: string
  /** The folder with the files of the package. */
  readonly staged: string
  /** The platform for which the package contains the program. Undefined if it contains no program. */
  readonly native?: Native
}

export interface Release {
  readonly packed: ReadonlyArray<Packed>
  /** The packages that cannot be built on this machine, and why. */
  readonly missing: ReadonlyArray<{ readonly name: string; readonly why: string }>
}

/**
 * Packs every package into `out`, each after its dependencies. Of the packages with a program, packs only those
 * in `programs`.
 */
export const pack = async (out: string, work: string, report: (line: string) => void, programs = natives): Promise<Release> => {
  run(process.execPath, ["node_modules/typescript/bin/tsc", "-b", ...published().map(({ folder }) => folder)])
  const [packed, missing]: [Array<Packed>, Array<Release["missing"][number]>] = [[], []]
  const folderOf = (name: string) => {
    const staged = path.join(work, name.replace("/", "-"))
    mkdirSync(staged, { recursive: true })
    return staged
  }
  const add = (name: string, staged: string, native?: Native) => {
    const [{ filename, size, unpackedSize }] = JSON.parse(run("npm", ["pack", "--json", "--pack-destination", out, staged]))
    report(`packed ${name} ${version}: ${Math.ceil(size / 1024)} kB, unpacked ${Math.ceil(unpackedSize / 1024)} kB`)
    packed.push({ name, file: path.join(out, filename), staged, ...(native && { native }) })
  }
  mkdirSync(out, { recursive: true })
  for (const one of programs) {
    const staged = folderOf(one.name)
    const why = stageNative(one, staged)
    if (why === undefined) add(one.name, staged, one)
    else missing.push({ name: one.name, why })
  }
  for (const one of published()) {
    const staged = folderOf(one.source.name)
    stage(one, staged)
    if (one.source.name === "@satrail/server") await bundleCommands(one, staged)
    add(one.source.name, staged)
  }
  return { packed, missing }
}
