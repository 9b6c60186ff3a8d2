// Builds the packages that contain satrail-ldk, one for each platform of @satrail/ldk. They are built only from
// packages/nodes/ldk, with the versions and checksums in its go.mod and go.sum
// (docs/decisions/packages.md#0185).
import { createHash } from "node:crypto"
import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import path from "node:path"
import { packageOf, platforms } from "../../packages/ldk/src/Program.ts"
import { root, shared } from "./Package.ts"
import { CommandFailed, run } from "./Run.ts"

const source = "packages/nodes/ldk"
/** Exit code of build.sh if Go or the C compiler is missing. */
const toolMissing = 3
const built = ["satrail-ldk", "libldk_node.so"]
/** The oldest glibc version on which the program and the library run. */
const minimumGlibc = "2.34"

const targets: Readonly<
  Record<(typeof platforms)[number], { readonly cpu: string; readonly goArch: string }>
> = {
  "linux-x64": { cpu: "x64", goArch: "amd64" },
  "linux-arm64": { cpu: "arm64", goArch: "arm64" }
}

/** A package that contains the program for one platform. */
export type Native = { readonly name: string; readonly cpu: string; readonly goArch: string }

export const natives: ReadonlyArray<Native> = platforms.map((platform) => ({
  name: packageOf(platform),
  ...targets[platform]
}))

export const nativeManifest = ({ name, cpu }: Native) => ({
  name,
  description: `satrail-ldk for Linux on ${cpu}: the program that @satrail/ldk starts`,
  keywords: ["bitcoin", "lightning", "ldk"],
  // The licenses of satrail, LDK, the Go modules and Go itself.
  license: "MIT AND Apache-2.0 AND ISC AND BSD-3-Clause",
  ...shared(source),
  os: ["linux"],
  cpu: [cpu],
  libc: ["glibc"],
  exports: { "./satrail-ldk": "./satrail-ldk", "./package.json": "./package.json" },
  files: [...built, "SHA256SUMS", "licenses"]
})

export const sha256 = (file: string): string => createHash("sha256").update(readFileSync(file)).digest("hex")

/** Copies the licenses of Go and of every module that the program contains. */
const copyLicenses = (into: string): void => {
  const format = "{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}} {{.Dir}}{{end}}{{end}}"
  const lines = new Set(
    run("go", ["list", "-deps", "-f", format, "."], path.join(root, source), {
      ...process.env,
      GOOS: "linux"
    }).split("\n")
  )
  const modules = [...lines].filter((line) => line !== "").map((line) => line.split(" "))
  for (const [name = "", folder = ""] of [...modules, ["go", run("go", ["env", "GOROOT"]).trim()]]) {
    const files = globSync("LICENSE*", { cwd: folder })
    if (files.length === 0) throw new Error(`${name} has no license in ${folder}`)
    const target = path.join(into, "licenses", name.replaceAll("/", "-"))
    mkdirSync(target, { recursive: true })
    for (const file of files) copyFileSync(path.join(folder, file), path.join(target, file))
  }
}

const readme = ({ name, cpu }: Native, sums: string) => `# ${name}

The program of [@satrail/ldk](https://www.npmjs.com/package/@satrail/ldk) for Linux on ${cpu} with glibc ${minimumGlibc} or newer. It is built from \`${source}\`. LDK's library is the one that the Go module github.com/getAlby/ldk-node-go contains.

\`sha256sum -c SHA256SUMS\` checks these files:

\`\`\`
${sums}\`\`\`
`

/**
 * Builds a package's files into a folder. If a compiler is missing, returns the reason why this machine cannot
 * build it.
 */
export const stageNative = (one: Native, into: string): string | undefined => {
  try {
    run("sh", [path.join(root, source, "build.sh"), into], root, {
      ...process.env,
      GOARCH: one.goArch,
      GOFLAGS: "-mod=readonly"
    })
  } catch (cause) {
    if (cause instanceof CommandFailed && cause.status === toolMissing) return cause.message
    throw cause
  }
  copyLicenses(into)
  const sums = built.map((file) => `${sha256(path.join(into, file))}  ${file}\n`).join("")
  writeFileSync(path.join(into, "SHA256SUMS"), sums)
  writeFileSync(path.join(into, "README.md"), readme(one, sums))
  copyFileSync(path.join(root, "LICENSE"), path.join(into, "LICENSE"))
  writeFileSync(path.join(into, "package.json"), `${JSON.stringify(nativeManifest(one), null, 2)}\n`)
  return undefined
}
