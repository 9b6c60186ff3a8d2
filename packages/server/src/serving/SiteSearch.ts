// The search of the documentation. It finds sections, and ranks those that tell a reader what to do first.

// A search reads every page and requires no key, so it is limited.
export const limits = { words: 8, characters: 100, results: 30, snippet: 200 } as const

/** A section of a page: its text up to the next heading of the second level. */
export interface Section {
  readonly file: string
  readonly page: string
  /** The anchor and the heading; empty for the beginning of a page. */
  readonly anchor: string
  readonly heading: string
  readonly text: string
  /** The text in lower case, for searching. */
  readonly lower: string
}

export interface Result extends Section {
  readonly snippet: string
}

/** Words that most sections contain. */
const stopWords = new Set("a an and can do for how i in is it my of on or the to what with".split(" "))

/** What the documentation calls things that readers call otherwise. */
const synonyms: Readonly<Record<string, ReadonlyArray<string>>> = {
  forgot: ["lost"],
  forgotten: ["lost"],
  forget: ["lost"],
  stolen: ["lost"],
  euro: ["eur", "fiat"],
  dollar: ["usd", "fiat"],
  price: ["priced", "amount"],
  money: ["funds", "balance"],
  login: ["sign in"],
  password: ["passkey", "key"],
  test: ["trigger", "sandbox"],
  pay: ["withdraw"],
  backup: ["restore", "dump"],
  delete: ["revoke", "remove"]
}

/** Removes an ending, so that `refunds` and `refunded` find `refund`. */
const stem = (word: string): string =>
  word.length > 4 ? word.replace(/(?:ies|es|s|ed|ing)$/, (end) => (end === "ies" ? "y" : "")) : word

const wordsIn = (asked: string): ReadonlyArray<ReadonlyArray<string>> => {
  const typed = asked.slice(0, limits.characters).toLowerCase().split(/\s+/).filter(Boolean)
  const telling = typed.filter((word) => !stopWords.has(word))
  return (telling.length > 0 ? telling : typed)
    .slice(0, limits.words)
    .map((word) => [stem(word), ...(synonyms[word] ?? synonyms[word.replace(/s$/, "")] ?? [])])
}

/** Guides first, then the reference, then decisions. */
const rankOf = (file: string): number =>
  file.startsWith("guides/") ? 3 : file.startsWith("decisions/") ? 0 : file.startsWith("reference/") ? 1 : 2

/**
 * Returns the sections that contain at least half of the words, most words first. Of those with as many, one whose
 * heading or page title has the words comes first, and a guide before the reference and decisions.
 */
export const search = (sections: ReadonlyArray<Section>, asked: string): ReadonlyArray<Result> => {
  const words = wordsIn(asked)
  if (words.length === 0) return []
  const has = (text: string, forms: ReadonlyArray<string>) => forms.some((form) => text.includes(form))
  const scored = sections.flatMap((section) => {
    const heading = section.heading.toLowerCase()
    const title = section.page.toLowerCase()
    const inText = words.filter((forms) => has(`${title} ${section.lower}`, forms)).length
    if (inText * 2 < words.length || !words.some((forms) => has(section.lower, forms))) return []
    const exact = words.filter(([form = ""]) => section.lower.includes(form)).length
    const headed = words.filter((forms) => has(heading, forms)).length
    const titled = words.filter((forms) => has(title, forms)).length
    return [
      { section, score: inText * 100 + rankOf(section.file) * 20 + headed * 12 + titled * 9 + exact * 5 }
    ]
  })
  return scored
    .toSorted((a, b) => b.score - a.score)
    .slice(0, limits.results)
    .map(({ section }) => {
      const lines = section.text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"))
      const line = lines.find((one) => words.some((forms) => has(one.toLowerCase(), forms))) ?? lines[0] ?? ""
      return { ...section, snippet: line.slice(0, limits.snippet) }
    })
}

/** Splits a page at its headings of the second level. */
export const sectionsOf = (
  file: string,
  page: string,
  text: string,
  anchorOf: (heading: string) => string
): ReadonlyArray<Section> =>
  text.split(/^## /m).map((part, n) => {
    const [first = "", ...others] = part.split("\n")
    const heading = n === 0 ? "" : first.replaceAll("`", "")
    const own = n === 0 ? part : others.join("\n")
    return {
      file,
      page,
      anchor: n === 0 ? "" : anchorOf(first),
      heading,
      text: own,
      lower: `${heading} ${own}`.toLowerCase()
    }
  })
