const blank = /[ \t\n\r]/

/** Where the string that begins at `start` ends: after its closing quote, or beyond the text when there is none. */
const endOfString = (text: string, start: number): number => {
  let at = start + 1
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1
  return at + 1
}

const afterBlanks = (text: string, start: number): number => {
  let at = start
  while (blank.test(text[at] ?? "")) at += 1
  return at
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

/** Visits the members of a JSON object at its top level, as they are written: their names, and where their values begin. Of a text that is not JSON it promises nothing but to end, in time linear in its length. */
const eachMember = (jsonText: string, visit: (name: string, valueAt: number) => void): void => {
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
      const next = afterBlanks(jsonText, end)
      if (jsonText[next] === ":") visit(nameOf(jsonText.slice(at, end)), afterBlanks(jsonText, next + 1))
    }
    at = end
  }
}

/**
 * Whether a JSON text has more than `most` values: objects, arrays, members and items at any depth. Reads no further than that. Of a text that is not JSON it
 * counts the same marks.
 */
export const hasMoreValues = (jsonText: string, most: number): boolean => {
  let count = 1
  let at = 0
  while (at < jsonText.length && count <= most) {
    const character = jsonText[at]
    if (character === "," || character === "{" || character === "[") count += 1
    at = character === '"' ? endOfString(jsonText, at) : at + 1
  }
  return count > most
}

/** The names that a JSON object has more than once at its top level, which JSON.parse does not report: it takes the last (RFC 8259, section 4). Ends also where the text is not JSON. */
export const repeatedMembers = (jsonText: string): ReadonlyArray<string> => {
  const names = new Set<string>()
  const repeated = new Set<string>()
  eachMember(jsonText, (name) => {
    if (names.has(name)) repeated.add(name)
    names.add(name)
  })
  return [...repeated]
}

/** Where the value of a JSON object's member begins, of the last one of that name (RFC 8259, section 4); undefined where it has none. A member deeper inside is another one. */
export const valueOfMember = (jsonText: string, member: string): number | undefined => {
  let found: number | undefined
  eachMember(jsonText, (name, valueAt) => {
    if (name === member) found = valueAt
  })
  return found
}

/** The text of a number, which JSON.parse passes to a reviver as its third argument (Node 22 and later; TypeScript's library does not know it yet). */
const sourceOf = (context: unknown): string | undefined =>
  typeof context === "object" && context !== null && "source" in context && typeof context.source === "string" ? context.source : undefined

/** What a JSON text says; undefined when it is not JSON. */
export const parsed = (jsonText: string): unknown => {
  try {
    return JSON.parse(jsonText)
  } catch {
    return undefined
  }
}

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

const digit = /[0-9]/
const hex = /[0-9a-fA-F]/

/**
 * Where a text stops being JSON (RFC 8259): the index of the first character with which no JSON begins, the length of the text where it only ends too early.
 * Undefined when it is JSON. In time linear in the length, and without recursion: nesting costs no stack.
 */
export const errorAt = (text: string): number | undefined => {
  let at = 0
  const ends: Array<"}" | "]"> = []
  const skip = (one: RegExp) => {
    const from = at
    while (at < text.length && one.test(text.charAt(at))) at += 1
    return at > from
  }
  const take = (character: string) => {
    if (text[at] !== character) return false
    at += 1
    return true
  }
  const word = (letters: string) => [...letters].every(take)
  const number = () => {
    take("-")
    if (!take("0") && !skip(digit)) return false
    if (take(".") && !skip(digit)) return false
    if (!take("e") && !take("E")) return true
    if (!take("+")) take("-")
    return skip(digit)
  }
  const escape = () => {
    if (!take("u")) return Array.from('"\\/bfnrt').some(take)
    for (let i = 0; i < 4; i++) {
      if (!hex.test(text.charAt(at))) return false
      at += 1
    }
    return true
  }
  const string = () => {
    if (!take('"')) return false
    while (!take('"')) {
      if (at >= text.length || text.charAt(at) < " ") return false
      if (!take("\\")) at += 1
      else if (!escape()) return false
    }
    return true
  }
  const name = () => {
    skip(blank)
    if (!string()) return false
    skip(blank)
    return take(":")
  }
  const scalars: Readonly<Record<string, () => boolean>> = {
    '"': string,
    t: () => word("true"),
    f: () => word("false"),
    n: () => word("null")
  }
  for (;;) {
    // Here a value begins.
    skip(blank)
    const begins = text[at]
    if (begins === "{" || begins === "[") {
      at += 1
      skip(blank)
      const end = begins === "{" ? "}" : "]"
      if (!take(end)) {
        ends.push(end)
        if (end === "}" && !name()) return at
        continue
      }
    } else if (!(scalars[begins ?? ""] ?? number)()) return at
    // Here one has ended, and with it whatever it was the last of.
    for (;;) {
      skip(blank)
      const end = ends.at(-1)
      if (end === undefined) return at === text.length ? undefined : at
      if (take(end)) {
        ends.pop()
        continue
      }
      if (!take(",")) return at
      if (end === "}" && !name()) return at
      break
    }
  }
}

/** A place in a text as editors count: lines and columns from 1, the offset from 0, all in characters (Unicode code points). */
export interface Place {
  readonly line: number
  readonly column: number
  readonly offset: number
}

export const placeOf = (text: string, index: number): Place => {
  const before = Array.from(text.slice(0, index))
  return { line: before.filter((one) => one === "\n").length + 1, column: before.length - before.lastIndexOf("\n"), offset: before.length }
}
