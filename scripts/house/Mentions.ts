import { parseAst } from "vitest/node"

/** Converts `voucherId` to `voucher_id`. */
export const snake = (name: string) => name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase()

interface Node {
  readonly type?: string
  readonly name?: unknown
  readonly value?: unknown
}

/**
 * Returns the names in the code of a file, in snake case, one per line. Names are identifiers and strings
 * without white space (event types, import paths). Comments and prose are omitted. In `packages/postgres` every
 * string is SQL and therefore counts as code.
 */
export const namesIn = (file: string, source: string): string => {
  const names = new Set<string>()
  const addText = (text: string) => {
    if (file.startsWith("packages/postgres/")) names.add(text.replace(/-- .*/g, ""))
    else if (!/\s/.test(text)) names.add(text)
  }
  const visit = (node: Node) => {
    const { type, name, value } = node
    if (typeof name === "string") names.add(name)
    if (type === "Literal" && typeof value === "string") addText(value)
    if (type === "TemplateElement") addText((value as { readonly raw: string }).raw)
    for (const child of Object.values(node)) if (typeof child === "object" && child !== null) visit(child)
  }
  visit(parseAst(source, { lang: file.endsWith(".tsx") ? "tsx" : "ts" }))
  return [...names].map(snake).join("\n")
}

/** Returns whether names contain a word. The word is a pattern: `voucher_id` and `max_vouchers` contain `vouchers?`. */
export const mentions = (names: string, word: string) =>
  new RegExp(`(?<![a-z])(?:${word})(?![a-z])`).test(names)
