// Makes the files of ../assets from ../browser: one script and one style sheet for each entry, each complete in itself. They are committed, so that nobody has to
// build them who does not change them (docs/decisions/packages.md#0108).
import { readFileSync } from "node:fs"
import path from "node:path"
import { rolldown } from "rolldown"

const browser = path.join(import.meta.dirname, "../browser")
export const assets = path.join(import.meta.dirname, "../assets")

interface Entry {
  readonly script: string
  /** One after the other. */
  readonly styles: ReadonlyArray<string>
}

/** What is made, by name. A further entry is a further line. */
const entries: Readonly<Record<string, Entry>> = {
  checkout: { script: "checkout/main.ts", styles: ["base.css", "checkout/checkout.css"] },
  console: { script: "console/main.tsx", styles: ["base.css", "console/console.css"] },
  embed: { script: "embed.ts", styles: [] }
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

/** Every file by its name, the same to the byte for the same sources. */
export const files = async (): Promise<ReadonlyMap<string, string>> => {
  const made = new Map<string, string>()
  for (const [name, entry] of Object.entries(entries)) {
    made.set(`${name}.js`, await script(entry.script))
    const styles = entry.styles.map((file) => readFileSync(path.join(browser, file), "utf8"))
    if (styles.length > 0) made.set(`${name}.css`, styles.join("\n"))
  }
  return made
}
