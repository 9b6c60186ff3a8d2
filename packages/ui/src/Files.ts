import { readdirSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import path from "node:path"

/** A minified, self-contained file for pages. */
export interface File {
  /** File name, such as `checkout.js`. */
  readonly name: string
  readonly contentType: string
  readonly text: string
}

const contentTypes = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8" }

/** Reads all files. Throws if the package is incomplete. */
export const read = (): ReadonlyArray<File> => {
  const here: string | undefined = import.meta.url // undefined in a CommonJS bundle
  // In a bundle, Node looks for the package from the bundle's folder, or from the working directory.
  const manifest = createRequire(here ?? path.join(process.cwd(), "bundle.cjs")).resolve(
    "@satrail/ui/package.json"
  )
  const from = path.join(path.dirname(manifest), "assets")
  return readdirSync(from).map((name) => ({
    name,
    contentType: name.endsWith(".css") ? contentTypes.css : contentTypes.js,
    text: readFileSync(path.join(from, name), "utf8")
  }))
}
