import * as Files from "@satrail/ui/Files"
import * as Asset from "./Asset.ts"

// The files that pages load, and the paths at which Ui.ts serves them.

/** Returns a file's path, which contains a hash of the file's content. */
export const pathOf = ({ name, text }: Files.File): string => {
  const dot = name.lastIndexOf(".")
  return `ui/${name.slice(0, dot)}-${Asset.hashOf(text)}${name.slice(dot)}`
}

/** Read once per process, when the first page or file is requested. */
let known: ReadonlyMap<string, Files.File> | undefined
export const files = (): ReadonlyMap<string, Files.File> =>
  (known ??= new Map(Files.read().map((file) => [file.name, file])))

export const named = (name: string): Files.File => {
  const file = files().get(name)
  if (file === undefined) throw new Error(`@satrail/ui has no file ${name}`)
  return file
}

/**
 * Returns the path of a file of @satrail/ui under the root: `ui/checkout-Zm9v….js` for `checkout.js`. Throws
 * for an unknown name.
 */
export const path = (name: string): string => pathOf(named(name))

export const textOf = (name: string): string => named(name).text

/** Returns the style sheets for a type of page: the shared tokens first, then its own. */
export const styles = (name: "checkout" | "console" | "pages"): ReadonlyArray<string> => [
  path("tokens.css"),
  path(`${name}.css`)
]
