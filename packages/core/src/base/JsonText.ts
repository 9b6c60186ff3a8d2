const blank = /[ \t\n\r]/

/** Where the string that begins at `start` ends: after its closing quote, or beyond the text when there is none. */
const endOfString = (text: string, start: number): number => {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1
  return at + 1
}

/** A name without its quotes and escapes; as it was written when it is not JSON. */
const nameOf = (written: string): string => {
  const inside = written.slice(1, -1)
  if (!inside.includes("\\")) return inside
  try {
    return String(JSON.parse(written))
  } catch {
    return inside
  }
}

/**
 * The names that a JSON object has more than once at its top level, which JSON.parse does not report: it takes the last (RFC 8259, section 4).
 * Of a text that is not JSON it promises nothing but to end, in time linear in its length.
 */
export const repeatedMembers = (jsonText: string): ReadonlyArray<string> => {
  const names = new Set<string>()
  const repeated = new Set<string>()
  let depth = 0
  let at = 0
  while (at < jsonText.length) {
    const character = jsonText[at]
    if (character !== '"') {
      if (character === "{" || character === "[") depth += 1
      if (character === "}" || character === "]") depth -= 1
      at += 1
      continue
    }
    const end = endOfString(jsonText, at)
    if (depth === 1) {
      let next = end
      while (blank.test(jsonText[next] ?? "")) next += 1
      if (jsonText[next] === ":") {
        const name = nameOf(jsonText.slice(at, end))
        if (names.has(name)) repeated.add(name)
        names.add(name)
      }
    }
    at = end
  }
  return [...repeated]
}

/** The text of a number, which JSON.parse passes to a reviver as its third argument (Node 22 and later; TypeScript's library does not know it yet). */
export const sourceOf = (context: unknown): string | undefined =>
  typeof context === "object" && context !== null && "source" in context && typeof context.source === "string" ? context.source : undefined

/** What a JSON text says, every number as the text it was written as: 0.1 is "0.1". Undefined when it is not JSON. */
export const exact = (jsonText: string): unknown => {
  try {
    return JSON.parse(jsonText, (_key: string, value: unknown, ...rest: ReadonlyArray<unknown>) =>
      typeof value === "number" ? sourceOf(rest[0]) : value
    )
  } catch {
    return undefined
  }
}
