import * as PackageFiles from "@satrail/bitcoin/PackageFiles"
import { readdirSync, readFileSync } from "node:fs"
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
  const from = path.join(PackageFiles.folderOf("@satrail/ui", import.meta.url, ".."), "assets")
  return readdirSync(from).map((name) => ({
    name,
    contentType: name.endsWith(".css") ? contentTypes.css : contentTypes.js,
    text: readFileSync(path.join(from, name), "utf8")
  }))
}
