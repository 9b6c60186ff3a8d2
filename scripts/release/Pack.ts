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

/** The fields of `npm pack --json` that are used here. */
interface Tarball {
  readonly name: string
  readonly filename: string
  readonly size: number
  readonly unpackedSize: number
}

const fail = (name: string): never => {
  throw new Error(`npm did not pack ${name}`)
}

/**
 * Packs every package into `out`, each after its dependencies. Of the packages with a program, packs only those
 * in `programs`.
 */
export const pack = async (
  out: string,
  work: string,
  report: (line: string) => void,
  programs = natives
): Promise<Release> => {
  report("compiling every package (a minute or two)")
  run(process.execPath, ["node_modules/typescript/bin/tsc", "-b", ...published().map(({ folder }) => folder)])
  const [staged, missing]: [Array<Omit<Packed, "file">>, Array<Release["missing"][number]>] = [[], []]
  const folderOf = (name: string) => {
    const folder = path.join(work, name.replace("/", "-"))
    mkdirSync(folder, { recursive: true })
    return folder
  }
  for (const native of programs) {
    const { name } = native
    const folder = folderOf(name)
    report(`building ${name}`)
    const why = stageNative(native, folder)
    if (why === undefined) staged.push({ name, staged: folder, native })
    else missing.push({ name, why })
  }
  for (const one of published()) {
    const { name } = one.source
    const folder = folderOf(name)
    report(`staging ${name}`)
    stage(one, folder)
    if (name === "@satrail/server") await bundleCommands(one, folder)
    staged.push({ name, staged: folder })
  }
  mkdirSync(out, { recursive: true })
  report(`packing ${staged.length} packages into ${out}`)
  // npm takes a second to start, so it packs all folders in one run.
  const folders = staged.map(({ staged }) => staged)
  const files: ReadonlyArray<Tarball> = JSON.parse(
    run("npm", ["pack", "--json", "--pack-destination", out, ...folders])
  )
  const packed = staged.map((one): Packed => {
    const { filename, size, unpackedSize } = files.find(({ name }) => name === one.name) ?? fail(one.name)
    report(
      `packed ${one.name} ${version}: ${Math.ceil(size / 1024)} kB, unpacked ${Math.ceil(unpackedSize / 1024)} kB`
    )
    return { ...one, file: path.join(out, filename) }
  })
  return { packed, missing }
}
