import { readFileSync } from "node:fs"
import path from "node:path"

export const root = path.dirname(import.meta.dirname)
export const read = (file: string) => readFileSync(path.join(root, file), "utf8")
export const all = (text: string, pattern: RegExp) =>
  Array.from(text.matchAll(pattern), ([, found = ""]) => found)

/** A Dockerfile's instructions, each on one line and without comments. */
export const instructionsOf = (dockerfile: string) =>
  dockerfile
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .join("\n")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")
    .flatMap((line) => {
      const [, name = "", rest = ""] = /^(\w+)\s+(.*)$/.exec(line) ?? []
      return name === "" ? [] : [{ name, rest }]
    })

export const dockerfile = read("deploy/Dockerfile")
