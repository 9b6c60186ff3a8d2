import { readdirSync, readFileSync } from "node:fs"

/** A file that pages load: complete in itself, and minified. */
export interface File {
  /** `checkout.js` */
  readonly name: string
  readonly contentType: string
  readonly text: string
}

const folder = new URL("../assets/", import.meta.url)
const contentTypes = { js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8" }

/** Every file, read now. Throws where the package is not complete. */
export const read = (): ReadonlyArray<File> =>
  readdirSync(folder).map((name) => ({
    name,
    contentType: name.endsWith(".css") ? contentTypes.css : contentTypes.js,
    text: readFileSync(new URL(name, folder), "utf8")
  }))
