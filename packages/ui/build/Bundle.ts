// Builds ../assets from ../browser: one self-contained script and style sheet per entry. The files are
// committed, so that only people who change them need to build them (docs/decisions/packages.md#0108).
import { readFileSync } from "node:fs"
import path from "node:path"
import { rolldown } from "rolldown"

const browser = path.join(import.meta.dirname, "../browser")
export const assets = path.join(import.meta.dirname, "../assets")

const scripts: Readonly<Record<string, string>> = {
  checkout: "checkout/main.ts",
  console: "console/page.ts",
  embed: "embed.ts",
  site: "pages/site.ts"
}
/** Every page loads the tokens first, and then its own styles. */
const styles: Readonly<Record<string, string>> = {
  tokens: "tokens.css",
  checkout: "checkout/checkout.css",
  console: "console/console.css",
  pages: "pages/pages.css"
}

const script = async (file: string): Promise<string> => {
  const bundle = await rolldown({
    input: path.join(browser, file),
    platform: "browser",
    transform: { target: "es2022" }
  })
  const { output } = await bundle.generate({ format: "iife", minify: true, comments: false })
  await bundle.close()
  return output[0].code
}

/** A style sheet without comments and indentation, with one rule per line. */
const style = (file: string): string =>
  readFileSync(path.join(browser, file), "utf8")
    .replaceAll(/\/\*[^]*?\*\//g, "")
    .replaceAll(/\s*\n\s*/g, "\n")
    .replaceAll(/(?<=[{;,])\n/g, "")
    .replaceAll(/(?<!\})\n/g, " ")
    .trim()

/** Builds every file. The same sources give identical bytes. */
export const files = async (): Promise<ReadonlyMap<string, string>> => {
  const made = new Map<string, string>()
  for (const [name, file] of Object.entries(scripts)) made.set(`${name}.js`, await script(file))
  for (const [name, file] of Object.entries(styles)) made.set(`${name}.css`, style(file))
  return made
}
