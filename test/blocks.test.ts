import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import path from "node:path"
import { type Block, blocksOf, pages, root } from "./Blocks.ts"

/** The packages that a page tells readers to install, in a command or a table row. */
const toInstall = (text: string) => {
  const commands = Array.from(text.matchAll(/npm install ([^`#\n]+)/g), ([, names = ""]) => names)
  const rows = text.split("\n").filter((line) => line.startsWith("| ") && !line.includes("npm install"))
  return new Set([
    ...commands.flatMap((names) => names.split(" ")),
    ...rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name))
  ])
}

/** The packages that a block imports. */
const imported = ({ code }: Pick<Block, "code">) =>
  Array.from(
    code.matchAll(/from "([^".][^"]*)"/g),
    ([, specifier = ""]) => (/^@[^/]+\/[^/]+|^[^/]+/.exec(specifier) ?? [specifier])[0]
  ).filter((name) => !name.startsWith("node:"))

it("guides: the install commands on a page include every package that the page's programs import", () => {
  const withCommands = pages.filter((page) =>
    /^(?: {4})?npm install @satrail/m.test(readFileSync(path.join(root, page), "utf8"))
  )
  assert.isAbove(withCommands.length, 10)
  const missing = withCommands.flatMap((page) => {
    const text = readFileSync(path.join(root, page), "utf8")
    const named = toInstall(text)
    return blocksOf(page, text).flatMap((block) =>
      imported(block)
        .filter((name) => !named.has(name))
        .map((name) => `${block.at}: ${name}`)
    )
  })
  assert.deepStrictEqual(missing, [])
})
