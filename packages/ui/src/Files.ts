import { readdirSync, readFileSync } from "node:fs"

/** A minified, self-contained file for pages. */
export interface File {
  /** File name, such as `checkout.js`. */
  readonly name: string
  readonly contentType: string
  readonly text: string
}

const folder = new URL("../assets/", import.meta.url)
const contentTypes = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8" }

/** Reads all files. Throws if the package is incomplete. */
export const read = (): ReadonlyArray<File> =>
  readdirSync(folder).map((name) => ({
    name,
    contentType: name.endsWith(".css") ? contentTypes.css : contentTypes.js,
    text: readFileSync(new URL(name, folder), "utf8")
  }))
