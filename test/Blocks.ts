// The code in the pages that people copy from. A block that begins with ```ts is a module: it may have a name after it (`ts shop.ts`), by which later blocks
// of the page import it, and `run` says that it is a program.
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import path from "node:path"

export const root = path.dirname(import.meta.dirname)

export interface Block {
  /** The page, and the line in it where the block begins. */
  readonly at: string
  /** Where it is written to, in the folder of its page. */
  readonly file: string
  readonly isProgram: boolean
  readonly code: string
}

/** The modules in a page. */
export const blocksOf = (page: string, text: string): ReadonlyArray<Block> =>
  Array.from(text.matchAll(/^```ts\b(.*)\n([^]*?)^```$/gm), ({ 1: info = "", 2: code = "", index }, number) => {
    const words = info.split(" ").filter((word) => word !== "")
    const folder = page.replace(/(?:\/README)?\.md$/, "").replaceAll("/", "-")
    const name = words.find((word) => word.endsWith(".ts")) ?? `block${number + 1}.ts`
    const line = text.slice(0, index).split("\n").length
    return { at: `${page}:${line}`, file: path.join(folder, name), isProgram: words.includes("run"), code }
  })

/** Every page of which the code is checked: what a host or the author of an adapter copies from. */
export const pages: ReadonlyArray<string> = [
  "README.md",
  "docs/guides/add-a-lightning-node.md",
  "docs/guides/add-a-feature.md",
  "docs/guides/checkout.md",
  "docs/guides/embed.md",
  "docs/guides/embed-database.md",
  "docs/guides/embed-server.md",
  "docs/guides/extend.md",
  "docs/guides/webhooks.md",
  ...globSync("packages/*/README.md", { cwd: root }).toSorted()
]

export const blocks = (): ReadonlyArray<Block> => pages.flatMap((page) => blocksOf(page, readFileSync(path.join(root, page), "utf8")))

/** Writes them below a folder, each page in a folder of its own, in place of what was there. */
export const write = (all: ReadonlyArray<Block>, into: string): void => {
  rmSync(into, { recursive: true, force: true })
  for (const { file, code } of all) {
    mkdirSync(path.dirname(path.join(into, file)), { recursive: true })
    writeFileSync(path.join(into, file), code)
  }
}
