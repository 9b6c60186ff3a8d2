// Builds an image without a container engine by running a Dockerfile's steps, with a folder as the root of each
// stage. A container engine would add isolation and the base image, of which only Node is used here.
import { execFileSync } from "node:child_process"
import { chmodSync, copyFileSync, cpSync, globSync, mkdirSync, statSync } from "node:fs"
import path from "node:path"
import { instructionsOf } from "./deployFiles.ts"

/** A pattern of an ignore file: `*` matches characters within one name, and `**` matches any folders. */
const patternOf = (text: string): RegExp => {
  const parts = text
    .split(/(\*\*\/|\*\*|\*)/)
    .map(
      (part) =>
        ({ "**/": "(?:.*/)?", "**": ".*", "*": "[^/]*" })[part] ??
        part.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&")
    )
  return new RegExp(`^${parts.join("")}$`)
}

/**
 * Whether a Dockerfile's ignore file excludes a file. The last line that matches the file or a folder above
 * it decides.
 */
export const isIgnored = (ignore: string, file: string): boolean => {
  const places = file.split("/").map((_, depth, parts) => parts.slice(0, depth + 1).join("/"))
  return ignore
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .reduce((ignored, line) => {
      const pattern = patternOf(line.replace(/^!/, ""))
      return places.some((place) => pattern.test(place)) ? !line.startsWith("!") : ignored
    }, false)
}

export interface Image {
  /** The folder that represents `/`. */
  readonly root: string
  readonly env: Readonly<Record<string, string>>
  readonly user: string
  readonly entrypoint: ReadonlyArray<string>
  readonly command: ReadonlyArray<string>
  readonly healthcheck: ReadonlyArray<string>
}

const json = (text: string): ReadonlyArray<string> => JSON.parse(text)

/** Moves the absolute paths in a text into a stage's folder. */
export const inside = (root: string, text: string): string =>
  text.replaceAll(/(^|[\s"'=:>])\/(?=\w)/g, `$1${root}/`)

interface Stage {
  readonly root: string
  readonly name: string
  workdir: string
  readonly said: Map<string, string>
}

/** Copies a repository's build context: the files in git that the ignore file does not exclude. */
const copyContext = (repository: string, ignore: string, to: string): void => {
  const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: repository,
    encoding: "utf8"
  })
  for (const file of files.split("\n").filter((file) => file !== "" && !isIgnored(ignore, file))) {
    mkdirSync(path.dirname(path.join(to, file)), { recursive: true })
    copyFileSync(path.join(repository, file), path.join(to, file))
  }
}

const copy = (
  stages: ReadonlyArray<Stage>,
  stage: Stage,
  rest: string,
  context: (to: string) => void
): void => {
  const [, from, source = "", target = ""] = /^(?:--from=(\w+) )?(\S+) (\S+)$/.exec(rest) ?? []
  const to = path.resolve(stage.workdir, target.startsWith("/") ? path.join(stage.root, target) : target)
  if (from === undefined) {
    if (source !== ".") throw new Error(`COPY ${rest} is not supported`)
    return context(to)
  }
  const other = stages.find(({ name }) => name === from)
  if (other === undefined) throw new Error(`COPY ${rest}: there is no such stage`)
  cpSync(path.join(other.root, source), to, { recursive: true, verbatimSymlinks: true })
}

/** Runs every step of a Dockerfile below a folder. Returns the metadata of its last stage. */
export const build = (
  dockerfile: string,
  ignore: string,
  repository: string,
  into: string,
  env: NodeJS.ProcessEnv
): Image => {
  const stages: Array<Stage> = []
  for (const { name, rest } of instructionsOf(dockerfile)) {
    if (name === "FROM") {
      const root = path.join(into, String(stages.length))
      mkdirSync(path.join(root, "tmp"), { recursive: true })
      stages.push({ root, name: / AS (\w+)$/.exec(rest)?.[1] ?? "", workdir: root, said: new Map() })
      continue
    }
    const stage = stages.at(-1)
    // Instructions before the first stage only define image names, which are not used here.
    if (stage === undefined) continue
    if (name === "WORKDIR") mkdirSync((stage.workdir = path.join(stage.root, rest)), { recursive: true })
    else if (name === "COPY") copy(stages, stage, rest, (to) => copyContext(repository, ignore, to))
    else if (name === "RUN")
      execFileSync("sh", ["-ec", inside(stage.root, rest)], {
        cwd: stage.workdir,
        env,
        stdio: ["ignore", "pipe", "pipe"]
      })
    else stage.said.set(name, rest)
  }
  const last = stages.at(-1)
  if (last === undefined) throw new Error("the Dockerfile has no stage")
  const { root, said } = last
  return {
    root,
    env: Object.fromEntries(
      Array.from((said.get("ENV") ?? "").matchAll(/(\w+)=(\S+)/g), ([, name = "", value = ""]) => [
        name,
        value
      ])
    ),
    user: said.get("USER") ?? "0",
    entrypoint: json(said.get("ENTRYPOINT") ?? "[]"),
    command: json(said.get("CMD") ?? "[]"),
    healthcheck: json(/CMD (\[.*\])$/.exec(said.get("HEALTHCHECK") ?? "")?.[1] ?? "[]")
  }
}

/** The size of a folder in bytes. */
export const bytesIn = (folder: string): number =>
  globSync("**/*", { cwd: folder }).reduce((sum, file) => {
    const found = statSync(path.join(folder, file), { throwIfNoEntry: false })
    return sum + (found?.isFile() === true ? found.size : 0)
  }, 0)

/** Gives other users access to a private folder. */
export const open = (folder: string): void => chmodSync(folder, 0o755)
