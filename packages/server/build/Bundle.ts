import path from "node:path"
import type { Plugin } from "rolldown"

/** A module that reads a file beside itself finds it where it was, seen from the folder of the bundle: both can be moved, together. */
export const places = (folder: string): Plugin => ({
  name: "places",
  transform: (code, id) =>
    code.includes("import.meta.url")
      ? code.replaceAll("import.meta.url", `new URL(${JSON.stringify(path.relative(folder, id))}, import.meta.url).href`)
      : undefined
})
