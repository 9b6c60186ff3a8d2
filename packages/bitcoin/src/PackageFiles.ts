import { existsSync, readFileSync } from "node:fs"
import { createRequire } from "node:module"
import path from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const isOf = (name: string, folder: string): boolean => {
  const manifest = path.join(folder, "package.json")
  return existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).name === name
}

/**
 * Returns a package's folder as seen from one of its modules; undefined in a bundle, which has the package's code but not its
 * files. `here` is the module's `import.meta.url`, undefined in a CommonJS bundle, and `up` leads from there to the folder.
 */
export const ownFolder = (name: string, here: string | undefined, up: string): string | undefined => {
  if (here?.startsWith("file:") !== true) return undefined
  const folder = path.join(path.dirname(fileURLToPath(here)), up)
  return isOf(name, folder) ? folder : undefined
}

/**
 * Returns the URL from which Node looks for packages that a bundle leaves out: the module, or the working directory in a
 * CommonJS bundle.
 */
export const from = (here: string | undefined): string =>
  here?.startsWith("file:") === true ? here : pathToFileURL(path.join(process.cwd(), "bundle.cjs")).href

/** Returns the same folder, or in a bundle that of the installed package. */
export const folderOf = (name: string, here: string | undefined, up: string): string => {
  const own = ownFolder(name, here, up)
  if (own !== undefined) return own
  try {
    return path.dirname(createRequire(from(here)).resolve(`${name}/package.json`))
  } catch (cause) {
    throw new Error(`The bundle needs files of ${name}. Install the package next to it: npm install ${name}`, { cause })
  }
}
