import type { Canary } from "./Canary.ts"

// A bug is located by symbol and tokens rather than by text, so that reformatting a source doesn't break it.

/** The start of a top-level TypeScript or Go declaration, or of a comment above one. Formatters keep these in the first column. */
const declares = String.raw`(?:export |const |let |async |function |class |interface |type |import |func |var |/\*\*|// )`

const escaped = (text: string): string => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)

/** Source from a top-level declaration to the next. Undefined unless exactly one has this name. */
const section = (
  source: string,
  symbol: string
): { readonly from: number; readonly to: number } | undefined => {
  const named = new RegExp(
    String.raw`^(?:export )?(?:default )?(?:async )?(?:const|let|function\*?|class|interface|type|func(?: \([^)]*\))?|var) ${escaped(symbol)}\b`,
    "gm"
  )
  const [first, ...others] = source.matchAll(named)
  if (first === undefined || others.length > 0) return undefined
  const afterName = first.index + first[0].length
  const end = source.slice(afterName).search(new RegExp(`^${declares}`, "m"))
  return { from: first.index, to: end < 0 ? source.length : afterName + end }
}

/** Matches the tokens of a text with any whitespace between them, and with or without a comma before a closing bracket. */
const pattern = (text: string): RegExp => {
  const tokens = text.match(/\w+|[^\w\s]/g) ?? []
  const between = (at: number) => {
    const [before = "", token = ""] = [tokens[at - 1], tokens[at]]
    if (at === 0) return ""
    if (/\w/.test(before) && /\w/.test(token)) return String.raw`\s+`
    return /[)\]}]/.test(token) ? String.raw`\s*(?:,\s*)?` : String.raw`\s*`
  }
  const [first = "", last = ""] = [tokens[0], tokens.at(-1)]
  const edge = (token: string) => (/\w/.test(token) ? String.raw`\b` : "")
  return new RegExp(
    edge(first) + tokens.map((token, at) => between(at) + escaped(token)).join("") + edge(last),
    "g"
  )
}

const matches = (
  { in: symbol, find }: Canary,
  source: string
): ReadonlyArray<{ readonly from: number; readonly to: number }> => {
  const found = section(source, symbol)
  if (found === undefined) return []
  return Array.from(source.slice(found.from, found.to).matchAll(pattern(find)), ({ 0: text, index }) => ({
    from: found.from + index,
    to: found.from + index + text.length
  }))
}

/** How often the code to damage occurs in its declaration. It must occur exactly once. */
export const fits = (canary: Canary, source: string): number => matches(canary, source).length

/** The source with the bug. Throws if the bug does not fit. */
export const patched = (canary: Canary, source: string): string => {
  const [found, ...others] = matches(canary, source)
  if (found === undefined || others.length > 0)
    throw new Error(`${canary.name} does not fit ${canary.in} in ${canary.file}`)
  return source.slice(0, found.from) + canary.replace + source.slice(found.to)
}
