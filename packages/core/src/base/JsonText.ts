const blank = /[ \t\n\r]/

/**
 * Returns the index after the closing quote of the string that starts at `start`, or an index past the end of
 * the text if the quote is missing.
 */
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

/** Returns a name without quotes and escapes, or as written if it is not valid JSON. */
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
 * Visits the members of all JSON objects with their names, the index of each value, and where the objects and
 * arrays around it start, outermost first. If the text is not JSON, the only guarantee is that the scan ends in
 * linear time.
 */
const eachMember = (
  jsonText: string,
  visit: (name: string, valueAt: number, within: ReadonlyArray<number>) => void
): void => {
  const within: Array<number> = []
  let at = 0
  while (at < jsonText.length) {
    const character = jsonText[at]
    if (character !== '"') {
      if (character === "{" || character === "[") within.push(at)
      if (character === "}" || character === "]") within.pop()
      at += 1
      continue
    }
    const end = endOfString(jsonText, at)
    const next = afterBlanks(jsonText, end)
    if (jsonText[next] === ":")
      visit(nameOf(jsonText.slice(at, end)), afterBlanks(jsonText, next + 1), within)
    at = end
  }
}

/**
 * Returns whether a JSON text has more than `most` values, counting objects, arrays, members and items at any
 * depth. Stops reading at the limit. If the text is not JSON, counts the same kinds of characters without
 * checking the syntax. Counts colons separately, because only invalid JSON has more colons than values.
 */
export const hasMoreValues = (jsonText: string, most: number): boolean => {
  let count = 1
  let colons = 0
  let at = 0
  while (at < jsonText.length && count <= most && colons <= most) {
    const character = jsonText[at]
    if (character === "," || character === "{" || character === "[") count += 1
    if (character === ":") colons += 1
    at = character === '"' ? endOfString(jsonText, at) : at + 1
  }
  return count > most || colons > most
}

/**
 * Returns the paths of the names that occur more than once in one JSON object, such as `metadata.order`.
 * JSON.parse does not report them and takes the last value (RFC 8259, section 4). Terminates even if the text
 * is not JSON. `shown` shortens each name, because a long one would be copied into the path of every member below it.
 */
export const repeatedMembers = (jsonText: string, shown: (name: string) => string): ReadonlyArray<string> => {
  const counts = new Map<string, number>()
  const names = new Map<number, string>()
  const repeated = new Set<string>()
  eachMember(jsonText, (name, valueAt, within) => {
    const member = `${within.at(-1)} ${name}`
    const count = counts.get(member) ?? 0
    const short = shown(name)
    // Only once for each member, because paths may be long.
    if (count === 1) repeated.add([...within.flatMap((at) => names.get(at) ?? []), short].join("."))
    counts.set(member, count + 1)
    names.set(valueAt, short)
  })
  return [...repeated]
}

/**
 * Returns the index of a member's value in a JSON object; undefined if it is absent. If the name is repeated, the
 * last one counts (RFC 8259, section 4). Members of nested objects are ignored.
 */
export const valueOfMember = (jsonText: string, member: string): number | undefined => {
  let found: number | undefined
  eachMember(jsonText, (name, valueAt, within) => {
    if (within.length === 1 && name === member) found = valueAt
  })
  return found
}

/**
 * Returns the source text of a number, from the third argument of a JSON.parse reviver (Node 22 and later).
 * TypeScript's library does not declare it yet.
 */
const sourceOf = (context: unknown): string | undefined =>
  typeof context === "object" && context !== null && "source" in context && typeof context.source === "string"
    ? context.source
    : undefined

/** Parses JSON; undefined if the text is not JSON. */
export const parsed = (jsonText: string): unknown => {
  try {
    return JSON.parse(jsonText)
  } catch {
    return undefined
  }
}

/** Parses JSON with every number as its source text: 0.1 is "0.1". Undefined if the text is not JSON. */
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
 * Returns the index of the first character that makes the text invalid JSON (RFC 8259), the length of the
 * text if it ends too early, or undefined if it is valid. Takes linear time and does not recurse, so nesting
 * uses no stack.
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
    // A value begins here.
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
    // A value ends here. Close each container that it completes.
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

/**
 * A position in a string as editors show it. Lines and columns start at 1 and the offset at 0, all in
 * characters (Unicode code points).
 */
export interface Place {
  readonly line: number
  readonly column: number
  readonly offset: number
}

export const placeOf = (text: string, index: number): Place => {
  const before = Array.from(text.slice(0, index))
  return {
    line: before.filter((one) => one === "\n").length + 1,
    column: before.length - before.lastIndexOf("\n"),
    offset: before.length
  }
}
